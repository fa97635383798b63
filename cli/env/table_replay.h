/*
 * Table replay: a toy-text task against the recorded table, every state with every action, and its
 * steps against what the table allows. One thread.
 */
#ifndef AQ_CLI_ENV_TABLE_REPLAY_H
#define AQ_CLI_ENV_TABLE_REPLAY_H

#include "cli/env/recording.h"
#include "cli/env/replay_lane.h"
#include "cli/env/replay_report.h"

/* Fills a zeroed report. A pair's observation error is by how much chances of next states differ,
 * its reward error that of the mean rewards on the way to a next state, its state error that of the
 * chances of beginning in the state. Fails as aq_env_replay does. */
int aq_table_replay(aq_replay_lane *lane, const aq_recorded_table *table, aq_replay_report *report,
                    aq_error *error) AQ_MUST_USE;

#endif
