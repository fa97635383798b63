/*
 * Command-line options: a table per program, long options (`--name value` or `--name=value`) and a
 * one-letter short form where one is customary (`-j 4`, `-j4`). "--" ends the options. -h, --help
 * and --version are built in, and no table has rows of those names. One thread.
 */
#ifndef AQ_COMMON_SYS_OPTIONS_H
#define AQ_COMMON_SYS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"

typedef struct aq_option {
    const char *name;  /* without the dashes */
    char short_name;   /* 0: none */
    const char *value; /* what the value is called in help ("URL"); NULL: the option takes none */
    const char *help;
} aq_option;

typedef struct aq_options {
    const char *program; /* "actorq eval" */
    const char *usage;   /* "RUN_OR_POLICY [options]" */
    const char *summary; /* one sentence */
    const char *details; /* examples and the like, printed last; NULL: none */
    const aq_option *rows;
    size_t count;
} aq_options;

/* Called for each option in order, as often as it is given, and with option == NULL for each
 * positional argument. `value` is NULL for an option that takes none; it lives as long as argv.
 * Returns 0, or a negative code with `error` filled (the option's name is put before its text). */
typedef int (*aq_option_fn)(void *user, const aq_option *option, const char *value,
                            aq_error *error);

enum { AQ_OPTIONS_HELP = 1, AQ_OPTIONS_VERSION = 2 };

/* 0: go on. AQ_OPTIONS_HELP or AQ_OPTIONS_VERSION: it was asked for, nothing else was done.
 * Negative: `error` says what is wrong (an unknown option is answered with the nearest one). */
int aq_options_parse(const aq_options *options, int argc, char *const *argv, aq_option_fn apply,
                     void *user, aq_error *error) AQ_MUST_USE;

/* The help page, aligned, for a terminal of 80 to 100 columns. */
void aq_options_print_help(const aq_options *options, FILE *out);

#endif
