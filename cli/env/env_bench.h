/*
 * Env bench: how fast an environment steps under random actions, resets included, on one thread,
 * and how much of that is its physics library (envs/env_physics.h), measured in turn on the same
 * states and actions.
 *
 * Time is the processor's, so that what else runs on the machine counts less, except for an
 * environment that works in another process. It is taken in slices, of which the median counts.
 */
#ifndef AQ_CLI_ENV_ENV_BENCH_H
#define AQ_CLI_ENV_ENV_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "envs/env_open.h"

enum { AQ_ENV_BENCH_SECONDS_MAX = 600, AQ_ENV_BENCH_LANES_MAX = 4096 };

/* Lanes, unless something else is asked for: the library's states then stay in the cache, as they
 * do in its own figures; others are stepped together. */
enum { AQ_ENV_BENCH_LANES_PHYSICS = 1, AQ_ENV_BENCH_LANES = 64 };

typedef struct aq_env_bench_report {
    uint32_t lanes;
    uint64_t slices, steps, episodes; /* begun */
    bool by_wall_clock;
    double steps_per_s;                       /* median */
    double steps_per_s_low, steps_per_s_high; /* the slices' 10th and 90th percentile */
    double step_ns, reset_ns;                 /* a step, its share of resets included; a reset */
    bool has_physics;
    double physics_steps_per_s;
    double physics_ratio; /* median of steps_per_s / physics_steps_per_s: 1 when nothing is added */
} aq_env_bench_report;

/* `seconds` of the clock on the wall, 1 to AQ_ENV_BENCH_SECONDS_MAX, or more until there are a few
 * slices; lanes: 0 is the default. AQ_E_PEER: a reset or a step failed; AQ_E_NOMEM; what the
 * environment's begin says. */
int aq_env_bench(const aq_env *env, double seconds, uint32_t lanes, uint64_t seed,
                 aq_env_bench_report *ret_report, aq_error *error) AQ_MUST_USE;

#endif
