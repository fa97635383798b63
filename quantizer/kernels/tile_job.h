/*
 * What one call of a register tile works on (tile.h). Private to the kernels.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_JOB_H
#define AQ_QUANTIZER_KERNELS_TILE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "quantizer/kernels/qkernels.h"

typedef struct tile_job {
    /* at the tile's first output */
    const unsigned char *weights;
    const float *scale;
    const int32_t *sum;
    const float *bias;
    /* at the tile's first row */
    const unsigned char *x;    /* bytes of q, or floats */
    size_t x_stride;           /* bytes */
    size_t piece_stride;       /* bytes from a piece of a row to the next */
    const aq_row_quant *quant; /* NULL where the format takes floats */
    /* at both */
    float *y;
    size_t y_stride; /* floats */

    uint32_t pieces;     /* of a row; more than one only where the order of sums is free */
    uint32_t steps;      /* units of inputs in each */
    uint32_t last_lanes; /* outputs in the tile's last block */
    uint32_t chains;     /* of ordered sums */
    bool relu;
    bool shares_quant; /* there is one of them for all rows */
} tile_job;

#endif
