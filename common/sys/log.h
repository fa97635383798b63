/*
 * Logging: logfmt lines on standard error, one per decision, with a stable event name.
 *
 *   ts=2026-01-31T12:00:00.123Z level=warn role=actor id=3 event=policy_stale version=118 msg="…"
 *
 * Only programs (daemon shells and the command-line tool) log above debug. Any thread may log; a
 * line is one write. Every event name is listed in docs/operations.md, and a test checks that.
 */
#ifndef AQ_COMMON_SYS_LOG_H
#define AQ_COMMON_SYS_LOG_H

#include <stdint.h>

#include "common/base/error.h"

enum aq_log_level { AQ_LOG_DEBUG, AQ_LOG_INFO, AQ_LOG_WARN, AQ_LOG_ERROR, AQ_LOG_OFF };

/* Names this process in every later line: "actor", 3. An id below 0 is left out. */
void aq_log_open(const char *role, int64_t id);

/* Lines below `level` are dropped; the start value is AQ_LOG_INFO, or ACTORQ_LOG=debug|info|… */
void aq_log_set_level(enum aq_log_level level);
int aq_log_level_from_text(const char *text, enum aq_log_level *ret_level) AQ_MUST_USE;

/* `message` is for people and says what happens next; `fields` is a format of key=value pairs
 * (may be ""), whose values hold no blanks; use %s with aq_log_quote for texts that may. */
void aq_log(enum aq_log_level level, const char *event, const char *message, const char *fields, ...)
    AQ_PRINTF(4, 5);

/* Writes `text` quoted and escaped into out[size], cut to fit; returns `out`. */
const char *aq_log_quote(char *out, uint32_t size, const char *text);

/* One decision a second per limiter: aq_log_allowed is 1 when the line may be written, and then
 * `*ret_suppressed` is how many were swallowed since the last. Zero-initialised; one thread. */
typedef struct aq_log_limit {
    int64_t next_ns;
    uint64_t suppressed;
} aq_log_limit;

int aq_log_allowed(aq_log_limit *limit, int64_t now_ns, uint64_t *ret_suppressed);

#endif
