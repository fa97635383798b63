/*
 * Stepping many environments. The loop over lanes is plain: a step of a small environment costs
 * less than any way of sharing it out. Environments that can step all lanes in one call do so
 * first; what follows from each lane's step is the same for them.
 */
#include "rollout/vec_env.h"

#include <stdio.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

/* States lie behind each other; each may hold anything that malloc may. */
enum { STATE_ALIGNMENT = _Alignof(max_align_t) };

/* How long a lane waits after a reset that failed: doubled each time. */
#define RETRY_MIN_NS (10 * AQ_NS_PER_MS)
#define RETRY_MAX_NS (10 * AQ_NS_PER_S)

static uint8_t *row_of(const aq_vec_env *vec, uint8_t *rows, uint32_t lane)
{
    return rows + lane * vec->task.obs_bytes;
}

void *aq_vec_env_state(const aq_vec_env *vec, uint32_t lane)
{
    return vec->states + vec->state_at[lane] * vec->state_stride;
}

/* ---- create and destroy --------------------------------------------------------------------- */

static void lay_out(void *made, aq_arrays *at)
{
    aq_vec_env *vec = made;
    const uint32_t lanes = vec->lanes_max;
    vec->obs = aq_arrays_place(at, lanes, vec->task.obs_bytes);
    vec->next_obs = aq_arrays_place(at, lanes, vec->task.obs_bytes);
    vec->reward = aq_arrays_place(at, lanes, sizeof(*vec->reward));
    vec->events = aq_arrays_place(at, lanes, sizeof(*vec->events));
    vec->waits = aq_arrays_place(at, lanes, sizeof(*vec->waits));
    vec->ends = aq_arrays_place(at, lanes, sizeof(*vec->ends));
    vec->episode_return = aq_arrays_place(at, lanes, sizeof(*vec->episode_return));
    vec->episode_steps = aq_arrays_place(at, lanes, sizeof(*vec->episode_steps));
    vec->states = aq_arrays_place(at, lanes, vec->state_stride);
    vec->state_at = aq_arrays_place(at, lanes, sizeof(*vec->state_at));
    vec->rngs = aq_arrays_place(at, lanes, sizeof(*vec->rngs));
    vec->retry_ns = aq_arrays_place(at, lanes, sizeof(*vec->retry_ns));
    vec->failed_in_row = aq_arrays_place(at, lanes, sizeof(*vec->failed_in_row));
}

static int begin_states(aq_vec_env *vec, aq_error *error)
{
    const aq_env *env = vec->task.env;
    for (uint32_t lane = 0; lane < vec->lanes_max; lane++) {
        vec->state_at[lane] = lane;
        int rc = env->class->begin != NULL
                     ? env->class->begin(env->params, aq_vec_env_state(vec, lane), error)
                     : 0;
        if (rc != 0) {
            return rc;
        }
        vec->begun++;
    }
    return 0;
}

int aq_vec_env_create(const aq_env_task *task, uint32_t lanes, uint64_t seed, aq_vec_env **ret_vec,
                      aq_error *error)
{
    AQ_ASSERT(lanes >= 1);
    AQ_ASSERT(lanes <= AQ_VEC_ENV_LANES_MAX);
    const size_t state_bytes = task->env->class->state_bytes;
    aq_vec_env *vec = aq_alloc(1, sizeof(*vec));
    if (vec == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %u environments", lanes);
    }
    vec->task = aq_env_task_copy(task);
    vec->lanes_max = lanes;
    vec->state_stride = aq_round_up(state_bytes, STATE_ALIGNMENT);
    vec->step_limit =
        task->env->step_limit != 0 ? task->env->step_limit : (uint32_t)AQ_VEC_ENV_STEPS_MAX;
    vec->arrays = aq_arrays_make(lay_out, vec);
    int rc = vec->arrays != NULL
                 ? begin_states(vec, error)
                 : aq_fail(error, AQ_E_NOMEM, "no memory for %u environments", lanes);
    if (rc != 0) {
        aq_vec_env_destroy(vec);
        return rc;
    }
    aq_vec_env_start(vec, lanes, seed);
    *ret_vec = vec;
    return 0;
}

void aq_vec_env_destroy(aq_vec_env *vec)
{
    if (vec == NULL) {
        return;
    }
    const aq_env *env = vec->task.env;
    for (uint32_t i = 0; env->class->end != NULL && i < vec->begun; i++) {
        env->class->end(env->params, vec->states + i * vec->state_stride);
    }
    aq_env_task_fini(&vec->task);
    aq_free(vec->arrays);
    aq_free(vec);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* Whether all are finite: an exponent of ones is not. */
static bool all_finite(const uint8_t *floats, size_t count)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, floats + i * sizeof(bits), sizeof(bits));
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return bad == 0;
}

static bool is_sound(const aq_vec_env *vec, const uint8_t *obs)
{
    return vec->task.obs_dtype != AQ_DTYPE_F32 || all_finite(obs, vec->task.obs_elements);
}

