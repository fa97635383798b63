/*
 * The text of the pieces. A change here is a change to the code that it repeats, and the tests of
 * the export compare the two bit by bit.
 *
 * Quantized inputs are kept less their zero point, so that neither sums of weights nor the padding
 * of an image take part: the integers that come out are the same.
 */
#include "quantizer/export/export_runtime.h"

#include <stddef.h>

#include "common/base/assert.h"
#include "common/policy/format.h"

/* clang-format off */
static const char compiler_text[] =
    "#include <stddef.h>\n"
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize(\"fp-contract=off\")\n"
    "#else\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#endif\n"
    "/* Where it sees constants, GCC 12 joins products and sums in spite of that. */\n"
    "#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8\n"
    "#define @_APART __attribute__((noipa))\n"
    "#else\n"
    "#define @_APART\n"
    "#endif\n"
    "#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)\n"
    "#error \"-ffast-math and -funsafe-math-optimizations would change the results\"\n"
    "#endif\n"
    "#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0\n"
    "#error \"-ffinite-math-only would change what is made of NaN and infinities\"\n"
    "#endif\n"
    "#if !defined(__FLT_EVAL_METHOD__)\n"
    "#elif __FLT_EVAL_METHOD__ < 0 || __FLT_EVAL_METHOD__ == 1 || __FLT_EVAL_METHOD__ == 2\n"
    "#error \"floats must be rounded to float; on x86, -msse2 -mfpmath=sse\"\n"
    "#endif\n";

static const char bits_text[] =
    "\n"
    "static uint32_t @_bits(float value)\n"
    "{\n"
    "    uint32_t bits;\n"
    "    memcpy(&bits, &value, sizeof(bits));\n"
    "    return bits;\n"
    "}\n";

static const char float_text[] =
    "\n"
    "static float @_float(uint32_t bits)\n"
    "{\n"
    "    float value;\n"
    "    memcpy(&value, &bits, sizeof(value));\n"
    "    return value;\n"
    "}\n";

static const char double_text[] =
    "\n"
    "typedef char @_needs_doubles_of_64_bits[sizeof(double) == 8 ? 1 : -1];\n";

static const char fused_text[] =
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
    "#endif\n";

static const char finite_text[] =
    "\n"
    "/* NaN and infinities count as 0. */\n"
    "static float @_finite(float value)\n"
    "{\n"
    "    return (@_bits(value) & 0x7f800000u) == 0x7f800000u ? 0.0f : value;\n"
    "}\n";

static const char finite_row_text[] =
    "\n"
    "/* For layers that take an observation as it is. */\n"
    "static void @_finite_row(const float *x, uint32_t count, float *y)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        y[i] = @_finite(x[i]);\n"
    "    }\n"
    "}\n";

static const char quantize_text[] =
    "\n"
    "/* To the nearest integer, ties to even; |value| < 2^22. Adding 1.5 * 2^23 leaves it in the\n"
    " * low bits of the sum. */\n"
    "static int32_t @_round(float value)\n"
    "{\n"
    "    return (int32_t)(@_bits(value + 12582912.0f) - 0x4b400000u);\n"
    "}\n"
    "\n"
    "/* Levels of 0 to 255, less the zero point. */\n"
    "static void @_quantize(const float *x, uint32_t count, float inverse, int32_t zero,\n"
    "                       int16_t *levels)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        const float scaled = @_finite(x[i]) * inverse;\n"
    "        const float held = scaled < -255.0f ? -255.0f : scaled > 255.0f ? 255.0f : scaled;\n"
    "        const int32_t level = @_round(held) + zero;\n"
    "        levels[i] = (int16_t)((level < 0 ? 0 : level > 255 ? 255 : level) - zero);\n"
    "    }\n"
    "}\n";

static const char levels_text[] =
    "\n"
    "/* Quantizes x by its range; returns the scale: x is about scale * levels. */\n"
    "static float @_levels(const float *x, uint32_t count, int16_t *levels)\n"
    "{\n"
    "    float low = 0.0f;\n"
    "    float high = 0.0f;\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        const float value = @_finite(x[i]);\n"
    "        low = value < low ? value : low;\n"
    "        high = value > high ? value : high;\n"
    "    }\n"
    "    const float step = 1.0f / 255.0f;\n"
    "    const float scale = high * step - low * step;\n"
    "    if (scale < 0x1p-126f) {\n"
    "        memset(levels, 0, count * sizeof(*levels));\n"
    "        return 1.0f;\n"
    "    }\n"
    "    const float inverse = 1.0f / scale;\n"
    "    @_quantize(x, count, inverse, @_round(-low * inverse), levels);\n"
    "    return scale;\n"
    "}\n";

static const char levels_fixed_text[] =
    "\n"
    "/* The same by a scale and zero point from observed ranges. */\n"
    "static float @_levels_fixed(const float *x, uint32_t count, float scale, int32_t zero,\n"
    "                            int16_t *levels)\n"
    "{\n"
    "    @_quantize(x, count, 1.0f / scale, zero, levels);\n"
    "    return scale;\n"
    "}\n";

static const char matrix_text[] =
    "\n"
    "typedef struct @_matrix {\n"
    "    uint32_t rows, columns;\n"
    "    float (*product)(const struct @_matrix *matrix, uint32_t row, const int16_t *levels,\n"
    "                     float input_scale);\n"
    "    const int8_t *weights; /* as the product reads them, and so the next three */\n"
    "    const float *scale;\n"
    "    int32_t weight_zero;\n"
    "    const uint32_t *blocks;\n"
    "    const float *bias; /* [rows] */\n"
    "    int relu;\n"
    "} @_matrix;\n"
    "\n"
    "static float @_output(const @_matrix *matrix, uint32_t row, const int16_t *levels,\n"
    "                      float input_scale)\n"
    "{\n"
    "    const float product = matrix->product(matrix, row, levels, input_scale);\n"
    "    const float value = product + matrix->bias[row];\n"
    "    return matrix->relu && value < 0.0f ? 0.0f : value;\n"
    "}\n";

#define PRODUCT(name)                                                                              \
    "@_APART\n"                                                                                    \
    "static float @_product_" name "(const @_matrix *matrix, uint32_t row,\n"                      \
    "    const int16_t *levels, float input_scale)\n"                                              \
    "{\n"

static const char product_int8_text[] =
    "\n"
    "/* weights[rows][columns], scale[rows] */\n"
    PRODUCT("int8")
    "    const int8_t *weights = matrix->weights + (size_t)row * matrix->columns;\n"
    "    int32_t sum = 0;\n"
    "    for (uint32_t i = 0; i < matrix->columns; i++) {\n"
    "        sum += (int32_t)levels[i] * (int32_t)weights[i];\n"
    "    }\n"
    "    return input_scale * matrix->scale[row] * (float)sum;\n"
    "}\n";

static const char product_tensor_text[] =
    "\n"
    "/* weights[rows][columns] less their zero point, one scale */\n"
    PRODUCT("tensor")
    "    const int8_t *weights = matrix->weights + (size_t)row * matrix->columns;\n"
    "    int32_t sum = 0;\n"
    "    for (uint32_t i = 0; i < matrix->columns; i++) {\n"
    "        sum += (int32_t)levels[i] * ((int32_t)weights[i] - matrix->weight_zero);\n"
    "    }\n"
    "    return input_scale * *matrix->scale * (float)sum;\n"
    "}\n";

_Static_assert(AQ_FORMAT_GROUP == 64, "as in the texts");

/* Levels in so many bits, `each` of them a byte. With the highest bits flipped they are `zero` too
 * large. `terms` are those of a byte, and what is left of a row follows one by one. */
#define PACKED(bits, each, flips, mask, zero, terms)                                               \
    "\n"                                                                                           \
    "/* rows of weights of " bits " bits in two's complement, the lowest first, which begin\n"     \
    " * with a byte; a scale for every 64 columns of a row */\n"                                   \
    PRODUCT("int" bits)                                                                            \
    "    const uint32_t columns = matrix->columns;\n"                                              \
    "    const uint8_t *weights =\n"                                                               \
    "        (const uint8_t *)matrix->weights +\n"                                                 \
    "        (size_t)row * ((columns + " each " - 1) / " each ");\n"                               \
    "    const float *scale = matrix->scale + (size_t)row * ((columns + 63) / 64);\n"              \
    "    float total = 0.0f;\n"                                                                    \
    "    for (uint32_t i = 0; i < columns; scale++) {\n"                                           \
    "        const uint32_t end = columns - i < 64 ? columns : i + 64;\n"                          \
    "        int32_t sum = 0;\n"                                                                   \
    "        for (; end - i >= " each "; i += " each ") {\n"                                       \
    "            const int32_t codes = *weights++ ^ " flips ";\n"                                  \
    "            sum += " terms ";\n"                                                              \
    "        }\n"                                                                                  \
    "        for (uint32_t bit = 0; i < end; i++, bit += " bits ") {\n"                            \
    "            const int32_t codes = *weights ^ " flips ";\n"                                    \
    "            sum += levels[i] * ((codes >> bit & " mask ") - " zero ");\n"                     \
    "        }\n"                                                                                  \
    "        total = total + *scale * (float)sum;\n"                                               \
    "    }\n"                                                                                      \
    "    return input_scale * total;\n"                                                            \
    "}\n"

static const char product_int4_text[] =
    PACKED("4", "2", "0x88", "15", "8",
           "levels[i] * ((codes & 15) - 8) + levels[i + 1] * ((codes >> 4) - 8)");
static const char product_int2_text[] =
    PACKED("2", "4", "0xaa", "3", "2",
           "levels[i] * ((codes & 3) - 2) + levels[i + 1] * ((codes >> 2 & 3) - 2) +\n"
           "                   levels[i + 2] * ((codes >> 4 & 3) - 2) +\n"
           "                   levels[i + 3] * ((codes >> 6) - 2)");

_Static_assert(AQ_BLOCK_ROWS == 16 && AQ_BLOCK_COLUMNS == 4, "as in the text");
static const char product_sparse_text[] =
    "\n"
    "/* blocks of 16 rows and 4 columns, of which some are left out; scale[rows]. For every 16\n"
    " * rows `blocks` has the number of the first that they keep, and a bit for each. */\n"
    PRODUCT("sparse")
    "    const uint32_t *blocks =\n"
    "        matrix->blocks + row / 16 * (1 + (matrix->columns + 127) / 128);\n"
    "    const int8_t *weights = matrix->weights + (size_t)*blocks * 64 + row % 16 * 4;\n"
    "    int32_t sum = 0;\n"
    "    for (uint32_t i = 0; i < matrix->columns; i += 4) {\n"
    "        if ((blocks[1 + i / 128] >> i / 4 % 32 & 1) == 0) {\n"
    "            continue;\n"
    "        }\n"
    "        for (uint32_t k = 0; k < 4 && i + k < matrix->columns; k++) {\n"
    "            sum += (int32_t)levels[i + k] * (int32_t)weights[k];\n"
    "        }\n"
    "        weights += 64;\n"
    "    }\n"
    "    return input_scale * matrix->scale[row] * (float)sum;\n"
    "}\n";

static const char exp_text[] =
    "\n"
    "/* x = n ln 2 + r, |r| <= ln 2 / 2. Returns exp(r) - 1 by its series, and 2^n. */\n"
    "static float @_exp_parts(float x, float *power)\n"
    "{\n"
    "    const float shifted = x * 1.44269504f + 12582912.0f;\n"
    "    const float n = shifted - 12582912.0f;\n"
    "    const float r = (x - n * 0.693145752f) - n * 1.42860677e-6f;\n"
    "    *power = @_float((@_bits(shifted) << 23) + ((uint32_t)127 << 23));\n"
    "\n"
    "    float tail = 1.0f / 40320;\n"
    "    tail = tail * r + 1.0f / 5040;\n"
    "    tail = tail * r + 1.0f / 720;\n"
    "    tail = tail * r + 1.0f / 120;\n"
    "    tail = tail * r + 1.0f / 24;\n"
    "    tail = tail * r + 1.0f / 6;\n"
    "    tail = tail * r + 0.5f;\n"
    "    return r + r * r * tail;\n"
    "}\n";

static const char expm1_text[] =
    "\n"
    "/* exp(x) - 1 for |x| <= 20. */\n"
    "static float @_expm1(float x)\n"
    "{\n"
    "    float power;\n"
    "    const float series = @_exp_parts(x, &power);\n"
    "    return power * series + (power - 1.0f);\n"
    "}\n";

static const char tanh_text[] =
    "\n"
    "static void @_tanh(float *y, uint32_t count)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        const float twice = @_float(@_bits(y[i]) & 0x7fffffffu) * 2.0f;\n"
    "        const float t = @_expm1(twice > 20.0f ? 20.0f : twice);\n"
    "        const float result = t / (t + 2.0f);\n"
    "        y[i] = @_float(@_bits(result) | (@_bits(y[i]) & 0x80000000u));\n"
    "    }\n"
    "}\n";

static const char elu_text[] =
    "\n"
    "static void @_elu(float *y, uint32_t count)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        const float negative = y[i] < -20.0f ? -20.0f : y[i] > 0.0f ? 0.0f : y[i];\n"
    "        const float below = @_expm1(negative);\n"
    "        y[i] = y[i] > 0.0f ? y[i] : below;\n"
    "    }\n"
    "}\n";

static const char relu_text[] =
    "\n"
    "static void @_relu(float *y, uint32_t count)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        y[i] = y[i] < 0.0f ? 0.0f : y[i];\n"
    "    }\n"
    "}\n";

static const char lanes_text[] =
    "\n"
    "/* Sums over a row are taken in 16 interleaved parts. */\n"
    "static float @_add_lanes(float lanes[16])\n"
    "{\n"
    "    for (uint32_t half = 8; half > 0; half /= 2) {\n"
    "        for (uint32_t j = 0; j < half; j++) {\n"
    "            lanes[j] = lanes[j] + lanes[j + half];\n"
    "        }\n"
    "    }\n"
    "    return lanes[0];\n"
    "}\n";

/* clang-format on */

static const struct piece_row {
    const char *text;
    uint32_t needs;
} pieces[AQ_PIECE_COUNT] = {
    [AQ_PIECE_COMPILER] = {compiler_text, 0},
    [AQ_PIECE_BITS] = {bits_text, 0},
    [AQ_PIECE_FLOAT] = {float_text, 0},
    [AQ_PIECE_DOUBLE] = {double_text, 0},
    [AQ_PIECE_FUSED] = {fused_text, AQ_PIECE(DOUBLE)},
    [AQ_PIECE_FINITE] = {finite_text, AQ_PIECE(BITS)},
    [AQ_PIECE_FINITE_ROW] = {finite_row_text, AQ_PIECE(FINITE)},
    [AQ_PIECE_QUANTIZE] = {quantize_text, AQ_PIECE(FINITE)},
    [AQ_PIECE_LEVELS] = {levels_text, AQ_PIECE(QUANTIZE)},
    [AQ_PIECE_LEVELS_FIXED] = {levels_fixed_text, AQ_PIECE(QUANTIZE)},
    [AQ_PIECE_MATRIX] = {matrix_text, 0},
    [AQ_PIECE_PRODUCT_INT8] = {product_int8_text, AQ_PIECE(MATRIX)},
    [AQ_PIECE_PRODUCT_TENSOR] = {product_tensor_text, AQ_PIECE(MATRIX)},
    [AQ_PIECE_PRODUCT_INT4] = {product_int4_text, AQ_PIECE(MATRIX)},
    [AQ_PIECE_PRODUCT_INT2] = {product_int2_text, AQ_PIECE(MATRIX)},
    [AQ_PIECE_PRODUCT_SPARSE] = {product_sparse_text, AQ_PIECE(MATRIX)},
    [AQ_PIECE_EXP] = {exp_text, AQ_PIECE(BITS) | AQ_PIECE(FLOAT)},
    [AQ_PIECE_EXPM1] = {expm1_text, AQ_PIECE(EXP)},
    [AQ_PIECE_TANH] = {tanh_text, AQ_PIECE(EXPM1)},
    [AQ_PIECE_ELU] = {elu_text, AQ_PIECE(EXPM1)},
    [AQ_PIECE_RELU] = {relu_text, 0},
    [AQ_PIECE_LANES] = {lanes_text, 0},
};

uint32_t aq_export_pieces_close(uint32_t wanted)
{
    /* What a piece needs stands before it. */
    for (uint32_t i = AQ_PIECE_COUNT; i-- > 0;) {
        wanted |= (wanted >> i & 1) != 0 ? pieces[i].needs : 0;
    }
    return wanted;
}

const char *aq_export_piece_text(enum aq_export_piece piece)
{
    AQ_ASSERT(piece < AQ_PIECE_COUNT);
    return pieces[piece].text;
}
