/*
 * Command-line options: a table per program, long options (`--name value` or `--name=value`) and a
 * one-letter short form where one is customary (`-j 4`, `-j4`). "--" ends the options. -h, --help
 * and --version are built in, and no table has rows of those names. One thread.
 */
#ifndef AQ_COMMON_SYS_OPTIONS_H
#define AQ_COMMON_SYS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/error.h"

/* A row ends with what its kind needs. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* How a value becomes a member of the struct that `user` points to. */
enum aq_option_kind {
    AQ_OPTION_FLAG,   /* bool */
    AQ_OPTION_TEXT,   /* const char *, lent by argv; not empty */
    AQ_OPTION_NUMBER, /* uint64_t within bounds */
    AQ_OPTION_REAL,   /* double */
    AQ_OPTION_CHOICE, /* uint32_t or an enum */
    AQ_OPTION_JSON,   /* aq_json_form: "--json", or "--json=pretty" */
    AQ_OPTION_TAKEN,  /* by a function of the row */
};

/* How a result is printed for programs. */
typedef enum aq_json_form {
    AQ_JSON_OFF,    /* it is printed for people */
    AQ_JSON_LINE,   /* one object on one line */
    AQ_JSON_PRETTY, /* one object, indented */
} aq_json_form;

/* Puts what was given into `member`; NULL for an option that takes no value. 0, or a negative code
 * with `error` filled, before whose text the option's name is put. */
typedef int (*aq_option_take_fn)(void *member, const char *value, aq_error *error);

typedef struct aq_option {
    const char *name;  /* without the dashes */
    char short_name;   /* 0: none */
    const char *value; /* what the value is called in help ("URL"); NULL: the option takes none */
    const char *help;
    enum aq_option_kind kind; /* this and what follows: by one of the macros below */
    size_t offset;
    uint64_t min, max;
    aq_option_take_fn take;
    const char *const *words; /* NULL ends them */
} aq_option;

#define AQ_PLACE(type, member, wanted)                                                             \
    (offsetof(type, member) + 0 * sizeof(_Generic(((type *)0)->member, wanted : 0)))
#define AQ_TO_FLAG(type, member) AQ_OPTION_FLAG, AQ_PLACE(type, member, bool)
#define AQ_TO_TEXT(type, member) AQ_OPTION_TEXT, AQ_PLACE(type, member, const char *)
#define AQ_TO_REAL(type, member) AQ_OPTION_REAL, AQ_PLACE(type, member, double)
#define AQ_TO_NUMBER(type, member, min, max)                                                       \
    AQ_OPTION_NUMBER, AQ_PLACE(type, member, uint64_t), min, max
/* One of `words`, the first of which stands for the constant `first`, as choice.h makes both. */
#define AQ_TO_CHOICE(type, member, first, words)                                                   \
    AQ_OPTION_CHOICE,                                                                              \
        offsetof(type, member) +                                                                   \
            0 * sizeof(char[sizeof(((type *)0)->member) == sizeof(uint32_t) ? 1 : -1]),            \
        first, 0, NULL, words
#define AQ_JSON_OPTION_ROW(type, member, what)                                                     \
    {                                                                                              \
        "json", 0, NULL, "print " what " as JSON, one object on one line; pretty: indented",       \
            AQ_OPTION_JSON, AQ_PLACE(type, member, aq_json_form)                                   \
    }
#define AQ_TO(take, type, member) AQ_OPTION_TAKEN, offsetof(type, member), 0, 0, take

/* An argument that is no option, by its place; its member is a const char * that is NULL before. */
typedef struct aq_operand {
    const char *name; /* "ENDPOINT" */
    size_t offset;
    bool optional;
} aq_operand;

#define AQ_OPERAND(name, type, member)                                                             \
    {                                                                                              \
        name, AQ_PLACE(type, member, const char *), false                                          \
    }
#define AQ_OPTIONAL_OPERAND(name, type, member)                                                    \
    {                                                                                              \
        name, AQ_PLACE(type, member, const char *), true                                           \
    }

enum { AQ_OPERANDS_MAX = 3 };

typedef struct aq_options {
    const char *program; /* "actorq eval" */
    const char *usage;   /* "RUN_OR_POLICY [options]" */
    const char *summary; /* one sentence */
    const char *details; /* examples and the like, printed last; NULL: none */
    const aq_option *rows;
    size_t count;
    aq_operand operands[AQ_OPERANDS_MAX];
    aq_option_take_fn
        more; /* takes what comes behind the operands into *user; NULL: nothing does */
    const char *(*setting)(const char *name); /* that --set takes, for what is no option: its key,
                                                 or NULL; NULL: there is no --set */
} aq_options;

/* An array of options, as the page's members. */
#define AQ_OPTION_ROWS(table) .rows = (table), .count = sizeof(table) / sizeof((table)[0])

enum { AQ_OPTIONS_HELP = 1, AQ_OPTIONS_VERSION = 2 };

/* Fills the struct at `user`, in the order of the arguments; texts live as long as argv.
 * 0: go on. AQ_OPTIONS_HELP or AQ_OPTIONS_VERSION: it was asked for, nothing else was done.
 * Negative: `error` says what is wrong (an unknown option is answered with the nearest one). A name
 * may be cut where only one begins so. */
int aq_options_parse(const aq_options *options, int argc, char *const *argv, void *user,
                     aq_error *error) AQ_MUST_USE;

/* For AQ_TO: an identifier of 16 hexadecimal digits, not all of them 0, into a uint64_t. */
int aq_option_take_id(void *member, const char *value, aq_error *error) AQ_MUST_USE;

/* A whole number within bounds. AQ_E_INVALID names them. */
int aq_option_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret_number,
                     aq_error *error) AQ_MUST_USE;

/* The help page, aligned, for a terminal of 80 to 100 columns. */
void aq_options_print_help(const aq_options *options, FILE *out);

#endif
