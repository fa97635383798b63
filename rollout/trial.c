/*
 * Playing a fixed set of episodes. A lane whose episode ended takes the next that nobody plays;
 * when there is none, it leaves, so that the last long episodes are not paid for by idle rows.
 */
#include "rollout/trial.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "rollout/vec_env.h"

struct aq_trial {
    aq_vec_env *vec;
    uint64_t seed;
    uint64_t steps; /* of environments, over all trials */
    uint32_t episodes_max;
    uint32_t episodes; /* of this trial */
    uint32_t begun;
    uint32_t finished;
    uint32_t *episode_of; /* (lanes): which episode it plays */
    double *returns;      /* (episodes) */
    int32_t *actions;     /* (lanes) */
    float *scores;        /* (lanes, choice_count) */
};

int aq_trial_create(const aq_env_task *task, uint32_t episodes_max, uint32_t lanes_max,
                    aq_trial **ret_trial)
{
    AQ_ASSERT(episodes_max >= 1);
    uint32_t lanes = episodes_max < lanes_max ? episodes_max : lanes_max;
    aq_trial *trial = aq_alloc(1, sizeof(*trial));
    if (trial == NULL) {
        return AQ_E_NOMEM;
    }
    trial->episodes_max = episodes_max;
    trial->episode_of = aq_alloc(lanes, sizeof(*trial->episode_of));
    trial->returns = aq_alloc(episodes_max, sizeof(*trial->returns));
    trial->actions = aq_alloc(lanes, sizeof(*trial->actions));
    trial->scores = aq_alloc(lanes, task->choice_count * sizeof(*trial->scores));
    if (trial->episode_of == NULL || trial->returns == NULL || trial->actions == NULL ||
        trial->scores == NULL || aq_vec_env_create(task, lanes, 0, &trial->vec) != 0) {
        aq_trial_destroy(trial);
        return AQ_E_NOMEM;
    }
    *ret_trial = trial;
    return 0;
}

void aq_trial_destroy(aq_trial *trial)
{
    if (trial == NULL) {
        return;
    }
    aq_vec_env_destroy(trial->vec);
    aq_free(trial->scores);
    aq_free(trial->actions);
    aq_free(trial->returns);
    aq_free(trial->episode_of);
    aq_free(trial);
}

uint32_t aq_trial_lanes(const aq_trial *trial)
{
    return trial->vec->lanes_max;
}

void aq_trial_start(aq_trial *trial, uint32_t episodes, uint64_t seed)
{
    AQ_ASSERT(episodes >= 1);
    AQ_ASSERT(episodes <= trial->episodes_max);
    uint32_t lanes = aq_trial_lanes(trial);
    uint32_t playing = episodes < lanes ? episodes : lanes;
    trial->seed = seed;
    trial->episodes = episodes;
    trial->finished = 0;
    trial->begun = playing;
    aq_vec_env_start(trial->vec, playing, seed);
    for (uint32_t lane = 0; lane < playing; lane++) {
        trial->episode_of[lane] = lane;
    }
}

/* Books the episode that ended and gives its lane another; false when the lane left, and another
 * one stands in its place. */
static bool finish_episode(aq_trial *trial, uint32_t lane)
{
    trial->returns[trial->episode_of[lane]] = trial->vec->episode_return[lane];
    trial->finished++;
    if (trial->begun < trial->episodes) {
        uint32_t episode = trial->begun++;
        trial->episode_of[lane] = episode;
        aq_vec_env_restart(trial->vec, lane, trial->seed, episode);
        return true;
    }
    aq_vec_env_drop(trial->vec, lane);
    trial->episode_of[lane] = trial->episode_of[trial->vec->lanes];
    return false;
}

bool aq_trial_step(aq_trial *trial, aq_engine *engine)
{
    aq_vec_env *vec = trial->vec;
    uint32_t choices = vec->task.choice_count;
    AQ_ASSERT(trial->finished < trial->episodes);
    aq_engine_forward(engine, vec->obs, vec->lanes, trial->scores);
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        trial->actions[lane] = (int32_t)aq_argmax(trial->scores + (size_t)lane * choices, choices);
    }
    trial->steps += vec->lanes;
    aq_vec_env_step(vec, trial->actions);
    for (uint32_t lane = 0; lane < vec->lanes;) {
        if (!aq_vec_env_ended(vec, lane) || finish_episode(trial, lane)) {
            lane++;
        }
    }
    return trial->finished == trial->episodes;
}

uint64_t aq_trial_steps(const aq_trial *trial)
{
    return trial->steps;
}

aq_trial_result aq_trial_result_of(const aq_trial *trial)
{
    const uint32_t n = trial->episodes;
    AQ_ASSERT(n >= 1);
    AQ_ASSERT(trial->finished == n);
    aq_trial_result result = {
        .episodes = n,
        .return_min = trial->returns[0],
        .return_max = trial->returns[0],
    };
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        sum += trial->returns[i];
        result.return_min = fmin(result.return_min, trial->returns[i]);
        result.return_max = fmax(result.return_max, trial->returns[i]);
    }
    result.return_mean = sum / n;
    double squares = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        double difference = trial->returns[i] - result.return_mean;
        squares += difference * difference;
    }
    result.return_std = n > 1 ? sqrt(squares / (n - 1)) : 0.0;
    return result;
}
