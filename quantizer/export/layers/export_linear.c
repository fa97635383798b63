/*
 * linear: products of its format; and sums in floats, where the weights are fp32, or bf16 or fp16,
 * which are widened before they are multiplied, as actors do.
 */
#include "quantizer/export/export_layer.h"
#include "quantizer/kernels/qkernels.h"

/* clang-format off */
static const char text[] =
    "\n"
    "@_APART\n"
    "static void @_linear(const @_matrix *matrix, const int16_t *levels, float input_scale,\n"
    "                     float *y)\n"
    "{\n"
    "    for (uint32_t row = 0; row < matrix->rows; row++) {\n"
    "        y[row] = @_output(matrix, row, levels, input_scale);\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_linear(&@_layer%u, levels, scale, %s);\n", layer->index, layer->y);
}

/* A function for weights of a type, of which `weight` is the float that weights[i] stands for. */
#define IN_FLOATS(name, type, weight)                                                              \
    "\n"                                                                                           \
    "/* weights[rows][columns]. A sum is made of 1, 2 or 4 chains, as the actors' is. */\n"        \
    "@_APART\n"                                                                                    \
    "static void @_linear_" name "(const float *x, uint32_t rows, uint32_t columns,\n"             \
    "    uint32_t chains, const " type " *weights, const float *bias, int relu, float *y)\n"       \
    "{\n"                                                                                          \
    "    const uint32_t whole = columns / chains * chains;\n"                                      \
    "    for (uint32_t row = 0; row < rows; row++, weights += columns) {\n"                        \
    "        float sums[4] = {0};\n"                                                               \
    "        for (uint32_t i = 0; i < columns; i++) {\n"                                           \
    "            float *sum = &sums[i < whole ? i % chains : 0];\n"                                \
    "            *sum = @_FUSED(x[i], " weight ", *sum);\n"                                        \
    "        }\n"                                                                                  \
    "        float value = chains == 1 ? sums[0] : sums[0] + sums[1];\n"                           \
    "        value = chains == 4 ? value + (sums[2] + sums[3]) : value;\n"                         \
    "        value = value + bias[row];\n"                                                         \
    "        y[row] = relu && value < 0.0f ? 0.0f : value;\n"                                      \
    "    }\n"                                                                                      \
    "}\n"

/* clang-format off */
static const char fp32_text[] =
    IN_FLOATS("fp32", "float", "weights[i]");

static const char bf16_text[] =
    IN_FLOATS("bf16", "uint16_t", "@_float((uint32_t)weights[i] << 16)");

static const char fp16_text[] =
    "\n"
    "/* Moving the exponent by a product treats subnormal numbers like all others. */\n"
    "static float @_half(uint32_t half)\n"
    "{\n"
    "    return @_float((half & 0x8000u) << 16 | (half & 0x7fffu) << 13) * 0x1p112f;\n"
    "}\n"
    IN_FLOATS("fp16", "uint16_t", "@_half(weights[i])");
/* clang-format on */

static void put_weights(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_layer_spec *spec = layer->spec;
    const size_t count = (size_t)spec->outputs * spec->inputs;
    if (layer->stored->format == AQ_FORMAT_F32) {
        aq_export_floats(to, "weights", layer->index, layer->stored->weights, count);
    } else {
        aq_export_halves(to, "weights", layer->index, layer->stored->weights, count);
    }
    aq_export_floats(to, "bias", layer->index, layer->stored->bias, spec->outputs);
}

static void call_in_floats(aq_export_text *to, const aq_export_layer *layer)
{
    const aq_layer_spec *spec = layer->spec;
    aq_export_print(to, "    @_linear_%s(%s, %u, %u, %u, @_weights%u, @_bias%u, %d, %s);\n",
                    aq_format_name(layer->stored->format), layer->x[0], spec->outputs, spec->inputs,
                    aq_float_chains(spec->inputs, spec->outputs), layer->index, layer->index,
                    spec->activation == AQ_ACTIVATION_RELU, layer->y);
}

#define FLOATS_ROW(own, more)                                                                      \
    .text = (own), .needs = AQ_PIECE(FUSED) | (more), .after = AQ_PIECE_FUSED, .has_relu = true,   \
    .put_constants = put_weights, .call = call_in_floats

static const aq_export_kind fp32 = {FLOATS_ROW(fp32_text, 0)};
static const aq_export_kind bf16 = {FLOATS_ROW(bf16_text, AQ_PIECE(FLOAT))};
static const aq_export_kind fp16 = {FLOATS_ROW(fp16_text, AQ_PIECE(FLOAT))};

static const aq_export_kind *const in_floats[AQ_FORMAT_COUNT + 1] = {
    [AQ_FORMAT_F32] = &fp32, [AQ_FORMAT_BF16] = &bf16, [AQ_FORMAT_F16] = &fp16};

const aq_export_kind aq_export_linear = {
    .text = text,
    .needs = AQ_PIECE(MATRIX),
    .after = AQ_PIECE_MATRIX,
    .has_relu = true,
    .in_floats = in_floats,
    .call = call,
};
