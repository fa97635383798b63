/*
 * conv2d: patch by patch, each laid out as a row.
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
    "/* What a filter meets whose upper left corner is at (top, left), which may be outside the\n"
    " * image, where all is 0. */\n"
    "static void @_lay_out(const @_image *image, const int16_t *levels, int32_t top,\n"
    "                      int32_t left, int16_t *patch)\n"
    "{\n"
    "    const size_t bytes = image->channels * sizeof(*patch);\n"
    "    for (int32_t i = top; i < top + (int32_t)image->kernel; i++) {\n"
    "        const int is_row = i >= 0 && i < (int32_t)image->height;\n"
    "        for (int32_t j = left; j < left + (int32_t)image->kernel; j++) {\n"
    "            if (is_row && j >= 0 && j < (int32_t)image->width) {\n"
    "                const size_t pixel = (size_t)i * image->width + (size_t)j;\n"
    "                memcpy(patch, levels + pixel * image->channels, bytes);\n"
    "            } else {\n"
    "                memset(patch, 0, bytes);\n"
    "            }\n"
    "            patch += image->channels;\n"
    "        }\n"
    "    }\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static void @_conv2d(const @_matrix *matrix, const @_image *image, const int16_t *levels,\n"
    "                     float input_scale, int16_t *patch, float *y)\n"
    "{\n"
    "    for (uint32_t row = 0; row < image->out_height; row++) {\n"
    "        const int32_t top = (int32_t)(row * image->stride) - (int32_t)image->padding;\n"
    "        for (uint32_t column = 0; column < image->out_width; column++) {\n"
    "            const int32_t left =\n"
    "                (int32_t)(column * image->stride) - (int32_t)image->padding;\n"
    "            @_lay_out(image, levels, top, left, patch);\n"
    "            for (uint32_t filter = 0; filter < matrix->rows; filter++) {\n"
    "                *y++ = @_output(matrix, filter, patch, input_scale);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void put_image(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_layer_put_image(layer, "image", to);
}

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_conv2d(&@_layer%u, &@_image%u, levels, scale, patch, %s);\n",
                    layer->index, layer->index, layer->y);
}

const aq_export_kind aq_export_conv2d = {
    .text = text,
    .needs = AQ_PIECE(MATRIX),
    .after = AQ_PIECE_MATRIX,
    .has_relu = true,
    .has_patches = true,
    .put_constants = put_image,
    .call = call,
};
