/*
 * 2-D convolution as a matrix product, which the linear kernel of the layer's format computes. An
 * image is quantized as a whole, once, so a value is the same level in each patch it is in; and
 * beyond the edge lies the level that stands for 0.
 *
 * An image is (height, width, channels), so a patch is `kernel` pieces of an image's rows. A kernel
 * that takes rows in pieces reads the patches where they lie, and those of one row of the output
 * are equally far apart. For the others, patches are laid out as rows, a block of them at a time.
 */
#include <string.h>

#include "common/base/memory.h"
#include "quantizer/engine/engine_layer.h"

enum { BYTES = 256 }; /* values of one */

static size_t value_bytes(const aq_engine_layer *layer)
{
    return layer->matrix.kernel->quantizes_input ? sizeof(uint8_t) : sizeof(float);
}

/* The kernels want rows of levels padded; rows of floats as much keeps them on cache lines. */
static size_t patch_bytes_of(const aq_engine_layer *layer)
{
    return aq_round_up((size_t)layer->matrix.packed.inputs * value_bytes(layer),
                       AQ_QKERNEL_Q_PADDING);
}

/* What an image is made of. A pixel is all its channels. */
typedef struct image_view {
    const aq_conv_shape *shape;
    const unsigned char *pixels;
    size_t pixel_bytes;
    int outside; /* every byte of a pixel beyond the edge */
} image_view;

/* ---- patches where they lie ----------------------------------------------------------------- */

static bool is_in_place(const aq_engine_layer *layer)
{
    return layer->matrix.pieces > 0;
}

/* With its border, and what the last patch's pieces are longer than they say. */
static size_t framed_bytes(const aq_conv_shape *shape)
{
    const size_t border = 2 * (size_t)shape->padding;
    return (shape->height + border) * (shape->width + border) * shape->channels +
           AQ_QKERNEL_Q_PADDING;
}

/* Makes the border part of the image. */
static void put_frame(const image_view *image, unsigned char *framed)
{
    const aq_conv_shape *shape = image->shape;
    const size_t row_bytes = shape->width * image->pixel_bytes;
    const size_t side_bytes = shape->padding * image->pixel_bytes;
    memset(framed, image->outside, framed_bytes(shape));
    framed += shape->padding * (row_bytes + 2 * side_bytes) + side_bytes;
    for (uint32_t i = 0; i < shape->height; i++) {
        memcpy(framed + i * (row_bytes + 2 * side_bytes), image->pixels + i * row_bytes, row_bytes);
    }
}

/* y (patches, filters) of an image that has its border. scratch->quant is the image's. */
static void run_in_place(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                         const unsigned char *pixels, float *y)
{
    const aq_conv_shape *shape = &layer->spec->conv;
    const size_t row_bytes = (shape->width + 2 * (size_t)shape->padding) * shape->channels;
    const aq_kernel_input input = {
        .q = pixels,
        .q_stride = (size_t)shape->stride * shape->channels,
        .pieces = shape->kernel,
        .piece_stride = row_bytes,
        .lines = aq_conv_out_height(shape),
        .line_stride = shape->stride * row_bytes,
        .quant = scratch->quant,
        .rows = aq_conv_out_width(shape),
    };
    layer->matrix.kernel->run(&layer->matrix.packed, &input, y, shape->filters);
}

/* ---- patches laid out ----------------------------------------------------------------------- */

/* The pixels [from, to) of a patch's side that are in the image, for a patch that starts at `start`
 * of `side` pixels. */
typedef struct inner_range {
    uint32_t from, to;
} inner_range;

static inner_range inner_of(int64_t start, uint32_t side, uint32_t kernel)
{
    const int64_t left = (int64_t)side - start;
    const int64_t from = start < 0 ? -start : 0;
    const int64_t to = left < kernel ? left : kernel;
    return from < to ? (inner_range){(uint32_t)from, (uint32_t)to} : (inner_range){0, 0};
}

/* The patch whose corner is at (top, left), without what pads its row. */
static void gather_patch(const image_view *image, int64_t top, int64_t left, unsigned char *patch)
{
    const aq_conv_shape *shape = image->shape;
    const inner_range rows = inner_of(top, shape->height, shape->kernel);
    const inner_range columns = inner_of(left, shape->width, shape->kernel);
    const size_t row_bytes = shape->kernel * image->pixel_bytes;
    const size_t inner_bytes = (columns.to - columns.from) * image->pixel_bytes;

    if (rows.to - rows.from < shape->kernel || columns.to - columns.from < shape->kernel) {
        memset(patch, image->outside, shape->kernel * row_bytes);
    }
    for (uint32_t i = rows.from; i < rows.to && inner_bytes > 0; i++) {
        const size_t at = (size_t)(top + i) * shape->width + (size_t)(left + columns.from);
        memcpy(patch + i * row_bytes + columns.from * image->pixel_bytes,
               image->pixels + at * image->pixel_bytes, inner_bytes);
    }
}

/* Patches `first` to first + count - 1 of an image into rows of `patch_bytes`. */
static void gather(const image_view *image, uint32_t first, uint32_t count, size_t patch_bytes,
                   unsigned char *patches)
{
    const aq_conv_shape *shape = image->shape;
    const uint32_t width = aq_conv_out_width(shape);
    const size_t used = (size_t)shape->kernel * shape->kernel * image->pixel_bytes;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t pixel = first + i;
        unsigned char *patch = patches + i * patch_bytes;
        gather_patch(image, (int64_t)(pixel / width) * shape->stride - shape->padding,
                     (int64_t)(pixel % width) * shape->stride - shape->padding, patch);
        memset(patch + used, image->outside, patch_bytes - used);
    }
}

