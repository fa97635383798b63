/*
 * Playback: episodes and probes. Tables are in table_playback.c.
 */
#include "bench/env_replay/playback.h"

#include <math.h>

#include "bench/env_replay/playback_subject.h"
#include "bench/env_replay/table_playback.h"
#include "common/base/memory.h"

/* ---- comparisons ---------------------------------------------------------------------------- */

typedef struct playback {
    const aq_recording *recording;
    aq_playback_subject subject;
    double *numbers; /* room for the widest series */
    size_t room;
    aq_playback_report report;
} playback;

static void compare_obs(playback *r, int64_t step, const double *recorded)
{
    for (size_t i = 0; i < r->subject.obs_width; i++) {
        aq_worst_offer(&r->report.obs, step, r->subject.obs[i], recorded[i]);
    }
}

static int compare_state(playback *r, size_t step, aq_error *error)
{
    for (size_t s = 0; s < r->recording->series_count; s++) {
        const aq_recording_series *series = &r->recording->series[s];
        if (!series->is_compared || series->steps.width == 0) {
            continue;
        }
        size_t count = r->subject.original->get(r->subject.env->params, r->subject.state,
                                                series->name, r->numbers, r->room);
        if (count != 0 && count != series->steps.width) {
            return aq_fail(error, AQ_E_SCHEMA,
                           "'%s' is %zu numbers in %s, but %zu in the recording", series->name,
                           count, r->subject.env->name, series->steps.width);
        }
        const double *recorded = aq_number_matrix_row(&series->steps, step);
        for (size_t i = 0; i < count; i++) {
            aq_worst_offer(&r->report.state, (int64_t)step, r->numbers[i], recorded[i]);
        }
    }
    return 0;
}

static void compare_flags(playback *r, size_t step)
{
    bool terminated = r->recording->terminated.numbers[step] != 0;
    bool truncated = r->recording->truncated.numbers[step] != 0;
    r->report.mismatched_flags += terminated != r->subject.terminated;
    r->report.mismatched_flags += truncated != r->subject.truncated;
}

/* ---- episodes ------------------------------------------------------------------------------- */

/* After the step: to where the recording began anew, or back onto its way when one of the two has
 * ended here, since an environment takes no step after its end. */
static int go_on(playback *r, size_t step, aq_error *error)
{
    aq_golden_values values;
    size_t reset;
    const aq_recording *recording = r->recording;
    if (aq_recording_reset_after(recording, step, &reset)) {
        aq_recording_at_reset(recording, reset, &values);
        int rc = aq_playback_subject_set(&r->subject, &values, true, error);
        if (rc != 0) {
            return rc;
        }
        aq_playback_subject_observe(&r->subject);
        compare_obs(r, (int64_t)step, aq_number_matrix_row(&recording->reset_observations, reset));
        return 0;
    }
    bool has_ended =
        recording->terminated.numbers[step] != 0 || recording->truncated.numbers[step] != 0;
    if (!has_ended && !r->subject.terminated && !r->subject.truncated) {
        return 0;
    }
    aq_recording_at_step(recording, step, &values);
    return aq_playback_subject_set(&r->subject, &values, has_ended, error);
}

/* Puts the recorded state before the step in. */
static int set_before(playback *r, size_t step, aq_error *error)
{
    aq_golden_values values;
    size_t reset;
    if (step == 0) {
        aq_recording_at_start(r->recording, &values);
    } else if (aq_recording_reset_after(r->recording, step - 1, &reset)) {
        aq_recording_at_reset(r->recording, reset, &values);
    } else {
        aq_recording_at_step(r->recording, step - 1, &values);
    }
    return aq_playback_subject_set(&r->subject, &values, step == 0, error);
}

static int play_step(playback *r, size_t step, bool per_step, aq_error *error)
{
    const aq_recording *recording = r->recording;
    if (per_step) {
        int rc = set_before(r, step, error);
        if (rc != 0) {
            return rc;
        }
    }
    int rc = aq_playback_subject_step(&r->subject, aq_number_matrix_row(&recording->actions, step),
                                      error);
    if (rc != 0) {
        return rc;
    }
    compare_obs(r, (int64_t)step, aq_number_matrix_row(&recording->observations, step));
    aq_worst_offer(&r->report.reward, (int64_t)step, r->subject.reward,
                   recording->rewards.numbers[step]);
    compare_flags(r, step);
    rc = compare_state(r, step, error);
    return rc != 0 ? rc : go_on(r, step, error);
}

static int play_episode(playback *r, bool per_step, aq_error *error)
{
    const aq_recording *recording = r->recording;
    if (recording->actions.width != r->subject.action_width) {
        return aq_fail(error, AQ_E_SCHEMA, "an action of %s has %zu numbers, a recorded one %zu",
                       r->subject.env->name, r->subject.action_width, recording->actions.width);
    }
    int rc = set_before(r, 0, error);
    if (rc != 0) {
        return rc;
    }
    if (recording->initial_observation.numbers != NULL) {
        aq_playback_subject_observe(&r->subject);
        compare_obs(r, -1, recording->initial_observation.numbers);
    }
    for (size_t step = 0; step < recording->step_count; step++) {
        rc = play_step(r, step, per_step, error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "step %zu", step);
        }
        r->report.steps++;
    }
    return 0;
}

/* ---- probes --------------------------------------------------------------------------------- */

static int play_probes(playback *r, aq_error *error)
{
    const aq_recording *recording = r->recording;
    for (size_t probe = 0; probe < recording->step_count; probe++) {
        aq_golden_values values;
        aq_recording_at_step(recording, probe, &values);
        int rc = aq_playback_subject_set(&r->subject, &values, true, error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "probe %zu", probe);
        }
        aq_playback_subject_observe(&r->subject);
        compare_obs(r, (int64_t)probe, aq_number_matrix_row(&recording->observations, probe));
        if (!isnan(r->subject.reward)) {
            aq_worst_offer(&r->report.reward, (int64_t)probe, r->subject.reward,
                           recording->rewards.numbers[probe]);
        }
        rc = compare_state(r, probe, error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "probe %zu", probe);
        }
        r->report.steps++;
    }
    return 0;
}

static int play(playback *r, bool per_step, aq_error *error)
{
    const aq_recording *recording = r->recording;
    if (recording->form == AQ_RECORDING_TABLE) {
        return aq_table_playback(&r->subject, &recording->table, &r->report, error);
    }
    if (recording->observations.width != r->subject.obs_width) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "an observation of %s has %zu numbers, a recorded one %zu",
                       r->subject.env->name, r->subject.obs_width, recording->observations.width);
    }
    for (size_t s = 0; s < recording->series_count; s++) {
        size_t width = recording->series[s].steps.width;
        r->room = width > r->room ? width : r->room;
    }
    r->numbers = aq_alloc(r->room + 1, sizeof(double));
    if (r->numbers == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a state");
    }
    return recording->form == AQ_RECORDING_PROBES ? play_probes(r, error)
                                                  : play_episode(r, per_step, error);
}

int aq_playback(const aq_env *env, const aq_original *original, const aq_recording *recording,
                bool per_step, aq_playback_report *ret_report, aq_error *error)
{
    playback r = {.recording = recording};
    int rc = aq_playback_subject_init(&r.subject, env, original, error);
    if (rc != 0) {
        return rc;
    }
    rc = play(&r, per_step, error);
    aq_playback_subject_fini(&r.subject);
    aq_free(r.numbers);
    if (rc == 0) {
        *ret_report = r.report;
    }
    return rc;
}
