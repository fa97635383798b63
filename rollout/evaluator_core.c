/*
 * Screening, confirmation and ranking, each a trial with a seed of its own: no version and none of
 * its trials sees episodes that another was chosen by.
 */
#include "rollout/evaluator_core.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"

enum evaluator_stage { STAGE_IDLE, STAGE_SCREEN, STAGE_CONFIRM, STAGE_RANK, STAGE_COMPARE };

struct aq_evaluator_core {
    enum evaluator_stage stage;
    uint32_t screen_episodes;
    uint32_t episodes;
    double threshold;
    uint64_t seed;
    aq_trial *trial;
    aq_engine *engine;  /* lent */
    aq_engine *kept;    /* likewise: that led when another was set */
    aq_engine *playing; /* one of the two, or a twin */
    uint64_t leader;    /* version; 0: none */
    uint64_t rankings;  /* begun so far */
    aq_evaluation last; /* result; version 0: none */
    double *returns;    /* its, (more of screen_episodes and episodes) */
    uint64_t failures;  /* versions that were given up */
};

int aq_evaluator_core_create(const aq_env_task *task, uint32_t screen_episodes, uint32_t episodes,
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
        rc = aq_evaluation_trial(task, episodes_max, &core->trial, error);
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

static bool leads(const aq_evaluator_core *core, const aq_engine *engine)
{
    return engine != NULL && aq_engine_snapshot(engine)->version == core->leader;
}

/* A comparison plays what the last result played. A version may be ranked many times: those streams
 * are counted, from the other end. */
static void start_stage(aq_evaluator_core *core, enum evaluator_stage stage, aq_engine *engine)
{
    const bool confirms =
        stage == STAGE_CONFIRM || (stage == STAGE_COMPARE && core->last.confirmed);
    const uint64_t stream = stage == STAGE_RANK
                                ? UINT64_MAX - core->rankings++
                                : 2 * aq_engine_snapshot(engine)->version + confirms;
    aq_rng rng;
    AQ_ASSERT(aq_engine_rows_max(engine) >= aq_trial_lanes(core->trial));
    core->stage = stage;
    core->playing = engine;
    aq_rng_init(&rng, core->seed, stream);
    aq_trial_start(core->trial, confirms ? core->episodes : core->screen_episodes,
                   aq_rng_next(&rng));
}

aq_engine *aq_evaluator_core_set_engine(aq_evaluator_core *core, aq_engine *engine)
{
    aq_engine *before = core->engine;
    if ((engine == NULL && before == NULL) || (engine != NULL && leads(core, before))) {
        before = core->kept;
        core->kept = core->engine;
    }
    core->engine = engine;
    core->last.version = 0;
    core->stage = STAGE_IDLE;
    if (engine != NULL) {
        start_stage(core, STAGE_SCREEN, engine);
    }
    return before;
}

void aq_evaluator_core_set_leader(aq_evaluator_core *core, uint64_t version)
{
    core->leader = version;
}

bool aq_evaluator_core_rank(aq_evaluator_core *core)
{
    AQ_ASSERT(core->stage == STAGE_IDLE);
    aq_engine *leader = leads(core, core->engine) ? core->engine : core->kept;
    if (!leads(core, leader)) {
        return false;
    }
    start_stage(core, STAGE_RANK, leader);
    return true;
}

const aq_engine *aq_evaluator_core_engine(const aq_evaluator_core *core)
{
    return core->engine;
}

const aq_engine *aq_evaluator_core_playing(const aq_evaluator_core *core)
{
    return core->playing;
}

void aq_evaluator_core_compare(aq_evaluator_core *core, aq_engine *twin)
{
    AQ_ASSERT(core->stage == STAGE_IDLE);
    AQ_ASSERT(core->last.version == aq_engine_snapshot(twin)->version);
    start_stage(core, STAGE_COMPARE, twin);
}

static void finish_compare(aq_evaluator_core *core, aq_evaluation *ret_result)
{
    *ret_result = core->last;
    ret_result->gap =
        aq_evaluation_compare(core->returns, aq_trial_returns(core->trial), core->last.episodes);
}

static void keep(aq_evaluator_core *core, const aq_evaluation *result)
{
    core->last = *result;
    memcpy(core->returns, aq_trial_returns(core->trial), result->episodes * sizeof(*core->returns));
}

static void finish_stage(aq_evaluator_core *core, aq_evaluation *ret_result)
{
    const enum evaluator_stage stage = core->stage;
    core->stage = STAGE_IDLE;
    if (stage == STAGE_COMPARE) {
        finish_compare(core, ret_result);
        return;
    }
    aq_evaluation result =
        aq_evaluation_of(core->trial, aq_engine_snapshot(core->playing), stage == STAGE_CONFIRM);
    result.ranks_only = stage == STAGE_RANK;
    if (stage != STAGE_RANK) {
        keep(core, &result);
    }
    if (stage == STAGE_SCREEN && result.return_mean >= core->threshold) { /* never, for NaN */
        start_stage(core, STAGE_CONFIRM, core->engine);
    }
    *ret_result = result;
}

bool aq_evaluator_core_run(aq_evaluator_core *core, int64_t now_ns, aq_evaluation *ret_result)
{
    if (core->stage == STAGE_IDLE) {
        return false;
    }
    switch (aq_trial_step(core->trial, core->playing, now_ns)) {
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

const aq_trial *aq_evaluator_core_trial(const aq_evaluator_core *core)
{
    return core->trial;
}

uint64_t aq_evaluator_core_failures(const aq_evaluator_core *core)
{
    return core->failures;
}
