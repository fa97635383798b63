/*
 * Plug-ins as environments: "so:./my_env.so" (include/actorq_env.h).
 *
 * A plug-in's row is never believed before it was looked at: NaN and infinities fail the step, and
 * with it the episode. The state lies in a block of its own, whose size only the plug-in knows.
 */
#ifndef AQ_ENVS_PLUGIN_PLUGIN_ENV_H
#define AQ_ENVS_PLUGIN_PLUGIN_ENV_H

#include "envs/env.h"

/* Options: check=yes (plugin_check.h), and those that the plug-in takes. */
extern const aq_env_class aq_plugin_env;

#endif
