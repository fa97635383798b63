/*
 * Fake quantization in the passes: numbers are replaced by what their levels stand for.
 *
 * Private to passes_rung.c. Static, because each rung's library is compiled with flags of its own.
 * The greatest of many floats is found in their bits, as integers: a float's order is that of its
 * bits, and only of integers may the compiler take the greatest of several at once.
 */
#ifndef AQ_LEARNER_NN_PASSES_QUANT_H
#define AQ_LEARNER_NN_PASSES_QUANT_H

#include <float.h>
#include <stdint.h>
#include <string.h>

/* Ties to even; for |x| < 2^22. NaN stays NaN. */
static inline __attribute__((always_inline)) float round_even(float x)
{
    const float round_bias = 12582912.0f; /* 1.5 * 2^23 */
    return (x + round_bias) - round_bias;
}

static inline __attribute__((always_inline)) int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static inline __attribute__((always_inline)) float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* One scale for all: w / scale is within +-levels, or a rounding beyond, which rounds to it. */
static inline void fake_quant_group(const float *restrict w, size_t count, float levels,
                                    float *restrict out)
{
    int32_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        const int32_t magnitude = bits_of(w[i]) & INT32_MAX;
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    const float scale = float_of(greatest) / levels;
    if (scale < FLT_MIN) {
        memset(out, 0, count * sizeof(*out));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = scale * round_even(w[i] / scale);
    }
}

static void fake_quant_weights(const float *w, size_t rows, size_t columns, size_t group,
                               float levels, float *out)
{
    for (size_t r = 0; r < rows; r++, w += columns, out += columns) {
        for (size_t first = 0; first < columns; first += group) {
            const size_t count = columns - first < group ? columns - first : group;
            fake_quant_group(w + first, count, levels, out + first);
        }
    }
}

/* One row of activations; a NaN or an infinite value makes all of it NaN. */
static inline void fake_quant_row(const float *restrict x, size_t width, float *restrict out)
{
    const float step = 1.0f / 255.0f;
    int32_t above = 0, below = 0; /* magnitudes of the greatest and of the least */
    for (size_t i = 0; i < width; i++) {
        const int32_t bits = bits_of(x[i]);
        const int32_t mirrored = bits ^ INT32_MIN; /* of -x */
        above = bits > above ? bits : above;
        below = mirrored > below ? mirrored : below;
    }
    const float scale = float_of(above) * step + float_of(below) * step;
    if (scale < FLT_MIN) {
        memset(out, 0, width * sizeof(*out));
        return;
    }
    const float inverse = 1.0f / scale;
    const float zero = round_even(float_of(below) * inverse);
    for (size_t i = 0; i < width; i++) {
        float q = round_even(x[i] * inverse) + zero;
        q = q < 0.0f ? 0.0f : q;
        q = q > 255.0f ? 255.0f : q;
        out[i] = scale * (q - zero);
    }
}

static void fake_quant_rows(const float *x, size_t rows, size_t width, float *out)
{
    for (size_t r = 0; r < rows; r++, x += width, out += width) {
        fake_quant_row(x, width, out);
    }
}

#endif
