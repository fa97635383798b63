/*
 * Run settings: what every role needs to take part in a run, as the learner hands it out at Join:
 * those settings of its configuration that members see, and what it worked out itself. Everybody
 * else knows nothing but this.
 */
#ifndef AQ_COMMON_CONFIG_RUN_SETTINGS_H
#define AQ_COMMON_CONFIG_RUN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/config/table_spec.h"
#include "common/experience/layout.h"
#include "common/experience/schema.h"
#include "common/policy/snapshot.h"

typedef struct aq_run_settings {
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    uint64_t schema_hash;
    uint64_t seed;
    uint32_t n_step;                     /* the most transitions that an item of any table spans */
    uint32_t sample_rows;                /* rows that one Sample call draws */
    uint32_t versions_max;               /* of which steps are learned from; 0: any (pacing.h) */
    uint64_t network_hash;               /* of every policy of the run; 0: not known */
    double evaluation_threshold;         /* NaN: none */
    aq_table_spec tables[AQ_TABLES_MAX]; /* the first is the main one */
    uint32_t table_count;
    aq_column recorded[AQ_COLUMNS_RECORDED_MAX]; /* what actors record besides */
    uint32_t recorded_count;
    /* The parameters that actors compute gradients of (gradient_rows.h); 0: they send steps. With
     * gradients, every setting is seen, and all of the above but the tables, n_step and sample_rows
     * is of the steps that gradients are made of. */
    uint32_t gradient_values;
    aq_run_config config; /* the settings whose rows say who sees them; all others are 0 */
} aq_run_settings;

/* Of the run's chunks, as they are sent and stored, and of those that actors make of steps: the
 * same, unless gradients are sent. AQ_E_INVALID, AQ_E_SCHEMA or AQ_E_TOO_BIG, in words. */
int aq_run_settings_layout(const aq_run_settings *settings, aq_layout *ret_layout,
                           aq_error *error) AQ_MUST_USE;
int aq_run_settings_steps_layout(const aq_run_settings *settings, aq_layout *ret_layout,
                                 aq_error *error) AQ_MUST_USE;

/* What shards count by: how many environments of an actor send chunks, and how long those are. */
uint64_t aq_run_settings_lanes(const aq_run_settings *settings);
uint64_t aq_run_settings_chunk_length(const aq_run_settings *settings);

/* Whether members of the run are told the setting. */
bool aq_run_settings_tell(const aq_run_settings *settings, const aq_setting *row);

/* Takes the settings that members see from `config`. */
void aq_run_settings_take(aq_run_settings *settings, const aq_run_config *config);

/* Takes what may change in a running system from `now`; the rest of `settings` stays. */
void aq_run_settings_take_live(aq_run_settings *settings, const aq_run_settings *now);

/* Whether what was made under `a` can go on under `b`: the same task, the same chunks, and no other
 * value of a setting that `who` (enum aq_seen_by) sees, unless it is live. */
bool aq_run_settings_agree(const aq_run_settings *a, const aq_run_settings *b, uint32_t who);

/* What is no setting, and the rules between those that members see, each of which is within the
 * bounds of its row. AQ_E_INVALID or AQ_E_SCHEMA, naming what is wrong. */
int aq_run_settings_validate(const aq_run_settings *settings, aq_error *error) AQ_MUST_USE;

#endif
