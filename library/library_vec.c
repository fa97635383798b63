/*
 * Environments of the public library: a vec env (rollout/vec_env.h) that writes into the caller's
 * rows. Actions come from anybody, so they are looked at before any environment sees them.
 */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "envs/env_code.h"
#include "envs/env_golden.h"
#include "envs/env_picture.h"
#include "library/library_words.h"
#include "rollout/vec_env.h"

/* Chance that goes on from one reset to the next; lanes have those from 0 on. */
#define RESET_STREAM UINT64_MAX

enum { PICTURE_SIDE_MAX = 4096 };

struct actorq_vec {
    aq_vec_env *vec;
    aq_env_task task;
    uint8_t *obs, *next_obs; /* the vec's own columns, for rows that nobody asks for */
    float *reward;
    uint8_t *actions; /* (lanes): held between the bounds */
    aq_rng rng;
    bool is_held; /* the only environment, at the end of its episode */
    actorq_vec_facts facts;
};

const char *actorq_task_at(size_t index)
{
    const aq_env_class *class = aq_env_at(index);
    return class != NULL ? class->name : NULL;
}

void actorq_allow_code(void)
{
    aq_env_allow_code(NULL);
}

/* ---- open and close ------------------------------------------------------------------------- */

/* Which code is allowed is one for the process; a task that is none leaves it as it is. */
static int open_task(const char *name, aq_env_task *ret_task, aq_error *error)
{
    static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;
    const aq_env_class *class = aq_env_find(name);
    aq_mutex_lock(&naming);
    if (class != NULL && class->runs_code) {
        aq_env_allow_code(name);
    }
    int rc = aq_env_task_open(name, ret_task, error);
    aq_mutex_unlock(&naming);
    return rc;
}

static actorq_vec_facts facts_of(const aq_env_task *task, uint32_t lanes)
{
    const aq_env *env = task->env;
    return (actorq_vec_facts){
        .task = env->name,
        .summary = env->summary,
        .reward_threshold = env->reward_threshold,
        .step_limit = env->step_limit,
        .lanes = lanes,
        .observation_bytes = task->obs_bytes,
        .action_bytes = task->action_bytes,
        .observation = aq_library_space(&env->schema.obs),
        .action = aq_library_space(&env->schema.action),
    };
}

static int open_vec(actorq_vec *vec, const char *task, uint32_t lanes, uint64_t seed,
                    aq_error *error)
{
    if (lanes < 1 || lanes > AQ_VEC_ENV_LANES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u environments together; 1 to %d are possible", lanes,
                       AQ_VEC_ENV_LANES_MAX);
    }
    int rc = open_task(task, &vec->task, error);
    rc = rc != 0 ? rc : aq_vec_env_create(&vec->task, lanes, seed, &vec->vec, error);
    if (rc != 0) {
        return rc;
    }
    vec->actions = aq_alloc(lanes, vec->task.action_bytes);
    if (vec->actions == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %u environments", lanes);
    }
    vec->obs = vec->vec->obs;
    vec->next_obs = vec->vec->next_obs;
    vec->reward = vec->vec->reward;
    vec->facts = facts_of(&vec->task, lanes);
    aq_rng_init(&vec->rng, seed, RESET_STREAM);
    return 0;
}

int actorq_vec_open(const char *task, uint32_t lanes, uint64_t seed, actorq_vec **ret_vec,
                    actorq_error *error)
{
    aq_error problem = {0};
    int rc = AQ_NEED(&problem, {"task", task}, {"ret_vec", ret_vec});
    if (rc != 0) {
        return aq_library_tell(rc, &problem, error);
    }
    actorq_vec *vec = aq_alloc(1, sizeof(*vec));
    rc = vec != NULL ? open_vec(vec, task, lanes, seed, &problem)
                     : aq_fail(&problem, AQ_E_NOMEM, "no memory for environments");
    if (rc == 0) {
        *ret_vec = vec;
    } else {
        actorq_vec_close(vec);
    }
    return aq_library_tell(rc, &problem, error);
}

void actorq_vec_close(actorq_vec *vec)
{
    if (vec == NULL) {
        return;
    }
    aq_vec_env_destroy(vec->vec);
    aq_env_task_fini(&vec->task);
    aq_free(vec->actions);
    aq_free(vec);
}

const actorq_vec_facts *actorq_vec_look(const actorq_vec *vec)
{
    return vec != NULL ? &vec->facts : NULL;
}

/* ---- reset ---------------------------------------------------------------------------------- */

static int fail_env(const actorq_vec *vec, aq_error *error)
{
    return aq_fail(error, AQ_E_PEER, "%s: %s", vec->facts.task,
                   aq_env_said_last(vec->vec->failure));
}

