/*
 * Plugin check: one call of a plug-in with everything around it watched (?check=yes). The call is
 * made twice from the same state with the same random numbers, into memory filled differently and
 * with guard zones around it, so that what it shows is
 *
 *   - bytes written before or behind the row, the reward, or the state; a changed action;
 *   - elements of the row that were not written;
 *   - a second result that differs: it remembers something outside of what it is handed;
 *   - an observation that `observe` does not repeat.
 *
 * It costs more than twice the time, and what is written far beyond the guards is not seen. One
 * owner, one thread at a time.
 */
#ifndef AQ_ENVS_PLUGIN_PLUGIN_CHECK_H
#define AQ_ENVS_PLUGIN_PLUGIN_CHECK_H

#include "common/base/rng.h"
#include "envs/env.h"
#include "include/actorq_env.h"

/* A call of `step`, or of `reset` where `action` is NULL. */
typedef struct aq_plugin_call {
    const actorq_env *env;
    const void *params;
    aq_rng *rng;
    const void *action;
} aq_plugin_call;

/* The call itself, unwatched. An end that the interface does not know becomes AQ_STEP_FAILED. */
enum aq_step_end aq_plugin_call_run(const aq_plugin_call *call, void *state, void *obs,
                                    float *reward);

typedef struct aq_plugin_check aq_plugin_check;

/* AQ_E_NOMEM. The schema is copied. */
int aq_plugin_check_create(const actorq_env *env, const aq_schema *schema,
                           aq_plugin_check **ret_check) AQ_MUST_USE;
void aq_plugin_check_destroy(aq_plugin_check *check); /* NULL is fine */

/* The call, watched. What is wrong, in words that begin with a verb, is in *ret_fault (valid until
 * the next call; NULL when nothing is), and then AQ_STEP_FAILED is what comes back. */
enum aq_step_end aq_plugin_check_run(aq_plugin_check *check, const aq_plugin_call *call,
                                     void *state, void *obs, float *reward, const char **ret_fault);

#endif
