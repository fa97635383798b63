/*
 * conv2d, image by image, over patches that lie where they are (conv_kernels.h):
 *
 *   Y[y][x] = sum over (i, j) of W[i][j] X[s y + i][s x + j] + b
 *   dW[i][j] = sum over images and (y, x) of dY[y][x] X[s y + i][s x + j]
 *   dX[s q + r] = sum over t of W[r + s t] dY[q - t]    (r < s; likewise in the other direction)
 *
 * The last line is a product over patches for each pair of remainders (a phase): those of dY within
 * a border of zeros. No patch is ever copied, so memory besides is an image's and a matrix's.
 */
#include <string.h>

#include "common/base/arrays.h"
#include "learner/nn/conv_kernels.h"
#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"

enum { LANES_MAX = 16, SLACK_BYTES = 64 /* where the last pair of a patch has one value */ };

/* ---- shapes and memory ---------------------------------------------------------------------- */

/* What follows from a layer's shape, and arrays of the scratch. */
typedef struct conv_plan {
    aq_conv_shape of;
    uint32_t out_height, out_width, patch; /* values of a patch */
    uint32_t height, width;                /* of the image with its padding */
    uint32_t border;                       /* of zeros before dY, on two sides */
    uint32_t d_height, d_width;            /* of dY with its borders */
    bool is_bf16;
    const aq_conv_kernels *kernels;
    float *image;     /* with its padding */
    void *packed;     /* it, rounded, or pairs of neighbours */
    void *d;          /* dY within its border, or in vectors */
    uint32_t *panels; /* of weights */
    float *sums;      /* panels of their gradient */
    void *words;      /* rounded weights, as they lie */
    uint32_t *line;   /* one row of a matrix, in vectors */
} conv_plan;

