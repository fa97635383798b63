/*
 * Recordings of the control suite: an episode, or states that were placed by hand. The state is
 * MuJoCo's, by its names; a target that was drawn at the reset is among the changes of the model.
 */
#include "bench/env_replay/recording_form.h"

#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"

enum { POSITION_WIDTH = 3, STEP_TYPE_LAST = 2, NAME_BYTES = 64 };

/* ---- an episode ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool is_compared;
    bool is_needed;
} states[] = {
    {"qpos", true, true},
    {"qvel", true, true},
    {"act", true, false},
    {"qacc_warmstart", false, false},
};

static int read_task(const json_t *root, aq_recording *recording, aq_error *error)
{
    const char *domain = json_string_value(json_object_get(root, "domain"));
    const char *task = json_string_value(json_object_get(root, "task"));
    if (domain == NULL || task == NULL ||
        strlen(domain) + strlen(task) + sizeof("dmc:_") > sizeof(recording->task)) {
        return aq_fail(error, AQ_E_CORRUPT, "'domain' and 'task' are no task's name");
    }
    (void)snprintf(recording->task, sizeof(recording->task), "dmc:%s_%s", domain, task);
    return 0;
}

static int read_states(const json_t *root, aq_recording *recording, aq_error *error)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        char initial[NAME_BYTES];
        (void)snprintf(initial, sizeof(initial), "initial_%s", states[i].name);
        const bool is_there = json_object_get(root, states[i].name) != NULL;
        if (!is_there && !states[i].is_needed) {
            continue;
        }
        aq_recording_series *series =
            aq_recording_add_series(recording, states[i].name, states[i].is_compared);
        int rc =
            aq_recording_rows(root, states[i].name, recording->step_count, &series->steps, error);
        if (rc != 0) {
            return rc;
        }
        const json_t *first = json_object_get(root, initial);
        if (first != NULL || states[i].is_needed) {
            rc = aq_number_row_read(first, initial, &series->initial, error);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* A discount of 0 is an end by the task's rules; a last step with another is a cut. `types` may be
 * empty. */
static int make_ends(aq_recording *recording, const aq_number_matrix *types, aq_error *error)
{
    aq_number_matrix *terminated = &recording->terminated;
    aq_number_matrix *truncated = &recording->truncated;
    if (terminated->width != 1 || (types->numbers != NULL && types->width != 1)) {
        return aq_fail(error, AQ_E_CORRUPT, "'discounts' and 'step_types' are one number a step");
    }
    truncated->numbers = aq_alloc(recording->step_count, sizeof(double));
    if (truncated->numbers == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the ends of episodes");
    }
    truncated->rows = recording->step_count;
    truncated->width = 1;
    for (size_t i = 0; i < recording->step_count; i++) {
        bool is_last = types->numbers != NULL && types->numbers[i] == STEP_TYPE_LAST;
        bool is_end = terminated->numbers[i] == 0;
        terminated->numbers[i] = is_end ? 1 : 0;
        truncated->numbers[i] = is_last && !is_end ? 1 : 0;
    }
    return 0;
}

static int read_ends(const json_t *root, aq_recording *recording, aq_error *error)
{
    aq_number_matrix types = {0};
    int rc =
        aq_recording_rows(root, "discounts", recording->step_count, &recording->terminated, error);
    if (rc != 0) {
        return rc;
    }
    if (json_object_get(root, "step_types") != NULL) {
        rc = aq_recording_rows(root, "step_types", recording->step_count, &types, error);
        if (rc != 0) {
            return rc;
        }
    }
    rc = make_ends(recording, &types, error);
    aq_number_matrix_fini(&types);
    return rc;
}

/* ---- the target ----------------------------------------------------------------------------- */

static const struct {
    const char *name;   /* where it is given whole */
    const char *change; /* where its changed numbers are */
} targets[] = {
    {"target_site_pos", "site_pos"},
    {"target_geom_pos", "geom_pos"},
};

/* {"index": [[row, column], …], "new": [number, …]}: the numbers by their columns, 0 where none
 * is given. */
