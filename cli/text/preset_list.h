/*
 * Preset list: what `--preset list` prints. One thread.
 */
#ifndef AQ_CLI_TEXT_PRESET_LIST_H
#define AQ_CLI_TEXT_PRESET_LIST_H

#include "common/base/error.h"

/* On standard output: each preset's name, algorithm, and the tasks that it is for. */
int aq_print_presets(aq_error *error) AQ_MUST_USE;

#endif
