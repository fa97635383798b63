/*
 * Compare plan: what is compared, and how: which arms, over which seeds, under which configuration.
 * It is kept as DIR/plan.json and DIR/config.yaml, from which a comparison that was
 * interrupted goes on. One thread.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_PLAN_H
#define AQ_CLI_COMPARE_COMPARE_PLAN_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/compare/compare_arm.h"
#include "common/base/error.h"
#include "common/config/run_config.h"

enum { AQ_COMPARE_SEEDS_MAX = 64, AQ_COMPARE_COMMAND_MAX = 4096 };

/* No task gives as much, so no run ends for it. */
#define AQ_COMPARE_THRESHOLD_NEVER "1e300"

typedef struct aq_compare_plan {
    char dir[PATH_MAX];
    aq_compare_request request;
    aq_compare_arm arms[AQ_COMPARE_ARMS_MAX]; /* that it comes to */
    size_t arm_count;
    uint64_t seeds;                       /* how many */
    uint64_t seed_first;                  /* the others follow */
    double threshold;                     /* NaN: taken from the task, or from what was reached */
    char command[AQ_COMPARE_COMMAND_MAX]; /* as it was given, for the report */
    aq_run_config config;                 /* of every run, but for its arm's and the seed */
} aq_compare_plan;

/* What was requested becomes arms, for the configuration's algorithm. AQ_E_INVALID. */
int aq_compare_plan_arms(aq_compare_plan *plan, aq_error *error) AQ_MUST_USE;

/* The run's own configuration: it ends at its limits, however well it does, so that all are as
 * long. AQ_E_INVALID for settings that there are not. */
int aq_compare_plan_config(const aq_compare_plan *plan, size_t arm, uint64_t seed,
                           aq_run_config *ret_config, aq_error *error) AQ_MUST_USE;

/* Whether each precision makes a configuration that the task can be trained under; says which does
 * not. Of modes one is enough: the report says which are not for the algorithm. AQ_E_INVALID. */
int aq_compare_plan_check(const aq_compare_plan *plan, const aq_schema *schema,
                          aq_error *error) AQ_MUST_USE;

/* plan.json and config.yaml in plan->dir, which is there. */
int aq_compare_plan_write(const aq_compare_plan *plan, aq_error *error) AQ_MUST_USE;

/* AQ_E_NOT_FOUND for a folder without a plan, AQ_E_CORRUPT for one that is none. */
int aq_compare_plan_read(const char *dir, aq_compare_plan *ret_plan, aq_error *error) AQ_MUST_USE;

/* Which arm is trained as number `turn` (0 ...) of a round of one seed each: every round
 * begins with another one, so that a machine that grows slower hits all alike. */
size_t aq_compare_plan_turn(const aq_compare_plan *plan, uint64_t round, size_t turn);

/* The folder of one run, "DIR/int8-s1", in `out`. AQ_E_TOO_BIG. */
int aq_compare_plan_run_dir(const aq_compare_plan *plan, size_t arm, uint64_t seed, char *out,
                            size_t size) AQ_MUST_USE;

#endif
