/*
 * Pacing: how versions of the policy and the experience that is learned from follow each other.
 *
 * A run is paced when learner.lag_max bounds how many versions behind a step may be. Then steps are
 * made on demand: the learner asks for a group when the version is out that it is to be made with,
 * shards grant credit for what was asked, and actors step under no older version
 * (docs/decisions/0029-pacing.md).
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_CONFIG_PACING_H
#define AQ_COMMON_CONFIG_PACING_H

#include "common/base/error.h"
#include "common/config/run_config.h"

/* Of how many versions steps may be, the newest included: learner.lag_max and one; 0: of any.
 * "auto" is 1 for algorithms that learn from a queue of sequences. */
uint32_t aq_pacing_lag(const aq_run_config *config);

/* The same where the run is paced by it, else 0: gradients that actors compute (actor.gradients)
 * come as they come, and those that are too old are dropped by the learner alone. */
uint32_t aq_pacing_versions_max(const aq_run_config *config);

/* The steps that a group is to have, 0 where its rows are counted instead: a group of a queue of
 * sequences, which are as long as episodes let them be, is so many sequences as make
 * learner.group_steps. */
uint64_t aq_pacing_group_steps(const aq_run_config *config);

/* The most that it may have, of sequences of at most `sequence_length`: the last may be longer than
 * what was missing. */
uint64_t aq_pacing_group_steps_max(const aq_run_config *config, uint32_t sequence_length);

/* The most rows that one Sample call brings: a sequence may be of one step. */
uint64_t aq_pacing_group_rows(const aq_run_config *config);

/* What a paced queue must hold: all that so many ranks of a learner may ask for, and what lanes may
 * fill on top. AQ_E_INVALID, in words, when its capacity is less. */
int aq_pacing_check_capacity(const aq_run_config *config, uint32_t ranks,
                             aq_error *error) AQ_MUST_USE;

/* AQ_E_INVALID, naming the settings that contradict each other and a value that works. */
int aq_pacing_check(const aq_run_config *config, aq_error *error) AQ_MUST_USE;

#endif
