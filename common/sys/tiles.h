/*
 * Tile registers of AMX: the shapes that they are given, as the processor reads them. A product of
 * tiles adds (rows, units) times (units, 16) to (rows, 16) sums of four bytes each; a unit is four
 * bytes, which are a pair of bf16 or four int8. No state; any thread.
 */
#ifndef AQ_COMMON_SYS_TILES_H
#define AQ_COMMON_SYS_TILES_H

#include <stdint.h>

enum {
    AQ_TILES = 8,
    AQ_TILE_ROWS = 16, /* at most, and units of a row */
    AQ_TILE_LINE = 64, /* bytes of a row of 16 units */
    AQ_TILE_UNIT = 4,  /* bytes */
};

typedef struct aq_tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} aq_tile_shapes;

_Static_assert(sizeof(aq_tile_shapes) == 64, "as the processor reads it");

/* The registers below `left` are sums, those below `right` left operands, the others right ones. */
static inline aq_tile_shapes aq_tile_shapes_of(uint32_t rows, uint32_t units, uint32_t left,
                                               uint32_t right)
{
    aq_tile_shapes shapes = {.palette = 1};
    for (uint32_t i = 0; i < AQ_TILES; i++) {
        shapes.rows[i] = (uint8_t)(i < right ? rows : units);
        shapes.row_bytes[i] =
            (uint16_t)(i >= left && i < right ? units * AQ_TILE_UNIT : AQ_TILE_LINE);
    }
    return shapes;
}

/* Before the registers take them: GCC 12's header says of 8 of the 64 bytes only that they are
 * read, so that the others might not be written. */
static inline void aq_tile_shapes_written(const aq_tile_shapes *shapes)
{
    __asm__ volatile("" : : "r"(shapes) : "memory");
}

/* The most units that a tile may have so that `count` of them are some tiles and nothing is left;
 * of none, one. */
static inline uint32_t aq_tile_units_of(uint32_t count)
{
    uint32_t units = count < AQ_TILE_ROWS ? count : AQ_TILE_ROWS;
    while (units > 1 && count % units != 0) {
        units--;
    }
    return units > 0 ? units : 1;
}

/* As many tiles of rows, equally high, as `count` takes: the height of each. Where it doesn't
 * divide, the last one begins before the one before it ends. */
static inline uint32_t aq_tile_height_of(uint32_t count)
{
    const uint32_t tiles = (count + AQ_TILE_ROWS - 1) / AQ_TILE_ROWS;
    return (count + tiles - 1) / tiles;
}

#endif
