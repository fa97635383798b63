/*
 * Sweep space, as it is read from SPEC.yaml, and what other keys of the file share with it: errors
 * with a line, keys that there are, and values that the table of settings allows.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_SPACE_READ_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_SPACE_READ_H

#include "cli/sweep/study/sweep_space.h"
#include "common/base/error.h"
#include "common/settings/yaml_tree.h"

typedef struct aq_sweep_reader {
    const char *name; /* of the file */
    aq_error *error;
} aq_sweep_reader;

/* "NAME:LINE: ...", AQ_E_INVALID. */
int aq_sweep_wrong(const aq_sweep_reader *reader, aq_yaml_node node, const char *format,
                   ...) AQ_MUST_USE AQ_PRINTF(3, 4);

/* A mapping of no other keys; the nearest is named. */
int aq_sweep_keys_check(const aq_sweep_reader *reader, aq_yaml_node node,
                        const char *const *keys) AQ_MUST_USE;

/* The text of a setting's value, "64,64" of a list, if the setting is there and takes it. */
int aq_sweep_value_check(const aq_sweep_reader *reader, aq_yaml_node node, const char *key,
                         char *out, size_t size) AQ_MUST_USE;

int aq_sweep_space_read(const aq_sweep_reader *reader, aq_yaml_node node,
                        aq_sweep_space *ret_space) AQ_MUST_USE;

#endif
