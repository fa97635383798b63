/*
 * Model group: ranks that share one learner's networks (learner/nn/net_split.h), train on the same
 * rows at once, and so come to the same conclusions. What each of them has of a split network they
 * add up in every pass; here is that, and how an array that each has a slice of is made whole, and
 * judged.
 *
 * Sums are made once each, in the order of the ranks, and copied to all: the same bits on every
 * rank. A rank that is lost makes all calls fail from then on; sums say nothing of it, as what they
 * lead to is judged (aq_model_group_judge) before anything is changed by it.
 *
 * Without a group (NULL) a rank has its networks to itself. One thread at a time.
 */
#ifndef AQ_LEARNER_GRADIENTS_MODEL_GROUP_H
#define AQ_LEARNER_GRADIENTS_MODEL_GROUP_H

#include "common/experience/batch.h"
#include "learner/gradients/gradient_exchange.h"
#include "learner/nn/net_split.h"

enum { AQ_SQUARES_MAX = 4 };

typedef struct aq_model_group aq_model_group;

/* `link` is lent; only its rank and count need be there yet. AQ_E_NOMEM. */
int aq_model_group_create(aq_rank_link *link, aq_model_group **ret_group) AQ_MUST_USE;
void aq_model_group_destroy(aq_model_group *group); /* NULL is fine */

/* Of NULL: 0 of 1. The first one speaks for all: it draws the rows, and has what is made whole. */
uint32_t aq_model_group_rank(const aq_model_group *group);
uint32_t aq_model_group_ranks(const aq_model_group *group);

aq_split_ranks *aq_model_group_split(aq_model_group *group); /* of NULL: NULL */
aq_exchange_figures aq_model_group_figures(const aq_model_group *group);

/* What the first rank says, on all of them; false when one is lost. Of NULL: `word`. */
bool aq_model_group_says(aq_model_group *group, bool word);

/* The rows of the first rank's batch become everybody's; priorities are nobody's yet. The batches
 * are of one layout, with room for as many. AQ_E_PEER. */
int aq_model_group_share_rows(aq_model_group *group, aq_batch *batch) AQ_MUST_USE;

/* All ranks come to one judgement: `rc` says what this one found of its gradient, and the squares
 * of what it alone answers for, AQ_SQUARES_MAX at most, become those of all, NaN where one found
 * fault. AQ_E_PEER. Of NULL: `rc`. */
int aq_model_group_judge(aq_model_group *group, int rc, double *squares, size_t count) AQ_MUST_USE;

/* The whole array, on the first rank; the others' `whole` is not looked at. AQ_E_PEER. */
int aq_model_group_gather(aq_model_group *group, const aq_slices *slices, const float *own,
                          float *whole) AQ_MUST_USE;

/* A hash of all ranks' slices of arrays: `of_slice` of this rank's, `of_all` of what should be the
 * same on all. Ranks that agree in that have the same. 0 when one is lost. */
uint64_t aq_model_group_hash(aq_model_group *group, uint64_t of_slice, uint64_t of_all);

#endif
