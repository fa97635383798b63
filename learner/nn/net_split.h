/*
 * Network split: which part of a network each of several ranks has that share it.
 *
 * Two linear layers one right after the other are split as a pair. Of the first a rank has some of
 * the outputs, the same rows of W for each; of the second the inputs that these are. So between the
 * two nothing is exchanged. What the second gives is a sum over the ranks, and so is, on the way
 * back, the gradient of what the first takes:
 *
 *   h[r] = act(W1[r] x + b1[r])        y = act(sum over r of W2[r] h[r] + b2)
 *                                      dx = sum over r of W1[r]^T dz1[r]
 *
 * Pairs are found from the front: the values between are AQ_SPLIT_WIDTH_MIN or more, a multiple of
 * the ranks, and no other layer takes them. All other layers, and b2, are whole on all ranks, where
 * they see the same bits and stay the same.
 *
 * What a rank trains is a network like any other, `slice`, whose arrays are slices of those of the
 * whole one. Pure, but for what the ranks exchange; any thread.
 */
#ifndef AQ_LEARNER_NN_NET_SPLIT_H
#define AQ_LEARNER_NN_NET_SPLIT_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"

/* A slice of fewer values gains less than the exchange takes. */
#define AQ_SPLIT_WIDTH_MIN UINT32_C(128)

/* The ranks that share networks, as whoever goes through one sees them; somebody's that reaches
 * them. */
typedef struct aq_split_ranks aq_split_ranks;
struct aq_split_ranks {
    uint32_t rank, count;
    /* Values become their sums over all ranks, the same bits on each. */
    void (*sum)(aq_split_ranks *ranks, float *values, size_t count);
};

/* Of a layer, what a rank has. */
enum aq_split_part { AQ_SPLIT_NOTHING, AQ_SPLIT_OUTPUTS, AQ_SPLIT_INPUTS };

typedef struct aq_net_split {
    aq_net_spec whole, slice;
    uint8_t part[AQ_NET_LAYERS_MAX]; /* enum aq_split_part; all zero: the slice is the whole */
    aq_split_ranks *ranks;           /* lent; NULL: alone */
} aq_net_split;

/* `whole` is valid. Where nothing can be split, or `ranks` is NULL, each rank has all of it. */
aq_net_split aq_net_split_of(const aq_net_spec *whole, aq_split_ranks *ranks);

/* This rank's slice, as if the whole were made by aq_params_randomize. AQ_E_NOMEM. */
int aq_net_split_randomize(const aq_net_split *split, aq_params *slice, aq_rng *rng) AQ_MUST_USE;

/* ---- arrays --------------------------------------------------------------------------------- */

/* Of each network its arrays, and of each of its layers two; then the values behind them. */
enum {
    AQ_SLICED_NETS_MAX = 4,
    AQ_SLICE_PIECES_MAX = AQ_SLICED_NETS_MAX * (1 + 2 * AQ_NET_LAYERS_MAX) + 1,
};

/* An array of networks side by side, and of values behind them that all ranks have. */
typedef struct aq_slices {
    uint32_t count; /* 0: all ranks have all of it */
    const aq_net_split *nets[AQ_SLICED_NETS_MAX];
    size_t rest;
} aq_slices;

/* Values that lie side by side in a rank's array. Value i is, of rank r, the whole one's
 * whole + r * step + i / run * stride + i % run. */
typedef struct aq_slice_piece {
    size_t own, whole;  /* where it begins */
    size_t count;       /* that a rank has */
    size_t run, stride; /* so many lie side by side in the whole, and begin so far apart */
    size_t step;        /* from rank to rank; 0: all have the same */
} aq_slice_piece;

/* Returns how many there are, in order and without gaps. */
size_t aq_slices_pieces(const aq_slices *slices, aq_slice_piece pieces[AQ_SLICE_PIECES_MAX]);

size_t aq_slices_whole(const aq_slices *slices); /* values of the whole array */

/* Values [first, first + count) of a piece of rank `rank`, to their places in the whole. */
void aq_slice_put(const aq_slice_piece *piece, uint32_t rank, size_t first, size_t count,
                  const float *values, float *whole);

/* The whole array's slice of rank `rank`. */
void aq_slices_take(const aq_slices *slices, uint32_t rank, const float *whole, float *own);

/* Sum of squares of what a rank has alone, of values [first, first + count) of its array, which
 * begin and end with a piece. */
double aq_slices_squares(const aq_slices *slices, const float *own, size_t first, size_t count);

#endif
