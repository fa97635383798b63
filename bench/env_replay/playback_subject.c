/*
 * Playback subject: see playback_subject.h.
 */
#include "bench/env_replay/playback_subject.h"

#include <math.h>

#include "common/base/memory.h"

enum { SEED = 1 }; /* of what a recording leaves to chance */

/* ---- lives ---------------------------------------------------------------------------------- */

static int allocate(aq_playback_subject *subject, aq_error *error)
{
    const aq_schema *schema = &subject->env->schema;
    subject->action_width = aq_space_elements(&schema->action);
    subject->obs_width = aq_space_elements(&schema->obs);
    subject->state = aq_alloc(1, subject->env->class->state_bytes);
    subject->action_row = aq_alloc(1, aq_space_bytes(&schema->action));
    subject->obs_row = aq_alloc(1, aq_space_bytes(&schema->obs));
    subject->obs = aq_alloc(subject->obs_width, sizeof(double));
    if (!subject->state || !subject->action_row || !subject->obs_row || !subject->obs) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a subject of %s", subject->env->name);
    }
    return 0;
}

/* "a step failed", and why where the environment says it. */
static int fail(const aq_playback_subject *subject, const char *what, aq_error *error)
{
    const aq_env_class *class = subject->env->class;
    const char *why =
        class->failure != NULL ? class->failure(subject->env->params, subject->state) : NULL;
    return aq_fail(error, AQ_E_PEER, "%s: a %s failed%s%s", subject->env->name, what,
                   why != NULL ? ": " : "", why != NULL ? why : "");
}

static int start(aq_playback_subject *subject, aq_error *error)
{
    const aq_env_class *class = subject->env->class;
    if (class->begin != NULL) {
        int rc = class->begin(subject->env->params, subject->state, error);
        if (rc != 0) {
            return rc;
        }
    }
    subject->is_begun = true;
    aq_rng_init(&subject->rng, SEED, 0);
    if (!class->reset(subject->env->params, subject->state, &subject->rng, subject->obs_row)) {
        return fail(subject, "reset", error);
    }
    return 0;
}

int aq_playback_subject_init(aq_playback_subject *subject, const aq_env *env,
                             const aq_original *original, aq_error *error)
{
    *subject = (aq_playback_subject){.env = env, .original = original};
    if (original == NULL) {
        return aq_fail(
            error, AQ_E_UNSUPPORTED,
            "%s can't be put into a recorded state, so no recording can be played back in it",
            env->name);
    }
    int rc = allocate(subject, error);
    if (rc == 0) {
        rc = start(subject, error);
    }
    if (rc != 0) {
        aq_playback_subject_fini(subject);
    }
    return rc;
}

void aq_playback_subject_fini(aq_playback_subject *subject)
{
    if (subject->is_begun && subject->env->class->end != NULL) {
        subject->env->class->end(subject->env->params, subject->state);
    }
    aq_free(subject->state);
    aq_free(subject->action_row);
    aq_free(subject->obs_row);
    aq_free(subject->obs);
    *subject = (aq_playback_subject){0};
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void take_obs_row(aq_playback_subject *subject)
{
    const aq_space *space = &subject->env->schema.obs;
    for (size_t i = 0; i < subject->obs_width; i++) {
        if (space->kind == AQ_SPACE_DISCRETE) {
            subject->obs[i] = ((const int32_t *)subject->obs_row)[i];
        } else if (space->dtype == AQ_DTYPE_U8) {
            subject->obs[i] = ((const uint8_t *)subject->obs_row)[i];
        } else {
            subject->obs[i] = (double)((const float *)subject->obs_row)[i];
        }
    }
}

static bool is_in_box(const aq_space *space, size_t i, double number)
{
    size_t bound = space->bound_count > 1 ? i : 0;
    return number >= (double)space->low[bound] && number <= (double)space->high[bound];
}

/* Checks the action against its space and writes its row. */
static int put_action_row(aq_playback_subject *subject, const double *action, aq_error *error)
{
    const aq_space *space = &subject->env->schema.action;
    if (space->kind == AQ_SPACE_DISCRETE) {
        if (!(action[0] >= 0 && action[0] < (double)space->choice_count) ||
            action[0] != floor(action[0])) {
            return aq_fail(error, AQ_E_CORRUPT, "there is no action %g", action[0]);
        }
        *(int32_t *)subject->action_row = (int32_t)action[0];
        return 0;
    }
    for (size_t i = 0; i < subject->action_width; i++) {
        if (!is_in_box(space, i, action[i])) {
            return aq_fail(error, AQ_E_CORRUPT, "an action has %g, out of its bounds", action[i]);
        }
        ((float *)subject->action_row)[i] = (float)action[i];
    }
    return 0;
}

/* ---- states and steps ----------------------------------------------------------------------- */

int aq_playback_subject_set(aq_playback_subject *subject, const aq_golden_values *values,
                            bool is_start, aq_error *error)
{
    if (is_start) {
        subject->elapsed = 0;
    }
    return subject->env->class->put(subject->env->params, subject->state, values, error);
}

void aq_playback_subject_observe(aq_playback_subject *subject)
{
    subject->reward = (double)NAN;
    if (subject->original->observe != NULL) {
        subject->original->observe(subject->env->params, subject->state, subject->obs,
                                   &subject->reward);
        return;
    }
    subject->env->class->observe(subject->env->params, subject->state, subject->obs_row);
    take_obs_row(subject);
}

int aq_playback_subject_step(aq_playback_subject *subject, const double *action, aq_error *error)
{
    const aq_env *env = subject->env;
    enum aq_step_end end;
    int rc = put_action_row(subject, action, error);
    if (rc != 0) {
        return rc;
    }
    if (subject->original->step != NULL) {
        end = subject->original->step(env->params, subject->state, &subject->rng, action,
                                      subject->obs, &subject->reward);
    } else {
        float reward = 0;
        end = env->class->step(env->params, subject->state, &subject->rng, subject->action_row,
                               subject->obs_row, &reward);
        subject->reward = (double)reward;
        take_obs_row(subject);
    }
    if (end == AQ_STEP_FAILED) {
        return fail(subject, "step", error);
    }
    subject->elapsed++;
    subject->terminated = end == AQ_STEP_TERMINATED;
    subject->truncated =
        end == AQ_STEP_TRUNCATED || (env->step_limit > 0 && subject->elapsed >= env->step_limit);
    return 0;
}
