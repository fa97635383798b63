/*
 * Observation normalizer: running mean and variance of each element of what is trained on, and the
 * map that they give, y = (x - mean) / deviation. There is no clipping, so that the map is linear
 * and the layers of a network that take the input can take it in:
 *
 *   W y + b  =  W' x + b',   W'[i][j] = W[i][j] / deviation[j],
 *                            b'[i] = b[i] - sum_j W'[i][j] mean[j]
 *
 * Batches are merged by the method of Chan, Golub and LeVeque (1983), in double and in their order:
 * the same batches give the same bits. An element that has never varied is only shifted. One thread
 * at a time.
 */
#ifndef AQ_COMMON_NN_OBS_NORMALIZER_H
#define AQ_COMMON_NN_OBS_NORMALIZER_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"

typedef struct aq_obs_normalizer {
    uint32_t width;
    size_t statistics_count;
    double *statistics; /* rows seen, then (width) means, then (width) sums of squared deviations */
    double *mean;       /* within `statistics` */
    double *squares;    /* likewise */
    float *shift;       /* (width), of the map */
    float *factor;      /* (width), likewise: 1 / deviation */
    double *batch;      /* scratch: the same of one batch */
} aq_obs_normalizer;

/* The identity, until something was seen. AQ_E_NOMEM. */
int aq_obs_normalizer_init(aq_obs_normalizer *normalizer, uint32_t width) AQ_MUST_USE;
void aq_obs_normalizer_fini(aq_obs_normalizer *normalizer); /* a zeroed struct is fine */

/* Takes in (rows, width), at least one row. AQ_E_CORRUPT when a number among them is not finite;
 * nothing has changed then. */
int aq_obs_normalizer_see(aq_obs_normalizer *normalizer, const float *rows,
                          size_t count) AQ_MUST_USE;

/* The same in two steps, for those who have to tell others: adds what the rows are like to a batch
 * of statistics_count numbers, zeroes at first, and takes in such batches, none of them empty. */
void aq_obs_normalizer_add(aq_obs_normalizer *normalizer, const float *rows, size_t count,
                           double *batch);
int aq_obs_normalizer_take(aq_obs_normalizer *normalizer, const double *batches,
                           size_t batch_count) AQ_MUST_USE;

/* To be called when `statistics` were written from outside. */
void aq_obs_normalizer_restored(aq_obs_normalizer *normalizer);

/* (rows, width) to (rows, width). */
void aq_obs_normalizer_apply(const aq_obs_normalizer *normalizer, const float *rows, size_t count,
                             float *out);

/* The layers that take the input become ones for observations as they are; they are affine
 * (aq_net_is_affine_in_input), and the input is `width` wide. */
void aq_obs_normalizer_fold(const aq_obs_normalizer *normalizer, const aq_net_spec *spec,
                            aq_params *params);

#endif