/* y (patches, filters) of one image. */
static void run_laid_out(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                         const image_view *image, float *y)
{
    const size_t patch_bytes = patch_bytes_of(layer);
    const uint32_t patches = aq_conv_out_height(image->shape) * aq_conv_out_width(image->shape);
    const uint32_t filters = layer->matrix.packed.outputs;
    for (uint32_t first = 0; first < patches; first += AQ_ENGINE_BLOCK) {
        const uint32_t left = patches - first;
        const uint32_t count = left < AQ_ENGINE_BLOCK ? left : AQ_ENGINE_BLOCK;
        const aq_kernel_input input = {
            .x = (const float *)(const void *)scratch->room,
            .x_stride = patch_bytes / sizeof(float),
            .q = scratch->room,
            .q_stride = patch_bytes,
            .quant = scratch->quant,
            .rows = count,
        };
        gather(image, first, count, patch_bytes, scratch->room);
        if (layer->matrix.kernel->quantizes_input) {
            aq_engine_set_offsets(layer, input.q, input.q_stride, count, scratch->quant);
        }
        layer->matrix.kernel->run(&layer->matrix.packed, &input, y + (size_t)first * filters,
                                  filters);
    }
}

/* ---- the layer ------------------------------------------------------------------------------ */

/* Weights with a zero point need the sum of each patch's levels, so the patch itself. */
static int init(aq_engine_layer *layer)
{
    const aq_linear_kernel *kernel =
        aq_qkernels_linear(layer->tables->kernels, layer->stored->format);
    if (kernel->takes_pieces && layer->stored->weight_zero == 0) {
        layer->matrix.pieces = layer->spec->conv.kernel;
        layer->own = aq_alloc(BYTES, sizeof(*layer->own));
        if (layer->own == NULL) {
            return AQ_E_NOMEM;
        }
        for (uint32_t i = 0; i < BYTES; i++) {
            layer->own[i] = (float)i / 255.0f;
        }
    }
    return aq_engine_matrix_init(layer, layer->spec->activation);
}

static aq_engine_need need(const aq_engine_layer *layer, size_t rows_max)
{
    const aq_conv_shape *shape = &layer->spec->conv;
    aq_engine_need whole = {0};
    (void)rows_max;
    if (!is_in_place(layer)) {
        whole.room_bytes = AQ_ENGINE_BLOCK * patch_bytes_of(layer);
    } else if (shape->padding > 0) {
        whole.room_bytes = framed_bytes(shape);
    }
    if (layer->matrix.kernel->quantizes_input) {
        whole.q_row_bytes = layer->spec->inputs < BYTES ? BYTES : layer->spec->inputs;
        whole.q_rows = 1;
    }
    return whole;
}

/* The levels of an image of bytes: those of the values that they stand for, which are quantized as
 * a row of the same range. Most often a level is the byte times a number, rounded. */
static void quantize_bytes(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                           const uint8_t *bytes)
{
    uint8_t every[BYTES], levels[BYTES], scaled[BYTES];
    const aq_float_passes *passes = layer->tables->passes;
    const size_t count = layer->spec->inputs;
    const uint32_t used = passes->greatest_byte(bytes, count) + UINT32_C(1);
    const aq_const_rows in = {.values = layer->own, .stride = used};
    aq_engine_quantize(layer, scratch, &in, 1, used);
    const float factor = 1.0f / (255.0f * scratch->quant[0].scale);
    for (uint32_t i = 0; i < BYTES; i++) {
        every[i] = (uint8_t)i;
    }
    memcpy(levels, scratch->q, used);
    passes->scale_bytes(every, used, factor < 255.0f ? factor : 255.0f, scaled);
    if (memcmp(levels, scaled, used) == 0) {
        passes->scale_bytes(bytes, count, factor < 255.0f ? factor : 255.0f, scratch->q);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        scratch->q[i] = levels[bytes[i]];
    }
}

/* The image's levels, and what they mean, throughout scratch->quant. */
static void quantize_image(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                           const aq_const_rows *x, image_view *image)
{
    if (x->bytes != NULL) {
        quantize_bytes(layer, scratch, x->bytes);
    } else {
        aq_engine_quantize(layer, scratch, x, 1, layer->spec->inputs);
    }
    for (uint32_t i = 1; i < AQ_ENGINE_BLOCK; i++) {
        scratch->quant[i] = scratch->quant[0];
    }
    image->pixels = scratch->q;
    image->outside = scratch->quant[0].zero_point;
}

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    const aq_conv_shape *shape = &layer->spec->conv;
    for (size_t row = 0; row < y->rows; row++) {
        const aq_const_rows in = {
            .values = x->bytes == NULL ? x->values + row * x->stride : NULL,
            .bytes = x->bytes != NULL ? x->bytes + row * x->stride : NULL,
            .stride = x->stride,
        };
        image_view image = {
            .shape = shape,
            .pixels = (const unsigned char *)in.values,
            .pixel_bytes = shape->channels * value_bytes(layer),
        };
        if (layer->matrix.kernel->quantizes_input) {
            quantize_image(layer, scratch, &in, &image);
        }
        if (!is_in_place(layer)) {
            run_laid_out(layer, scratch, &image, y->values + row * y->stride);
            continue;
        }
        if (shape->padding > 0) {
            put_frame(&image, scratch->room);
            image.pixels = scratch->room;
        }
        run_in_place(layer, scratch, image.pixels, y->values + row * y->stride);
    }
    aq_engine_activate(layer, y);
}

const aq_engine_kind aq_engine_conv2d = {
    .init = init, .need = need, .run = run, .takes_bytes = is_in_place};