int actorq_vec_reset(actorq_vec *vec, const uint64_t *seed, void *observations, actorq_error *error)
{
    aq_error problem = {0};
    int rc = AQ_NEED(&problem, {"vec", vec}, {"observations", observations});
    if (rc != 0) {
        return aq_library_tell(rc, &problem, error);
    }
    const aq_env *env = vec->task.env;
    if (env->class->await != NULL) {
        env->class->await(env->params);
    }
    aq_vec_env_lend(vec->vec, observations, vec->next_obs, vec->reward);
    if (seed != NULL) {
        aq_rng_init(&vec->rng, *seed, RESET_STREAM);
        aq_vec_env_start(vec->vec, vec->facts.lanes, *seed);
    } else if (vec->is_held) {
        (void)aq_vec_env_step(vec->vec, vec->actions, INT64_MIN); /* which only begins the next */
    } else {
        aq_vec_env_start(vec->vec, vec->facts.lanes, aq_rng_next(&vec->rng));
    }
    vec->is_held = false;
    rc = vec->vec->waiting_count > 0 ? fail_env(vec, &problem) : 0;
    return aq_library_tell(rc, &problem, error);
}

/* ---- actions -------------------------------------------------------------------------------- */

static int check_choices(const actorq_vec *vec, const int32_t *choices, aq_error *error)
{
    const aq_space *space = &vec->task.env->schema.action;
    const size_t elements = aq_space_elements(space);
    for (uint32_t lane = 0; lane < vec->facts.lanes; lane++, choices += elements) {
        if (aq_space_has(space, choices)) {
            continue;
        }
        size_t i = 0;
        while ((uint32_t)choices[i] < aq_space_choices(space, i)) {
            i++;
        }
        return aq_fail(error, AQ_E_INVALID,
                       "action %d of environment %u; %s has the choices 0 to %u", (int)choices[i],
                       lane, vec->facts.task, aq_space_choices(space, i) - 1);
    }
    return 0;
}

static bool lie_between(const aq_space *space, const float *numbers, size_t rows, size_t elements)
{
    uint32_t outside = 0;
    for (size_t row = 0; row < rows; row++, numbers += elements) {
        for (size_t i = 0; i < elements; i++) {
            const size_t bound = aq_space_bound(space, i);
            outside |= !(numbers[i] >= space->low[bound] && numbers[i] <= space->high[bound]);
        }
    }
    return outside == 0;
}

/* The actions as environments take them: themselves, or held between the bounds in our rows. */
static int take_actions(actorq_vec *vec, const void *actions, const void **ret_actions,
                        aq_error *error)
{
    const aq_space *space = &vec->task.env->schema.action;
    const size_t elements = aq_space_elements(space), lanes = vec->facts.lanes;
    const float *numbers = actions;
    float *held = (float *)(void *)vec->actions;
    *ret_actions = actions;
    if (space->kind == AQ_SPACE_DISCRETE) {
        return check_choices(vec, actions, error);
    }
    if (lie_between(space, numbers, lanes, elements)) {
        return 0;
    }
    for (size_t i = 0; i < lanes * elements; i++) {
        if (isnan(numbers[i])) {
            return aq_fail(error, AQ_E_INVALID, "an action of environment %zu is not a number",
                           i / elements);
        }
        held[i] = aq_space_hold(space, aq_space_bound(space, i % elements), numbers[i]);
    }
    *ret_actions = held;
    return 0;
}

/* ---- step ----------------------------------------------------------------------------------- */

/* How each step ended, and how many ended an episode. */
static uint32_t write_ends(const aq_vec_env *vec, const actorq_rows *rows)
{
    uint32_t ended = 0;
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        const uint8_t terminated = (vec->events[lane] & AQ_LANE_TERMINATED) != 0;
        const uint8_t truncated = (vec->events[lane] & AQ_LANE_TRUNCATED) != 0;
        rows->terminated[lane] = terminated;
        rows->truncated[lane] = truncated;
        ended += (uint32_t)terminated + truncated;
    }
    memcpy(rows->returns, vec->episode_return, vec->lanes * sizeof(*rows->returns));
    memcpy(rows->lengths, vec->episode_steps, vec->lanes * sizeof(*rows->lengths));
    return ended;
}

static int check_step(const actorq_vec *vec, const actorq_rows *rows, aq_error *error)
{
    int rc = AQ_NEED(error, {"rows.finals", rows->finals}, {"rows.rewards", rows->rewards},
                     {"rows.terminated", rows->terminated}, {"rows.truncated", rows->truncated},
                     {"rows.returns", rows->returns}, {"rows.lengths", rows->lengths});
    if (rc != 0) {
        return rc;
    }
    if (rows->observations == NULL && vec->facts.lanes > 1) {
        return aq_fail(error, AQ_E_INVALID, "no place for the observations of %u environments",
                       vec->facts.lanes);
    }
    return vec->is_held
               ? aq_fail(error, AQ_E_INVALID, "the episode has ended; reset begins another")
               : 0;
}

