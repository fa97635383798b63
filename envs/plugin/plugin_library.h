/*
 * Plugin library: a shared object of the user's, loaded, and one of its environments chosen. What
 * it says of itself is checked here, in words, before any of its functions is called.
 *
 * Any thread.
 */
#ifndef AQ_ENVS_PLUGIN_PLUGIN_LIBRARY_H
#define AQ_ENVS_PLUGIN_PLUGIN_LIBRARY_H

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "include/actorq_env.h"

#define AQ_PLUGIN_BYTES_MAX (UINT64_C(1) << 28) /* of params, and of a state */

typedef struct aq_plugin_library {
    void *handle;
    const actorq_env *env; /* in the shared object */
} aq_plugin_library;

/* `argument` is "PATH" or "PATH:NAME", the path as in a shell, never searched for. AQ_E_NOT_FOUND,
 * AQ_E_VERSION (another ABI: which it has and which is needed), AQ_E_INVALID, AQ_E_UNSUPPORTED. */
int aq_plugin_library_open(const char *argument, aq_plugin_library *ret_library,
                           aq_error *error) AQ_MUST_USE;
void aq_plugin_library_close(aq_plugin_library *library);

/* What the environment's `spaces` says. AQ_E_SCHEMA. */
int aq_plugin_schema(const actorq_env *env, const void *params, aq_schema *ret_schema,
                     aq_error *error) AQ_MUST_USE;

#endif
