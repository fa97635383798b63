/*
 * Table playback: a toy-text task against the recorded table, every state with every action, and
 * its steps against what the table allows. One thread.
 */
#ifndef AQ_BENCH_ENV_REPLAY_TABLE_PLAYBACK_H
#define AQ_BENCH_ENV_REPLAY_TABLE_PLAYBACK_H

#include "bench/env_replay/playback_report.h"
#include "bench/env_replay/playback_subject.h"
#include "bench/env_replay/recording.h"

/* Fills a zeroed report. A pair's observation error is by how much chances of next states differ,
 * its reward error that of the mean rewards on the way to a next state, its state error that of the
 * chances of beginning in the state. Fails as aq_playback does. */
int aq_table_playback(aq_playback_subject *subject, const aq_recorded_table *table,
                      aq_playback_report *report, aq_error *error) AQ_MUST_USE;

#endif
