/*
 * Screening and confirmation, each a trial with a seed of its own: no version and neither of its
 * two trials sees episodes that another was chosen by.
 */
#include "rollout/evaluator_core.h"

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "rollout/trial.h"

enum evaluator_stage { STAGE_IDLE, STAGE_SCREEN, STAGE_CONFIRM };

struct aq_evaluator_core {
    enum evaluator_stage stage;
    uint32_t screen_episodes;
    uint32_t episodes;
    double threshold;
    uint64_t seed;
    aq_trial *trial;
    aq_engine *engine; /* lent */
    uint64_t failures; /* versions that were given up */
};

static int check_episodes(uint32_t episodes, aq_error *error)
{
    if (episodes < 1 || episodes > AQ_EVALUATION_EPISODES_MAX) {
        return aq_fail(error, AQ_E_INVALID, "%u episodes; 1 to %d are possible", episodes,
                       AQ_EVALUATION_EPISODES_MAX);
    }
    return 0;
}

static int create_trial(aq_env *env, uint32_t episodes, aq_trial **ret_trial, aq_error *error)
{
    aq_env_task task;
    int rc = aq_env_task_init(env, &task, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_trial_create(&task, episodes, AQ_EVALUATION_LANES_MAX, ret_trial, error);
    aq_env_task_fini(&task);
    return rc != 0 ? aq_fail_context(error, rc, "%s", env->name) : 0;
}

int aq_evaluator_core_create(aq_env *env, uint32_t screen_episodes, uint32_t episodes,
                             double threshold, uint64_t seed, aq_evaluator_core **ret_core,
                             aq_error *error)
{
    int rc = check_episodes(screen_episodes, error);
    if (rc == 0) {
        rc = check_episodes(episodes, error);
    }
    if (rc != 0) {
        return rc;
    }
    aq_evaluator_core *core = aq_alloc(1, sizeof(*core));
    if (core == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for an evaluator");
    }
    core->screen_episodes = screen_episodes;
    core->episodes = episodes;
    core->threshold = threshold;
    core->seed = seed;
    rc = create_trial(env, screen_episodes > episodes ? screen_episodes : episodes, &core->trial,
                      error);
    if (rc != 0) {
        aq_free(core);
        return rc;
    }
    *ret_core = core;
    return 0;
}

void aq_evaluator_core_destroy(aq_evaluator_core *core)
{
    if (core == NULL) {
        return;
    }
    aq_trial_destroy(core->trial);
    aq_free(core);
}

uint32_t aq_evaluator_core_lanes(const aq_evaluator_core *core)
{
    return aq_trial_lanes(core->trial);
}

static uint64_t version_of(const aq_evaluator_core *core)
{
    return aq_engine_snapshot(core->engine)->version;
}

static void start_stage(aq_evaluator_core *core, enum evaluator_stage stage)
{
    aq_rng rng;
    core->stage = stage;
    aq_rng_init(&rng, core->seed, 2 * version_of(core) + (stage == STAGE_CONFIRM));
    aq_trial_start(core->trial, stage == STAGE_SCREEN ? core->screen_episodes : core->episodes,
                   aq_rng_next(&rng));
}

aq_engine *aq_evaluator_core_set_engine(aq_evaluator_core *core, aq_engine *engine)
{
    aq_engine *before = core->engine;
    core->engine = engine;
    if (engine == NULL) {
        core->stage = STAGE_IDLE;
    } else {
        AQ_ASSERT(aq_engine_rows_max(engine) >= aq_trial_lanes(core->trial));
        start_stage(core, STAGE_SCREEN);
    }
    return before;
}

static aq_evaluation evaluation_of(const aq_trial *trial, uint64_t version, bool confirmed)
{
    aq_trial_result result = aq_trial_result_of(trial);
    return (aq_evaluation){
        .version = version,
        .episodes = result.episodes,
        .return_mean = result.return_mean,
        .return_std = result.return_std,
        .return_min = result.return_min,
        .return_max = result.return_max,
        .confirmed = confirmed,
    };
}

static void finish_stage(aq_evaluator_core *core, aq_evaluation *ret_result)
{
    bool confirmed = core->stage == STAGE_CONFIRM;
    aq_evaluation result = evaluation_of(core->trial, version_of(core), confirmed);
    if (!confirmed && result.return_mean >= core->threshold) { /* never, for NaN */
        start_stage(core, STAGE_CONFIRM);
    } else {
        core->stage = STAGE_IDLE;
    }
    *ret_result = result;
}

bool aq_evaluator_core_run(aq_evaluator_core *core, uint32_t steps_max, int64_t now_ns,
                           aq_evaluation *ret_result)
{
    for (uint32_t i = 0; i < steps_max && core->stage != STAGE_IDLE; i++) {
        switch (aq_trial_step(core->trial, core->engine, now_ns)) {
        case AQ_TRIAL_DONE:
            finish_stage(core, ret_result);
            return true;
        case AQ_TRIAL_FAILED:
            core->stage = STAGE_IDLE;
            core->failures++;
            break;
        case AQ_TRIAL_GOES_ON:
            break;
        }
    }
    return false;
}

bool aq_evaluator_core_idle(const aq_evaluator_core *core)
{
    return core->stage == STAGE_IDLE;
}

int64_t aq_evaluator_core_due_ns(const aq_evaluator_core *core)
{
    return core->stage == STAGE_IDLE ? INT64_MAX : aq_trial_due_ns(core->trial);
}

uint64_t aq_evaluator_core_env_failures(const aq_evaluator_core *core)
{
    return aq_trial_failures(core->trial);
}

uint64_t aq_evaluator_core_failures(const aq_evaluator_core *core)
{
    return core->failures;
}

const char *aq_evaluator_core_failure(const aq_evaluator_core *core)
{
    return aq_trial_failure(core->trial);
}

uint64_t aq_evaluator_core_steps(const aq_evaluator_core *core)
{
    return aq_trial_steps(core->trial);
}

static int check_policy(aq_env *env, const aq_engine *engine, aq_error *error)
{
    aq_env_task task;
    int rc = aq_env_task_init(env, &task, error);
    if (rc == 0) {
        rc = aq_env_task_check_policy(&task, aq_engine_snapshot(engine), error);
        aq_env_task_fini(&task);
    }
    return rc;
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
                                            aq_trial_failure(trial));
}

int aq_evaluate(aq_env *env, aq_engine *engine, uint32_t episodes, uint64_t seed,
                aq_evaluation *ret_result, aq_error *error)
{
    aq_trial *trial;
    int rc = check_episodes(episodes, error);
    if (rc == 0) {
        rc = check_policy(env, engine, error);
    }
    if (rc == 0) {
        rc = create_trial(env, episodes, &trial, error);
    }
    if (rc != 0) {
        return rc;
    }
    if (aq_engine_rows_max(engine) < aq_trial_lanes(trial)) {
        rc = aq_fail(error, AQ_E_INVALID, "an engine for %zu rows; %u episodes need %u",
                     aq_engine_rows_max(engine), episodes, aq_trial_lanes(trial));
        aq_trial_destroy(trial);
        return rc;
    }
    aq_trial_start(trial, episodes, seed);
    rc = play(env, trial, engine, error);
    if (rc == 0) {
        *ret_result =
            evaluation_of(trial, aq_engine_snapshot(engine)->version, /* confirmed: */ false);
    }
    aq_trial_destroy(trial);
    return rc;
}
