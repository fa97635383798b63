/*
 * Screening and confirmation, each a trial with a seed of its own: no version and neither of its
 * two trials sees episodes that another was chosen by.
 */
#include "rollout/evaluator_core.h"

#include "common/base/assert.h"
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

int aq_evaluator_core_create(aq_env *env, uint32_t screen_episodes, uint32_t episodes,
                             double threshold, uint64_t seed, aq_evaluator_core **ret_core,
                             aq_error *error)
{
    int rc = aq_evaluation_check_episodes(screen_episodes, error);
    if (rc == 0) {
        rc = aq_evaluation_check_episodes(episodes, error);
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
    rc = aq_evaluation_trial(env, screen_episodes > episodes ? screen_episodes : episodes,
                             &core->trial, error);
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

static void finish_stage(aq_evaluator_core *core, aq_evaluation *ret_result)
{
    bool confirmed = core->stage == STAGE_CONFIRM;
    aq_evaluation result = aq_evaluation_of(core->trial, version_of(core), confirmed);
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
