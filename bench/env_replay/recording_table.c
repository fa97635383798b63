/*
 * Recordings of toy text: P[state][action] = [[probability, next state, reward, terminated], …] and
 * some episodes. The id carries what the table was made with behind the task's name:
 * "FrozenLake-v1_8x8_slippery".
 */
#include "bench/env_replay/recording_form.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/env_replay/original.h"
#include "common/base/memory.h"

enum { CELLS_MAX = 1 << 16, ACTIONS_MAX = 1 << 10, EPISODES_MAX = 1 << 12 };
enum { OUTCOME_WIDTH = 4, STEP_WIDTH = 6, STEP_WIDTH_AT_AN_END = 7 };

/* ---- the task ------------------------------------------------------------------------------- */

/* The option that a word of the id stands for, appended to the task's name. */
static int add_option(aq_recording *recording, const char *word, aq_error *error)
{
    size_t length = strlen(recording->task);
    const char *key = "map";
    const char *value = word;
    if (strcmp(word, "slippery") == 0) {
        key = "slippery";
        value = "yes";
    } else if (strcmp(word, "deterministic") == 0) {
        key = "slippery";
        value = "no";
    } else if (strspn(word, "0123456789x") != strlen(word) || strchr(word, 'x') == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "'%s' in 'id' is neither a size nor a kind of ice",
                       word);
    }
    char mark = strchr(recording->task, '?') != NULL ? '&' : '?';
    int written = snprintf(recording->task + length, sizeof(recording->task) - length, "%c%s=%s",
                           mark, key, value);
    if (written < 0 || (size_t)written >= sizeof(recording->task) - length) {
        return aq_fail(error, AQ_E_CORRUPT, "'id' is too long");
    }
    return 0;
}

