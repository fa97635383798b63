/*
 * Replay rules: which of the settings of replay, and of what feeds and reads it, go together. A
 * part of aq_run_rules_check.
 */
#ifndef AQ_COMMON_CONFIG_REPLAY_RULES_H
#define AQ_COMMON_CONFIG_REPLAY_RULES_H

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/config/table_spec.h"

/* AQ_E_INVALID, naming the settings that contradict each other and a value that works. Learner's
 * own settings must have been checked. */
int aq_replay_rules_check(const aq_run_config *config, aq_error *error) AQ_MUST_USE;

/* The same of where a shard keeps its steps, which shards are told. */
int aq_replay_rules_check_storage(const aq_run_config *config, aq_error *error) AQ_MUST_USE;

/* Steps that a shard's table must hold for one request of the learner; 0: however few there are, a
 * request may draw them as often as it likes. */
uint64_t aq_replay_rules_request_steps(const aq_run_config *config, const aq_table_spec *spec);

#endif
