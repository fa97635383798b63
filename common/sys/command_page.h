/*
 * Command page: the subcommands of a program ("actorq train", "actorq replay export"), how one is
 * found by its name, and how it begins and ends. Standard output is for results, standard error for
 * everything else. One thread.
 */
#ifndef AQ_COMMON_SYS_COMMAND_PAGE_H
#define AQ_COMMON_SYS_COMMAND_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/sys/options.h"

typedef struct aq_command {
    const char *name;
    const char *summary;

    /* What it takes, put into a struct that begins as `defaults`, and what it does with that: 0, an
     * error in words, or an exit status of its own, which is above 0. */
    const aq_options *options;
    const void *defaults;
    size_t bytes;
    int (*act)(void *arguments, aq_error *error);
    size_t typed; /* where in the struct a char ** for what was typed is; 0: nowhere */

    /* Commands of its own, which its first argument may name; NULL: none. Without an `act` it is
     * this page. */
    const struct aq_command_page *page;

    const char *program; /* instead of all these: another, which takes this one's place */
    const char *folder;  /* where that is in the build tree, from this one's own */
    const char *speaker; /* who says that it is not there */
} aq_command;

/* The members before `act`, of a page and the struct that holds the defaults. */
#define AQ_COMMAND_TAKES(page, values)                                                             \
    .options = &(page), .defaults = &(values), .bytes = sizeof(values)

/* A word that is no command here, and what is: a command, or one with its arguments. */
typedef struct aq_command_hint {
    const char *word;
    const char *instead;
} aq_command_hint;

typedef struct aq_command_page {
    const char *program;  /* "actorq", "actorq replay" */
    const char *summary;  /* some lines, as they are printed */
    const char *examples; /* lines, printed last */
    const aq_command *const *commands;
    size_t count;
    const aq_command_hint *hints; /* the last without a word; NULL: none */
} aq_command_page;

/* Runs the command that argv[1] names, or prints the page, the version, or what is wrong. The exit
 * status. */
int aq_command_main(const aq_command_page *page, int argc, char **argv) AQ_MUST_USE;

/* Reads the arguments as aq_options_parse does. True: go on.
 * False: the command is over, and its exit status is in *ret_status: help or the version was
 * printed, or what is wrong was said. */
bool aq_command_begin(const aq_options *page, int argc, char **argv, void *user, int *ret_status);

/* What `act` gave, as the exit status: says the error, or that what was printed on standard output
 * could not be written. */
int aq_command_end(const aq_options *page, int rc, const aq_error *error) AQ_MUST_USE;

/* "actorq-learner: <text>" on standard error; returns the exit status for a failure. */
int aq_program_failed(const char *program, const aq_error *error) AQ_MUST_USE;

#endif
