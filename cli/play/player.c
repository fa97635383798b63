/*
 * Player: see player.h. Each episode draws from two random streams of its own, one for the
 * environment and one for actions, so what happens in one does not depend on those before.
 */
#include "cli/play/player.h"

#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/policy/exploration.h"
#include "common/sys/cpu.h"
#include "envs/env_picture.h"
#include "quantizer/engine/engine.h"
#include "rollout/act.h"
#include "rollout/env_task.h"
#include "rollout/trial.h"

struct aq_player {
    aq_env *env;
    uint32_t step_limit; /* the task's, or that of an evaluation for one without */
    aq_env_task task;    /* with a policy only, as are the next two */
    aq_engine *engine;
    aq_act *act;
    uint64_t seed;
    aq_rng env_rng, action_rng;
    void *state, *obs, *action;
    bool has_begun;
    aq_player_episode episode;
};

/* ---- create and destroy --------------------------------------------------------------------- */

static int take_policy(aq_player *player, aq_snapshot *policy, aq_error *error)
{
    int rc = aq_env_task_init(player->env, &player->task, error);
    rc = rc != 0 ? rc : aq_env_task_check_schema(&player->task, policy, error);
    rc = rc != 0 ? rc : aq_engine_create(policy, 1, aq_cpu_flags(), &player->engine, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_act_create(&player->env->schema, 1, &player->act);
    rc = rc == 0 ? aq_act_prepare(player->act, player->engine) : rc;
    return rc != 0 ? aq_fail(error, rc, "no memory to act in %s", player->env->name) : 0;
}

static int check_bounds(const aq_env *env, aq_error *error)
{
    const aq_space *space = &env->schema.action;
    for (uint32_t i = 0; space->kind == AQ_SPACE_BOX && i < space->bound_count; i++) {
        if (space->dtype != AQ_DTYPE_F32 || !isfinite(space->low[i]) || !isfinite(space->high[i])) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "%s has actions without bounds, of which none can be drawn at random",
                           env->name);
        }
    }
    return 0;
}

static int begin_state(aq_player *player, aq_error *error)
{
    const aq_env *env = player->env;
    player->state = aq_alloc(1, env->class->state_bytes);
    player->obs = aq_alloc(1, aq_space_bytes(&env->schema.obs));
    player->action = aq_alloc(1, aq_space_bytes(&env->schema.action));
    if (player->state == NULL || player->obs == NULL || player->action == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %s", env->name);
    }
    int rc = env->class->begin != NULL ? env->class->begin(env->params, player->state, error) : 0;
    player->has_begun = rc == 0;
    return rc;
}

int aq_player_create(aq_env *env, aq_snapshot *policy, uint64_t seed, aq_player **ret_player,
                     aq_error *error)
{
    aq_player *player = aq_alloc(1, sizeof(*player));
    if (player == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for a player");
    }
    player->env = aq_env_ref(env);
    player->step_limit = env->step_limit > 0 ? env->step_limit : AQ_TRIAL_EPISODE_STEPS_MAX;
    player->seed = seed;
    int rc = policy != NULL ? take_policy(player, policy, error) : check_bounds(env, error);
    rc = rc != 0 ? rc : begin_state(player, error);
    if (rc != 0) {
        aq_player_destroy(player);
        return rc;
    }
    *ret_player = player;
    return 0;
}

void aq_player_destroy(aq_player *player)
{
    if (player == NULL) {
        return;
    }
    if (player->has_begun && player->env->class->end != NULL) {
        player->env->class->end(player->env->params, player->state);
    }
    aq_free(player->state);
    aq_free(player->obs);
    aq_free(player->action);
    aq_act_destroy(player->act);
    aq_engine_destroy(player->engine);
    aq_env_task_fini(&player->task);
    aq_env_unref(player->env);
    aq_free(player);
}

/* ---- playing -------------------------------------------------------------------------------- */

static int fail_environment(const aq_player *player, const char *what, aq_error *error)
{
    const char *said = aq_env_said(player->env, player->state, "it does not say why");
    return aq_fail(error, AQ_E_PEER, "%s of %s failed: %s", what, player->env->name,
                   aq_env_said_last(said));
}

int aq_player_start(aq_player *player, uint32_t number, aq_error *error)
{
    const aq_env *env = player->env;
    aq_rng_init(&player->env_rng, player->seed, 2 * (uint64_t)number);
    aq_rng_init(&player->action_rng, player->seed, 2 * (uint64_t)number + 1);
    player->episode = (aq_player_episode){.end = AQ_STEP_GOES_ON};
    if (player->act != NULL) {
        aq_act_begin(player->act, 0);
    }
    return env->class->reset(env->params, player->state, &player->env_rng, player->obs)
               ? 0
               : fail_environment(player, "a reset", error);
}

int aq_player_step(aq_player *player, aq_error *error)
{
    const aq_env *env = player->env;
    aq_player_episode *episode = &player->episode;
    float reward = 0.0f;
    AQ_ASSERT(episode->end == AQ_STEP_GOES_ON);
    if (player->engine != NULL) {
        aq_act_greedy(player->act, player->engine, player->obs, 1, player->action);
    } else {
        aq_action_random(&env->schema.action, &player->action_rng, player->action);
    }
    /* Not announced: what is begun ahead would be in the last picture of this episode. */
    episode->end = env->class->step(env->params, player->state, &player->env_rng, player->action,
                                    player->obs, &reward);
    if (episode->end == AQ_STEP_FAILED) {
        return fail_environment(player, "a step", error);
    }
    episode->steps++;
    episode->episode_return += (double)reward;
    if (episode->end == AQ_STEP_GOES_ON && episode->steps == player->step_limit) {
        episode->end = AQ_STEP_TRUNCATED;
    }
    return 0;
}

aq_player_episode aq_player_look(const aq_player *player)
{
    return player->episode;
}

int aq_player_draw(aq_player *player, aq_canvas *canvas, const char **ret_text, aq_error *error)
{
    return aq_env_picture_draw(player->env, player->state, player->obs, canvas, ret_text) == 0
               ? 0
               : fail_environment(player, "the picture", error);
}
