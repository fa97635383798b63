/*
 * Screening and confirmation, each a trial with a seed of its own: no version and neither of its
 * two trials sees episodes that another was chosen by.
 */
#include "rollout/evaluator_core.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "rollout/trial.h"

enum evaluator_stage { STAGE_IDLE, STAGE_SCREEN, STAGE_CONFIRM, STAGE_COMPARE };

struct aq_evaluator_core {
    enum evaluator_stage stage;
    uint32_t screen_episodes;
    uint32_t episodes;
    double threshold;
    uint64_t seed;
    aq_trial *trial;
    aq_engine *engine;  /* lent */
    aq_engine *twin;    /* lent, while it compares */
    aq_evaluation last; /* result; version 0: none */
    double *returns;    /* its, (more of screen_episodes and episodes) */
    uint64_t failures;  /* versions that were given up */
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
    const uint32_t episodes_max = screen_episodes > episodes ? screen_episodes : episodes;
    core->returns = aq_alloc(episodes_max, sizeof(*core->returns));
    if (core->returns == NULL) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory for an evaluator");
    } else {
        rc = aq_evaluation_trial(env, episodes_max, &core->trial, error);
    }
    if (rc != 0) {
        aq_evaluator_core_destroy(core);
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
    aq_free(core->returns);
    aq_free(core);
}

void aq_evaluator_core_set_threshold(aq_evaluator_core *core, double threshold)
{
    core->threshold = threshold;
}

uint32_t aq_evaluator_core_lanes(const aq_evaluator_core *core)
{
    return aq_trial_lanes(core->trial);
}

static uint64_t version_of(const aq_evaluator_core *core)
{
    return aq_engine_snapshot(core->engine)->version;
}

/* A comparison plays what the last result played. */
static void start_stage(aq_evaluator_core *core, enum evaluator_stage stage)
{
    const bool confirms =
        stage == STAGE_CONFIRM || (stage == STAGE_COMPARE && core->last.confirmed);
    aq_rng rng;
    core->stage = stage;
    aq_rng_init(&rng, core->seed, 2 * version_of(core) + confirms);
    aq_trial_start(core->trial, confirms ? core->episodes : core->screen_episodes,
                   aq_rng_next(&rng));
}

aq_engine *aq_evaluator_core_set_engine(aq_evaluator_core *core, aq_engine *engine)
{
    aq_engine *before = core->engine;
    core->engine = engine;
    core->twin = NULL;
    core->last.version = 0;
    if (engine == NULL) {
        core->stage = STAGE_IDLE;
    } else {
        AQ_ASSERT(aq_engine_rows_max(engine) >= aq_trial_lanes(core->trial));
        start_stage(core, STAGE_SCREEN);
    }
    return before;
}

const aq_engine *aq_evaluator_core_engine(const aq_evaluator_core *core)
{
    return core->engine;
}

void aq_evaluator_core_compare(aq_evaluator_core *core, aq_engine *twin)
{
    AQ_ASSERT(core->stage == STAGE_IDLE);
    AQ_ASSERT(core->last.version == aq_engine_snapshot(twin)->version);
    AQ_ASSERT(aq_engine_rows_max(twin) >= aq_trial_lanes(core->trial));
    core->twin = twin;
    start_stage(core, STAGE_COMPARE);
}

static void finish_compare(aq_evaluator_core *core, aq_evaluation *ret_result)
{
    *ret_result = core->last;
    ret_result->gap =
        aq_evaluation_compare(core->returns, aq_trial_returns(core->trial), core->last.episodes);
    core->stage = STAGE_IDLE;
    core->twin = NULL;
}

static void keep(aq_evaluator_core *core, const aq_evaluation *result)
{
    core->last = *result;
    memcpy(core->returns, aq_trial_returns(core->trial), result->episodes * sizeof(*core->returns));
}

static void finish_stage(aq_evaluator_core *core, aq_evaluation *ret_result)
{
    if (core->stage == STAGE_COMPARE) {
        finish_compare(core, ret_result);
        return;
    }
    bool confirmed = core->stage == STAGE_CONFIRM;
    aq_evaluation result =
        aq_evaluation_of(core->trial, aq_engine_snapshot(core->engine), confirmed);
    keep(core, &result);
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
        aq_engine *engine = core->twin != NULL ? core->twin : core->engine;
        switch (aq_trial_step(core->trial, engine, now_ns)) {
        case AQ_TRIAL_DONE:
            finish_stage(core, ret_result);
            return true;
        case AQ_TRIAL_FAILED:
            core->stage = STAGE_IDLE;
            core->twin = NULL;
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
