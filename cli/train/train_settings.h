/*
 * Train settings: what `actorq train` was asked for, and the settings that a run of it has.
 */
#ifndef AQ_CLI_TRAIN_TRAIN_SETTINGS_H
#define AQ_CLI_TRAIN_TRAIN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/text/command.h"
#include "cli/train/seed_runs.h"
#include "cli/train/train_grid.h"
#include "cli/train/train_session.h"
#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/settings/settings.h"

typedef struct aq_train_arguments {
    const char *task;
    const char *config_path;
    const char *preset;
    const char *seed;
    const char *actors;
    const char *offline;
    aq_settings_assignments overrides;
    aq_seed_range seeds;
    aq_train_grid grid;
    uint64_t jobs; /* 0: as many as fit */
    aq_json_form json;
    bool print_config;
    bool no_http;
    bool gradients;
    bool new_settings; /* a run that is resumed takes none from its folder */
    aq_train_options options;
} aq_train_arguments;

/* AQ_E_INVALID for arguments that contradict each other, or of which one would count for nothing. A
 * grid without seeds gets one. */
int aq_train_settings_check(aq_train_arguments *arguments, aq_error *error) AQ_MUST_USE;

/* Opens the task. A run that is resumed goes on under the settings that it had, unless it is to
 * have new ones. */
int aq_train_settings_resolve(aq_train_arguments *arguments, aq_run_config *ret_config,
                              aq_error *error) AQ_MUST_USE;

/* As they stand in the run's folder, since some may have been changed while it ran; `given` where
 * it has none. */
void aq_train_settings_last(const aq_run_config *given, const char *run_dir,
                            aq_run_config *ret_config);

#endif
