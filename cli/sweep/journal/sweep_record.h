/*
 * Sweep record: an event as a line of the journal, JSON that anything can read, with its number and
 * a checksum before it:
 *
 *   1c0ffee5 {"n": 12, "event": "claim", "run": 3, ...}
 *
 * The sum is CRC-32C of what stands behind the blank. Pure functions.
 */
#ifndef AQ_CLI_SWEEP_JOURNAL_SWEEP_RECORD_H
#define AQ_CLI_SWEEP_JOURNAL_SWEEP_RECORD_H

#include <jansson.h>

#include "cli/sweep/study/sweep_study.h"
#include "common/base/buffer.h"
#include "common/base/error.h"

/* The settings of a point and their values. NULL: out of memory. */
json_t *aq_sweep_point_json(const aq_sweep_space *space, const aq_sweep_point *point);

/* Appends the line, its newline included. AQ_E_NOMEM, AQ_E_TOO_BIG. */
int aq_sweep_record_write(const aq_sweep_space *space, uint64_t number, const aq_sweep_event *event,
                          aq_buffer *out) AQ_MUST_USE;

/* A line without its newline. AQ_E_CORRUPT, AQ_E_VERSION, in words; AQ_E_NOMEM. The caller fini's
 * the event. */
int aq_sweep_record_read(const aq_sweep_space *space, uint64_t number, const char *line,
                         size_t size, aq_sweep_event *ret_event, aq_error *error) AQ_MUST_USE;

#endif
