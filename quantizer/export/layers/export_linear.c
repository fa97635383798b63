/*
 * linear: sums of products in integers; and in floats, where the weights are fp32, bf16 or fp16,
 * which actors widen, too, before they multiply.
 */
#include "common/base/memory.h"
#include "quantizer/export/export_layer.h"
#include "quantizer/kernels/qkernels.h"

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

/* clang-format off */
static const char float_text[] =
    "\n"
    "/* a * b + c, rounded once. Without an instruction for it, the product is exact in double,\n"
    " * and the sum is rounded to odd there: where it is off and even, it becomes its neighbour\n"
    " * on that side. */\n"
    "#if defined(__FP_FAST_FMAF)\n"
    "#define @_FUSED __builtin_fmaf\n"
    "#else\n"
    "#define @_FUSED @_fused\n"
    "@_APART\n"
    "static float @_fused(float a, float b, float c)\n"
    "{\n"
    "    const double product = (double)a * (double)b;\n"
    "    const double total = product + (double)c;\n"
    "    const double added = total - product;\n"
    "    const double error = (product - (total - added)) + ((double)c - added);\n"
    "    double odd;\n"
    "    uint64_t bits;\n"
    "    memcpy(&bits, &total, sizeof(bits));\n"
    "    if ((error > 0.0 || error < 0.0) && (bits & 1) == 0) {\n"
    "        bits += (error > 0.0) == (total > 0.0) ? 1 : (uint64_t)-1;\n"
    "    }\n"
    "    memcpy(&odd, &bits, sizeof(odd));\n"
    "    return (float)odd;\n"
    "}\n"
    "#endif\n"
    "\n"
    "/* weights[rows][columns]. A sum is made of 1, 2 or 4 chains, as the actors' is. */\n"
    "@_APART\n"
    "static void @_linear_float(const float *x, uint32_t rows, uint32_t columns, uint32_t chains,\n"
    "                           const float *weights, const float *bias, int relu, float *y)\n"
    "{\n"
    "    const uint32_t whole = columns / chains * chains;\n"
    "    for (uint32_t row = 0; row < rows; row++, weights += columns) {\n"
    "        float sums[4] = {0};\n"
    "        for (uint32_t i = 0; i < columns; i++) {\n"
    "            float *sum = &sums[i < whole ? i % chains : 0];\n"
    "            *sum = @_FUSED(x[i], weights[i], *sum);\n"
    "        }\n"
    "        float value = chains == 1 ? sums[0] : sums[0] + sums[1];\n"
    "        value = chains == 4 ? value + (sums[2] + sums[3]) : value;\n"
    "        value = value + bias[row];\n"
    "        y[row] = relu && value < 0.0f ? 0.0f : value;\n"
    "    }\n"
    "}\n";
/* clang-format on */

static int put_floats(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_layer_spec *spec = layer->spec;
    const size_t count = (size_t)spec->outputs * spec->inputs;
    float *weights = aq_alloc(count, sizeof(*weights));
    if (weights == NULL) {
        return AQ_E_NOMEM;
    }
    aq_snapshot_layer_weights(layer->snapshot, layer->index, weights);
    aq_export_floats(to, "weights", layer->index, weights, count);
    aq_export_floats(to, "bias", layer->index, layer->stored->bias, spec->outputs);
    aq_free(weights);
    return 0;
}

static void call_in_floats(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_layer_spec *spec = layer->spec;
    aq_export_print(to, "    @_linear_float(%s, %u, %u, %u, @_weights%u, @_bias%u, %d, %s);\n",
                    layer->x[0], spec->outputs, spec->inputs,
                    aq_float_chains(spec->inputs, spec->outputs), layer->index, layer->index,
                    spec->activation == AQ_ACTIVATION_RELU, layer->y);
}

static const aq_export_kind in_floats = {
    .text = float_text,
    .needs = AQ_PIECE(DOUBLE),
    .after = AQ_PIECE_DOUBLE,
    .has_relu = true,
    .put_constants = put_floats,
    .call = call_in_floats,
};

const aq_export_kind aq_export_linear = {
    .text = text,
    .needs = AQ_PIECE(MATRIX),
    .after = AQ_PIECE_MATRIX,
    .has_relu = true,
    .in_floats = &in_floats,
    .call = call,
};
