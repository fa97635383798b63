/*
 * Evaluation: see evaluation.h. A trial, played to its end.
 */
#include "rollout/evaluation.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/clock.h"

int aq_evaluation_check_episodes(uint32_t episodes, aq_error *error)
{
    if (episodes < 1 || episodes > AQ_EVALUATION_EPISODES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u episodes; 1 to %d are possible", episodes,
                       AQ_EVALUATION_EPISODES_MAX);
    }
    return 0;
}

int aq_evaluation_trial(const aq_env_task *task, uint32_t episodes, aq_trial **ret_trial,
                        aq_error *error)
{
    int rc = aq_evaluation_check_episodes(episodes, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_trial_create(task, episodes, AQ_EVALUATION_LANES_MAX, ret_trial, error);
    return rc != 0 ? aq_fail_context(error, rc, "%s", task->env->name) : 0;
}

aq_evaluation aq_evaluation_of(const aq_trial *trial, const aq_snapshot *policy, bool confirmed)
{
    aq_trial_result result = aq_trial_result_of(trial);
    return (aq_evaluation){
        .version = policy != NULL ? policy->version : 0,
        .format = policy != NULL ? aq_snapshot_format(policy) : 0,
        .episodes = result.episodes,
        .return_mean = result.return_mean,
        .return_std = result.return_std,
        .return_min = result.return_min,
        .return_max = result.return_max,
        .cut_off = result.cut_off,
        .drawn_anew = result.drawn_anew,
        .confirmed = confirmed,
    };
}

aq_evaluation_gap aq_evaluation_compare(const double *returns, const double *returns_fp32,
                                        uint32_t episodes)
{
    AQ_ASSERT(episodes >= 1);
    aq_evaluation_gap gap = {.episodes = episodes};
    for (uint32_t i = 0; i < episodes; i++) {
        gap.return_fp32 += returns_fp32[i];
        gap.mean += returns[i] - returns_fp32[i];
    }
    gap.return_fp32 /= episodes; /* once, so that equal returns have themselves as their mean */
    gap.mean /= episodes;
    double squares = 0.0, squares_fp32 = 0.0;
    for (uint32_t i = 0; i < episodes; i++) {
        const double difference = returns[i] - returns_fp32[i] - gap.mean;
        const double away = returns_fp32[i] - gap.return_fp32;
        squares += difference * difference;
        squares_fp32 += away * away;
    }
    gap.std = episodes > 1 ? sqrt(squares / (episodes - 1)) : 0.0;
    gap.return_fp32_std = episodes > 1 ? sqrt(squares_fp32 / (episodes - 1)) : 0.0;
    return gap;
}

/* Plays the trial to its end. */
static int play(const aq_env *env, aq_trial *trial, aq_engine *engine, aq_error *error)
{
    enum aq_trial_state state;
    do {
        aq_clock_wait_until(aq_trial_due_ns(trial));
        state = aq_trial_step(trial, engine, aq_clock_monotonic_ns());
    } while (state == AQ_TRIAL_GOES_ON);
    return state == AQ_TRIAL_DONE ? 0
                                  : aq_fail(error, AQ_E_PEER, "%s fails too often: %s", env->name,
                                            aq_env_said_last(aq_trial_failure(trial)));
}

static int evaluate(aq_env *env, aq_engine *engine, bool by_script, uint32_t episodes,
                    uint64_t seed, aq_evaluation *ret_result, aq_error *error)
{
    aq_env_task task;
    aq_trial *trial;
    int rc = aq_env_task_init(env, &task, error);
    if (rc != 0) {
        return rc;
    }
    if (engine != NULL) {
        rc = aq_env_task_check_schema(&task, aq_engine_snapshot(engine), error);
    }
    if (rc == 0) {
        rc = aq_evaluation_trial(&task, episodes, &trial, error);
    }
    aq_env_task_fini(&task);
    if (rc != 0) {
        return rc;
    }
    if (by_script) {
        aq_trial_take_script(trial);
    }
    if (engine != NULL && aq_engine_rows_max(engine) < aq_trial_lanes(trial)) {
        rc = aq_fail(error, AQ_E_INVALID, "an engine for %zu rows; %u episodes need %u",
                     aq_engine_rows_max(engine), episodes, aq_trial_lanes(trial));
        aq_trial_destroy(trial);
        return rc;
    }
    aq_trial_start(trial, episodes, seed);
    rc = play(env, trial, engine, error);
    if (rc == 0) {
        const aq_snapshot *policy = engine != NULL ? aq_engine_snapshot(engine) : NULL;
        *ret_result = aq_evaluation_of(trial, policy, /* confirmed: */ false);
    }
    aq_trial_destroy(trial);
    return rc;
}

int aq_evaluate(aq_env *env, aq_engine *engine, uint32_t episodes, uint64_t seed,
                aq_evaluation *ret_result, aq_error *error)
{
    return evaluate(env, engine, false, episodes, seed, ret_result, error);
}

int aq_evaluate_script(aq_env *env, uint32_t episodes, uint64_t seed, aq_evaluation *ret_result,
                       aq_error *error)
{
    return env->class->script != NULL
               ? evaluate(env, NULL, true, episodes, seed, ret_result, error)
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "%s has no script; the games and the lander have one, without "
                         "frame_stack and obs_scale",
                         env->name);
}
