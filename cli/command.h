/*
 * Command: one subcommand of actorq, a file each. Standard output is for results, standard error
 * for everything else.
 */
#ifndef AQ_CLI_COMMAND_H
#define AQ_CLI_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/options.h"

typedef struct aq_command {
    const char *name;
    const char *summary;
    /* argv[0] is the command's name. The process's exit status. */
    int (*run)(int argc, char **argv);
} aq_command;

extern const aq_command aq_command_train;
extern const aq_command aq_command_compare;
extern const aq_command aq_command_eval;
extern const aq_command aq_command_play;
extern const aq_command aq_command_inspect;
extern const aq_command aq_command_status;
extern const aq_command aq_command_call;
extern const aq_command aq_command_env;
extern const aq_command aq_command_envs;
extern const aq_command aq_command_export;
extern const aq_command aq_command_bench;
extern const aq_command aq_command_plot;
extern const aq_command aq_command_quantize;
extern const aq_command aq_command_replay;

/* Reads the arguments. True: go on. False: the command is over, and its exit status is in
 * *ret_status: help or the version was printed, or what is wrong was said. */
bool aq_command_begin(const aq_options *page, int argc, char **argv, aq_option_fn apply, void *user,
                      int *ret_status);

/* For aq_option_fn: a whole number within bounds. AQ_E_INVALID names them. */
int aq_command_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret_number,
                      aq_error *error) AQ_MUST_USE;

/* For aq_option_fn: the one argument that the command takes; *place is NULL before it. */
int aq_command_take(const char **place, const char *value, aq_error *error) AQ_MUST_USE;

/* "actorq train: <text>" on standard error; returns the exit status for a failure. */
int aq_command_failed(const char *command, const aq_error *error) AQ_MUST_USE;

/* Prints one JSON object and a newline on standard output and releases it; NULL counts as out of
 * memory. Returns the exit status. */
int aq_command_print_json(const char *command, json_t *object) AQ_MUST_USE;

/* The exit status of a command that printed on standard output: a full disk or a closed pipe is a
 * failure, and is said. */
int aq_command_printed(const char *command) AQ_MUST_USE;

/* A JSON number, or null for one that is not finite. */
json_t *aq_json_number(double value);

/* A JSON number, or a string of digits from 2^63 on, which jansson can't hold. */
json_t *aq_json_count(uint64_t value);

/* A JSON string of a text from elsewhere, such as a path: where it is not UTF-8, it is made plain
 * (plain_text.h). */
json_t *aq_json_text(const char *text);

#endif