static uint32_t whole(uint32_t count, uint32_t of)
{
    return (count + of - 1) / of * of;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static conv_plan plan_of(const aq_layer_spec *layer)
{
    const aq_conv_shape *of = &layer->conv;
    conv_plan plan = {.of = *of,
                      .out_height = aq_conv_out_height(of),
                      .out_width = aq_conv_out_width(of),
                      .patch = of->kernel * of->kernel * of->channels,
                      .height = of->height + 2 * of->padding,
                      .width = of->width + 2 * of->padding,
                      .border = (of->kernel - 1) / of->stride};
    plan.d_height =
        plan.border + larger(plan.out_height, (of->padding + of->height - 1) / of->stride + 1);
    plan.d_width =
        plan.border + larger(plan.out_width, (of->padding + of->width - 1) / of->stride + 1);
    return plan;
}

/* Offsets into the scratch become places in `block`, if there is one; returns its bytes. */
static size_t lay_out(conv_plan *plan, void *block)
{
    const aq_conv_shape *of = &plan->of;
    const size_t filters = whole(of->filters, LANES_MAX), channels = whole(of->channels, LANES_MAX);
    const size_t pixels = (size_t)plan->out_height * (plan->out_width + 1);
    const size_t image = (size_t)plan->height * plan->width * of->channels;
    const size_t bordered = (size_t)plan->d_height * plan->d_width * of->filters;
    const size_t d = pixels * filters > bordered ? pixels * filters : bordered;
    const size_t taps = (size_t)of->kernel * of->kernel;
    const size_t forward = (size_t)plan->patch * filters;
    const size_t back = taps * of->filters * channels + 2 * taps * channels;
    aq_arrays at = {.block = block};
    plan->image = aq_arrays_place(&at, image, sizeof(float));
    plan->packed = aq_arrays_place(&at, image * sizeof(uint32_t) + SLACK_BYTES, 1);
    plan->d = aq_arrays_place(&at, d * sizeof(uint32_t) + SLACK_BYTES, 1);
    plan->panels = aq_arrays_place(&at, forward > back ? forward : back, sizeof(uint32_t));
    plan->sums = aq_arrays_place(&at, forward, sizeof(float));
    plan->words =
        aq_arrays_place(&at, (size_t)of->filters * (plan->patch + of->kernel), sizeof(uint16_t));
    plan->line = aq_arrays_place(&at, filters + channels, sizeof(uint32_t));
    return at.bytes;
}

static size_t scratch_bytes(const aq_layer_spec *layer)
{
    conv_plan plan = plan_of(layer);
    return lay_out(&plan, NULL);
}

static conv_plan prepare(const aq_train_layer *layer, uint32_t rows, bool of_weights)
{
    conv_plan plan = plan_of(layer->spec);
    const uint64_t pixels = (uint64_t)rows * plan.out_height * plan.out_width;
    const aq_conv_kernels *bf16 = layer->products != NULL ? aq_conv_kernels_bf16() : NULL;
    plan.is_bf16 = bf16 != NULL && (!of_weights || bf16->weights != NULL) &&
                   aq_products_rounds(pixels, plan.of.filters, plan.patch);
    plan.kernels = plan.is_bf16 ? bf16 : aq_conv_kernels_best();
    (void)lay_out(&plan, layer->scratch);
    return plan;
}

static size_t value_bytes(const conv_plan *plan)
{
    return plan->is_bf16 ? sizeof(uint16_t) : sizeof(float);
}

/* Of so many values side by side. */
static uint32_t words_of(const conv_plan *plan, uint32_t values)
{
    return plan->is_bf16 ? (values + 1) / 2 : values;
}

/* ---- operands ------------------------------------------------------------------------------- */

/* Word `word` of every column of a matrix, from `line`, into panels of `words` of them. */
static void lay_line(const conv_plan *plan, const uint32_t *line, uint32_t columns, size_t words,
                     size_t word, uint32_t *panels)
{
    const uint32_t lanes = plan->kernels->lanes, all = whole(columns, lanes);
    for (uint32_t column = 0; column < all; column += 2 * lanes) {
        const uint32_t width = all - column < 2 * lanes ? all - column : 2 * lanes;
        memcpy(panels + column * words + word * width, line + column, width * sizeof(*line));
    }
}

/* Panels of the weights as forward takes them, a column for each filter. */
static void pack_weights(const conv_plan *plan, const float *weight)
{
    const uint32_t run = plan->of.kernel * plan->of.channels, run_words = words_of(plan, run);
    const uint32_t filters = plan->of.filters, all = whole(filters, plan->kernels->lanes);
    const size_t words = (size_t)plan->of.kernel * run_words;
    const uint32_t *from = (const uint32_t *)(const void *)weight;
    if (plan->is_bf16) {
        uint16_t *to = plan->words;
        memset(to, 0, filters * words * sizeof(uint32_t));
        for (uint32_t r = 0; r < filters * plan->of.kernel; r++) {
            plan->kernels->round(weight + (size_t)r * run, run, to + (size_t)r * run_words * 2);
        }
        from = plan->words;
    }
    memset(plan->line, 0, all * sizeof(*plan->line));
    for (size_t word = 0; word < words; word++) {
        for (uint32_t f = 0; f < filters; f++) {
            plan->line[f] = from[f * words + word];
        }
        lay_line(plan, plan->line, filters, words, word, plan->panels);
    }
}

/* The image with zeros around it, which stay there. */
static const float *padded_image(const conv_plan *plan, const float *x)
{
    const aq_conv_shape *of = &plan->of;
    const size_t row = (size_t)of->width * of->channels;
    if (of->padding == 0) {
        return x;
    }
    for (uint32_t y = 0; y < of->height; y++) {
        memcpy(plan->image + ((size_t)(y + of->padding) * plan->width + of->padding) * of->channels,
               x + y * row, row * sizeof(*x));
    }
    return plan->image;
}

static size_t image_values(const conv_plan *plan)
{
    return (size_t)plan->height * plan->width * plan->of.channels;
}

static void clear_padding(const conv_plan *plan)
{
    if (plan->of.padding > 0) {
        memset(plan->image, 0, image_values(plan) * sizeof(*plan->image));
    }
}

/* ---- forward -------------------------------------------------------------------------------- */

/* The patches of an image, of values or of words of so many bytes. */
static aq_patches image_patches(const conv_plan *plan, const void *image, size_t bytes)
{
    const aq_conv_shape *of = &plan->of;
    const size_t row = (size_t)plan->width * of->channels * bytes;
    return (aq_patches){.first = image,
                        .rows = plan->out_height,
                        .columns = plan->out_width,
                        .row = of->stride * row,
                        .column = of->stride * of->channels * bytes,
                        .runs = of->kernel,
                        .run_words = words_of(plan, of->kernel * of->channels),
                        .run = row};
}

static void forward(const aq_train_layer *layer, uint32_t rows)
{
    const conv_plan plan = prepare(layer, rows, false);
    const size_t pixels = (size_t)plan.out_height * plan.out_width;
    pack_weights(&plan, layer->weight);
    clear_padding(&plan);
    memset((char *)plan.packed + image_values(&plan) * sizeof(uint16_t), 0, SLACK_BYTES);
    for (uint32_t r = 0; r < rows; r++) {
        const void *image = padded_image(&plan, layer->x[0] + (size_t)r * layer->spec->inputs);
        float *out = layer->out + (size_t)r * layer->spec->outputs;
        if (plan.is_bf16) {
            plan.kernels->round(image, image_values(&plan), plan.packed);
            image = plan.packed;
        }
        plan.kernels->product(
            &(aq_conv_product){.patches = image_patches(&plan, image, value_bytes(&plan)),
                               .panels = plan.panels,
                               .width = plan.of.filters,
                               .c = out,
                               .c_row = (size_t)plan.out_width * plan.of.filters,
                               .c_column = plan.of.filters});
        aq_passes_best()->bias_activate(out, layer->bias, pixels, plan.of.filters, plan.of.filters,
                                        layer->spec->activation);
    }
}

/* ---- the gradient of weights ---------------------------------------------------------------- */

/* dY of an image, each pixel in whole vectors; in bf16 two of a row side by side. */
static const uint32_t *packed_d(const conv_plan *plan, const float *d)
{
    const uint32_t filters = plan->of.filters, all = whole(filters, plan->kernels->lanes);
    uint32_t *to = plan->d;
    if (!plan->is_bf16 && all == filters) {
        return (const uint32_t *)(const void *)d;
    }
    for (uint32_t y = 0; y < plan->out_height; y++) {
        for (uint32_t x = 0; x < plan->out_width; d += filters, to += all) {
            if (plan->is_bf16) {
                const bool has_other = x + 1 < plan->out_width;
                plan->kernels->pair(d, has_other ? d + filters : NULL, filters, to);
                d += has_other ? filters : 0;
                x += 2;
            } else {
                memcpy(to, d, filters * sizeof(*d));
                x++;
            }
            memset(to + filters, 0, (all - filters) * sizeof(*to));
        }
    }
    return plan->d;
}

/* The image as words, of which a patch has one for each of its values. */
static aq_patches weight_patches(const conv_plan *plan, const float *image)
{
    const uint32_t apart = plan->of.stride * plan->of.channels;
    const size_t values = image_values(plan), both = values > apart ? values - apart : 0;
    const void *words = image;
    if (plan->is_bf16) {
        uint32_t *to = plan->packed;
        plan->kernels->pair(image, image + apart, both, to);
        plan->kernels->pair(image + both, NULL, values - both, to + both);
        words = to;
    }
    aq_patches patches = image_patches(plan, words, sizeof(uint32_t));
    patches.run_words = plan->of.kernel * plan->of.channels;
    if (plan->is_bf16) {
        patches.column *= 2;
        patches.columns = (plan->out_width + 1) / 2;
    }
    return patches;
}

static void lay_back_sums(const conv_plan *plan, float *weight)
{
    const uint32_t lanes = plan->kernels->lanes, filters = plan->of.filters;
    const uint32_t all = whole(filters, lanes);
    for (uint32_t column = 0; column < filters; column += 2 * lanes) {
        const uint32_t width = all - column < 2 * lanes ? all - column : 2 * lanes;
        const float *panel = plan->sums + (size_t)column * plan->patch;
        for (uint32_t f = column; f < filters && f < column + width; f++) {
            for (uint32_t k = 0; k < plan->patch; k++) {
                weight[(size_t)f * plan->patch + k] = panel[(size_t)k * width + (f - column)];
            }
        }
    }
}

static void backward_weights(const conv_plan *plan, const aq_train_layer *layer,
                             const aq_train_gradient *gradient)
{
    const size_t all = whole(plan->of.filters, plan->kernels->lanes);
    memset(plan->sums, 0, plan->patch * all * sizeof(*plan->sums));
    clear_padding(plan);
    for (uint32_t r = 0; r < gradient->counted_rows; r++) {
        const float *x = layer->x[0] + (size_t)r * layer->spec->inputs;
        plan->kernels->weights(
            &(aq_conv_weights){.patches = weight_patches(plan, padded_image(plan, x)),
                               .d = packed_d(plan, gradient->d + (size_t)r * layer->spec->outputs),
                               .width = plan->of.filters,
                               .sums = plan->sums});
    }
    lay_back_sums(plan, gradient->weight);
}

/* ---- the gradient of the input -------------------------------------------------------------- */

/* The pixels of the input that have a remainder, along one side. */
typedef struct side {
    uint32_t remainder, taps; /* positions of the kernel that meet them */
    uint32_t first, count;    /* of them, in steps of the stride, padding counted */
} side;

static side side_of(const conv_plan *plan, uint32_t remainder, uint32_t length)
{
    const uint32_t stride = plan->of.stride, padding = plan->of.padding;
    const uint32_t last = padding + length - 1;
    side at = {.remainder = remainder};
    at.taps = plan->of.kernel > remainder ? (plan->of.kernel - remainder + stride - 1) / stride : 0;
    at.first = padding > remainder ? (padding - remainder + stride - 1) / stride : 0;
    at.count = last >= remainder ? (last - remainder) / stride + 1 : 0;
    at.count = at.count > at.first ? at.count - at.first : 0;
    return at;
}

/* Weights (channels) of value `index` of a run over dY. */
static const float *tap(const conv_plan *plan, const float *weight, const side *columns, uint32_t i,
                        uint32_t index)
{
    const uint32_t f = index % plan->of.filters;
    const uint32_t t = columns->taps - 1 - index / plan->of.filters;
    const uint32_t j = columns->remainder + plan->of.stride * t;
    return weight + (size_t)f * plan->patch + ((size_t)i * plan->of.kernel + j) * plan->of.channels;
}

/* A phase's panels: a column for each channel. */
static void pack_phase(const conv_plan *plan, const float *weight, const side *rows,
                       const side *columns, uint32_t *panels)
{
    const uint32_t channels = plan->of.channels, run = columns->taps * plan->of.filters;
    const uint32_t run_words = words_of(plan, run), step = plan->is_bf16 ? 2 : 1;
    const size_t words = (size_t)rows->taps * run_words;
    memset(plan->line, 0, whole(channels, LANES_MAX) * sizeof(*plan->line));
    for (uint32_t u = 0; u < rows->taps; u++) {
        const uint32_t i = rows->remainder + plan->of.stride * (rows->taps - 1 - u);
        for (uint32_t w = 0; w < run_words; w++) {
            const uint32_t at = step * w;
            const float *low = tap(plan, weight, columns, i, at);
            if (plan->is_bf16) {
                const bool has_other = at + 1 < run;
                plan->kernels->pair(low, has_other ? tap(plan, weight, columns, i, at + 1) : NULL,
                                    channels, plan->line);
            } else {
                memcpy(plan->line, low, channels * sizeof(*low));
            }
            lay_line(plan, plan->line, channels, words, (size_t)u * run_words + w, panels);
        }
    }
}

static void put_in_border(const conv_plan *plan, const float *d)
{
    const size_t row = (size_t)plan->out_width * plan->of.filters;
    for (uint32_t y = 0; y < plan->out_height; y++, d += row) {
        const size_t at =
            ((size_t)(y + plan->border) * plan->d_width + plan->border) * plan->of.filters;
        if (plan->is_bf16) {
            plan->kernels->round(d, row, (uint16_t *)plan->d + at);
        } else {
            memcpy((float *)plan->d + at, d, row * sizeof(*d));
        }
    }
}

/* The pixels of one phase, over all images' panels. */
static void run_phase(const conv_plan *plan, const side *rows, const side *columns,
                      const uint32_t *panels, float *d_x)
{
    const aq_conv_shape *of = &plan->of;
    const size_t pixel = of->filters * value_bytes(plan), row = plan->d_width * pixel;
    const size_t top = rows->first + plan->border + 1 - rows->taps;
    const size_t left = columns->first + plan->border + 1 - columns->taps;
    const uint32_t y = of->stride * rows->first + rows->remainder - of->padding;
    const uint32_t x = of->stride * columns->first + columns->remainder - of->padding;
    const bool is_met = rows->taps > 0 && columns->taps > 0;
    plan->kernels->product(&(aq_conv_product){
        .patches = {.first = (const char *)plan->d + (is_met ? top * row + left * pixel : 0),
                    .rows = rows->count,
                    .columns = columns->count,
                    .row = row,
                    .column = pixel,
                    .runs = is_met ? rows->taps : 0,
                    .run_words = words_of(plan, columns->taps * of->filters),
                    .run = row},
        .panels = panels,
        .width = of->channels,
        .c = d_x + ((size_t)y * of->width + x) * of->channels,
        .c_row = (size_t)of->stride * of->width * of->channels,
        .c_column = (size_t)of->stride * of->channels});
}

static void backward_input(const conv_plan *plan, const aq_train_layer *layer,
                           const aq_train_gradient *gradient, uint32_t rows)
{
    const uint32_t stride = plan->of.stride;
    memset(plan->d, 0,
           (size_t)plan->d_height * plan->d_width * plan->of.filters * value_bytes(plan) +
               SLACK_BYTES);
    for (uint32_t r = 0; r < rows; r++) {
        uint32_t *panels = plan->panels;
        put_in_border(plan, gradient->d + (size_t)r * layer->spec->outputs);
        for (uint32_t phase = 0; phase < stride * stride; phase++) {
            const side down = side_of(plan, phase / stride, plan->of.height);
            const side across = side_of(plan, phase % stride, plan->of.width);
            if (down.count == 0 || across.count == 0) {
                continue;
            }
            if (r == 0 && down.taps > 0 && across.taps > 0) {
                pack_phase(plan, layer->weight, &down, &across, panels);
            }
            run_phase(plan, &down, &across, panels,
                      gradient->d_x[0] + (size_t)r * layer->spec->inputs);
            panels += (size_t)down.taps * words_of(plan, across.taps * plan->of.filters) *
                      whole(plan->of.channels, plan->kernels->lanes);
        }
    }
}

static void backward(const aq_train_layer *layer, const aq_train_gradient *gradient, uint32_t rows)
{
    const conv_plan of_weights = prepare(layer, rows, true);
    aq_train_activation_backward(layer, gradient, rows);
    backward_weights(&of_weights, layer, gradient);
    if (gradient->wants_d_x[0]) {
        const conv_plan of_input = prepare(layer, rows, false);
        backward_input(&of_input, layer, gradient, rows);
    }
}

const aq_train_kind aq_train_conv2d = {
    .scratch_bytes = scratch_bytes, .forward = forward, .backward = backward};
