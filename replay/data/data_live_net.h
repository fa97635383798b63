/*
 * Live shard: a shard that runs, as somewhere to read experience from and to bring it to, by calls
 * (proto/exchange.proto). It waits for each answer. One thread.
 */
#ifndef AQ_REPLAY_DATA_DATA_LIVE_NET_H
#define AQ_REPLAY_DATA_DATA_LIVE_NET_H

#include "common/data_set/data_set_reader.h"
#include "common/policy/snapshot.h"
#include "replay/data/data_import.h"
#include "replay/data/data_source.h"

typedef struct aq_data_live aq_data_live;

typedef struct aq_data_live_info {
    char task[AQ_TASK_NAME_MAX];
    aq_schema schema;
    uint64_t run_id, schema_hash, store;
    uint32_t n_step, chunk_length, message_bytes;
} aq_data_live_info;

/* AQ_E_TIMEOUT when nobody is there, AQ_E_PEER when it is no shard of a run. */
int aq_data_live_open(const char *url, aq_data_live **ret_live, aq_error *error) AQ_MUST_USE;
void aq_data_live_close(aq_data_live *live); /* NULL is fine */

const aq_data_live_info *aq_data_live_about(const aq_data_live *live);

/* What it holds, oldest first. */
int aq_data_live_read(aq_data_live *live, const aq_data_set_info *info, const aq_data_sink *sink,
                      aq_error *error) AQ_MUST_USE;

/* Brings a data set, as its actors would: no more than there is credit for, until all of it is
 * acknowledged. Incarnations are changed to others that follow from the data set, the run, and how
 * chunks are cut for it, so that they are nobody's who lives, and that the same data set is taken
 * once only. */
int aq_data_live_import(aq_data_live *live, aq_data_set_reader *reader,
                        const aq_data_progress *progress, aq_data_imported *ret_imported,
                        aq_error *error) AQ_MUST_USE;

#endif
