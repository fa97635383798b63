/*
 * A task of the control suite, open, with one lane; and tallies of what its episodes begin with.
 */
#ifndef AQ_TESTS_UNIT_ENVS_SUITE_RIG_H
#define AQ_TESTS_UNIT_ENVS_SUITE_RIG_H

#include "envs/env_open.h"
#include "envs/mujoco/suite.h"
#include "tests/support/test.h"

typedef struct rig {
    aq_env *env;
    const aq_suite *suite;
    aq_suite_lane *lane;
    aq_rng rng; /* of a fixed seed */
    float obs[AQ_SUITE_OBS_MAX];
} rig;

void rig_init(rig *self, const char *task);
void rig_fini(rig *self);

/* A test in a task of the suite, with the rig `self`. */
#define TEST_IN_TASK(name, task) TEST_OF(name, rig *self, rig_open(task), rig_fini)
rig *rig_open(const char *task); /* in static storage */

void rig_reset(rig *self);

/* One step with random controls; fails the test when it fails. */
void rig_step(rig *self, float *obs, float *reward);

typedef struct tally {
    double count, sum, sum_of_squares, low, high;
} tally;

void tally_add(tally *self, double value);

/* Whether mean and variance are within four standard errors of those of the distribution: one check
 * in 16,000 fails by chance, and the seeds are fixed. Extremes, too, of a uniform one. */
void tally_check_uniform(const tally *drawn, double low, double high);
void tally_check_normal(const tally *drawn, double mean, double deviation);

/* Whether the means of two samples are within four standard errors of each other. */
void tally_check_same_mean(const tally *ours, const tally *theirs);

#endif
