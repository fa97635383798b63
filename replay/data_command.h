/*
 * The subcommands of `actorq replay`, and what they share. Standard output is for results, standard
 * error for everything else. Private to actorq-data.
 */
#ifndef AQ_REPLAY_DATA_COMMAND_H
#define AQ_REPLAY_DATA_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/sys/options.h"

typedef struct aq_data_command {
    const char *name;
    const char *summary;
    /* argv[0] is the command's name; the process's exit status. */
    int (*run)(int argc, char **argv);
} aq_data_command;

extern const aq_data_command aq_data_command_export;
extern const aq_data_command aq_data_command_import;
extern const aq_data_command aq_data_command_inspect;

/* Reads the arguments. True: go on. False: the command is over with *ret_status. */
bool aq_data_command_begin(const aq_options *page, int argc, char **argv, aq_option_fn apply,
                           void *user, int *ret_status);

/* "actorq replay export: TEXT"; the exit status of a failure. */
int aq_data_command_failed(const char *name, const aq_error *error) AQ_MUST_USE;

/* One object and a newline, released; the exit status. */
int aq_data_command_print(const char *name, json_t *object) AQ_MUST_USE;

/* The exit status of a command that printed on standard output. */
int aq_data_command_printed(const char *name) AQ_MUST_USE;

/* A line on standard error that says how far the work is, on a terminal only, a few times a
 * second. */
typedef struct aq_data_line {
    const char *what; /* "exporting" */
    bool is_shown;
    bool is_drawn;
    int64_t next_ns;
} aq_data_line;

void aq_data_line_init(aq_data_line *line, const char *what, bool quiet);
void aq_data_line_show(void *line, double done); /* an aq_data_progress_fn */
void aq_data_line_clear(aq_data_line *line);

#endif
