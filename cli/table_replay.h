/*
 * Table replay: a toy-text task against the recorded table, every state with every action, and its
 * steps against what the table allows. One thread.
 */
#ifndef AQ_CLI_TABLE_REPLAY_H
#define AQ_CLI_TABLE_REPLAY_H

#include "cli/env_replay.h"
#include "cli/replay_lane.h"

/* Fills a zeroed report. A pair's observation error is by how much chances of next states differ,
 * its reward error that of the mean rewards on the way to a next state, its state error that of the
 * chances of beginning in the state. The errors are those of aq_env_replay. */
int aq_table_replay(aq_replay_lane *lane, const aq_recorded_table *table, aq_replay_report *report,
                    aq_error *error) AQ_MUST_USE;

#endif
