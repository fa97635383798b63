/*
 * 2-D convolution as a matrix product: the patches of an image are laid out as rows, a block of
 * them at a time, and the linear kernel of the layer's format does the rest. An image is quantized
 * as a whole, once, so a value is the same level in each patch it is in; and beyond the edge lies
 * the level that stands for 0.
 *
 * An image is (height, width, channels), so a patch is `kernel` pieces of an image's rows, each of
 * them in one piece.
 */
#include <string.h>

#include "quantizer/engine/engine_layer.h"

static size_t round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

static size_t value_bytes(const aq_engine_layer *layer)
{
    return layer->matrix.kernel->quantizes_input ? sizeof(uint8_t) : sizeof(float);
}

/* The kernels want rows of levels padded; rows of floats as much keeps them on cache lines. */
static size_t patch_bytes_of(const aq_engine_layer *layer)
{
    return round_up((size_t)layer->matrix.packed.inputs * value_bytes(layer), AQ_QKERNEL_Q_PADDING);
}

/* What an image is made of. A pixel is all its channels. */
typedef struct image_view {
    const aq_conv_shape *shape;
    const unsigned char *pixels;
    size_t pixel_bytes;
    int outside; /* every byte of a pixel beyond the edge */
} image_view;

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
static void run_image(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                      const image_view *image, const aq_row_quant *quant, float *y)
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
            for (uint32_t i = 0; i < count; i++) {
                scratch->quant[i] = *quant;
            }
            aq_engine_set_offsets(layer, input.q, input.q_stride, count, scratch->quant);
        }
        layer->matrix.kernel->run(&layer->matrix.packed, &input, y + (size_t)first * filters,
                                  filters);
    }
}

static int init(aq_engine_layer *layer)
{
    return aq_engine_matrix_init(layer, layer->spec->activation);
}

static aq_engine_need need(const aq_engine_layer *layer, size_t rows_max)
{
    aq_engine_need whole = {.room_bytes = AQ_ENGINE_BLOCK * patch_bytes_of(layer)};
    (void)rows_max;
    if (layer->matrix.kernel->quantizes_input) {
        whole.q_row_bytes = layer->spec->inputs;
        whole.q_rows = 1;
    }
    return whole;
}

static void run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y)
{
    const aq_layer_spec *spec = layer->spec;
    for (size_t row = 0; row < y->rows; row++) {
        const aq_const_rows in = {x->values + row * x->stride, x->stride};
        aq_row_quant quant = {0};
        image_view image = {
            .shape = &spec->conv,
            .pixels = (const unsigned char *)in.values,
            .pixel_bytes = spec->conv.channels * value_bytes(layer),
        };
        if (layer->matrix.kernel->quantizes_input) {
            aq_engine_quantize(layer, scratch, &in, 1, spec->inputs);
            quant = scratch->quant[0];
            image.pixels = scratch->q;
            image.outside = quant.zero_point;
        }
        run_image(layer, scratch, &image, &quant, y->values + row * y->stride);
    }
    aq_engine_activate(layer, y);
}

const aq_engine_kind aq_engine_conv2d = {.init = init, .need = need, .run = run};
