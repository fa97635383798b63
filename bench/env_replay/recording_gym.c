/*
 * Recordings of Gymnasium's classics: one episode after the other, as long as it was recorded. The
 * state is one row of numbers, "states".
 */
#include "bench/env_replay/recording_form.h"

#include <stdio.h>
#include <string.h>

static int read_resets(const json_t *root, aq_recording *recording, aq_recording_series *state,
                       aq_error *error)
{
    const json_t *resets = json_object_get(root, "resets");
    if (resets == NULL || json_array_size(resets) == 0) {
        return 0;
    }
    int rc = aq_recording_gather(resets, "reset", "after_step", &recording->reset_steps, error);
    if (rc != 0) {
        return rc;
    }
    if (recording->reset_steps.width != 1) {
        return aq_fail(error, AQ_E_CORRUPT, "'after_step' of a reset is not one number");
    }
    rc = aq_recording_gather(resets, "reset", "state", &state->resets, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_recording_gather(resets, "reset", "observation", &recording->reset_observations, error);
    if (rc != 0) {
        return rc;
    }
    if (recording->reset_observations.width != recording->observations.width) {
        return aq_fail(error, AQ_E_CORRUPT, "observations of resets have another width");
    }
    recording->reset_count = recording->reset_steps.rows;
    return 0;
}

static int read_ends(const json_t *root, aq_recording *recording, aq_error *error)
{
    int rc =
        aq_recording_rows(root, "terminated", recording->step_count, &recording->terminated, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_recording_rows(root, "truncated", recording->step_count, &recording->truncated, error);
    if (rc != 0) {
        return rc;
    }
    if (recording->terminated.width != 1 || recording->truncated.width != 1) {
        return aq_fail(error, AQ_E_CORRUPT, "flags are one a step");
    }
    return 0;
}

static int read_state(const json_t *root, aq_recording *recording, aq_error *error)
{
    aq_recording_series *state = aq_recording_add_series(recording, "state", true);
    int rc = aq_number_row_read(json_object_get(root, "initial_state"), "initial_state",
                                &state->initial, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_recording_rows(root, "states", recording->step_count, &state->steps, error);
    if (rc != 0) {
        return rc;
    }
    return read_resets(root, recording, state, error);
}

int aq_recording_read_gym(const json_t *root, aq_recording *recording, aq_error *error)
{
    const char *id = json_string_value(json_object_get(root, "id"));
    recording->form = AQ_RECORDING_EPISODE;
    if (id == NULL || strlen(id) + sizeof("gym:") > sizeof(recording->task)) {
        return aq_fail(error, AQ_E_CORRUPT, "'id' is no task's name");
    }
    (void)snprintf(recording->task, sizeof(recording->task), "gym:%s", id);
    int rc = aq_recording_read_steps(root, true, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_ends(root, recording, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_state(root, recording, error);
    return rc != 0 ? rc : aq_recording_check_series(recording, error);
}
