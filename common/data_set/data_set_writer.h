/*
 * Data set writer: writes a data set, block by block, under a name of its own beside the one that
 * it is to have; that one it gets when all of it is on the disk. One owner, no locking.
 */
#ifndef AQ_COMMON_DATA_SET_DATA_SET_WRITER_H
#define AQ_COMMON_DATA_SET_DATA_SET_WRITER_H

#include <stdbool.h>

#include "common/data_set/data_set_header.h"

typedef struct aq_data_set_writer aq_data_set_writer;

/* `info` says all but the counts. AQ_E_EXISTS when there is something at `path` and `replaces` is
 * false; AQ_E_IO and the like, naming the file. */
int aq_data_set_writer_create(const char *path, const aq_data_set_info *info, bool replaces,
                              aq_data_set_writer **ret_writer, aq_error *error) AQ_MUST_USE;

/* Without `finish`, nothing is left of it. NULL is fine. */
void aq_data_set_writer_destroy(aq_data_set_writer *writer);

/* AQ_E_CORRUPT for a chunk that cannot be, AQ_E_NO_SPACE, AQ_E_IO. */
int aq_data_set_writer_add(aq_data_set_writer *writer, const aq_data_set_block *block,
                           aq_error *error) AQ_MUST_USE;

/* Writes the end and the counts, syncs and gives the file its name. Once; destroy it after. */
int aq_data_set_writer_finish(aq_data_set_writer *writer, aq_error *error) AQ_MUST_USE;

aq_data_set_counts aq_data_set_writer_counts(const aq_data_set_writer *writer);

#endif
