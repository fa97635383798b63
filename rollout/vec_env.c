/*
 * Stepping many environments. The loop over lanes is plain: a step of a small environment costs
 * less than any way of sharing it out.
 */
#include "rollout/vec_env.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/rl/columns.h"

/* States lie behind each other; each may hold anything that malloc may. */
enum { STATE_ALIGNMENT = _Alignof(max_align_t) };

static float *row_of(const aq_vec_env *vec, float *rows, uint32_t lane)
{
    return rows + (size_t)lane * vec->task.obs_elements;
}

static uint8_t *state_of(const aq_vec_env *vec, uint32_t lane)
{
    return vec->states + lane * vec->state_stride;
}

int aq_vec_env_create(const aq_env_task *task, uint32_t lanes, uint64_t seed, aq_vec_env **ret_vec)
{
    AQ_ASSERT(lanes >= 1);
    AQ_ASSERT(lanes <= AQ_VEC_ENV_LANES_MAX);
    size_t stride = (task->env->state_bytes + STATE_ALIGNMENT - 1) & ~(size_t)(STATE_ALIGNMENT - 1);
    size_t row_bytes = task->obs_elements * sizeof(float);
    size_t bytes = sizeof(aq_vec_env);
    size_t obs = aq_columns_add(&bytes, lanes, row_bytes);
    size_t next_obs = aq_columns_add(&bytes, lanes, row_bytes);
    size_t reward = aq_columns_add(&bytes, lanes, sizeof(float));
    size_t terminated = aq_columns_add(&bytes, lanes, sizeof(uint8_t));
    size_t truncated = aq_columns_add(&bytes, lanes, sizeof(uint8_t));
    size_t episode_return = aq_columns_add(&bytes, lanes, sizeof(double));
    size_t episode_steps = aq_columns_add(&bytes, lanes, sizeof(uint32_t));
    size_t params = aq_columns_add(&bytes, 1, task->env->params_bytes);
    size_t states = aq_columns_add(&bytes, lanes, stride);
    size_t rngs = aq_columns_add(&bytes, lanes, sizeof(aq_rng));
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    aq_vec_env *vec = (aq_vec_env *)(void *)block;
    vec->task = *task;
    vec->lanes_max = lanes;
    vec->step_limit =
        task->env->step_limit != 0 ? task->env->step_limit : (uint32_t)AQ_VEC_ENV_STEPS_MAX;
    vec->obs = (float *)(void *)(block + obs);
    vec->next_obs = (float *)(void *)(block + next_obs);
    vec->reward = (float *)(void *)(block + reward);
    vec->terminated = block + terminated;
    vec->truncated = block + truncated;
    vec->episode_return = (double *)(void *)(block + episode_return);
    vec->episode_steps = (uint32_t *)(void *)(block + episode_steps);
    vec->params = block + params;
    vec->states = block + states;
    vec->state_stride = stride;
    vec->rngs = (aq_rng *)(void *)(block + rngs);
    task->env->init_params(vec->params);
    aq_vec_env_start(vec, lanes, seed);
    *ret_vec = vec;
    return 0;
}

void aq_vec_env_destroy(aq_vec_env *vec)
{
    aq_free(vec);
}

static void reset_lane(aq_vec_env *vec, uint32_t lane)
{
    vec->task.env->reset(vec->params, state_of(vec, lane), &vec->rngs[lane],
                         row_of(vec, vec->obs, lane));
}

void aq_vec_env_restart(aq_vec_env *vec, uint32_t lane, uint64_t seed, uint64_t stream)
{
    AQ_ASSERT(lane < vec->lanes);
    aq_rng_init(&vec->rngs[lane], seed, stream);
    reset_lane(vec, lane);
    vec->terminated[lane] = 0;
    vec->truncated[lane] = 0;
    vec->episode_return[lane] = 0.0;
    vec->episode_steps[lane] = 0;
}

void aq_vec_env_start(aq_vec_env *vec, uint32_t lanes, uint64_t seed)
{
    AQ_ASSERT(lanes >= 1);
    AQ_ASSERT(lanes <= vec->lanes_max);
    vec->lanes = lanes;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        aq_vec_env_restart(vec, lane, seed, lane);
    }
}

void aq_vec_env_drop(aq_vec_env *vec, uint32_t lane)
{
    AQ_ASSERT(lane < vec->lanes);
    uint32_t last = --vec->lanes;
    if (lane == last) {
        return;
    }
    size_t row_bytes = vec->task.obs_elements * sizeof(float);
    memcpy(row_of(vec, vec->obs, lane), row_of(vec, vec->obs, last), row_bytes);
    memcpy(row_of(vec, vec->next_obs, lane), row_of(vec, vec->next_obs, last), row_bytes);
    memcpy(state_of(vec, lane), state_of(vec, last), vec->task.env->state_bytes);
    vec->reward[lane] = vec->reward[last];
    vec->terminated[lane] = vec->terminated[last];
    vec->truncated[lane] = vec->truncated[last];
    vec->episode_return[lane] = vec->episode_return[last];
    vec->episode_steps[lane] = vec->episode_steps[last];
    vec->rngs[lane] = vec->rngs[last];
}

static void step_lane(aq_vec_env *vec, uint32_t lane, const int32_t *action)
{
    const aq_env_class *env = vec->task.env;
    float *next_obs = row_of(vec, vec->next_obs, lane);
    if (aq_vec_env_ended(vec, lane)) {
        vec->episode_return[lane] = 0.0;
        vec->episode_steps[lane] = 0;
    }
    bool terminated = env->step(vec->params, state_of(vec, lane), &vec->rngs[lane], action,
                                next_obs, &vec->reward[lane]);
    vec->episode_return[lane] += (double)vec->reward[lane];
    vec->episode_steps[lane]++;
    bool limit = vec->episode_steps[lane] >= vec->step_limit;
    vec->terminated[lane] = terminated;
    vec->truncated[lane] = limit && !terminated;
    if (terminated || limit) {
        reset_lane(vec, lane);
    } else {
        memcpy(row_of(vec, vec->obs, lane), next_obs, vec->task.obs_elements * sizeof(float));
    }
}

void aq_vec_env_step(aq_vec_env *vec, const int32_t *actions)
{
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        step_lane(vec, lane, &actions[lane]);
    }
}
