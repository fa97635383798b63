/*
 * Data set reader: reads a data set, block by block. Nothing is believed before its check sum has
 * been looked at, and what is wrong is said with file and offset; a file that was cut short misses
 * its end. One owner, no locking.
 */
#ifndef AQ_COMMON_DATA_SET_DATA_SET_READER_H
#define AQ_COMMON_DATA_SET_DATA_SET_READER_H

#include <stdbool.h>

#include "common/data_set/data_set_header.h"

typedef struct aq_data_set_reader aq_data_set_reader;

/* AQ_E_NOT_FOUND, AQ_E_IO; AQ_E_FOREIGN, AQ_E_VERSION, AQ_E_CORRUPT, AQ_E_SCHEMA of its header. */
int aq_data_set_reader_open(const char *path, aq_data_set_reader **ret_reader,
                            aq_error *error) AQ_MUST_USE;
void aq_data_set_reader_close(aq_data_set_reader *reader); /* NULL is fine */

const aq_data_set_info *aq_data_set_reader_info(const aq_data_set_reader *reader);
const aq_layout *aq_data_set_reader_layout(const aq_data_set_reader *reader);

/* The next block, whose columns are valid until the next call; *ret_more is false, and nothing else
 * is touched, at the end, which was then found to fit all that came before it, and ever after.
 * AQ_E_CORRUPT. */
int aq_data_set_reader_next(aq_data_set_reader *reader, bool *ret_more,
                            aq_data_set_block *ret_block, aq_error *error) AQ_MUST_USE;

/* Of all marks, and so of all columns by their check sums: tells data sets apart. To be asked for
 * before the first block. AQ_E_CORRUPT for a file that was cut short, AQ_E_IO. */
int aq_data_set_reader_digest(const aq_data_set_reader *reader, uint64_t *ret_digest,
                              aq_error *error) AQ_MUST_USE;

/* For progress: 0 to 1. */
double aq_data_set_reader_done(const aq_data_set_reader *reader);

#endif
