/*
 * Chooser: see chooser.h.
 */
#include "actor/core/chooser.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/config/explore.h"
#include "common/experience/column_catalog.h"

/* What draws leave goes where it is recorded, or to where nobody looks. */
static int make_draws(aq_chooser *chooser, const aq_run_config *config, uint64_t key,
                      aq_record *record)
{
    const size_t elements = aq_space_elements(&chooser->task->env->schema.action);
    chooser->draws_room = aq_alloc(chooser->lanes, (1 + elements) * sizeof(float));
    if (chooser->draws_room == NULL) {
        return AQ_E_NOMEM;
    }
    uint8_t *log_prob = aq_record_claim(record, "log_prob", sizeof(float));
    uint8_t *drawn = aq_record_claim(record, "drawn", elements * sizeof(float));
    chooser->version_min = log_prob != NULL;
    chooser->draws = (aq_act_draws){
        .key = key,
        .period = (uint32_t)config->actor.noise_steps,
        .octaves = (uint32_t)config->actor.noise_octaves,
        .log_prob = log_prob != NULL ? (float *)(void *)log_prob : chooser->draws_room,
        .drawn = drawn != NULL ? (float *)(void *)drawn : chooser->draws_room + chooser->lanes,
    };
    return 0;
}

/* What is recorded of a policy's state is what it is behind each step. Zeros begin an episode, so
 * none is acted in by chance alone. */
static void claim_state(aq_chooser *chooser, aq_record *record)
{
    uint32_t bytes = 0;
    uint8_t *values = aq_record_claim_any(record, AQ_STATE_COLUMN, &bytes);
    chooser->state = (float *)(void *)values;
    chooser->state_width = bytes / sizeof(float);
    chooser->version_min |= values != NULL;
}

int aq_chooser_init(aq_chooser *chooser, const aq_env_task *task, const aq_run_config *config,
                    uint32_t slot, uint64_t seed, aq_record *record)
{
    const uint32_t lanes = (uint32_t)config->actor.envs;
    *chooser = (aq_chooser){.task = task, .lanes = lanes};
    chooser->exploration = aq_alloc(lanes, sizeof(*chooser->exploration));
    chooser->rngs = aq_alloc(lanes, sizeof(*chooser->rngs));
    chooser->actions = aq_alloc(lanes, task->action_bytes);
    if (chooser->exploration == NULL || chooser->rngs == NULL || chooser->actions == NULL ||
        aq_act_create(&task->env->schema, lanes, &chooser->act) != 0 ||
        make_draws(chooser, config, seed, record) != 0) {
        return AQ_E_NOMEM;
    }
    for (uint32_t lane = 0; lane < lanes; lane++) {
        aq_rng_init(&chooser->rngs[lane], seed, lane);
    }
    claim_state(chooser, record);
    aq_chooser_explore(chooser, config, slot);
    return 0;
}

void aq_chooser_fini(aq_chooser *chooser)
{
    aq_act_destroy(chooser->act);
    aq_free(chooser->draws_room);
    aq_free(chooser->actions);
    aq_free(chooser->rngs);
    aq_free(chooser->exploration);
    *chooser = (aq_chooser){.lanes = 0};
}

void aq_chooser_explore(aq_chooser *chooser, const aq_run_config *config, uint32_t slot)
{
    chooser->config = *config;
    for (uint32_t lane = 0; lane < chooser->lanes; lane++) {
        chooser->exploration[lane] = (aq_exploration){
            .epsilon = aq_explore_rate(config, slot, lane),
            .sigma = aq_explore_noise(config, slot, lane),
        };
    }
}

static void choose_at_random(aq_chooser *chooser)
{
    for (uint32_t lane = 0; lane < chooser->lanes; lane++) {
        aq_action_random(&chooser->task->env->schema.action, &chooser->rngs[lane],
                         chooser->actions + lane * chooser->task->action_bytes);
    }
}

static void choose_and_explore(aq_chooser *chooser, aq_engine *engine, const void *obs)
{
    const aq_snapshot *policy = aq_engine_snapshot(engine);
    const aq_head *head = aq_head_of(policy->head);
    const double share = aq_explore_share(&chooser->config, policy->learner_step);
    aq_act_explore(chooser->act, engine, obs, chooser->lanes, &chooser->draws, chooser->actions);
    for (uint32_t lane = 0; lane < chooser->lanes; lane++) {
        const aq_exploration *first = &chooser->exploration[lane];
        const aq_exploration how = {.epsilon = share * first->epsilon,
                                    .sigma = share * first->sigma};
        head->explore(&chooser->task->env->schema.action, &how, &chooser->rngs[lane],
                      chooser->actions + lane * chooser->task->action_bytes);
    }
}

void aq_chooser_begin(aq_chooser *chooser, uint32_t lane)
{
    aq_act_begin(chooser->act, lane);
    if (chooser->state != NULL) {
        memset(chooser->state + (size_t)lane * chooser->state_width, 0,
               chooser->state_width * sizeof(*chooser->state));
    }
}

/* A policy of another network than the run's leaves zeros. */
static void record_state(aq_chooser *chooser)
{
    uint32_t width;
    const float *state = aq_act_state(chooser->act, &width);
    if (chooser->state != NULL && width == chooser->state_width) {
        memcpy(chooser->state, state, (size_t)chooser->lanes * width * sizeof(*state));
    }
}

int aq_chooser_choose(aq_chooser *chooser, aq_engine *engine, const void *obs)
{
    if (engine == NULL) {
        choose_at_random(chooser);
        return 0;
    }
    int rc = aq_act_prepare(chooser->act, engine);
    if (rc != 0) {
        return rc;
    }
    if (aq_head_of(aq_engine_snapshot(engine)->head)->drawing == NULL) {
        choose_and_explore(chooser, engine, obs);
    } else {
        aq_act_draw(chooser->act, engine, obs, chooser->lanes, &chooser->draws, chooser->actions);
    }
    chooser->draws.number++;
    record_state(chooser);
    return 0;
}
