/*
 * Run limits: what ends a run that is not solved before. Pure; any thread.
 */
#ifndef AQ_COMMON_CONFIG_RUN_LIMITS_H
#define AQ_COMMON_CONFIG_RUN_LIMITS_H

#include <stdint.h>

#include "common/config/run_config.h"

typedef struct aq_run_limit {
    const char *key;
    double limit, done; /* a limit of 0 is none */
} aq_run_limit;

enum { AQ_RUN_LIMITS = 3 };

void aq_run_limits_of(const aq_run_config *config, uint64_t env_steps, uint64_t learner_steps,
                      double wall_s, aq_run_limit ret_limits[AQ_RUN_LIMITS]);

#endif
