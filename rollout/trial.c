/*
 * Playing a fixed set of episodes. A lane whose episode ended takes the next that nobody plays;
 * when there is none, it leaves, so that the last long episodes are not paid for by idle rows.
 */
#include "rollout/trial.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/policy/exploration.h"
#include "rollout/act.h"
#include "rollout/vec_env.h"

/* What is given up: an episode that fails so often, or lanes that all wait for so long. How long a
 * step took is not counted: one that hangs may take as long by itself. */
enum { FAILURES_MAX = 8 };
#define STANDSTILL_NS (60 * AQ_NS_PER_S)

/* Episodes have the streams from 0 on, those in their places the ones so far behind, and what acts
 * at random in them the ones that begin here. */
#define ANEW_STREAMS   (UINT64_C(1) << 32)
#define RANDOM_STREAMS UINT64_C(0x72616e646f6d) /* "random" */

typedef struct trial_lane {
    uint32_t episode;  /* which it plays */
    uint32_t failures; /* of the episode, in a step */
    bool has_begun;
    bool is_anew;
    aq_rng random; /* for the episode's actions at random */
} trial_lane;

struct aq_trial {
    aq_vec_env *vec;
    uint64_t seed;
    bool has_script;
    uint64_t steps; /* of environments, over all trials */
    uint32_t episodes_max;
    uint32_t episodes; /* of this trial */
    uint32_t begun;
    uint32_t finished;
    uint32_t cut_off;    /* of them */
    uint32_t drawn_anew; /* of them */
    bool has_cap;        /* AQ_TRIAL_EPISODE_STEPS_MAX, for the task has no limit */
    bool fails_often;    /* an episode that plays */
    trial_lane *lanes;
    double *returns; /* (episodes) */
    aq_act *act;
    void *actions;         /* (lanes) rows */
    int64_t idle_since_ns; /* the first call since a lane acted; INT64_MIN: none yet */
};

int aq_trial_create(const aq_env_task *task, uint32_t episodes_max, uint32_t lanes_max,
                    aq_trial **ret_trial, aq_error *error)
{
    AQ_ASSERT(episodes_max >= 1);
    uint32_t lanes = episodes_max < lanes_max ? episodes_max : lanes_max;
    aq_trial *trial = aq_alloc(1, sizeof(*trial));
    if (trial == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %u episodes", episodes_max);
    }
    trial->episodes_max = episodes_max;
    trial->lanes = aq_alloc(lanes, sizeof(*trial->lanes));
    trial->returns = aq_alloc(episodes_max, sizeof(*trial->returns));
    trial->actions = aq_alloc(lanes, task->action_bytes);
    int rc = 0;
    if (trial->lanes == NULL || trial->returns == NULL || trial->actions == NULL ||
        aq_act_create(&task->env->schema, lanes, &trial->act) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory for %u episodes", episodes_max);
    }
    rc = rc != 0 ? rc : aq_vec_env_create(task, lanes, 0, &trial->vec, error);
    if (rc != 0) {
        aq_trial_destroy(trial);
        return rc;
    }
    trial->vec->holds_ends = true; /* which episode a lane plays next is decided here */
    trial->has_cap = task->env->step_limit == 0;
    if (trial->has_cap) {
        trial->vec->step_limit = AQ_TRIAL_EPISODE_STEPS_MAX;
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
    aq_act_destroy(trial->act);
    aq_free(trial->actions);
    aq_free(trial->returns);
    aq_free(trial->lanes);
    aq_free(trial);
}

uint32_t aq_trial_lanes(const aq_trial *trial)
{
    return trial->vec->lanes_max;
}

void aq_trial_take_script(aq_trial *trial)
{
    AQ_ASSERT(trial->vec->task.env->class->script != NULL);
    trial->has_script = true;
}

/* ---- which episode a lane plays ------------------------------------------------------------- */

/* An episode that failed once is played again, as a worker that died may have been why; from then
 * on another is drawn. */
static uint64_t stream_of(const trial_lane *lane)
{
    return lane->episode + (lane->failures > 1 ? (lane->failures - 1) * ANEW_STREAMS : 0);
}

/* Whether the lane has drawn nothing yet from its stream. */
static bool is_fresh(const aq_trial *trial, uint32_t lane)
{
    aq_rng fresh;
    aq_rng_init(&fresh, trial->seed, stream_of(&trial->lanes[lane]));
    return memcmp(&fresh, &trial->vec->rngs[lane], sizeof(fresh)) == 0;
}

/* After a start that was tried: where it failed, the next one goes on from what it has drawn. */
static void note_start(aq_trial *trial, uint32_t lane)
{
    trial_lane *own = &trial->lanes[lane];
    own->has_begun = !trial->vec->waits[lane];
    own->is_anew |= own->failures > 1 || (!own->has_begun && !is_fresh(trial, lane));
    if (own->has_begun) {
        aq_act_begin(trial->act, lane);
        aq_rng_init(&own->random, trial->seed, RANDOM_STREAMS + stream_of(own));
    }
}

static void begin_episode(aq_trial *trial, uint32_t lane, uint32_t episode)
{
    trial->lanes[lane] = (trial_lane){.episode = episode};
    aq_vec_env_restart(trial->vec, lane, trial->seed, episode);
    note_start(trial, lane);
}

/* A step failed. */
static void begin_again(aq_trial *trial, uint32_t lane, int64_t now_ns)
{
    trial_lane *own = &trial->lanes[lane];
    own->failures++;
    if (own->failures == 1) {
        aq_vec_env_restart(trial->vec, lane, trial->seed, stream_of(own));
    } else {
        aq_vec_env_retry(trial->vec, lane, trial->seed, stream_of(own), own->failures, now_ns);
    }
    trial->fails_often |= own->failures >= FAILURES_MAX;
    note_start(trial, lane);
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
    trial->cut_off = 0;
    trial->drawn_anew = 0;
    trial->fails_often = false;
    trial->begun = playing;
    trial->idle_since_ns = INT64_MIN;
    aq_vec_env_start(trial->vec, playing, seed);
    for (uint32_t lane = 0; lane < playing; lane++) {
        trial->lanes[lane] = (trial_lane){.episode = lane};
        note_start(trial, lane);
    }
}

/* Books the episode that ended and gives its lane another; false when the lane left, and another
 * one stands in its place. */
static bool finish_episode(aq_trial *trial, uint32_t lane)
{
    const trial_lane *own = &trial->lanes[lane];
    trial->returns[own->episode] = trial->vec->episode_return[lane];
    trial->finished++;
    trial->cut_off += trial->has_cap && (trial->vec->events[lane] & AQ_LANE_TRUNCATED) != 0 &&
                      trial->vec->episode_steps[lane] == AQ_TRIAL_EPISODE_STEPS_MAX;
    trial->drawn_anew += own->is_anew;
    if (trial->begun < trial->episodes) {
        begin_episode(trial, lane, trial->begun++);
        return true;
    }
    aq_vec_env_drop(trial->vec, lane);
    trial->lanes[lane] = trial->lanes[trial->vec->lanes];
    aq_act_move(trial->act, trial->vec->lanes, lane);
    return false;
}

/* What the step did in each lane. */
static void settle(aq_trial *trial, int64_t now_ns)
{
    aq_vec_env *vec = trial->vec;
    for (uint32_t lane = 0; lane < vec->lanes;) {
        if (aq_vec_env_ended(vec, lane)) {
            lane += finish_episode(trial, lane);
            continue;
        }
        if (trial->lanes[lane].has_begun && (vec->events[lane] & AQ_LANE_FAILED) != 0) {
            begin_again(trial, lane, now_ns);
        } else if (!trial->lanes[lane].has_begun && vec->events[lane] != 0) {
            note_start(trial, lane);
        }
        lane++;
    }
}

static bool is_hopeless(const aq_trial *trial, int64_t now_ns)
{
    return trial->fails_often ||
           (trial->idle_since_ns != INT64_MIN && now_ns - trial->idle_since_ns > STANDSTILL_NS);
}

static void act_without_policy(aq_trial *trial)
{
    const aq_vec_env *vec = trial->vec;
    const aq_env_task *task = &vec->task;
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        void *action = (char *)trial->actions + (size_t)lane * task->action_bytes;
        if (trial->has_script) {
            task->env->class->script(task->env->params, vec->obs + (size_t)lane * task->obs_bytes,
                                     action);
        } else {
            aq_action_random(&task->env->schema.action, &trial->lanes[lane].random, action);
        }
    }
}

