/*
 * Compare preset: settings under which precisions are compared, by name. One thread.
 *
 *   default    three layers of 256, our own way of going about it
 *   paper      the ActorQ paper's set-up: three tanh layers of 2048, one environment an actor, and
 *              a new policy whenever an actor has made 30 steps
 *   paper-300  the same, with 300 steps
 *   none       the settings' own defaults
 *
 * Tasks with choices are learned by DQN, others by D4PG; docs/compare.md has the reasons.
 */
#ifndef AQ_CLI_COMPARE_COMPARE_PRESET_H
#define AQ_CLI_COMPARE_COMPARE_PRESET_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/config/run_config.h"

/* Puts the preset over `config`; `has_choices` is whether the task's actions are choices.
 * AQ_E_NOT_FOUND names those that there are. */
int aq_compare_preset_apply(const char *name, bool has_choices, aq_run_config *config,
                            aq_error *error) AQ_MUST_USE;

#endif
