/*
 * Command: one subcommand of actorq, a file each. Standard output is for results, standard error for
 * everything else.
 */
#ifndef AQ_CLI_COMMAND_H
#define AQ_CLI_COMMAND_H

#include <jansson.h>

#include "common/base/error.h"

typedef struct aq_command {
    const char *name;
    const char *summary;
    /* argv[0] is the command's name. The process's exit status. */
    int (*run)(int argc, char **argv);
} aq_command;

extern const aq_command aq_command_train;
extern const aq_command aq_command_eval;
extern const aq_command aq_command_inspect;
extern const aq_command aq_command_status;
extern const aq_command aq_command_call;
extern const aq_command aq_command_envs;

/* "actorq train: <text>" on standard error; returns the exit status for a failure. */
int aq_command_failed(const char *command, const aq_error *error);

/* Prints one JSON object and a newline on standard output and releases it; NULL counts as out of
 * memory. Returns the exit status. */
int aq_command_print_json(const char *command, json_t *object);

/* A JSON number, or null for one that is not finite. */
json_t *aq_json_number(double value);

#endif
