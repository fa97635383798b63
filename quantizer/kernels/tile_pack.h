/*
 * The order of packed weights: the part of the register tile's template (tile.h, which says what
 * the order is and includes this) that lays them out.
 *
 * A policy of some megabytes may come every second, and nothing acts while it is packed. So units
 * of four bytes are turned from rows to columns in registers, four by four, in vectors that every
 * processor of ours has, and every line of the result is written once and whole.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_PACK_H
#define AQ_QUANTIZER_KERNELS_TILE_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static uint32_t tile_steps(uint32_t inputs)
{
    const size_t row_bytes = (size_t)inputs * WEIGHT_BYTES;
    return (uint32_t)((row_bytes + WEIGHT_UNIT_BYTES - 1) / WEIGHT_UNIT_BYTES);
}

static uint32_t tile_block_count(uint32_t outputs)
{
    return (outputs + LANES - 1) / LANES;
}

/* Blocks in the next tile where `left` are left. A block alone would load as much as it multiplies,
 * so three and one are two and two. */
static uint32_t tile_width(uint32_t left)
{
    if (TILE_BLOCKS == 3 && left == 4) {
        return 2;
    }
    return left < TILE_BLOCKS ? left : TILE_BLOCKS;
}

static size_t tile_packed_bytes(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs)
{
    (void)layer;
    return (size_t)tile_block_count(outputs) * tile_steps(inputs) * BLOCK_STEP_BYTES;
}

/* Four units. */
typedef uint32_t tile_quad __attribute__((vector_size(16)));
enum { QUAD_BYTES = sizeof(tile_quad) };

static inline tile_quad tile_quad_load(const unsigned char *from)
{
    tile_quad quad;
    memcpy(&quad, from, sizeof(quad));
    return quad;
}

static inline void tile_quad_store(unsigned char *to, tile_quad quad)
{
    memcpy(to, &quad, sizeof(quad));
}

/* Four steps of four outputs. */
static inline void tile_pack_quads(const unsigned char *from, size_t row_bytes, size_t step_bytes,
                                   unsigned char *to)
{
    const tile_quad a = tile_quad_load(from);
    const tile_quad b = tile_quad_load(from + row_bytes);
    const tile_quad c = tile_quad_load(from + 2 * row_bytes);
    const tile_quad d = tile_quad_load(from + 3 * row_bytes);
    const tile_quad ab01 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const tile_quad ab23 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const tile_quad cd01 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const tile_quad cd23 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    tile_quad_store(to, __builtin_shufflevector(ab01, cd01, 0, 1, 4, 5));
    tile_quad_store(to + step_bytes, __builtin_shufflevector(ab01, cd01, 2, 3, 6, 7));
    tile_quad_store(to + 2 * step_bytes, __builtin_shufflevector(ab23, cd23, 0, 1, 4, 5));
    tile_quad_store(to + 3 * step_bytes, __builtin_shufflevector(ab23, cd23, 2, 3, 6, 7));
}

/* One block: `lanes` rows of the weights, a unit of each in turn, and zeros for what is missing. */
static void tile_pack_block(const unsigned char *from, size_t row_bytes, uint32_t lanes,
                            size_t step_bytes, unsigned char *to)
{
    size_t at = 0;
    if (WEIGHT_UNIT_BYTES == sizeof(uint32_t) && lanes == LANES) {
        for (; at + QUAD_BYTES <= row_bytes; at += QUAD_BYTES) {
            for (uint32_t lane = 0; lane < LANES; lane += 4) {
                tile_pack_quads(from + lane * row_bytes + at, row_bytes, step_bytes,
                                to + lane * WEIGHT_UNIT_BYTES);
            }
            to += 4 * step_bytes;
        }
    }
    for (; at + WEIGHT_UNIT_BYTES <= row_bytes; at += WEIGHT_UNIT_BYTES) {
        memset(to + lanes * WEIGHT_UNIT_BYTES, 0, (LANES - lanes) * WEIGHT_UNIT_BYTES);
        for (uint32_t lane = 0; lane < lanes; lane++) {
            memcpy(to + lane * WEIGHT_UNIT_BYTES, from + lane * row_bytes + at, WEIGHT_UNIT_BYTES);
        }
        to += step_bytes;
    }
    if (at < row_bytes) {
        memset(to, 0, BLOCK_STEP_BYTES);
        for (uint32_t lane = 0; lane < lanes; lane++) {
            memcpy(to + lane * WEIGHT_UNIT_BYTES, from + lane * row_bytes + at, row_bytes - at);
        }
    }
}

/* From rows, one an output. Writes all of tile_packed_bytes. */
static void tile_pack(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs,
                      void *packed)
{
    const size_t row_bytes = (size_t)inputs * WEIGHT_BYTES;
    const uint32_t block_count = tile_block_count(outputs);
    const size_t block_bytes = (size_t)tile_steps(inputs) * BLOCK_STEP_BYTES;

    for (uint32_t first = 0, width; first < block_count; first += width) {
        width = tile_width(block_count - first);
        for (uint32_t block = first; block < first + width; block++) {
            const uint32_t output = block * LANES;
            tile_pack_block((const unsigned char *)layer->weights + output * row_bytes, row_bytes,
                            outputs - output < LANES ? outputs - output : LANES,
                            (size_t)width * BLOCK_STEP_BYTES,
                            (unsigned char *)packed + first * block_bytes +
                                (size_t)(block - first) * BLOCK_STEP_BYTES);
        }
    }
}

#endif
