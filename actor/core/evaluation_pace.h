/*
 * Evaluation pace: how much of the time an evaluator may work, so that it leaves the processor to
 * training.
 *
 * Work is paid for from what was saved: a share of the time that passes, and the same share of
 * AQ_PACE_SPAN_NS at the start, which is also the most that can be saved. An evaluation is never
 * interrupted, and may leave a debt; the next one begins when that is paid. So a run of seconds is
 * watched without a pause, one of hours takes its share, and the newest version is taken after
 * every pause. No clock of its own.
 */
#ifndef AQ_ACTOR_CORE_EVALUATION_PACE_H
#define AQ_ACTOR_CORE_EVALUATION_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/clock.h"

#define AQ_PACE_SPAN_NS (100 * AQ_NS_PER_S)

/* The most work between two calls, which are a step apart: who was stopped in between (SIGSTOP, a
 * paused container, a debugger) did not work meanwhile. */
#define AQ_PACE_STEP_NS_MAX AQ_NS_PER_S

typedef struct aq_evaluation_pace {
    double share;    /* of the time, above 0; from 1 on there are no pauses */
    double saved_ns; /* work that may be done now; below 0: a debt */
    int64_t told_ns; /* when it was last told the time */
    bool is_working; /* since then */
} aq_evaluation_pace;

void aq_evaluation_pace_init(aq_evaluation_pace *pace, double share, int64_t now_ns);

/* Another share from `now_ns` on, with what was saved or is owed by then. */
void aq_evaluation_pace_set_share(aq_evaluation_pace *pace, double share, int64_t now_ns);

/* The time between two calls counts as work if the first said so, up to AQ_PACE_STEP_NS_MAX. Times
 * must not go back. */
void aq_evaluation_pace_tell(aq_evaluation_pace *pace, int64_t now_ns, bool is_working);

/* When the next evaluation may begin: INT64_MIN for now. */
int64_t aq_evaluation_pace_due_ns(const aq_evaluation_pace *pace);

#endif
