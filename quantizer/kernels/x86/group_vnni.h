/*
 * Layers of int4 and int2 with VNNI. A file of one format defines GROUP_BITS, includes this and is
 * GROUP_KERNEL.
 *
 * A level is multiplied where a shift puts it: in the upper bits of its byte, with its sign. There
 * it counts for 16 times an int4 and 64 times an int2, and so does the dot product, which stays
 * exact, until it is shifted back once a group.
 */
#ifndef AQ_QUANTIZER_KERNELS_X86_GROUP_VNNI_H
#define AQ_QUANTIZER_KERNELS_X86_GROUP_VNNI_H

#include "quantizer/kernels/x86/group_totals_x86.h"

enum { LEVEL_SHIFT = 8 - GROUP_BITS };

/* A quad of inputs each; two of them where a level has 4 bits. */
typedef struct weight_vector {
    int_lanes first, second, third, fourth;
} weight_vector;

/* Two chains, to hide more of the latency. */
typedef struct group_dots {
    int_lanes even, odd;
} group_dots;

static inline weight_vector load_weights(const unsigned char *from)
{
    int_lanes bytes = load_ints(from);
    __asm__("" : "+v"(bytes)); /* loaded once; GCC would load it anew for every use */
    const int_lanes upper = all_ints((int32_t)(0x01010101u * (0xFFu << LEVEL_SHIFT & 0xFFu)));
    weight_vector levels;
    levels.first = bytes << LEVEL_SHIFT & upper;
#if GROUP_BITS == 4
    levels.second = bytes & upper;
#else
    levels.second = bytes << 4 & upper;
    levels.third = bytes << 2 & upper;
    levels.fourth = bytes & upper;
#endif
    return levels;
}

static inline group_dots dots_zero(void)
{
    return (group_dots){all_ints(0), all_ints(0)};
}

static inline int_lanes add_quad(int_lanes dots, const uint8_t *q, int_lanes levels)
{
    int32_t quad;
    memcpy(&quad, q, sizeof(quad));
    return multiply_add_bytes(dots, all_ints(quad), levels);
}

static inline group_dots dots_add(group_dots dots, const uint8_t *q, weight_vector levels)
{
    dots.even = add_quad(dots.even, q, levels.first);
    dots.odd = add_quad(dots.odd, q + 4, levels.second);
#if GROUP_BITS == 2
    dots.even = add_quad(dots.even, q + 8, levels.third);
    dots.odd = add_quad(dots.odd, q + 12, levels.fourth);
#endif
    return dots;
}

static inline float_lanes total_add(float_lanes total, group_dots dots, group_constants constants,
                                    int32_t zero_point)
{
    return total_add_shifted(total, dots.even + dots.odd, constants, zero_point, LEVEL_SHIFT);
}

#include "quantizer/kernels/group_block.h"

#endif
