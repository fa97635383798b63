/*
 * Player: one lane of an environment, played by a policy, which always takes the action that it
 * values most, or at random. Episodes do not start by themselves, so that the last state of one can
 * be looked at. One thread.
 */
#ifndef AQ_CLI_PLAY_PLAYER_H
#define AQ_CLI_PLAY_PLAYER_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"
#include "envs/canvas.h"
#include "envs/env_open.h"

typedef struct aq_player_episode {
    uint32_t steps;
    double episode_return;
    enum aq_step_end end; /* of the last step */
} aq_player_episode;

typedef struct aq_player aq_player;

/* `policy` NULL: at random. Takes references to both. The same seed plays the same episodes. What
 * can't be acted in is refused as aq_env_task_init and aq_env_task_check_schema do, AQ_E_NOMEM, or
 * what the environment says. */
int aq_player_create(aq_env *env, aq_snapshot *policy, uint64_t seed, aq_player **ret_player,
                     aq_error *error) AQ_MUST_USE;
void aq_player_destroy(aq_player *player); /* NULL is fine */

/* Starts the episode of that number; AQ_E_PEER, with the environment's reason, when it fails. */
int aq_player_start(aq_player *player, uint32_t number, aq_error *error) AQ_MUST_USE;

/* One step of an episode that goes on; likewise. */
int aq_player_step(aq_player *player, aq_error *error) AQ_MUST_USE;

aq_player_episode aq_player_look(const aq_player *player);

/* As aq_env_picture_draw does. */
int aq_player_draw(aq_player *player, aq_canvas *canvas, const char **ret_text,
                   aq_error *error) AQ_MUST_USE;

#endif
