/*
 * Playback report: by how much an environment of ours differs from a recording of the original.
 *
 * Errors are scaled: |ours - recorded| / max(1, |recorded|).
 */
#ifndef AQ_BENCH_ENV_REPLAY_PLAYBACK_REPORT_H
#define AQ_BENCH_ENV_REPLAY_PLAYBACK_REPORT_H

#include <stdint.h>

/* The largest error of its kind, and the step (or probe, or cell of a table) that has it: -1 is the
 * first observation. */
typedef struct aq_worst {
    uint64_t compared; /* numbers; 0: the recording has none, or the environment shows none */
    double error;
    int64_t step;
} aq_worst;

typedef struct aq_playback_report {
    uint64_t steps; /* or probes, or pairs of a state and an action */
    aq_worst obs, reward, state;
    uint64_t mismatched_flags; /* terminated and truncated, each counts */
} aq_playback_report;

/* NaN against a number is an infinite error. */
void aq_worst_offer(aq_worst *worst, int64_t step, double ours, double recorded);

#endif
