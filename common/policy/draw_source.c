/*
 * Draw source: see draw_source.h. The counter is of draw, environment and block of 128 bits: four
 * uniform numbers, or one normal one.
 */
#include "common/policy/draw_source.h"

#include <math.h>

#include "common/base/counter_rng.h"
#include "common/base/exact_math.h"

typedef struct block {
    uint32_t bits[4];
} block;

static block block_of(const aq_draw_at *at, uint64_t draw, uint32_t index)
{
    const uint32_t keys[2] = {(uint32_t)at->key, (uint32_t)(at->key >> 32)};
    const uint32_t counter[4] = {(uint32_t)draw, (uint32_t)(draw >> 32), at->lane, index};
    block made;
    aq_counter_bits(keys, counter, made.bits);
    return made;
}

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* Octaves lie one behind the other: the first is what there is without others. */
static float normal_of(const aq_draw_at *at, uint32_t index, uint32_t count)
{
    double sum = 0.0;
    for (uint32_t octave = 0; octave < at->octaves; octave++) {
        const block of = block_of(at, at->draw >> octave, octave * count + index);
        sum += aq_exact_normal(join(of.bits[0], of.bits[1]), join(of.bits[2], of.bits[3]));
    }
    return (float)(sum / sqrt((double)at->octaves));
}

void aq_draw_noise(const aq_head_drawing *drawing, const aq_draw_at *at, uint32_t count,
                   float *ret_noise)
{
    for (uint32_t i = 0; i < count; i++) {
        if (drawing->noise == AQ_DRAWS_FROM_UNIFORM) {
            const block of = block_of(at, at->draw, i / 4);
            ret_noise[i] = (float)(of.bits[i % 4] >> 8) * 0x1p-24f;
        } else {
            ret_noise[i] = normal_of(at, i, count);
        }
    }
}

void aq_draw_layer_noise(const aq_draw_at *at, uint32_t count, float *ret_noise)
{
    for (uint32_t i = 0; i < count; i++) {
        const float normal = normal_of(at, i, count);
        ret_noise[i] = copysignf(sqrtf(fabsf(normal)), normal);
    }
}
