/*
 * The steps of a batch of sequences, one behind another, for algorithms that train on all of what
 * one Sample call brought.
 *
 * Boundaries are counted from the first of the first sequence to the last of the last one, without
 * the zeros that sequences end in. A step has the number of the boundary that it begins at, and a
 * boundary an observation, which is a number among all that the batch has room for.
 */
#ifndef AQ_LEARNER_ALGORITHMS_BATCH_STEPS_H
#define AQ_LEARNER_ALGORITHMS_BATCH_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "common/experience/batch.h"
#include "learner/gradients/rank_link.h"

typedef struct aq_batch_steps {
    uint32_t boundaries;
    uint32_t *observation; /* by boundary; room for two a step, as a sequence has a step */
    uint32_t count;
    uint32_t *steps; /* in the order of the batch, until its owner shuffles them */
    uint32_t ranks;
    uint64_t counts[AQ_RANKS_MAX]; /* of each rank, this one's too, as they were told */
} aq_batch_steps;

/* Some of the steps. What they add to a mean over all ranks' is divided by `all`; what they add to
 * a gradient, of which the exchange makes the mean over ranks, by `share`. */
typedef struct aq_batch_part {
    const uint32_t *steps;
    uint32_t count;
    double all;   /* how many all ranks have */
    double share; /* of each rank of those */
} aq_batch_part;

/* Lays out all steps of `rows`, of which there are at most `steps_max`; their rows' priorities
 * become 0. */
void aq_batch_steps_take(aq_batch_steps *steps, const aq_batch *rows, uint32_t steps_max);

/* Where the batch has what belongs to the step that begins at an observation. */
size_t aq_batch_step_place(const aq_batch *rows, uint32_t observation);

/* What was chosen there; beyond any task's choices where that is below 0. */
uint32_t aq_batch_choice(const aq_batch *rows, size_t place);

/* Where part `number` of `parts` begins, when `count` are shared out. */
uint32_t aq_batch_part_begin(uint64_t count, uint32_t number, uint32_t parts);

/* That part, when the steps of each rank are shared out. */
aq_batch_part aq_batch_part_of(const aq_batch_steps *steps, uint32_t number, uint32_t parts);

/* Into how many parts: as `wanted`, or as few as make some rank have a step in each; others may
 * have none. */
uint32_t aq_batch_part_count(const aq_batch_steps *steps, uint32_t wanted);

/* So many `values` of observations of `dtype` as floats. */
void aq_observations_load(const uint8_t *from, uint32_t dtype, size_t values, float *ret_values);

/* An observation of `dtype` as a network's `inputs`. */
void aq_batch_observe(const aq_batch *rows, uint32_t dtype, uint32_t observation, uint32_t inputs,
                      float *ret_inputs);

#endif
