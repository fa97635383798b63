/*
 * Origin: where experience is read from, whichever it is: a store's folder, a data set, or a shard
 * that runs. One owner, no locking.
 */
#ifndef AQ_REPLAY_DATA_DATA_ORIGIN_H
#define AQ_REPLAY_DATA_DATA_ORIGIN_H

#include <stdbool.h>

#include "common/data_set/data_set_reader.h"
#include "replay/data/data_live_net.h"
#include "replay/data/data_source.h"

typedef struct aq_data_origin {
    const char *name;      /* as it was given */
    aq_data_set_info info; /* counts: only of a data set */
    bool has_folder;
    aq_segment_folder folder;
    aq_data_set_reader *reader; /* NULL: none */
    aq_data_live *live;         /* NULL: none */
} aq_data_origin;

bool aq_data_is_url(const char *name);

/* `name` is borrowed. In words: what is there is none of the three, is in use, is damaged. */
int aq_data_origin_open(const char *name, aq_data_origin *ret_origin, aq_error *error) AQ_MUST_USE;
void aq_data_origin_close(aq_data_origin *origin);

/* All of it, once. */
int aq_data_origin_read(aq_data_origin *origin, const aq_data_sink *sink,
                        aq_error *error) AQ_MUST_USE;

#endif
