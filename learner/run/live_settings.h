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

/* Whether a run of `config` has that setting from its beginning: with another value its checkpoints
 * would be of another task, algorithm or network, of other values or of other rows, or it would
 * count for nothing, as they have what came of it. No resume takes one. */
bool aq_setting_is_kept(const aq_run_config *config, const char *key);

#endif
