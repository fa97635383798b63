/*
 * linear: sums of products in integers.
 */
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char text[] =
    "\n"
    "@_APART\n"
    "static void @_linear(const @_matrix *matrix, const int16_t *levels, float input_scale,\n"
    "                     float *y)\n"
    "{\n"
    "    int32_t total = 0;\n"
    "    for (uint32_t i = 0; matrix->weight_zero != 0 && i < matrix->columns; i++) {\n"
    "        total += levels[i];\n"
    "    }\n"
    "    for (uint32_t row = 0; row < matrix->rows; row++) {\n"
    "        const int8_t *weights = matrix->weights + (size_t)row * matrix->columns;\n"
    "        int32_t sum = 0;\n"
    "        for (uint32_t i = 0; i < matrix->columns; i++) {\n"
    "            sum += (int32_t)levels[i] * (int32_t)weights[i];\n"
    "        }\n"
    "        y[row] = @_finish(matrix, row, input_scale, sum - matrix->weight_zero * total);\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_linear(&@_layer%u, levels, scale, %s);\n", layer->index, layer->y);
}

const aq_export_kind aq_export_linear = {
    .text = text,
    .needs = AQ_PIECE(MATRIX),
    .after = AQ_PIECE_MATRIX,
    .has_relu = true,
    .call = call,
};
