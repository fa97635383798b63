/*
 * For tests of sweeps: a spec from a text, a sweep in a folder, and workers whose runs are a
 * function of their settings.
 */
#ifndef AQ_TESTS_UNIT_CLI_SWEEP_SWEEP_KIT_H
#define AQ_TESTS_UNIT_CLI_SWEEP_SWEEP_KIT_H

#include "cli/sweep/journal/sweep_desk.h"
#include "cli/sweep/journal/sweep_lease.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

enum { HANDS_MAX = 8 };

/* A worker: idle, or at a run. */
typedef struct sweep_hand {
    aq_sweep_desk *desk;
    aq_sweep_presence *presence;
    bool is_busy, is_over;
    size_t run;
    uint32_t attempt;
} sweep_hand;

/* Read, or the test fails. */
void sweep_spec(const char *yaml, aq_sweep_spec *ret_spec);

/* Begun in `dir`; runs without rungs take 1000 steps, and random actions at least 20. */
void sweep_found(const char *dir, const char *yaml);
void sweep_found_with(const char *dir, const char *yaml, bool is_resumed); /* of its plan */

void sweep_hire(sweep_hand *hand, const char *dir, const char *name);
void sweep_dismiss(sweep_hand *hand); /* as if it was killed */

/* Takes a run, or brings what came of the one that it has: a good score near a learning rate of
 * 1e-3 and small batches, better at higher rungs. A batch of 256 fails. False: nothing to do. */
bool sweep_step(sweep_hand *hand, int64_t now_ns);

/* Until all is over, with `count` hands in an order by chance. */
void sweep_all(const char *dir, size_t count, uint64_t seed);

/* What `sweep status --json` says, without times; the test's. */
json_t *sweep_says(const char *dir);

/* The events of the journal, the test's, without what is of workers and not of the study: times,
 * line numbers, workers' names, and which of a round's runs was taken and ended before which. */
json_t *sweep_events(const char *dir);

#endif
