/*
 * The lander of a build without Box2D: opening it says what is missing.
 */
#include <math.h>

#include "envs/box2d/lander.h"

static int refuse(void *params, aq_env_opening *opening, aq_error *error)
{
    (void)params;
    (void)opening;
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "this build has no Box2D, which is the physics of the lander; install "
                   "libbox2d-dev and g++ and build again");
}

#define ABSENT_MEMBERS                                                                             \
    .summary = "Land a craft on a pad; this build has no Box2D, so it cannot be opened.",          \
    .reward_threshold = NAN, .params_bytes = 1, .state_bytes = 1, .open = refuse

const aq_env_class aq_lunar_lander_v3 = {.name = "gym:LunarLander-v3", ABSENT_MEMBERS};
const aq_env_class aq_lunar_lander_continuous_v3 = {.name = "gym:LunarLanderContinuous-v3",
                                                    ABSENT_MEMBERS};
