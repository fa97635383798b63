/*
 * Algorithm rows: see algorithm_rows.h.
 */
#include "common/config/algorithm_rows.h"

#include <stdio.h>

#include "common/base/assert.h"

#define NAME_OF(constant, name, actions, experience) #name,
const char *const aq_algorithm_names[] = {AQ_ALGORITHMS(NAME_OF) NULL};

static const struct {
    enum aq_space_kind actions;
    enum aq_learns_from experience;
} rows[] = {
#define ROW_OF(constant, name, actions, experience) {actions, experience},
    AQ_ALGORITHMS(ROW_OF)};

/* "dqn and c51" */
static void list_those_for(enum aq_space_kind actions, char *out, size_t size)
{
    size_t left = 0;
    size_t used = 0;
    for (size_t i = 0; i < AQ_ALGORITHM_COUNT; i++) {
        left += rows[i].actions == actions;
    }
    out[0] = '\0';
    for (size_t i = 0; i < AQ_ALGORITHM_COUNT && used < size; i++) {
        if (rows[i].actions == actions) {
            left--;
            const char *link = left > 1 ? ", " : left == 1 ? " and " : "";
            used += (size_t)snprintf(out + used, size - used, "%s%s", aq_algorithm_names[i], link);
        }
    }
}

int aq_algorithm_check_actions(enum aq_algorithm algorithm, const char *task,
                               const aq_schema *schema, aq_error *error)
{
    char others[256];
    AQ_ASSERT(algorithm < AQ_ALGORITHM_COUNT);
    if (schema->action.kind == rows[algorithm].actions) {
        return 0;
    }
    const bool are_choices = schema->action.kind == AQ_SPACE_DISCRETE;
    list_those_for(schema->action.kind, others, sizeof(others));
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "learner.algorithm %s needs %s actions; those of %s are %s, for which %s are "
                   "made",
                   aq_algorithm_names[algorithm], are_choices ? "continuous" : "discrete", task,
                   are_choices ? "choices" : "continuous", others);
}

enum aq_learns_from aq_algorithm_learns_from(enum aq_algorithm algorithm)
{
    AQ_ASSERT(algorithm < AQ_ALGORITHM_COUNT);
    return rows[algorithm].experience;
}
