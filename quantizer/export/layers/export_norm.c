/*
 * norm: in floats, with a square root of its own.
 */
#include "quantizer/export/export_layer.h"

/* clang-format off */
static const char text[] =
    "\n"
    "/* The root of a positive number, rounded to the nearest: its 25 leading bits, of which the\n"
    " * last one says where to round to (no root lies half way). Infinity and NaN stay what they\n"
    " * are. */\n"
    "static float @_root(float value)\n"
    "{\n"
    "    const uint32_t bits = @_bits(value);\n"
    "    if (bits >= 0x7f800000u) {\n"
    "        return value;\n"
    "    }\n"
    "    const uint32_t exponent = bits >> 23;\n"
    "    const uint64_t mantissa = (bits & 0x7fffffu) | 0x800000u;\n"
    "    uint64_t rest = mantissa << (25 + (exponent + 1) % 2);\n"
    "    uint64_t root = 0;\n"
    "    for (uint64_t bit = (uint64_t)1 << 48; bit != 0; bit >>= 2) {\n"
    "        const int fits = rest >= root + bit;\n"
    "        rest -= fits ? root + bit : 0;\n"
    "        root = (root >> 1) + (fits ? bit : 0);\n"
    "    }\n"
    "    return @_float((((exponent + 127) / 2 - 1) << 23) + (uint32_t)((root + 1) >> 1));\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static void @_norm(const float *x, uint32_t width, const float *gain, const float *bias,\n"
    "                   float *y)\n"
    "{\n"
    "    float lanes[16] = {0};\n"
    "    for (uint32_t i = 0; i < width; i++) {\n"
    "        lanes[i % 16] += x[i];\n"
    "    }\n"
    "    const float mean = @_add_lanes(lanes) / (float)width;\n"
    "    memset(lanes, 0, sizeof(lanes));\n"
    "    for (uint32_t i = 0; i < width; i++) {\n"
    "        const float off = x[i] - mean;\n"
    "        lanes[i % 16] += off * off;\n"
    "    }\n"
    "    const float variance = @_add_lanes(lanes) / (float)width;\n"
    "    const float inverse = 1.0f / @_root(variance + 1e-5f);\n"
    "    for (uint32_t i = 0; i < width; i++) {\n"
    "        y[i] = (x[i] - mean) * inverse * gain[i] + bias[i];\n"
    "    }\n"
    "}\n";
/* clang-format on */

static void put_constants(aq_export_text *to, const aq_export_layer *layer)
{
    const uint32_t width = layer->spec->inputs;
    aq_export_floats(to, "gain", layer->index, layer->stored->weights, width);
    aq_export_floats(to, "bias", layer->index, layer->stored->bias, width);
}

static void call(aq_export_text *to, const aq_export_layer *layer)
{
    aq_export_print(to, "    @_norm(%s, %u, @_gain%u, @_bias%u, %s);\n", layer->x[0],
                    layer->spec->inputs, layer->index, layer->index, layer->y);
}

const aq_export_kind aq_export_norm = {
    .text = text,
    .needs = AQ_PIECE(LANES) | AQ_PIECE(BITS) | AQ_PIECE(FLOAT),
    .after = AQ_PIECE_LANES,
    .put_constants = put_constants,
    .call = call,
};
