/*
 * Run settings: what every role needs to take part in a run, as the learner hands it out at Join.
 * The learner makes it from its configuration; everybody else knows nothing but this.
 */
#ifndef AQ_COMMON_RL_RUN_SETTINGS_H
#define AQ_COMMON_RL_RUN_SETTINGS_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/rl/schema.h"
#include "common/rl/snapshot.h"

enum aq_role { AQ_ROLE_ACTOR = 1, AQ_ROLE_EVALUATOR = 2, AQ_ROLE_REPLAY = 3 };

enum aq_run_state {
    AQ_RUN_RUNNING = 1,
    AQ_RUN_SOLVED = 2,  /* ended: the threshold was reached */
    AQ_RUN_BUDGET = 3,  /* ended: a limit of steps or time was reached */
    AQ_RUN_STOPPED = 4, /* ended: somebody asked for it */
};

typedef struct aq_run_settings {
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    uint64_t schema_hash;
    uint64_t seed;
    uint32_t n_step;
    uint32_t chunk_length;  /* transitions */
    uint32_t message_bytes; /* the largest experience message */
    uint32_t rpc_timeout_ms;
    uint32_t heartbeat_ms;
    uint32_t reconnect_min_ms;
    uint32_t reconnect_max_ms;
    uint32_t actor_envs;
    uint32_t actor_count;
    double epsilon_base;
    double epsilon_alpha;
    double noise; /* of continuous actions, a share of half their range */
    uint32_t flush_ms;
    uint32_t screen_episodes;
    uint32_t evaluation_episodes;
    double evaluation_threshold; /* NaN: none */
    uint64_t replay_capacity;    /* transitions */
    uint64_t replay_min_size;    /* transitions */
    double samples_per_insert;
    double tolerance;     /* inserted transitions */
    uint32_t sample_rows; /* rows that one Sample call draws */
} aq_run_settings;

/* A peer's settings: every number within the bounds of docs/protocol.md, the schema valid and its
 * hash right. AQ_E_INVALID or AQ_E_SCHEMA, naming the setting. */
int aq_run_settings_validate(const aq_run_settings *settings, aq_error *error) AQ_MUST_USE;

#endif
