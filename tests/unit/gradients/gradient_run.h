/*
 * A run of one gradient actor in one thread: a learner's agent, an actor's core with the gradient
 * maker, and the steps of which each gradient was made.
 */
#ifndef AQ_TESTS_UNIT_GRADIENTS_GRADIENT_RUN_H
#define AQ_TESTS_UNIT_GRADIENTS_GRADIENT_RUN_H

#include "actor/core/actor_core.h"
#include "common/experience/arrival.h"
#include "envs/env.h"
#include "learner/algorithms/agent.h"
#include "learner/run/run_plan.h"
#include "tests/support/test.h"

enum { GRADIENT_CHUNKS_MAX = 4096 };

typedef struct gradient_run {
    aq_run_plan plan;
    aq_agent *agent; /* the learner's */
    aq_actor_core *core;
    aq_gradient_maker maker;
    aq_chunk *taken[GRADIENT_CHUNKS_MAX]; /* since the last look */
    size_t taken_count;
    bool lacks_memory; /* the next gradient */
    uint64_t version, step;
    aq_lease *frame; /* of the last row */
    aq_arrival *arrival;
} gradient_run;

/* CartPole's settings, changed by those assignments; the last is NULL. */
void gradient_config(aq_run_config *config, const char *const *assignments);
void gradient_plan(const aq_run_config *config, aq_run_plan *ret_plan);
aq_agent *gradient_agent(const aq_run_plan *plan);

void gradient_run_begin(gradient_run *run, const char *const *assignments);
void gradient_run_begin_in(gradient_run *run, const aq_env_class *cartpole,
                           const char *const *assignments);
void gradient_run_end(gradient_run *run);

/* Lets the actor have them, and make a gradient. Valid until the next call. */
const aq_chunk_view *gradient_run_row(gradient_run *run, uint32_t format);

/* Of a row, unpacked: as many numbers as the run's gradients have; to be freed. */
float *gradient_of_row(const gradient_run *run, const aq_chunk_view *row);

#endif
