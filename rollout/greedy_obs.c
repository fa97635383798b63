/*
 * Greedy observations: see greedy_obs.h.
 */
#include "rollout/greedy_obs.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "rollout/act.h"
#include "rollout/vec_env.h"

typedef struct greedy_player {
    aq_vec_env *vec;
    aq_act *act;
    void *actions; /* (lanes) rows */
    bool remembers;
    bool is_over; /* the episode of a policy with a memory */
} greedy_player;

/* 0, unless an environment failed. */
static int check(const greedy_player *player, aq_error *error)
{
    const aq_vec_env *vec = player->vec;
    return vec->failures == 0 ? 0
                              : aq_fail(error, AQ_E_PEER, "%s: %s", vec->task.env->name,
                                        aq_env_said_last(vec->failure));
}

static int init(greedy_player *player, const aq_env_task *task, const aq_engine *engine,
                uint64_t seed, aq_error *error)
{
    player->remembers = aq_net_spec_state(&aq_engine_snapshot(engine)->spec) > 0;
    const uint32_t lanes = player->remembers ? 1 : AQ_GREEDY_OBS_LANES;
    int rc = aq_vec_env_create(task, lanes, seed, &player->vec, error);
    if (rc != 0) {
        return rc;
    }
    player->actions = aq_alloc(lanes, task->action_bytes);
    if (player->actions == NULL || aq_act_create(&task->env->schema, lanes, &player->act) != 0 ||
        aq_act_prepare(player->act, engine) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to play %s", task->env->name);
    }
    return check(player, error);
}

/* Acts on each lane's row, and steps. */
static int step(greedy_player *player, aq_engine *engine, aq_error *error)
{
    aq_vec_env *vec = player->vec;
    aq_act_greedy(player->act, engine, vec->obs, vec->lanes, player->actions);
    (void)aq_vec_env_step(vec, player->actions, 0);
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        if ((vec->events[lane] & AQ_LANE_BEGAN) != 0) {
            aq_act_begin(player->act, lane);
            player->is_over = player->remembers;
        }
    }
    return check(player, error);
}

int aq_greedy_obs(const aq_env_task *task, aq_engine *engine, size_t *rows, uint64_t seed,
                  float *obs, aq_error *error)
{
    const size_t width = task->obs_elements;
    greedy_player player = {0};
    const size_t rows_max = *rows;
    size_t row = 0;
    AQ_ASSERT(rows_max > 0);
    AQ_ASSERT(aq_engine_rows_max(engine) >= AQ_GREEDY_OBS_LANES);

    int rc = init(&player, task, engine, seed, error);
    while (rc == 0 && row < rows_max && !player.is_over) {
        const size_t left = rows_max - row;
        const uint32_t lanes = player.vec->lanes;
        const uint32_t taken = left < lanes ? (uint32_t)left : lanes;
        memcpy(obs + row * width, aq_act_inputs(player.act, player.vec->obs, taken),
               taken * width * sizeof(*obs));
        row += taken;
        if (row < rows_max) {
            rc = step(&player, engine, error);
        }
    }
    *rows = row;
    aq_act_destroy(player.act);
    aq_free(player.actions);
    aq_vec_env_destroy(player.vec);
    return rc;
}
