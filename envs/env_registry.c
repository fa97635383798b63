/*
 * The environments that this build knows. A new one is a line here. A class whose name ends with a
 * colon is a family: any name that begins so is its.
 */
#include <string.h>
#include <strings.h>

#include "envs/box2d/lander.h"
#include "envs/classic/acrobot.h"
#include "envs/classic/cartpole.h"
#include "envs/classic/mountain_car.h"
#include "envs/classic/pendulum.h"
#include "envs/env.h"
#include "envs/games/asterix.h"
#include "envs/games/breakout.h"
#include "envs/games/freeway.h"
#include "envs/games/miner.h"
#include "envs/games/seaquest.h"
#include "envs/games/space_invaders.h"
#include "envs/mujoco/suite_classes.h"
#include "envs/plugin/plugin_env.h"
#include "envs/python/python_env.h"
#include "envs/suite_absent.h"
#include "envs/text/blackjack.h"
#include "envs/text/cliff_walking.h"
#include "envs/text/frozen_lake.h"
#include "envs/text/taxi.h"

#ifdef AQ_HAVE_MUJOCO
#define SUITE_CLASS(id) &aq_dmc_##id
#define SUITE           AQ_SUITE_CLASSES(SUITE_CLASS)
#else
#define SUITE &aq_dmc_absent
#endif

/* In the order of their names. */
static const aq_env_class *const classes[] = {
    SUITE,
    &aq_game_asterix,
    &aq_game_breakout,
    &aq_game_freeway,
    &aq_game_miner,
    &aq_game_seaquest,
    &aq_game_space_invaders,
    &aq_acrobot_v1,
    &aq_blackjack_v1,
    &aq_cartpole_v0,
    &aq_cartpole_v1,
    &aq_cliff_walking_v1,
    &aq_frozen_lake_v1,
    &aq_frozen_lake_8x8_v1,
    &aq_lunar_lander_v3,
    &aq_lunar_lander_continuous_v3,
    &aq_mountain_car_v0,
    &aq_mountain_car_continuous_v0,
    &aq_pendulum_v1,
    &aq_taxi_v3,
    &aq_taxi_v4,
    &aq_python_env,
    &aq_plugin_env,
};

size_t aq_env_count(void)
{
    return sizeof(classes) / sizeof(classes[0]);
}

const aq_env_class *aq_env_at(size_t index)
{
    return index < aq_env_count() ? classes[index] : NULL;
}

/* What follows the suite in "gym:CartPole-v1". */
static const char *short_name(const aq_env_class *env)
{
    const char *colon = strchr(env->name, ':');
    return colon != NULL ? colon + 1 : env->name;
}

static bool is_member(const aq_env_class *family, const char *name)
{
    return aq_env_is_family(family) && strncmp(family->name, name, strlen(family->name)) == 0;
}

/* Whether `typed` is `name` in whatever case, or all of it but the version, "-v1". */
static bool is_meant(const char *name, const char *typed)
{
    const size_t length = strlen(typed);
    return strncasecmp(name, typed, length) == 0 &&
           (name[length] == '\0' || strncmp(name + length, "-v", 2) == 0);
}

/* The last that is meant, which is the newest version. */
static const aq_env_class *find_meant(const char *typed)
{
    const aq_env_class *found = NULL;
    for (size_t i = 0; i < aq_env_count(); i++) {
        const aq_env_class *class = classes[i];
        if (!aq_env_is_family(class) &&
            (is_meant(class->name, typed) || is_meant(short_name(class), typed))) {
            found = class;
        }
    }
    return found;
}

const aq_env_class *aq_env_find(const char *name)
{
    const aq_env_class *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < aq_env_count(); i++) {
        if (is_member(classes[i], name)) {
            return classes[i];
        }
        if (aq_env_is_family(classes[i])) {
            continue;
        }
        if (strcmp(classes[i]->name, name) == 0) {
            return classes[i];
        }
        if (strcmp(short_name(classes[i]), name) == 0) {
            found = classes[i];
            matches++;
        }
    }
    return matches == 1 ? found : find_meant(name);
}