/* Not on the way of those that work. */
__attribute__((noinline, cold)) static void note_failure(aq_vec_env *vec, const char *what)
{
    vec->failures++;
    (void)snprintf(vec->failure, sizeof(vec->failure), "%s", what);
}

/* What the environment itself says of it, or else `fallback`. */
static const char *said_of(const aq_vec_env *vec, uint32_t lane, const char *fallback)
{
    return aq_env_said(vec->task.env, aq_vec_env_state(vec, lane), fallback);
}

/* ---- stepping ------------------------------------------------------------------------------- */

static void set_waits(aq_vec_env *vec, uint32_t lane, bool waits)
{
    vec->waiting_count += (uint32_t)waits - vec->waits[lane];
    vec->waits[lane] = waits;
}

static bool try_reset(aq_vec_env *vec, uint32_t lane)
{
    const aq_env *env = vec->task.env;
    uint8_t *obs = row_of(vec, vec->obs, lane);
    if (!env->class->reset(env->params, aq_vec_env_state(vec, lane), &vec->rngs[lane], obs)) {
        note_failure(vec, said_of(vec, lane, "the environment could not be reset"));
        return false;
    }
    if (!is_sound(vec, obs)) {
        note_failure(vec, "the first observation of an episode is not finite");
        return false;
    }
    return true;
}

static int64_t back_off_ns(uint32_t failed_in_row)
{
    int64_t wait_ns = RETRY_MIN_NS;
    for (uint32_t i = 1; i < failed_in_row && wait_ns < RETRY_MAX_NS; i++) {
        wait_ns *= 2;
    }
    return wait_ns < RETRY_MAX_NS ? wait_ns : RETRY_MAX_NS;
}

/* INT64_MIN: it may be tried again at once. */
static void make_wait(aq_vec_env *vec, uint32_t lane, int64_t now_ns)
{
    set_waits(vec, lane, true);
    memset(row_of(vec, vec->obs, lane), 0, vec->task.obs_bytes);
    vec->retry_ns[lane] =
        now_ns == INT64_MIN ? INT64_MIN : now_ns + back_off_ns(vec->failed_in_row[lane]);
}

/* Starts an episode, or makes the lane wait. */
static void reset_lane(aq_vec_env *vec, uint32_t lane, int64_t now_ns)
{
    if (try_reset(vec, lane)) {
        set_waits(vec, lane, false);
        vec->events[lane] |= AQ_LANE_BEGAN;
        return;
    }
    vec->events[lane] |= AQ_LANE_FAILED;
    vec->failed_in_row[lane]++;
    make_wait(vec, lane, now_ns);
}

static void prepare_lane(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream,
                         uint32_t failures)
{
    AQ_ASSERT(lane < vec->lanes);
    aq_rng_init(&vec->rngs[lane], seed, stream);
    vec->events[lane] = 0;
    vec->failed_in_row[lane] = failures;
    vec->episode_return[lane] = 0.0;
    vec->episode_steps[lane] = 0;
}

void aq_vec_env_restart(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream)
{
    prepare_lane(vec, lane, seed, stream, 0);
    reset_lane(vec, lane, INT64_MIN);
}

void aq_vec_env_retry(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream,
                      uint32_t failures, int64_t now_ns)
{
    prepare_lane(vec, lane, seed, stream, failures);
    make_wait(vec, lane, now_ns);
}

void aq_vec_env_start(aq_vec_env *vec, uint32_t lanes, uint64_t seed)
{
    AQ_ASSERT(lanes >= 1);
    AQ_ASSERT(lanes <= vec->lanes_max);
    vec->lanes = lanes;
    vec->waiting_count = 0;
    memset(vec->waits, 0, vec->lanes_max);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        aq_vec_env_restart(vec, lane, seed, lane);
    }
}

void aq_vec_env_drop(aq_vec_env *vec, uint32_t lane)
{
    AQ_ASSERT(lane < vec->lanes);
    set_waits(vec, lane, false);
    uint32_t last = --vec->lanes;
    if (lane == last) {
        return;
    }
    const size_t row_bytes = vec->task.obs_bytes;
    memcpy(row_of(vec, vec->obs, lane), row_of(vec, vec->obs, last), row_bytes);
    memcpy(row_of(vec, vec->next_obs, lane), row_of(vec, vec->next_obs, last), row_bytes);
    uint32_t dropped = vec->state_at[lane];
    vec->state_at[lane] = vec->state_at[last];
    vec->state_at[last] = dropped;
    vec->reward[lane] = vec->reward[last];
    vec->events[lane] = vec->events[last];
    vec->waits[lane] = vec->waits[last];
    vec->episode_return[lane] = vec->episode_return[last];
    vec->episode_steps[lane] = vec->episode_steps[last];
    vec->rngs[lane] = vec->rngs[last];
    vec->retry_ns[lane] = vec->retry_ns[last];
    vec->failed_in_row[lane] = vec->failed_in_row[last];
    vec->waits[last] = 0;
}

