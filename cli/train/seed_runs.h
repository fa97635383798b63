/*
 * Seed runs: the same run from several seeds, and for several points of a grid of settings, each an
 * `actorq train` of its own, one after the other or side by side; and what they came to together.
 *
 * The configuration of all is FOLDER/config.yaml, and a run is FOLDER/seed-K; of a grid they are in
 * FOLDER/POINT.
 */
#ifndef AQ_CLI_TRAIN_SEED_RUNS_H
#define AQ_CLI_TRAIN_SEED_RUNS_H

#include <stdint.h>

#include "cli/train/train_grid.h"
#include "cli/train/train_session.h"
#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/sys/options.h"

enum { AQ_SEEDS_MAX = 256 };

/* count 0: none were asked for. */
typedef struct aq_seed_range {
    uint64_t first, count;
} aq_seed_range;

/* For AQ_TO: "5" is 1 to 5, "3..7" what it says. */
int aq_seed_range_take(void *range, const char *value, aq_error *error) AQ_MUST_USE;

typedef struct aq_seed_plan {
    aq_seed_range seeds;
    size_t points; /* of the grid; 1: there is none, or of one point */
    /* What point number `index` is called, "" without a grid, and its configuration. */
    int (*resolve)(void *user, size_t index, char name[AQ_GRID_NAME_MAX], aq_run_config *ret_config,
                   aq_error *error);
    void *user;
    uint64_t jobs; /* at once; 0: as many as this host has processors for */
} aq_seed_plan;

/* In options->run_dir, which was made for them, and is removed when all were refused. Prints a line
 * a run and a summary for each point, or both as JSON, an object each. A point that can't be is
 * refused before anything is trained. Fails in words when a run came to nothing. */
int aq_seed_runs(const aq_seed_plan *plan, const aq_train_options *options, aq_json_form json,
                 aq_error *error) AQ_MUST_USE;

#endif
