/*
 * Live settings: what a run's plan becomes when settings are changed while it goes on. All or
 * nothing, under the same rules as at its start. No sockets, no files.
 */
#ifndef AQ_LEARNER_RUN_LIVE_SETTINGS_H
#define AQ_LEARNER_RUN_LIVE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "learner/run/run_plan.h"

/* The plan after "key=value" texts, in their order. AQ_E_INVALID for what the configuration refuses
 * at a start, too; AQ_E_UNSUPPORTED for another value of a setting that is fixed while the run goes
 * on; AQ_E_NOMEM; in words. */
int aq_live_settings_change(const aq_run_plan *plan, const char *const *assignments, size_t count,
                            aq_run_plan *ret_plan, aq_error *error) AQ_MUST_USE;

/* Whether a run of that configuration keeps the setting from its beginning: the table says so of
 * most, and some hang on what the run does. */
bool aq_setting_is_kept(const aq_run_config *config, const aq_setting *row);

#endif