static int read_task(const json_t *root, aq_recording *recording, aq_error *error)
{
    char words[AQ_TASK_NAME_MAX];
    const char *id = json_string_value(json_object_get(root, "id"));
    if (id == NULL || strlen(id) + sizeof("gym:") > sizeof(words)) {
        return aq_fail(error, AQ_E_CORRUPT, "'id' is no task's name");
    }
    (void)snprintf(words, sizeof(words), "%s", id);
    char *rest = NULL;
    const char *word = strtok_r(words, "_", &rest);
    (void)snprintf(recording->task, sizeof(recording->task), "gym:%s", word != NULL ? word : "");
    while ((word = strtok_r(NULL, "_", &rest)) != NULL) {
        int rc = add_option(recording, word, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* A whole number below the limit. */
static bool index_of(double number, uint32_t limit, uint32_t *ret_index)
{
    if (!(number >= 0 && number < (double)limit) || number != (double)(uint32_t)number) {
        return false;
    }
    *ret_index = (uint32_t)number;
    return true;
}

static int read_sizes(const json_t *root, const json_t *rows, aq_recorded_table *table,
                      aq_error *error)
{
    size_t cells = json_array_size(rows);
    size_t actions = json_array_size(json_array_get(rows, 0));
    if (cells == 0 || cells > CELLS_MAX || actions == 0 || actions > ACTIONS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "'P' is no table of states and actions");
    }
    table->cells = (uint32_t)cells;
    table->actions = (uint32_t)actions;
    const json_t *chances = json_object_get(root, "initial_state_distrib");
    if (chances == NULL) {
        return 0;
    }
    int rc = aq_number_row_read(chances, "initial_state_distrib", &table->start_chances, error);
    if (rc == 0 && table->start_chances.width != cells) {
        rc = aq_fail(error, AQ_E_CORRUPT, "'initial_state_distrib' has %zu numbers for %zu states",
                     table->start_chances.width, cells);
    }
    return rc;
}

static size_t count_outcomes(const json_t *rows)
{
    size_t count = 0;
    for (size_t cell = 0; cell < json_array_size(rows); cell++) {
        const json_t *actions = json_array_get(rows, cell);
        for (size_t action = 0; action < json_array_size(actions); action++) {
            count += json_array_size(json_array_get(actions, action));
        }
    }
    return count;
}

/* The outcomes of one action, put at table->outcomes[first]. */
static int read_outcomes(const json_t *value, aq_recorded_table *table, size_t first,
                         aq_error *error)
{
    aq_number_matrix matrix;
    int rc = aq_number_matrix_read(value, "P", &matrix, error);
    if (rc != 0) {
        return rc;
    }
    if (matrix.rows == 0 || matrix.rows > AQ_ORIGINAL_OUTCOMES_MAX ||
        matrix.width != OUTCOME_WIDTH) {
        rc = aq_fail(error, AQ_E_CORRUPT, "an action in 'P' has not 1 to %d outcomes of %d numbers",
                     AQ_ORIGINAL_OUTCOMES_MAX, OUTCOME_WIDTH);
    }
    for (size_t i = 0; rc == 0 && i < matrix.rows; i++) {
        const double *row = aq_number_matrix_row(&matrix, i);
        aq_tabular_outcome *outcome = &table->outcomes[first + i];
        *outcome =
            (aq_tabular_outcome){.chance = row[0], .reward = row[2], .terminated = row[3] != 0};
        if (!index_of(row[1], table->cells, &outcome->next)) {
            rc = aq_fail(error, AQ_E_CORRUPT, "'P' leads to a state %g that there is not", row[1]);
        }
    }
    aq_number_matrix_fini(&matrix);
    return rc;
}

static int read_table(const json_t *rows, aq_recorded_table *table, aq_error *error)
{
    size_t filled = 0;
    table->offsets = aq_alloc((size_t)table->cells * table->actions + 1, sizeof(size_t));
    table->outcomes = aq_alloc(count_outcomes(rows) + 1, sizeof(aq_tabular_outcome));
    if (table->offsets == NULL || table->outcomes == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the table");
    }
    for (size_t cell = 0; cell < table->cells; cell++) {
        const json_t *actions = json_array_get(rows, cell);
        if (json_array_size(actions) != table->actions) {
            return aq_fail(error, AQ_E_CORRUPT, "state %zu in 'P' has %zu actions, not %" PRIu32,
                           cell, json_array_size(actions), table->actions);
        }
        for (size_t action = 0; action < table->actions; action++) {
            const json_t *value = json_array_get(actions, action);
            int rc = read_outcomes(value, table, filled, error);
            if (rc != 0) {
                return aq_fail_context(error, rc, "state %zu, action %zu", cell, action);
            }
            filled += json_array_size(value);
            table->offsets[cell * table->actions + action + 1] = filled;
        }
    }
    return 0;
}

/* ---- episodes ------------------------------------------------------------------------------- */

static int read_step(const json_t *value, const aq_recorded_table *table, aq_table_step *step,
                     aq_error *error)
{
    aq_number_matrix row;
    int rc = aq_number_row_read(value, "steps", &row, error);
    if (rc != 0) {
        return rc;
    }
    const double *numbers = row.numbers;
    const double action = numbers[0];
    if (row.width != STEP_WIDTH && row.width != STEP_WIDTH_AT_AN_END) {
        rc = aq_fail(error, AQ_E_CORRUPT, "a step of an episode has %zu numbers", row.width);
    } else if (!index_of(action, table->actions, &step->action) ||
               !index_of(numbers[1], table->cells, &step->next)) {
        rc = aq_fail(error, AQ_E_CORRUPT, "a step of an episode leaves the table");
    } else {
        step->reward = numbers[2];
        step->terminated = numbers[3] != 0;
        step->truncated = numbers[4] != 0;
    }
    if (rc == 0 && (step->terminated || step->truncated) &&
        (row.width != STEP_WIDTH_AT_AN_END ||
         !index_of(numbers[6], table->cells, &step->restart))) {
        rc =
            aq_fail(error, AQ_E_CORRUPT, "the end of an episode does not say where the next began");
    }
    aq_number_matrix_fini(&row);
    return rc;
}

static int read_episode(const json_t *value, const aq_recorded_table *table,
                        aq_table_episode *episode, aq_error *error)
{
    const json_t *steps = json_object_get(value, "steps");
    double start = json_number_value(json_object_get(value, "initial_state"));
    if (!index_of(start, table->cells, &episode->start) || !json_is_array(steps) ||
        json_array_size(steps) > AQ_RECORDING_STEPS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "an episode has no 'initial_state' or no 'steps'");
    }
    episode->step_count = json_array_size(steps);
    episode->steps = aq_alloc(episode->step_count + 1, sizeof(aq_table_step));
    if (episode->steps == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for an episode");
    }
    for (size_t i = 0; i < episode->step_count; i++) {
        int rc = read_step(json_array_get(steps, i), table, &episode->steps[i], error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int read_episodes(const json_t *root, aq_recorded_table *table, aq_error *error)
{
    const json_t *episodes = json_object_get(root, "episodes");
    size_t count = json_array_size(episodes);
    if (count > EPISODES_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "there are more than %d episodes", EPISODES_MAX);
    }
    table->episodes = aq_alloc(count + 1, sizeof(aq_table_episode));
    if (table->episodes == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the episodes");
    }
    for (size_t i = 0; i < count; i++) {
        table->episode_count = i + 1;
        int rc = read_episode(json_array_get(episodes, i), table, &table->episodes[i], error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "episode %zu", i);
        }
    }
    return 0;
}

int aq_recorded_table_read(const json_t *root, aq_recording *recording, aq_error *error)
{
    const json_t *rows = json_object_get(root, "P");
    recording->form = AQ_RECORDING_TABLE;
    int rc = read_task(root, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_sizes(root, rows, &recording->table, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_table(rows, &recording->table, error);
    return rc != 0 ? rc : read_episodes(root, &recording->table, error);
}

void aq_recorded_table_fini(aq_recorded_table *table)
{
    for (size_t i = 0; i < table->episode_count; i++) {
        aq_free(table->episodes[i].steps);
    }
    aq_free(table->episodes);
    aq_free(table->outcomes);
    aq_free(table->offsets);
    aq_number_matrix_fini(&table->start_chances);
    *table = (aq_recorded_table){0};
}