static int read_change(const json_t *change, aq_number_matrix *ret_position, aq_error *error)
{
    aq_number_matrix index = {0}, fresh = {0}, position = {0};
    int rc = aq_number_matrix_read(json_object_get(change, "index"), "index", &index, error);
    if (rc == 0) {
        rc = aq_number_matrix_read(json_object_get(change, "new"), "new", &fresh, error);
    }
    if (rc == 0 && (index.width != 2 || fresh.width != 1 || index.rows != fresh.rows)) {
        rc = aq_fail(error, AQ_E_CORRUPT, "a change of a position does not fit its indices");
    }
    position.numbers = aq_alloc(POSITION_WIDTH, sizeof(double));
    if (rc == 0 && position.numbers == NULL) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory for the target");
    }
    position.rows = 1;
    position.width = POSITION_WIDTH;
    for (size_t i = 0; rc == 0 && i < index.rows; i++) {
        double column = index.numbers[2 * i + 1];
        if (!(column >= 0 && column < POSITION_WIDTH)) {
            rc = aq_fail(error, AQ_E_CORRUPT, "a position has no column %g", column);
        } else {
            position.numbers[(size_t)column] = fresh.numbers[i];
        }
    }
    aq_number_matrix_fini(&index);
    aq_number_matrix_fini(&fresh);
    if (rc != 0) {
        aq_number_matrix_fini(&position);
        return rc;
    }
    *ret_position = position;
    return 0;
}

static int read_targets(const json_t *root, aq_recording *recording, aq_error *error)
{
    const json_t *changes = json_object_get(root, "model_changes_at_reset");
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
        const json_t *whole = json_object_get(root, targets[i].name);
        const json_t *change = json_object_get(changes, targets[i].change);
        int rc = 0;
        if (whole != NULL) {
            aq_recording_series *series =
                aq_recording_add_series(recording, targets[i].name, false);
            rc = aq_number_row_read(whole, targets[i].name, &series->initial, error);
        } else if (change != NULL) {
            aq_recording_series *series =
                aq_recording_add_series(recording, targets[i].name, false);
            rc = read_change(change, &series->initial, error);
        }
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int aq_recording_read_suite(const json_t *root, aq_recording *recording, aq_error *error)
{
    recording->form = AQ_RECORDING_EPISODE;
    int rc = read_task(root, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_recording_read_steps(root, false, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_ends(root, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_states(root, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_targets(root, recording, error);
    return rc != 0 ? rc : aq_recording_check_series(recording, error);
}

/* ---- probes --------------------------------------------------------------------------------- */

/* None when the first probe has none. */
static int gather(const json_t *probes, const char *name, aq_number_matrix *ret_matrix,
                  aq_error *error)
{
    return json_object_get(json_array_get(probes, 0), name) != NULL
               ? aq_recording_gather(probes, "probe", name, ret_matrix, error)
               : 0;
}

int aq_recording_read_probes(const json_t *root, aq_recording *recording, aq_error *error)
{
    static const struct {
        const char *name;
        bool is_compared;
    } values[] = {
        {"qpos", true},
        {"qvel", true},
        {"act", true},
        {"ctrl", false},
        {"qacc_warmstart", false},
        {"target_site_pos", true},
        {"target_geom_pos", true},
    };
    const json_t *probes = json_object_get(root, "probes");
    recording->form = AQ_RECORDING_PROBES;
    int rc = read_task(root, recording, error);
    if (rc != 0) {
        return rc;
    }
    if (json_array_size(probes) == 0 || json_array_size(probes) > AQ_RECORDING_STEPS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "'probes' is no array of one to %d probes",
                       AQ_RECORDING_STEPS_MAX);
    }
    recording->step_count = json_array_size(probes);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        aq_number_matrix steps = {0};
        rc = gather(probes, values[i].name, &steps, error);
        if (rc != 0) {
            return rc;
        }
        if (steps.numbers != NULL) {
            aq_recording_add_series(recording, values[i].name, values[i].is_compared)->steps =
                steps;
        }
    }
    rc = gather(probes, "observation", &recording->observations, error);
    if (rc != 0) {
        return rc;
    }
    rc = gather(probes, "reward", &recording->rewards, error);
    if (rc != 0) {
        return rc;
    }
    if (recording->observations.numbers == NULL || recording->rewards.width != 1) {
        return aq_fail(error, AQ_E_CORRUPT, "a probe has an 'observation' and a 'reward'");
    }
    return 0;
}
