/*
 * conv2d: patch by patch, in integers.
 */
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char text[] =
    "\n"
    "/* Images are [height][width][channels], filters [kernel][kernel][channels]. */\n"
    "typedef struct {\n"
    "    uint32_t height, width, channels;\n"
    "    uint32_t kernel, stride, padding;\n"
    "    uint32_t out_height, out_width;\n"
    "} @_image;\n"
    "\n"
    "/* One filter whose upper left corner is at (top, left), which may be outside the image. */\n"
    "static int32_t @_filter(const @_matrix *matrix, const @_image *image, const int8_t *weights,\n"
    "                        const int16_t *levels, int32_t top, int32_t left)\n"
    "{\n"
    "    int32_t sum = 0;\n"
    "    for (int32_t i = 0; i < (int32_t)image->kernel; i++) {\n"
    "        if (top + i < 0 || top + i >= (int32_t)image->height) {\n"
    "            continue;\n"
    "        }\n"
    "        for (int32_t j = 0; j < (int32_t)image->kernel; j++) {\n"
    "            if (left + j < 0 || left + j >= (int32_t)image->width) {\n"
    "                continue;\n"
    "            }\n"
    "            const size_t pixel = (size_t)(top + i) * image->width + (size_t)(left + j);\n"
    "            const int16_t *level = levels + pixel * image->channels;\n"
    "            const int8_t *weight =\n"
    "                weights + ((size_t)i * image->kernel + (size_t)j) * image->channels;\n"
    "            for (uint32_t c = 0; c < image->channels; c++) {\n"
    "                sum += (int32_t)level[c] * ((int32_t)weight[c] - matrix->weight_zero);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static void @_conv2d(const @_matrix *matrix, const @_image *image, const int16_t *levels,\n"
    "                     float input_scale, float *y)\n"
    "{\n"
    "    for (uint32_t row = 0; row < image->out_height; row++) {\n"
    "        const int32_t top = (int32_t)(row * image->stride) - (int32_t)image->padding;\n"
    "        for (uint32_t column = 0; column < image->out_width; column++) {\n"
    "            const int32_t left =\n"
    "                (int32_t)(column * image->stride) - (int32_t)image->padding;\n"
    "            for (uint32_t filter = 0; filter < matrix->rows; filter++) {\n"
    "                const int8_t *weights = matrix->weights + (size_t)filter * matrix->columns;\n"
    "                const int32_t sum = @_filter(matrix, image, weights, levels, top, left);\n"
    "                *y++ = @_finish(matrix, filter, input_scale, sum);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";
/* clang-format on */

static int put_image(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_conv_shape *conv = &layer->spec->conv;
    to->constants_bytes += 8 * AQ_EXPORT_WORD_BYTES;
    aq_export_print(
        to, "\nstatic const @_image @_image%u = {\n    %u, %u, %u, %u, %u, %u, %u, %u,\n};\n",
        layer->index, conv->height, conv->width, conv->channels, conv->kernel, conv->stride,
        conv->padding, aq_conv_out_height(conv), aq_conv_out_width(conv));
    return 0;
}

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_conv2d(&@_layer%u, &@_image%u, levels, scale, %s);\n", layer->index,
                    layer->index, layer->y);
}

const aq_export_kind aq_export_conv2d = {
    .text = text,
    .needs = AQ_PIECE(MATRIX),
    .after = AQ_PIECE_MATRIX,
    .has_relu = true,
    .put_constants = put_image,
    .call = call,
};
