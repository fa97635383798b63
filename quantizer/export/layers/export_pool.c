/*
 * pool: in floats, value by value.
 */
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char text[] =
    "\n"
    "/* The greatest of each channel's values in a patch, of images [height][width][channels]. */\n"
    "typedef struct {\n"
    "    int32_t height, width, channels, kernel, stride, padding, out_height, out_width;\n"
    "} @_patches;\n"
    "\n"
    "static float @_peak(const float *x, const @_patches *of, int32_t top, int32_t left)\n"
    "{\n"
    "    int first = 1;\n"
    "    float most = 0.0f;\n"
    "    for (int32_t i = top < 0 ? 0 : top; i < top + of->kernel && i < of->height; i++) {\n"
    "        for (int32_t j = left < 0 ? 0 : left; j < left + of->kernel && j < of->width; j++) {\n"
    "            const float value = x[(i * of->width + j) * of->channels];\n"
    "            most = first || value > most ? value : most;\n"
    "            first = 0;\n"
    "        }\n"
    "    }\n"
    "    return most;\n"
    "}\n"
    "\n"
    "static void @_pool(const float *x, const @_patches *of, float *y)\n"
    "{\n"
    "    for (int32_t i = 0; i < of->out_height; i++) {\n"
    "        for (int32_t j = 0; j < of->out_width; j++) {\n"
    "            for (int32_t c = 0; c < of->channels; c++) {\n"
    "                *y++ = @_peak(x + c, of, i * of->stride - of->padding,\n"
    "                              j * of->stride - of->padding);\n"
    "            }\n"
    "        }\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void put_patches(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_layer_put_image(layer, "patches", to);
}

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_pool(%s, &@_patches%u, %s);\n", layer->x[0], layer->index, layer->y);
}

const aq_export_kind aq_export_pool = {
    .text = text, .after = AQ_PIECE_LANES, .put_constants = put_patches, .call = call};
