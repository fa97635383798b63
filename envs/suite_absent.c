/*
 * The control suite of a build without MuJoCo: its names are known, and opening one says what is
 * missing instead of that there is no such task.
 */
#include <math.h>

#include "envs/suite_absent.h"

static int refuse(void *params, aq_env_opening *opening, aq_error *error)
{
    (void)params;
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "dmc:%s: this build has no MuJoCo, which is the physics of the control suite; "
                   "install libmujoco-dev and build again",
                   opening->argument);
}

/* A family, so that any name of the suite is its; none of its members can be opened. */
const aq_env_class aq_dmc_absent = {
    .name = "dmc:",
    .summary = "DeepMind's control suite; this build has no MuJoCo, so it cannot be opened.",
    .reward_threshold = NAN,
    .params_bytes = 1,
    .state_bytes = 1,
    .open = refuse,
};
