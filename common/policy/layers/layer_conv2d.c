/*
 * conv2d: y[pixel][filter] = sum over a patch of W[filter] x + b[filter]; zeros beyond the image.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/policy/layer_kind.h"

/* Pixels along one side of the output; 0 where the kernel does not fit. */
static uint32_t out_side(uint32_t side, const aq_conv_shape *shape)
{
    const uint64_t padded = (uint64_t)side + 2 * (uint64_t)shape->padding;
    if (shape->kernel == 0 || shape->stride == 0 || padded < shape->kernel) {
        return 0;
    }
    const uint64_t pixels = (padded - shape->kernel) / shape->stride + 1;
    return pixels > UINT32_MAX ? UINT32_MAX : (uint32_t)pixels;
}

uint32_t aq_conv_out_height(const aq_conv_shape *shape)
{
    return out_side(shape->height, shape);
}

uint32_t aq_conv_out_width(const aq_conv_shape *shape)
{
    return out_side(shape->width, shape);
}

aq_layer_spec aq_layer_conv2d(const aq_conv_shape *shape, enum aq_activation activation)
{
    return (aq_layer_spec){
        .kind = AQ_LAYER_CONV2D,
        .inputs = aq_layer_volume(shape->height, shape->width, shape->channels),
        .outputs =
            aq_layer_volume(aq_conv_out_height(shape), aq_conv_out_width(shape), shape->filters),
        .activation = activation,
        .conv = *shape,
    };
}

int aq_layer_check_patches(const aq_layer_spec *layer, const aq_layer_spec *made, uint32_t index,
                           aq_error *error)
{
    const aq_conv_shape *shape = &layer->conv;
    int rc = aq_layer_check_ends(layer, NULL, AQ_NET_IMAGE_MAX, index, error);
    if (rc == 0) {
        rc = aq_layer_check_size(shape->filters, AQ_NET_WIDTH_MAX, index, "number of filters",
                                 error);
    }
    if (rc == 0) {
        rc = aq_layer_check_size(aq_layer_volume(shape->kernel, shape->kernel, shape->channels),
                                 AQ_NET_WIDTH_MAX, index, "patch", error);
    }
    if (rc == 0) {
        rc = aq_layer_check_size(shape->stride, AQ_NET_WIDTH_MAX, index, "stride", error);
    }
    if (rc == 0 && shape->padding >= shape->kernel) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "layer %u: a padding of %u for a kernel of %u; it must be less", index,
                     shape->padding, shape->kernel);
    }
    return rc != 0 ? rc : aq_layer_check_ends(layer, made, AQ_NET_IMAGE_MAX, index, error);
}

static int check(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_conv2d(&layer->conv, AQ_ACTIVATION_NONE);
    return aq_layer_check_patches(layer, &made, index, error);
}

static void text(const aq_layer_spec *layer, char *out, size_t size)
{
    (void)snprintf(out, size, "conv%" PRIu32 "/%" PRIu32 "x%" PRIu32, layer->conv.kernel,
                   layer->conv.stride, layer->conv.filters);
}

static aq_layer_matrix_shape matrix(const aq_layer_spec *layer)
{
    const aq_conv_shape *shape = &layer->conv;
    return (aq_layer_matrix_shape){shape->filters, shape->kernel * shape->kernel * shape->channels};
}

/* One filter at one pixel; (top, left) is the patch's corner, beyond the image where padded. */
static double convolve(const aq_conv_shape *conv, const float *w, const float *x, int64_t top,
                       int64_t left)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < conv->kernel; i++) {
        for (uint32_t j = 0; j < conv->kernel; j++) {
            const int64_t row = top + i;
            const int64_t column = left + j;
            if (row < 0 || row >= conv->height || column < 0 || column >= conv->width) {
                continue;
            }
            const float *pixel = x + (size_t)(row * conv->width + column) * conv->channels;
            const float *weight = w + ((size_t)i * conv->kernel + j) * conv->channels;
            for (uint32_t c = 0; c < conv->channels; c++) {
                sum += (double)weight[c] * (double)pixel[c];
            }
        }
    }
    return sum;
}

static void forward(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y)
{
    const aq_conv_shape *conv = &layer->conv;
    const size_t columns = matrix(layer).columns;
    const uint32_t width = aq_conv_out_width(conv);
    for (uint32_t pixel = 0; pixel < width * aq_conv_out_height(conv); pixel++) {
        const int64_t top = (int64_t)(pixel / width) * conv->stride - conv->padding;
        const int64_t left = (int64_t)(pixel % width) * conv->stride - conv->padding;
        for (uint32_t filter = 0; filter < conv->filters; filter++) {
            const double sum = convolve(conv, weight + filter * columns, x[0], top, left);
            y[(size_t)pixel * conv->filters + filter] = (float)(sum + (double)bias[filter]);
        }
    }
}

const aq_layer_kind aq_layer_kind_conv2d = {
    .name = "conv2d",
    .shape_words = sizeof(aq_conv_shape) / sizeof(uint32_t),
    .is_quantizable = true,
    .takes_image = true,
    .check = check,
    .text = text,
    .matrix = matrix,
    .forward = forward,
};
