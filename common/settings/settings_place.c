/*
 * Settings, inside: where in a YAML file a setting stands, and what is wrong with the file's shape.
 */
#include "common/settings/settings_place.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/settings/settings_table.h"
#include "common/settings/settings_value.h"
#include "common/settings/settings_walk.h"

#define STOP 1 /* ends a walk that has seen enough */

/* A walk that judges every key. */
typedef struct judge {
    const aq_settings_table *table;
    size_t row_lines[AQ_SETTINGS_ROWS_MAX];     /* where each was seen first; 0: not yet */
    size_t section_lines[AQ_SETTINGS_ROWS_MAX]; /* of each section, by its first row */
    size_t line;
    aq_error *error;
} judge;

/* A walk that looks for one key. */
typedef struct search {
    const char *key;
    size_t line;
} search;

static int visit_search(void *user, const aq_settings_node *node)
{
    search *wanted = user;

    if (strcmp(node->key, wanted->key) != 0) {
        return 0;
    }
    wanted->line = node->line;
    return STOP;
}

size_t aq_settings_line_of(const char *text, size_t size, const char *key)
{
    search wanted = {.key = key};
    aq_settings_problem problem = {0};
    int rc = aq_settings_walk(text, size, visit_search, &wanted, &problem);

    return rc == STOP ? wanted.line : 0;
}

static const char *name_of_kind(enum aq_settings_kind kind)
{
    switch (kind) {
    case AQ_SETTINGS_MAPPING:
        return "a mapping";
    case AQ_SETTINGS_LIST:
        return "a list";
    default:
        return "a value";
    }
}

static int judge_row(const judge *judging, const aq_setting *row, const aq_settings_node *node)
{
    char allowed[AQ_SETTING_DESCRIPTION_MAX];

    if (node->kind == AQ_SETTINGS_VALUE || node->kind == AQ_SETTINGS_EMPTY) {
        return 0;
    }
    return aq_fail(judging->error, AQ_E_INVALID, "%s: a value is expected, not %s (allowed: %s)",
                   node->key, name_of_kind(node->kind),
                   aq_setting_describe(row, allowed, sizeof(allowed)));
}

static int judge_section(const judge *judging, const aq_settings_node *node)
{
    if (node->kind == AQ_SETTINGS_MAPPING || node->kind == AQ_SETTINGS_EMPTY) {
        return 0;
    }
    return aq_fail(judging->error, AQ_E_INVALID,
                   "%s: the settings of this section are expected, indented, not %s", node->key,
                   name_of_kind(node->kind));
}

static int visit_judge(void *user, const aq_settings_node *node)
{
    judge *judging = user;
    const aq_settings_table *table = judging->table;
    const aq_setting *row = aq_settings_find(table, node->key);
    const aq_setting *section = NULL;
    size_t *first_line;

    if (row == NULL && !node->in_section) {
        section = aq_settings_find_section(table, node->key);
    }
    judging->line = node->line;
    if (row == NULL && section == NULL) {
        return node->kind == AQ_SETTINGS_MAPPING && !node->in_section
                   ? aq_settings_fail_unknown_section(table, node->key, judging->error)
                   : aq_settings_fail_unknown(table, node->key, judging->error);
    }
    first_line = row != NULL ? &judging->row_lines[row - table->rows]
                             : &judging->section_lines[section - table->rows];
    if (*first_line != 0) {
        return aq_fail(judging->error, AQ_E_INVALID, "%s: given twice, first in line %zu",
                       node->key, *first_line);
    }
    *first_line = node->line;
    if (node->kind == AQ_SETTINGS_ALIAS) {
        return aq_fail(judging->error, AQ_E_INVALID, "%s: aliases are not supported", node->key);
    }
    return row != NULL ? judge_row(judging, row, node) : judge_section(judging, node);
}

int aq_settings_explain(const aq_settings_table *table, const char *name, const char *text,
                        size_t size, aq_error *error)
{
    judge judging = {.table = table, .error = error};
    aq_settings_problem problem = {0};
    int rc;

    AQ_ASSERT(table->count <= AQ_SETTINGS_ROWS_MAX);
    rc = aq_settings_walk(text, size, visit_judge, &judging, &problem);
    if (rc == 0) {
        return 0;
    }
    if (problem.text != NULL) {
        judging.line = problem.line;
        rc = aq_fail(error, rc, "%s", problem.text);
    }
    return aq_fail_context(error, rc, "%s:%zu", name, judging.line);
}
