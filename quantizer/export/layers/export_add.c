/*
 * add: in floats.
 */
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char text[] =
    "\n"
    "static void @_add(const float *a, const float *b, uint32_t width, float *y)\n"
    "{\n"
    "    for (uint32_t i = 0; i < width; i++) {\n"
    "        y[i] = a[i] + b[i];\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_add(%s, %s, %u, %s);\n", layer->x[0], layer->x[1],
                    layer->spec->outputs, layer->y);
}

const aq_export_kind aq_export_add = {.text = text, .after = AQ_PIECE_LANES, .call = call};
