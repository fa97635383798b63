/*
 * Import: a data set as a new store's folder, which a shard can open. It has its name once it is
 * complete; until then there is another one beside it.
 */
#ifndef AQ_REPLAY_DATA_DATA_IMPORT_H
#define AQ_REPLAY_DATA_DATA_IMPORT_H

#include <stdbool.h>

#include "common/data_set/data_set_reader.h"
#include "replay/data/data_progress.h"

typedef struct aq_data_import {
    const char *folder;
    uint64_t run_id;
    bool standard_columns;  /* what was recorded besides is left out */
    uint32_t n_step;        /* the most steps that an item of the run spans */
    uint32_t chunk_length;  /* transitions */
    uint64_t message_bytes; /* the largest message, unless a chunk takes more */
    uint64_t segment_bytes;
    bool compressed;
    uint64_t least; /* steps that have to make items; 0: any number will do */
    aq_data_progress progress;
} aq_data_import;

typedef struct aq_data_imported {
    uint64_t transitions, messages;
    uint64_t known;    /* transitions besides, which a shard had from an earlier import */
    uint64_t left_out; /* transitions that no item can begin with */
} aq_data_imported;

/* AQ_E_EXISTS when there is something at the folder's place; AQ_E_INVALID for fewer steps than
 * `least`; what the reader finds; AQ_E_IO; what `progress` says. Nothing is left behind then. */
int aq_data_import_folder(aq_data_set_reader *reader, const aq_data_import *import,
                          aq_data_imported *ret_imported, aq_error *error) AQ_MUST_USE;

#endif
