/*
 * The chains of multiply-adds that a tile's sums are made of: a part of the register tile's
 * template (tile.h includes it, and says what is defined here). A processor is busy only with as
 * many of them at once as ACCUMULATORS_MIN, and only ACCUMULATORS_MAX have room in its registers.
 */
#ifndef AQ_QUANTIZER_KERNELS_TILE_CHAINS_H
#define AQ_QUANTIZER_KERNELS_TILE_CHAINS_H

/* Where a chain of multiply-adds is. */
typedef struct tile_place {
    const unsigned char *x, *weights;
} tile_place;

TILE_INLINE tile_place tile_at(tile_place from, uint32_t steps, const uint32_t blocks)
{
    return (tile_place){from.x + (size_t)steps * UNIT_BYTES,
                        from.weights + (size_t)steps * blocks * BLOCK_STEP_BYTES};
}

TILE_INLINE tile_sums tile_step_at(tile_sums sums, const tile_job *job, tile_place at,
                                   const uint32_t rows, const uint32_t blocks, const bool far)
{
    return tile_step(sums, at.x, job->x_stride, at.weights, rows, blocks, far);
}

/* sums + `count` steps from `at` on, each `stride` after the one before */
TILE_INLINE tile_sums tile_chain(tile_sums sums, const tile_job *job, tile_place at, uint32_t count,
                                 const uint32_t stride, const uint32_t rows, const uint32_t blocks,
                                 const bool far)
{
    for (; count >= TURN_STEPS; count -= TURN_STEPS) {
        sums = tile_step_at(sums, job, at, rows, blocks, far);
        sums = tile_step_at(sums, job, tile_at(at, stride, blocks), rows, blocks, far);
        sums = tile_step_at(sums, job, tile_at(at, 2 * stride, blocks), rows, blocks, far);
        sums = tile_step_at(sums, job, tile_at(at, 3 * stride, blocks), rows, blocks, far);
        at = tile_at(at, TURN_STEPS * stride, blocks);
    }
    for (; count > 0; count--) {
        sums = tile_step_at(sums, job, at, rows, blocks, false);
        at = tile_at(at, stride, blocks);
    }
    return sums;
}

/* Two chains side by side, of `count` steps each, the second a step after the first, which goes on
 * with the `rest` that follows. */
TILE_INLINE tile_sums tile_2_chains(const tile_job *job, tile_place at, uint32_t count,
                                    const uint32_t stride, uint32_t rest, const uint32_t rows,
                                    const uint32_t blocks, const bool far)
{
    tile_sums a = tile_zero();
    tile_sums b = a;
    for (; count >= 2; count -= 2) {
        a = tile_step_at(a, job, at, rows, blocks, far);
        b = tile_step_at(b, job, tile_at(at, 1, blocks), rows, blocks, far);
        a = tile_step_at(a, job, tile_at(at, stride, blocks), rows, blocks, far);
        b = tile_step_at(b, job, tile_at(at, stride + 1, blocks), rows, blocks, far);
        at = tile_at(at, 2 * stride, blocks);
    }
    if (count > 0) {
        a = tile_step_at(a, job, at, rows, blocks, far);
        b = tile_step_at(b, job, tile_at(at, 1, blocks), rows, blocks, far);
        at = tile_at(at, stride, blocks);
    }
    return tile_add(tile_chain(a, job, at, rest, 1, rows, blocks, false), b);
}

/* Four chains side by side; the first goes on with the rest. */
TILE_INLINE tile_sums tile_4_chains(const tile_job *job, tile_place at, uint32_t count,
                                    const uint32_t rows, const uint32_t blocks, const bool far)
{
    tile_sums a = tile_zero();
    tile_sums b = a;
    tile_sums c = a;
    tile_sums d = a;
    for (; count >= 4; count -= 4) {
        a = tile_step_at(a, job, at, rows, blocks, far);
        b = tile_step_at(b, job, tile_at(at, 1, blocks), rows, blocks, far);
        c = tile_step_at(c, job, tile_at(at, 2, blocks), rows, blocks, far);
        d = tile_step_at(d, job, tile_at(at, 3, blocks), rows, blocks, far);
        at = tile_at(at, 4, blocks);
    }
    for (; count > 0; count--) {
        a = tile_step_at(a, job, at, rows, blocks, false);
        at = tile_at(at, 1, blocks);
    }
    return tile_add(tile_add(a, b), tile_add(c, d));
}

#ifdef TILE_REGISTERS
/* A tile's weights and what is multiplied with them need registers, too. */
enum { ACCUMULATORS_MAX = TILE_REGISTERS - TILE_BLOCKS - 1 };