void aq_vec_env_lend(aq_vec_env *vec, void *obs, void *next_obs, float *reward)
{
    vec->obs = obs;
    vec->next_obs = next_obs;
    vec->reward = reward;
    for (uint32_t lane = 0; vec->waiting_count > 0 && lane < vec->lanes; lane++) {
        if (vec->waits[lane]) {
            memset(row_of(vec, vec->obs, lane), 0, vec->task.obs_bytes);
        }
    }
}

static void fail_step(aq_vec_env *vec, uint32_t lane, int64_t now_ns, const char *what)
{
    note_failure(vec, what);
    vec->events[lane] = AQ_LANE_FAILED;
    if (++vec->failed_in_row[lane] > 1) {
        make_wait(vec, lane, now_ns);
    } else {
        reset_lane(vec, lane, now_ns);
    }
}

static enum aq_step_end step_lane(aq_vec_env *vec, uint32_t lane, const void *action)
{
    const aq_env *env = vec->task.env;
    return env->class->step(env->params, aq_vec_env_state(vec, lane), &vec->rngs[lane], action,
                            row_of(vec, vec->next_obs, lane), &vec->reward[lane]);
}

static void step_together(aq_vec_env *vec, const void *actions)
{
    const aq_env *env = vec->task.env;
    const aq_step_rows rows = {
        .count = vec->lanes,
        .states = vec->states,
        .state_stride = vec->state_stride,
        .state_at = vec->state_at,
        .actions = actions,
        .obs = vec->next_obs,
        .rewards = vec->reward,
        .ends = vec->ends,
    };
    env->class->step_rows(env->params, &rows);
}

/* What follows from a lane's step. */
static void finish_step(aq_vec_env *vec, uint32_t lane, enum aq_step_end end, int64_t now_ns)
{
    const uint8_t *next_obs = row_of(vec, vec->next_obs, lane);
    if ((vec->events[lane] & AQ_LANE_BEGAN) != 0) {
        vec->episode_return[lane] = 0.0;
        vec->episode_steps[lane] = 0;
    }
    if (end == AQ_STEP_FAILED) {
        fail_step(vec, lane, now_ns, said_of(vec, lane, "the environment failed in a step"));
        return;
    }
    if (!is_sound(vec, next_obs) || !all_finite((const uint8_t *)&vec->reward[lane], 1)) {
        fail_step(vec, lane, now_ns, "an observation or a reward is not finite");
        return;
    }
    vec->episode_return[lane] += (double)vec->reward[lane];
    vec->episode_steps[lane]++;
    vec->failed_in_row[lane] = 0;
    if (end == AQ_STEP_GOES_ON && vec->episode_steps[lane] < vec->step_limit) {
        vec->events[lane] = AQ_LANE_STEPPED;
        memcpy(row_of(vec, vec->obs, lane), next_obs, vec->task.obs_bytes);
        return;
    }
    vec->events[lane] =
        (uint8_t)(AQ_LANE_STEPPED |
                  (end == AQ_STEP_TERMINATED ? AQ_LANE_TERMINATED : AQ_LANE_TRUNCATED));
    if (vec->holds_ends) {
        make_wait(vec, lane, INT64_MIN);
    } else {
        reset_lane(vec, lane, now_ns);
    }
}

static void announce(const aq_vec_env *vec, const uint8_t *actions)
{
    const aq_env *env = vec->task.env;
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        if (!vec->waits[lane]) {
            env->class->announce(env->params, aq_vec_env_state(vec, lane),
                                 actions + lane * vec->task.action_bytes);
        }
    }
}

uint32_t aq_vec_env_step(aq_vec_env *vec, const void *actions, int64_t now_ns)
{
    const aq_env_class *class = vec->task.env->class;
    const uint8_t *rows = actions;
    const bool together = class->step_rows != NULL && vec->waiting_count == 0;
    uint32_t made = 0;
    if (class->announce != NULL && !vec->is_quiet) {
        announce(vec, rows);
    }
    if (together) {
        step_together(vec, actions);
    }
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        if (!vec->waits[lane]) {
            finish_step(vec, lane,
                        together ? vec->ends[lane]
                                 : step_lane(vec, lane, rows + lane * vec->task.action_bytes),
                        now_ns);
            made += vec->events[lane] & AQ_LANE_STEPPED;
        } else {
            vec->events[lane] = 0;
            if (vec->retry_ns[lane] <= now_ns) {
                reset_lane(vec, lane, now_ns);
            }
        }
    }
    return made;
}

int64_t aq_vec_env_due_ns(const aq_vec_env *vec)
{
    int64_t due_ns = INT64_MAX;
    if (vec->waiting_count < vec->lanes) {
        return INT64_MIN;
    }
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        due_ns = vec->retry_ns[lane] < due_ns ? vec->retry_ns[lane] : due_ns;
    }
    return due_ns;
}
