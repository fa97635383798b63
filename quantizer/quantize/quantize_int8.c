/*
 * int8 with a scale a row, and int8 with one for the whole layer: symmetric, or by the formula of
 * the ActorQ paper.
 */
#include <float.h>
#include <math.h>

#include "quantizer/quantize/quantize_layer.h"

enum { BITS_DEFAULT = 8 };

static uint32_t bits_of(const aq_quantize_layer *layer)
{
    return layer->plan->bits != 0 ? layer->plan->bits : BITS_DEFAULT;
}

/* One row's levels, moved by `zero`; returns their sum. */
static int32_t fill_row(const aq_quantize_layer *layer, size_t row, float scale, int32_t zero,
                        int32_t level_min, int32_t level_max)
{
    const size_t columns = layer->matrix.columns;
    const float *weights = layer->weights + row * columns;
    int8_t *q = (int8_t *)layer->to.weights + row * columns;
    int32_t sum = 0;
    for (size_t i = 0; i < columns; i++) {
        q[i] = (int8_t)(aq_quantize_level(weights[i], scale, level_min, level_max) + zero);
        sum += q[i];
    }
    return sum;
}

/* ---- a scale a row -------------------------------------------------------------------------- */

int aq_quantize_int8(const aq_quantize_layer *layer)
{
    const int32_t level_max = (1 << (bits_of(layer) - 1)) - 1;
    const size_t columns = layer->matrix.columns;
    for (size_t row = 0; row < layer->matrix.rows; row++) {
        const float greatest = aq_greatest_magnitude(layer->weights + row * columns, columns);
        const float kept = layer->previous != NULL ? layer->previous->scale[row] : 0.0f;
        const float scale = aq_quantize_scale(greatest, level_max, kept);
        if (scale == 0.0f) {
            return aq_fail(layer->error, AQ_E_CORRUPT, "quantize: layer %u, row %zu: %s",
                           layer->index, row,
                           greatest > 0.0f ? "its weights are too small for a scale"
                                           : "all its weights are zero");
        }
        layer->to.scale[row] = scale;
        layer->to.sum[row] = fill_row(layer, row, scale, 0, -level_max, level_max);
    }
    return 0;
}

/* ---- one scale for the layer ---------------------------------------------------------------- */

/* Levels level_min to level_max of one step each; a level is stored moved by `zero`. */
typedef struct grid {
    float step;
    int32_t zero;
    int32_t level_min, level_max;
} grid;

typedef struct range {
    double low, high; /* low <= 0 <= high */
} range;

static range range_of(const aq_quantize_layer *layer)
{
    const size_t count = (size_t)layer->matrix.rows * layer->matrix.columns;
    float low = 0.0f;
    float high = 0.0f;
    for (size_t i = 0; i < count; i++) {
        low = layer->weights[i] < low ? layer->weights[i] : low;
        high = layer->weights[i] > high ? layer->weights[i] : high;
    }
    return (range){(double)low, (double)high};
}

static grid symmetric_grid(const aq_quantize_layer *layer, const range *weights)
{
    const int32_t level_max = (1 << (bits_of(layer) - 1)) - 1;
    const double greatest = weights->high > -weights->low ? weights->high : -weights->low;
    const bool may_keep = layer->previous != NULL && layer->previous->weight_zero == 0;
    const float kept = may_keep ? layer->previous->scale[0] : 0.0f;
    return (grid){aq_quantize_scale((float)greatest, level_max, kept), 0, -level_max, level_max};
}

static grid paper_grid_from(double step, int32_t level_min, uint32_t bits)
{
    return (grid){.step = (float)step,
                  .zero = -(1 << (bits - 1)) - level_min,
                  .level_min = level_min,
                  .level_max = level_min + (1 << bits) - 1};
}

/* The range is 2^bits steps wide, so that rounding alone would give a level more than 2^bits: both
 * ends of the range lie equally far, and on the same side, of their levels. The end that is short
 * of its level gives it up, for to the next one it has at most a step; level 0 always stays, also
 * where nothing above it is worth a digit of the step. */
static grid paper_grid_new(const range *weights, uint32_t bits)
{
    const double step = (double)(float)((weights->high - weights->low) / (double)(1 << bits));
    const double low = weights->low / step;
    const bool gives_up_lowest =
        weights->high <= 0.0 || low > rint(low) || rint(low) <= -(double)(1 << bits);
    return paper_grid_from(step, (int32_t)rint(low) + (gives_up_lowest ? 1 : 0), bits);
}

/* No weight is further beyond the kept grid's ends than it might be from a new one's. */
static bool paper_grid_covers(const grid *kept, const range *weights)
{
    return weights->low / (double)kept->step >= kept->level_min - 1 &&
           weights->high / (double)kept->step <= kept->level_max + 1;
}

static grid paper_grid(const aq_quantize_layer *layer, const range *weights)
{
    const uint32_t bits = bits_of(layer);
    const double ideal = (weights->high - weights->low) / (double)(1 << bits);
    if (ideal < (double)FLT_MIN) {
        return (grid){0};
    }
    if (layer->previous != NULL && bits == AQ_QUANTIZE_BITS_MAX) {
        const int32_t level_min = -(1 << (bits - 1)) - layer->previous->weight_zero;
        const grid kept = paper_grid_from((double)layer->previous->scale[0], level_min, bits);
        if (kept.step >= FLT_MIN && (double)kept.step <= ideal * (double)AQ_QUANTIZE_KEEP_MAX &&
            level_min <= 0 && kept.level_max >= 0 && paper_grid_covers(&kept, weights)) {
            return kept;
        }
    }
    return paper_grid_new(weights, bits);
}

int aq_quantize_int8_tensor(const aq_quantize_layer *layer)
{
    const range weights = range_of(layer);
    const grid levels =
        layer->plan->paper ? paper_grid(layer, &weights) : symmetric_grid(layer, &weights);
    if (levels.step == 0.0f) {
        return aq_fail(layer->error, AQ_E_CORRUPT,
                       "quantize: layer %u: its weights, from %g to %g, have no scale",
                       layer->index, weights.low, weights.high);
    }
    layer->to.scale[0] = levels.step;
    layer->view->weight_zero = levels.zero;
    for (size_t row = 0; row < layer->matrix.rows; row++) {
        layer->to.sum[row] =
            fill_row(layer, row, levels.step, levels.zero, levels.level_min, levels.level_max);
    }
    return 0;
}
