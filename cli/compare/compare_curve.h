/*
 * Compare curve: what a finished run's metrics.jsonl says for a comparison: its evaluations in
 * order, how it ended, and where its time went. A run that was resumed has gone back to its
 * checkpoint: evaluations after that are forgotten here, too. Times, staleness, noise and rows by
 * the versions they were behind count what was lost with it, as it was done. One thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_CURVE_H
#define AQ_CLI_COMPARE_COMPARE_CURVE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/run/run_series.h"
#include "common/base/error.h"

enum {
    AQ_CURVE_BINS = 16,
    AQ_CURVE_RANKS = 8,
    AQ_RUNNING_WINDOW = 10, /* evaluations; as in the ActorQ paper's curves */
};

/* Where the time of a role went, in seconds, over all its processes. Its states stand together. */
enum aq_compare_state {
    AQ_TIME_ACTOR_INFERENCE,
    AQ_TIME_ACTOR_ENVIRONMENT,
    AQ_TIME_ACTOR_WAITING, /* for replay to take more */
    AQ_TIME_ACTOR_OTHER,   /* choosing, packing, sending */
    AQ_TIME_LEARNER_TRAINING,
    AQ_TIME_LEARNER_EXCHANGE,   /* of gradients with other ranks, waiting for them included */
    AQ_TIME_LEARNER_WAITING,    /* for samples */
    AQ_TIME_LEARNER_PUBLISHING, /* handing policies over */
    AQ_TIME_STAGE_QUANTIZING,   /* beside training: quantizing, packing and sending */
    AQ_TIME_REPLAY_INSERTING,
    AQ_TIME_REPLAY_SAMPLING,
    AQ_TIME_STATES
};

/* How a state is called: by role and key in files ("actors", "waiting"), and for people ("waiting
 * for replay"). */
typedef struct aq_compare_state_words {
    const char *role, *key, *name;
} aq_compare_state_words;
const aq_compare_state_words *aq_compare_state_at(int state); /* static storage */

typedef struct aq_compare_curve {
    aq_run_series returns; /* of evaluations */
    char end[16];          /* "budget", "diverged"; "" when it did not end */
    double wall_s;
    double lost_s; /* by which the clock went back to checkpoints, whose steps shards kept */
    /* Counts; 0: not told. */
    double env_steps, learner_steps, policy_versions, policy_fallbacks;
    double broadcast_bytes, broadcast_bytes_fp32;
    double actor_steps;            /* made in the time that `states` tells of; NaN: not told */
    double gap;                    /* return as broadcast less in fp32, of the same versions and
                                    * episodes; NaN: not compared */
    double staleness;              /* versions, mean of the progress lines; NaN: none */
    double states[AQ_TIME_STATES]; /* seconds; NaN: not told, as by a run of less than a second */
    /* Of each rank's time: exchanging, or without anything to learn from; NaN: there is none. */
    double rank_waits[AQ_CURVE_RANKS];
    double noise_scale;             /* rows; geometric mean of the progress lines; NaN: none */
    double gradient_cosine;         /* mean of them, as the next */
    double gradient_bytes;          /* of an update, by all who send any; NaN: none is sent */
    double row_bytes;               /* of a step or gradient that shards hold; NaN: not told */
    double actors;                  /* at last; NaN: not told */
    uint64_t behind[AQ_CURVE_BINS]; /* rows by the versions they were behind; the last: and more */
} aq_compare_curve;

/* Of a run of which nothing is known. */
aq_compare_curve aq_compare_curve_none(void);

/* As opening and reading the file fail, AQ_E_NOMEM, AQ_E_FULL beyond AQ_SERIES_POINTS_MAX. Lines
 * that are broken, such as those that are no JSON objects, are passed over. */
int aq_compare_curve_read(const char *folder, aq_compare_curve *ret_curve,
                          aq_error *error) AQ_MUST_USE;
void aq_compare_curve_fini(aq_compare_curve *curve); /* a zeroed one is fine */

/* The first point at which the mean of the last AQ_RUNNING_WINDOW values is at least `threshold`,
 * once there are as many; the number of evaluations when there is none. */
size_t aq_compare_curve_crossing(const aq_compare_curve *curve, double threshold);

/* Mean of the evaluations in the last tenth of the steps; NaN of none. No value is chosen, so it
 * doesn't flatter. */
double aq_compare_curve_final(const aq_compare_curve *curve);

#endif
