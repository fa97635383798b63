/*
 * Settings, inside: a walk over the first two levels of a YAML file, by libyaml, key by key.
 * Only settings*.c include this.
 */
#ifndef AQ_COMMON_SETTINGS_SETTINGS_WALK_H
#define AQ_COMMON_SETTINGS_SETTINGS_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/settings/settings_table.h"

enum aq_settings_kind {
    AQ_SETTINGS_VALUE,
    AQ_SETTINGS_EMPTY, /* a value of no letters */
    AQ_SETTINGS_MAPPING,
    AQ_SETTINGS_LIST,
    AQ_SETTINGS_ALIAS,
};

/* A key and what it has. */
typedef struct aq_settings_node {
    char key[2 * (AQ_SETTINGS_KEY_MAX + 1)]; /* "section.key", on one line, cut to fit */
    bool in_section;
    enum aq_settings_kind kind;
    const char *value; /* as text, valid during the visit, a list's as "64,64"; NULL: it has none */
    size_t line;       /* of the key, from 1 */
} aq_settings_node;

/* Anything but 0 ends the walk. */
typedef int (*aq_settings_visit_fn)(void *user, const aq_settings_node *node);

/* What is wrong with the file as such: not YAML, or not mappings. */
typedef struct aq_settings_problem {
    size_t line;
    const char *text; /* static storage; NULL: no problem */
} aq_settings_problem;

/* 0 at the end of the file, what `visit` ended the walk with, AQ_E_NOMEM, or AQ_E_INVALID and the
 * problem. */
int aq_settings_walk(const char *text, size_t size, aq_settings_visit_fn visit, void *user,
                     aq_settings_problem *problem) AQ_MUST_USE;

#endif
