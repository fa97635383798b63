/*
 * Algorithm rows: see algorithm_rows.h.
 */
#include "common/config/algorithm_rows.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/config/run_config.h"

#define NAME_OF(constant, name, ...) #name,
const char *const aq_algorithm_names[] = {AQ_ALGORITHMS(NAME_OF) "auto", NULL};

static const struct {
    uint32_t actions; /* bits of enum aq_space_kind */
    enum aq_learns_from experience;
    uint32_t traits; /* bits of enum aq_algorithm_trait */
} rows[] = {
#define ROW_OF(constant, name, actions, experience, traits) {actions, experience, traits},
    AQ_ALGORITHMS(ROW_OF)};

/* Where states can be counted, a table learns in seconds what networks take minutes for. Where
 * returns of any size come in, td3 needs no range for them; see docs/actor-critic.md. */
enum aq_algorithm aq_algorithm_for(const aq_schema *schema)
{
    const bool is_counted = schema->obs.kind == AQ_SPACE_DISCRETE;
    return aq_space_is_several(&schema->action)       ? AQ_ALGORITHM_PPO
           : schema->action.kind != AQ_SPACE_DISCRETE ? AQ_ALGORITHM_TD3
           : is_counted                               ? AQ_ALGORITHM_Q
                                                      : AQ_ALGORITHM_DQN;
}

bool aq_algorithm_takes(enum aq_algorithm algorithm, const aq_space *actions)
{
    AQ_ASSERT(algorithm <= AQ_ALGORITHM_AUTO);
    return algorithm == AQ_ALGORITHM_AUTO ||
           ((actions->kind & rows[algorithm].actions) != 0 &&
            (!aq_space_is_several(actions) || (rows[algorithm].traits & AQ_TAKES_ROWS) != 0));
}

/* A run, and so a data set of one, sees a state that can be counted as one of many. */
static bool is_for(size_t algorithm, const char *task, const aq_schema *schema)
{
    const bool is_table = (rows[algorithm].traits & AQ_LEARNS_A_TABLE) != 0;
    const bool is_counted =
        schema->obs.kind == AQ_SPACE_DISCRETE || strstr(task, AQ_ONE_HOT "=") != NULL;
    return aq_algorithm_takes((enum aq_algorithm)algorithm, &schema->action) &&
           (!is_table || is_counted);
}

/* What just happened, or states that its actors recorded. */
static bool needs_own_actors(size_t algorithm)
{
    return rows[algorithm].experience == AQ_LEARNS_FROM_SEQUENCES &&
           (rows[algorithm].traits & AQ_LEARNS_A_TABLE) == 0; /* tables learn off-policy, too */
}

/* For a data set what needs actors is for nothing. */
static bool is_for_any_of(size_t algorithm, const char *task, const aq_schema *schema,
                          bool is_data_set)
{
    return is_for(algorithm, task, schema) && !(is_data_set && needs_own_actors(algorithm));
}

/* "dqn and c51" */
static void list(const bool chosen[AQ_ALGORITHM_AUTO], char *out, size_t size)
{
    size_t left = 0;
    for (size_t i = 0; i < AQ_ALGORITHM_AUTO; i++) {
        left += chosen[i];
    }
    out[0] = '\0';
    for (size_t i = 0; i < AQ_ALGORITHM_AUTO; i++) {
        if (chosen[i]) {
            left--;
            const char *link = left > 1 ? ", " : left == 1 ? " and " : "";
            aq_text_append(out, size, "%s%s", aq_algorithm_names[i], link);
        }
    }
}

static void list_those_for(const char *task, const aq_schema *schema, bool is_data_set, char *out,
                           size_t size)
{
    bool chosen[AQ_ALGORITHM_AUTO];
    for (size_t i = 0; i < AQ_ALGORITHM_AUTO; i++) {
        chosen[i] = is_for_any_of(i, task, schema, is_data_set);
    }
    list(chosen, out, size);
}

int aq_algorithm_check_actions(enum aq_algorithm algorithm, const char *task,
                               const aq_schema *schema, bool is_data_set, aq_error *error)
{
    char others[256];
    if (aq_algorithm_takes(algorithm, &schema->action)) {
        return 0;
    }
    const bool are_choices = schema->action.kind == AQ_SPACE_DISCRETE;
    const bool takes_choices = (rows[algorithm].actions & AQ_SPACE_DISCRETE) != 0;
    list_those_for(task, schema, is_data_set, others, sizeof(others));
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "learner.algorithm %s needs %s; those of %s are %s, for which %s are made",
                   aq_algorithm_names[algorithm],
                   !takes_choices ? "continuous actions"
                   : are_choices  ? "actions that are one choice"
                                  : "discrete actions",
                   task,
                   aq_space_is_several(&schema->action) ? "several choices at once"
                   : are_choices                        ? "choices"
                                                        : "continuous",
                   others[0] != '\0' ? others : "none");
}

int aq_algorithm_check_data_set(enum aq_algorithm algorithm, const char *task,
                                const aq_schema *schema, aq_error *error)
{
    char others[256];
    if (algorithm == AQ_ALGORITHM_AUTO || !needs_own_actors(algorithm)) {
        return 0;
    }
    list_those_for(task, schema, true, others, sizeof(others));
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "learner.algorithm %s learns from what the actors of its run do, and a data set "
                   "holds none of that; from data sets of this task %s%s",
                   aq_algorithm_names[algorithm], others[0] != '\0' ? "learn " : "nothing learns",
                   others);
}

enum aq_learns_from aq_algorithm_learns_from(enum aq_algorithm algorithm)
{
    AQ_ASSERT(algorithm <= AQ_ALGORITHM_AUTO);
    /* As those do that tasks get, but for q and ppo, which presets name. */
    return algorithm == AQ_ALGORITHM_AUTO ? AQ_LEARNS_FROM_ITEMS : rows[algorithm].experience;
}

bool aq_algorithm_has(enum aq_algorithm algorithm, enum aq_algorithm_trait trait)
{
    AQ_ASSERT(algorithm <= AQ_ALGORITHM_AUTO);
    return algorithm != AQ_ALGORITHM_AUTO && (rows[algorithm].traits & trait) != 0;
}

void aq_algorithm_list(enum aq_algorithm_trait trait, char *out, size_t size)
{
    bool chosen[AQ_ALGORITHM_AUTO];
    for (size_t i = 0; i < AQ_ALGORITHM_AUTO; i++) {
        chosen[i] = aq_algorithm_has((enum aq_algorithm)i, trait);
    }
    list(chosen, out, size);
}