/* What tile_2_chains computes, one chain after the other. */
TILE_INLINE tile_sums tile_2_turns(const tile_job *job, tile_place at, const uint32_t rows,
                                   const uint32_t blocks)
{
    const uint32_t half = job->steps / 2;
    const tile_sums b =
        tile_chain(tile_zero(), job, tile_at(at, 1, blocks), half, 2, rows, blocks, false);
    return tile_add(tile_chain(tile_zero(), job, at, job->steps - half, 2, rows, blocks, false), b);
}

/* What tile_4_chains computes, with one or two chains at a time. */
TILE_INLINE tile_sums tile_4_turns(const tile_job *job, tile_place at, const uint32_t rows,
                                   const uint32_t blocks)
{
    const uint32_t quarter = job->steps / 4;
    const uint32_t rest = job->steps % 4;
    const tile_place third = tile_at(at, 2, blocks);
    const tile_sums zero = tile_zero();

    if (rows * blocks * 2 <= ACCUMULATORS_MAX) {
        const tile_sums ab = tile_2_chains(job, at, quarter, 4, rest, rows, blocks, false);
        return tile_add(ab, tile_2_chains(job, third, quarter, 4, 0, rows, blocks, false));
    }
    tile_sums a = tile_chain(zero, job, at, quarter, 4, rows, blocks, false);
    a = tile_chain(a, job, tile_at(at, 4 * quarter, blocks), rest, 1, rows, blocks, false);
    a = tile_add(a, tile_chain(zero, job, tile_at(at, 1, blocks), quarter, 4, rows, blocks, false));
    const tile_sums c = tile_chain(zero, job, third, quarter, 4, rows, blocks, false);
    return tile_add(a, tile_add(c, tile_chain(zero, job, tile_at(third, 1, blocks), quarter, 4,
                                              rows, blocks, false)));
}

/* In the order of qkernels.h, whatever the shape of the tile. */
TILE_INLINE tile_sums tile_sum(const tile_job *job, const uint32_t rows, const uint32_t blocks,
                               const bool far)
{
    const tile_place at = {job->x, job->weights};
    const uint32_t width = rows * blocks;

    if (job->chains == 1) {
        return tile_chain(tile_zero(), job, at, job->steps, 1, rows, blocks, far);
    }
    if (blocks * LANES <= AQ_FLOAT_NARROW_MAX && job->chains == 4) {
        return width * 4 <= ACCUMULATORS_MAX
                   ? tile_4_chains(job, at, job->steps, rows, blocks, false)
                   : tile_4_turns(job, at, rows, blocks);
    }
    return width * 2 <= ACCUMULATORS_MAX
               ? tile_2_chains(job, at, job->steps / 2, 2, job->steps % 2, rows, blocks, far)
               : tile_2_turns(job, at, rows, blocks);
}

#else
/* One piece of the rows, in as many chains as a narrow tile needs. */
TILE_INLINE tile_sums tile_narrow(const tile_job *job, tile_place at, const uint32_t rows,
                                  const uint32_t blocks, const bool far)
{
    return rows * blocks * 2 >= ACCUMULATORS_MIN
               ? tile_2_chains(job, at, job->steps / 2, 2, job->steps % 2, rows, blocks, far)
               : tile_4_chains(job, at, job->steps, rows, blocks, far);
}

TILE_INLINE tile_place tile_next_piece(const tile_job *job, tile_place at, const uint32_t blocks)
{
    return (tile_place){at.x + job->piece_stride, tile_at(at, job->steps, blocks).weights};
}

/* The order makes no difference. */
TILE_INLINE tile_sums tile_sum(const tile_job *job, const uint32_t rows, const uint32_t blocks,
                               const bool far)
{
    tile_place at = {job->x, job->weights};
    if (rows * blocks >= ACCUMULATORS_MIN) {
        tile_sums sums = tile_chain(tile_zero(), job, at, job->steps, 1, rows, blocks, far);
        for (uint32_t piece = 1; piece < job->pieces; piece++) {
            at = tile_next_piece(job, at, blocks);
            sums = tile_chain(sums, job, at, job->steps, 1, rows, blocks, far);
        }
        return sums;
    }
    tile_sums sums = tile_narrow(job, at, rows, blocks, far);
    for (uint32_t piece = 1; piece < job->pieces; piece++) {
        at = tile_next_piece(job, at, blocks);
        sums = tile_add(sums, tile_narrow(job, at, rows, blocks, far));
    }
    return sums;
}

#endif

#endif
