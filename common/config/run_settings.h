/*
 * Run settings: what every role needs to take part in a run, as the learner hands it out at Join.
 * The learner makes it from its configuration; everybody else knows nothing but this.
 */
#ifndef AQ_COMMON_CONFIG_RUN_SETTINGS_H
#define AQ_COMMON_CONFIG_RUN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_names.h"
#include "common/config/table_spec.h"
#include "common/experience/schema.h"
#include "common/policy/snapshot.h"

/* Where replay shards keep what they hold. Sizes are of one shard. */
typedef struct aq_storage_settings {
    bool durable; /* steps are in files before they are acknowledged */
    uint64_t segment_bytes;
    uint32_t fsync_ms; /* 0: before each acknowledgement */
    bool compressed;
    uint64_t memory_bytes; /* that steps may take in memory; 0: all of them */
    uint32_t snapshot_ms;
} aq_storage_settings;

/* How noise is spread over actors. */
enum aq_noise_ladder { AQ_NOISE_CONSTANT = 0, AQ_NOISE_UNIFORM = 1 };

typedef struct aq_run_settings {
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    uint64_t schema_hash;
    uint64_t seed;
    uint32_t n_step;        /* the most transitions that an item of any table spans */
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
    double evaluation_threshold;         /* NaN: none */
    double evaluator_share;              /* of the time of one processor */
    bool evaluator_fp32;                 /* screenings are played in fp32, too */
    uint32_t noise_ladder;               /* enum aq_noise_ladder */
    aq_table_spec tables[AQ_TABLES_MAX]; /* the first is the main one */
    uint32_t table_count;
    aq_storage_settings storage;
    uint32_t sample_rows; /* rows that one Sample call draws */
    uint32_t log_level;   /* for aq_log_set_run_level */
} aq_run_settings;

/* Takes what may change in a running system from `now`; the rest of `settings` stays. */
void aq_run_settings_take_live(aq_run_settings *settings, const aq_run_settings *now);

/* A peer's settings: every number within the bounds of docs/protocol.md, the schema valid and its
 * hash right. AQ_E_INVALID or AQ_E_SCHEMA, naming the setting. */
int aq_run_settings_validate(const aq_run_settings *settings, aq_error *error) AQ_MUST_USE;

#endif
