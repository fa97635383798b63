/*
 * gru: unit by unit, each of which writes its own place of the state. What the state says is in
 * levels by then.
 */
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char text[] =
    "\n"
    "@_APART\n"
    "static float @_gate(const float *value)\n"
    "{\n"
    "    float half = 0.5f * *value;\n"
    "    @_tanh(&half, 1);\n"
    "    return 0.5f * half + 0.5f;\n"
    "}\n"
    "\n"
    "/* state[columns] becomes what it is after this step, and so does y. */\n"
    "@_APART\n"
    "static void @_gru(const @_matrix *matrix, const int16_t *levels, float input_scale,\n"
    "                  const float *x, float *state, float *y)\n"
    "{\n"
    "    const uint32_t width = matrix->columns;\n"
    "    for (uint32_t unit = 0; unit < width; unit++) {\n"
    "        float said[3];\n"
    "        for (uint32_t gate = 0; gate < 3; gate++) {\n"
    "            said[gate] = @_output(matrix, gate * width + unit, levels, input_scale);\n"
    "        }\n"
    "        const float r = said[0] + x[unit];\n"
    "        const float z = said[1] + x[width + unit];\n"
    "        float n = @_gate(&r) * said[2];\n"
    "        n = x[2 * width + unit] + n;\n"
    "        @_tanh(&n, 1);\n"
    "        const float mixed = @_gate(&z) * (state[unit] - n);\n"
    "        y[unit] = n + mixed;\n"
    "        state[unit] = y[unit];\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_gru(&@_layer%u, levels, scale, %s, %s, %s);\n", layer->index,
                    layer->x[1], layer->x[0], layer->y);
}

const aq_export_kind aq_export_gru = {
    .text = text,
    .needs = AQ_PIECE(MATRIX) | AQ_PIECE(TANH),
    .after = AQ_PIECE_TANH,
    .call = call,
};
