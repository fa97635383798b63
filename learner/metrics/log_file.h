/*
 * Log file: a file that grows by whole records, each by one write. What a full disk or a crash cut
 * short is taken back, so that a reader never finds a part of a record before others. One owner.
 */
#ifndef AQ_LEARNER_METRICS_LOG_FILE_H
#define AQ_LEARNER_METRICS_LOG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_log_file {
    int file;      /* -1: none */
    uint64_t size; /* of whole records */
    bool is_torn;  /* a part of another is behind them, and could not be taken back yet */
} aq_log_file;

/* Of records that are lines: makes the file, or goes on behind the last whole line of one that is
 * there. What it has beyond that is cut off. */
int aq_log_file_open(const char *path, aq_log_file *ret_log) AQ_MUST_USE;
void aq_log_file_fini(aq_log_file *log);

/* AQ_E_NO_SPACE, AQ_E_IO ...: nothing was appended, or a part that the next call takes back before
 * it appends. */
int aq_log_file_append(aq_log_file *log, const void *bytes, size_t size) AQ_MUST_USE;

#endif
