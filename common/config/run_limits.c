/*
 * Run limits: see run_limits.h.
 */
#include "common/config/run_limits.h"

void aq_run_limits_of(const aq_run_config *config, uint64_t env_steps, uint64_t learner_steps,
                      double wall_s, aq_run_limit ret_limits[AQ_RUN_LIMITS])
{
    ret_limits[0] =
        (aq_run_limit){"limits.env_steps", (double)config->limits.env_steps, (double)env_steps};
    ret_limits[1] = (aq_run_limit){"limits.learner_steps", (double)config->limits.learner_steps,
                                   (double)learner_steps};
    ret_limits[2] = (aq_run_limit){"limits.wall_s", config->limits.wall_s, wall_s};
}