int actorq_vec_step(actorq_vec *vec, const void *actions, const actorq_rows *rows,
                    uint32_t *ret_ended, actorq_error *error)
{
    aq_error problem = {0};
    const void *taken;
    int rc = AQ_NEED(&problem, {"vec", vec}, {"actions", actions}, {"rows", rows},
                     {"ret_ended", ret_ended});
    rc = rc != 0 ? rc : check_step(vec, rows, &problem);
    rc = rc != 0 ? rc : take_actions(vec, actions, &taken, &problem);
    if (rc == 0) {
        const bool holds = rows->observations == NULL;
        vec->vec->holds_ends = holds;
        vec->vec->is_quiet = holds;
        aq_vec_env_lend(vec->vec, holds ? vec->obs : rows->observations, rows->finals,
                        rows->rewards);
        const uint32_t made = aq_vec_env_step(vec->vec, taken, aq_clock_monotonic_ns());
        const uint32_t ended = write_ends(vec->vec, rows);
        if (made == vec->facts.lanes && (holds || vec->vec->waiting_count == 0)) {
            vec->is_held = holds && ended > 0;
            *ret_ended = ended;
        } else {
            rc = fail_env(vec, &problem);
        }
    }
    return aq_library_tell(rc, &problem, error);
}

/* ---- one of them ---------------------------------------------------------------------------- */

static int check_lane(const actorq_vec *vec, uint32_t lane, aq_error *error)
{
    return lane < vec->facts.lanes ? 0
                                   : aq_fail(error, AQ_E_INVALID, "environment %u of %u, from 0 on",
                                             lane, vec->facts.lanes);
}

static int put(actorq_vec *vec, uint32_t lane, const actorq_value *values, size_t count,
               void *observation, aq_error *error)
{
    const aq_env *env = vec->task.env;
    aq_golden_values rows = {.count = count};
    int rc = check_lane(vec, lane, error);
    if (rc != 0) {
        return rc;
    }
    if (env->class->put == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "%s cannot be put into a state", env->name);
    }
    if (count > AQ_GOLDEN_VALUES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%zu values of a state; up to %d are possible", count,
                       AQ_GOLDEN_VALUES_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        rc = AQ_NEED(error, {"a value's name", values[i].name},
                     {"a value's numbers", values[i].numbers});
        if (rc != 0) {
            return rc;
        }
        rows.rows[i] = (aq_golden_value){values[i].name, values[i].count, values[i].numbers};
    }
    void *state = aq_vec_env_state(vec->vec, lane);
    rc = env->class->put(env->params, state, &rows, error);
    if (rc == 0) {
        env->class->observe(env->params, state, observation);
    }
    return rc;
}

int actorq_vec_put(actorq_vec *vec, uint32_t lane, const actorq_value *values, size_t count,
                   void *observation, actorq_error *error)
{
    aq_error problem = {0};
    int rc = AQ_NEED(&problem, {"vec", vec}, {"values", values}, {"observation", observation});
    rc = rc != 0 ? rc : put(vec, lane, values, count, observation, &problem);
    return aq_library_tell(rc, &problem, error);
}

static int draw(actorq_vec *vec, uint32_t lane, aq_canvas *canvas, aq_error *error)
{
    const aq_env *env = vec->task.env;
    const char *text;
    int rc = check_lane(vec, lane, error);
    rc = rc != 0 ? rc : aq_env_picture_check(env, error);
    if (rc != 0) {
        return rc;
    }
    if (canvas->width < 1 || canvas->width > PICTURE_SIDE_MAX || canvas->height < 1 ||
        canvas->height > PICTURE_SIDE_MAX) {
        return aq_fail(error, AQ_E_INVALID, "a picture of %u x %u; sides of 1 to %d are possible",
                       canvas->width, canvas->height, PICTURE_SIDE_MAX);
    }
    void *state = aq_vec_env_state(vec->vec, lane);
    uint8_t *obs = vec->obs + lane * vec->task.obs_bytes;
    if (env->class->observe != NULL) {
        env->class->observe(env->params, state, obs);
    }
    if (aq_env_picture_draw(env, state, obs, canvas, &text) != 0) {
        return aq_fail(error, AQ_E_PEER, "%s could not be drawn: %s", env->name,
                       aq_env_said_last(aq_env_said(env, state, "it does not say why")));
    }
    return text == NULL ? 0
                        : aq_fail(error, AQ_E_UNSUPPORTED, "%s draws itself in text", env->name);
}

int actorq_vec_draw(actorq_vec *vec, uint32_t lane, uint32_t width, uint32_t height,
                    uint8_t *pixels, actorq_error *error)
{
    aq_error problem = {0};
    aq_canvas canvas = {.width = width, .height = height, .pixels = pixels};
    int rc = AQ_NEED(&problem, {"vec", vec}, {"pixels", pixels});
    rc = rc != 0 ? rc : draw(vec, lane, &canvas, &problem);
    return aq_library_tell(rc, &problem, error);
}