enum aq_trial_state aq_trial_step(aq_trial *trial, aq_engine *engine, int64_t now_ns)
{
    aq_vec_env *vec = trial->vec;
    AQ_ASSERT(trial->finished < trial->episodes);
    if (trial->idle_since_ns == INT64_MIN) {
        trial->idle_since_ns = now_ns;
    }
    if (engine != NULL && aq_act_prepare(trial->act, engine) != 0) {
        return is_hopeless(trial, now_ns) ? AQ_TRIAL_FAILED : AQ_TRIAL_GOES_ON;
    }
    const bool acts = vec->waiting_count < vec->lanes;
    if (acts) {
        if (engine != NULL) {
            aq_act_greedy(trial->act, engine, vec->obs, vec->lanes, trial->actions);
        } else {
            act_without_policy(trial);
        }
    }
    trial->steps += aq_vec_env_step(vec, trial->actions, now_ns);
    if (acts) {
        trial->idle_since_ns = INT64_MIN;
    }
    settle(trial, now_ns);
    if (trial->finished == trial->episodes) {
        return AQ_TRIAL_DONE;
    }
    return is_hopeless(trial, now_ns) ? AQ_TRIAL_FAILED : AQ_TRIAL_GOES_ON;
}

int64_t aq_trial_due_ns(const aq_trial *trial)
{
    return aq_vec_env_due_ns(trial->vec);
}

uint64_t aq_trial_failures(const aq_trial *trial)
{
    return trial->vec->failures;
}

const char *aq_trial_failure(const aq_trial *trial)
{
    return trial->vec->failure;
}

uint64_t aq_trial_steps(const aq_trial *trial)
{
    return trial->steps;
}

const double *aq_trial_returns(const aq_trial *trial)
{
    AQ_ASSERT(trial->finished == trial->episodes);
    return trial->returns;
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
        .cut_off = trial->cut_off,
        .drawn_anew = trial->drawn_anew,
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
