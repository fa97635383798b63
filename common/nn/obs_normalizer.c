/*
 * Observation normalizer: see obs_normalizer.h.
 */
#include "common/nn/obs_normalizer.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/netspec.h"

/* A deviation below this share of the mean's size (of 1, near 0) is rounding, not variation. */
#define DEVIATION_MIN 1e-6

int aq_obs_normalizer_init(aq_obs_normalizer *normalizer, uint32_t width)
{
    AQ_ASSERT(width >= 1);
    aq_obs_normalizer made = {.width = width, .statistics_count = 1 + 2 * (size_t)width};
    made.statistics = aq_alloc(made.statistics_count, sizeof(double));
    made.batch = aq_alloc(made.statistics_count, sizeof(double));
    made.shift = aq_alloc(width, sizeof(float));
    made.factor = aq_alloc(width, sizeof(float));
    if (!made.statistics || !made.batch || !made.shift || !made.factor) {
        aq_obs_normalizer_fini(&made);
        return AQ_E_NOMEM;
    }
    made.mean = made.statistics + 1;
    made.squares = made.mean + width;
    aq_obs_normalizer_restored(&made);
    *normalizer = made;
    return 0;
}

void aq_obs_normalizer_fini(aq_obs_normalizer *normalizer)
{
    aq_free(normalizer->statistics);
    aq_free(normalizer->batch);
    aq_free(normalizer->shift);
    aq_free(normalizer->factor);
    *normalizer = (aq_obs_normalizer){0};
}

void aq_obs_normalizer_restored(aq_obs_normalizer *normalizer)
{
    const double count = normalizer->statistics[0];
    for (uint32_t j = 0; j < normalizer->width; j++) {
        const double deviation = count > 0 ? sqrt(normalizer->squares[j] / count) : 0;
        const double least = DEVIATION_MIN * (1 + fabs(normalizer->mean[j]));
        normalizer->shift[j] = (float)normalizer->mean[j];
        normalizer->factor[j] = deviation > least ? (float)(1 / deviation) : 1.0f;
    }
}

/* Means and sums of squared deviations of the rows alone, behind their number. */
static void describe(size_t width, const float *rows, size_t count, double *batch)
{
    AQ_ASSERT(count >= 1);
    double *mean = batch + 1;
    double *squares = mean + width;
    memset(mean, 0, 2 * width * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++) {
            mean[j] += (double)rows[i * width + j];
        }
    }
    for (size_t j = 0; j < width; j++) {
        mean[j] /= (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++) {
            const double deviation = (double)rows[i * width + j] - mean[j];
            squares[j] += deviation * deviation;
        }
    }
    batch[0] = (double)count;
}

static void merge(size_t width, const double *batch, double *statistics)
{
    const double before = statistics[0], count = batch[0];
    const double after = before + count;
    const double *from_mean = batch + 1, *from_squares = from_mean + width;
    double *mean = statistics + 1, *squares = mean + width;
    for (size_t j = 0; j < width; j++) {
        const double apart = from_mean[j] - mean[j];
        mean[j] += apart * (count / after);
        squares[j] += from_squares[j] + apart * apart * (before * count / after);
    }
    statistics[0] = after;
}

void aq_obs_normalizer_add(aq_obs_normalizer *normalizer, const float *rows, size_t count,
                           double *batch)
{
    describe(normalizer->width, rows, count, normalizer->batch);
    merge(normalizer->width, normalizer->batch, batch);
}

int aq_obs_normalizer_take(aq_obs_normalizer *normalizer, const double *batches, size_t batch_count)
{
    for (size_t i = 0; i < batch_count * normalizer->statistics_count; i++) {
        if (!isfinite(batches[i])) {
            return AQ_E_CORRUPT;
        }
    }
    for (size_t i = 0; i < batch_count; i++) {
        merge(normalizer->width, batches + i * normalizer->statistics_count,
              normalizer->statistics);
    }
    aq_obs_normalizer_restored(normalizer);
    return 0;
}

int aq_obs_normalizer_see(aq_obs_normalizer *normalizer, const float *rows, size_t count)
{
    describe(normalizer->width, rows, count, normalizer->batch);
    return aq_obs_normalizer_take(normalizer, normalizer->batch, 1);
}

void aq_obs_normalizer_apply(const aq_obs_normalizer *normalizer, const float *rows, size_t count,
                             float *out)
{
    const size_t width = normalizer->width;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < width; j++) {
            out[i * width + j] =
                (rows[i * width + j] - normalizer->shift[j]) * normalizer->factor[j];
        }
    }
}

/* W (rows, width) and b (rows), in place. */
static void fold(const aq_obs_normalizer *normalizer, uint32_t rows, float *weight, float *bias)
{
    const size_t width = normalizer->width;
    for (size_t i = 0; i < rows; i++) {
        float *weights = weight + i * width;
        double moved = (double)bias[i];
        for (size_t j = 0; j < width; j++) {
            const double scaled = (double)weights[j] * (double)normalizer->factor[j];
            moved -= scaled * (double)normalizer->shift[j];
            weights[j] = (float)scaled;
        }
        bias[i] = (float)moved;
    }
}

void aq_obs_normalizer_fold(const aq_obs_normalizer *normalizer, const aq_net_spec *spec,
                            aq_params *params)
{
    AQ_ASSERT(aq_net_is_affine_in_input(spec));
    AQ_ASSERT(aq_net_spec_inputs(spec) == normalizer->width);
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        if (aq_net_sources(spec, l).values[0] == 0) {
            fold(normalizer, aq_layer_matrix(&spec->layers[l]).rows, params->weight[l],
                 params->bias[l]);
        }
    }
}
