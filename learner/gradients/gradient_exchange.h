/*
 * Gradient exchange: where the gradient of one rank meets those of the others, and becomes their
 * mean, the same bits on all. An algorithm hands over each block before it judges it: its norm is
 * clipped, and a step refused, by what all ranks have. Whatever else it decides by its rows, it
 * decides by a sum over all ranks. Without a link a rank is alone, as it is in one of a single
 * rank, and a gradient stays as it is; without an exchange (NULL) nobody looks at it either. Of the
 * part that an algorithm names it tells how much is chance (gradient_noise.h).
 *
 * The parameters are cut into pieces of whole buckets. Each rank gets everybody's part of its
 * piece, adds it up in the order of the ranks, and gives the mean to all: two calls of a link,
 * whose engine may send as it likes, since each sum is made once. What a format rounds off is kept,
 * and given the next time (error feedback), by the rank that gave it and by the one that added it
 * up.
 *
 *   fp32   as it is
 *   bf16   sixteen bits each
 *   int8   level = round(value / unit), unit = the greatest size of the bucket on any rank / 127;
 *          sums of levels are whole numbers, the same in any order
 *
 * What was rounded off is not kept over a restart. One thread at a time.
 *
 * Instead of ranks it can be made to keep: each gradient is set aside, in the place of its
 * parameters, and the algorithm takes no step. So an actor computes what a learner will step along.
 */
#ifndef AQ_LEARNER_GRADIENTS_GRADIENT_EXCHANGE_H
#define AQ_LEARNER_GRADIENTS_GRADIENT_EXCHANGE_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/config/gradient_rows.h"
#include "common/config/run_config.h"
#include "learner/gradients/gradient_noise.h"
#include "learner/gradients/rank_link.h"

typedef struct aq_gradient_exchange aq_gradient_exchange;

/* `link` is lent; NULL: alone. AQ_E_NOMEM. */
int aq_gradient_exchange_create(aq_rank_link *link, enum aq_gradient_format format,
                                aq_gradient_exchange **ret_exchange) AQ_MUST_USE;
int aq_gradient_exchange_create_keeping(aq_gradient_exchange **ret_exchange) AQ_MUST_USE;
void aq_gradient_exchange_destroy(aq_gradient_exchange *exchange); /* NULL is fine */

/* Makes room for the gradient of so many parameters in all; NULL is fine. AQ_E_NOMEM. */
int aq_gradient_exchange_reserve(aq_gradient_exchange *exchange, size_t parameters) AQ_MUST_USE;

/* From now on the noise is told of `count` parameters, from the `first` on, wherever the mean of
 * just these or of more is made; it is over `rows` rows of each rank. NULL is fine. AQ_E_NOMEM. */
int aq_gradient_exchange_watch(aq_gradient_exchange *exchange, size_t first, size_t count,
                               double rows) AQ_MUST_USE;
void aq_gradient_exchange_watch_rows(aq_gradient_exchange *exchange, double rows); /* so many now */
aq_noise_figures aq_gradient_exchange_noise(const aq_gradient_exchange *exchange);
/* What was kept: the newest gradient of all parameters. NULL: this exchange keeps none, and steps
 * are taken. */
const float *aq_gradient_exchange_kept(const aq_gradient_exchange *exchange);

/* Of NULL: 0 of 1. */
uint32_t aq_gradient_exchange_rank(const aq_gradient_exchange *exchange);
uint32_t aq_gradient_exchange_ranks(const aq_gradient_exchange *exchange);

/* The gradient of `count` parameters, from the `first` on, becomes its mean over all ranks. A rank
 * whose gradient is of no use says so, and takes part all the same: all get AQ_E_CORRUPT then.
 * AQ_E_PEER when a rank is lost. A NaN among the numbers reaches all, as a NaN or as
 * AQ_E_CORRUPT. */
int aq_gradient_mean(aq_gradient_exchange *exchange, bool is_good, size_t first, float *gradient,
                     size_t count) AQ_MUST_USE;

/* The same of numbers that are no gradient, without rounding in any format: at most as many as were
 * reserved. */
int aq_gradient_exchange_mean(aq_gradient_exchange *exchange, bool is_good, float *numbers,
                              size_t count) AQ_MUST_USE;

/* Each of a few numbers becomes its sum over all ranks, in their order, so that all decide alike.
 * Alone it is one. AQ_E_PEER. */
enum { AQ_RANK_SUMS_MAX = 8 };
int aq_gradient_exchange_sum(aq_gradient_exchange *exchange, double *numbers,
                             size_t count) AQ_MUST_USE;

/* Each rank's `bytes`, one after the other in their order. `all` has room for every rank's, and
 * this rank's own are in their place. AQ_E_PEER. */
int aq_rank_link_gather(aq_rank_link *link, void *all, size_t bytes) AQ_MUST_USE;
int aq_gradient_exchange_gather(aq_gradient_exchange *exchange, void *all,
                                size_t bytes) AQ_MUST_USE;

/* What ranks have sent and waited so far; zeroes of one that is alone. */
typedef struct aq_exchange_figures {
    uint64_t sent_bytes;
    int64_t spent_ns;
} aq_exchange_figures;
aq_exchange_figures aq_gradient_exchange_figures(const aq_gradient_exchange *exchange);
aq_exchange_figures aq_rank_link_figures(const aq_rank_link *link);

/* By what the learning rate is multiplied, by learner.rank_rate. */
double aq_rank_rate(const aq_run_config *config, uint32_t ranks);

#endif
