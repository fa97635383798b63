/*
 * Logging: lines on standard error, one per decision, with a stable event name, in logfmt or JSON.
 *
 *   ts=2026-01-31T12:00:00.123Z level=warn role=actor id=3 event=policy_stale version=118 msg="…"
 *   {"ts":"2026-01-31T12:00:00.123Z","level":"warn","role":"actor","id":3,"event":…,"msg":"…"}
 *
 * Only programs (daemon shells and the command-line tool) log above debug. Any thread may log; a
 * line is one write. Every event is listed in docs/events.md with its fields; a test checks that.
 */
#ifndef AQ_COMMON_SYS_LOG_H
#define AQ_COMMON_SYS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/choice.h"
#include "common/base/error.h"

/* A line without fields has the empty format "", which is meant. */
#pragma GCC diagnostic ignored "-Wformat-zero-length"

#define AQ_LOG_LEVELS(X)                                                                           \
    X(AQ_LOG_DEBUG, "debug")                                                                       \
    X(AQ_LOG_INFO, "info")                                                                         \
    X(AQ_LOG_WARN, "warn")                                                                         \
    X(AQ_LOG_ERROR, "error")                                                                       \
    X(AQ_LOG_OFF, "off")
enum aq_log_level { AQ_LOG_LEVELS(AQ_CHOICE_CONSTANT) };
const char *aq_log_level_name(enum aq_log_level level); /* static storage */

#define AQ_LOG_FORMATS(X) X(AQ_LOG_LOGFMT, "logfmt") X(AQ_LOG_JSON, "json")
enum aq_log_format { AQ_LOG_FORMATS(AQ_CHOICE_CONSTANT) };

/* Names this process in every later line: "actor", 3. An id below 0 is left out. The role is a word
 * of at most 24 letters. */
void aq_log_open(const char *role, int64_t id);

/* Lines below `level` are dropped; the start value is AQ_LOG_INFO, or what ACTORQ_LOG says: one of
 * debug, info, warn, error, off. */
void aq_log_set_level(enum aq_log_level level);
int aq_log_level_from_text(const char *text, enum aq_log_level *ret_level) AQ_MUST_USE;

/* The level of the run that this process takes part in (log.level): one more than its number, or 0
 * for none. It goes over the level of the process while there is one. */
void aq_log_set_run_level(uint32_t choice);

/* The start value is AQ_LOG_LOGFMT, or what ACTORQ_LOG_FORMAT says: logfmt or json. */
void aq_log_set_format(enum aq_log_format format);
int aq_log_format_from_text(const char *text, enum aq_log_format *ret_format) AQ_MUST_USE;

/* The text of ACTORQ_LOG, or ACTORQ_LOG_FORMAT, when it means nothing and was ignored, for the
 * program to warn about; NULL when all is well. */
const char *aq_log_problem(void);
const char *aq_log_format_problem(void);

/* `message` is for people and says what happens next ("": the event says it all); `fields` is a
 * format of key=value pairs (may be ""), whose values hold no blanks; use %s with AQ_LOG_QUOTED for
 * texts that may.
 * A line is cut at 2 KiB (4 KiB in JSON): fields lose whole pairs and say cut=true, the message
 * ends in "...".
 * Control characters never reach the line. errno is kept. */
void aq_log(enum aq_log_level level, const char *event, const char *message, const char *fields,
            ...) AQ_PRINTF(4, 5);

/* Writes `text` quoted and escaped into out[size], cut to fit with "..."; returns `out`. `size` is
 * at least 8. What is not UTF-8 becomes \ufffd. */
const char *aq_log_quote(char *out, size_t size, const char *text);

/* The text so, for a field of a line, which has room for it and others; until the block ends. */
enum { AQ_LOG_QUOTED_MAX = 1024 };
#define AQ_LOG_QUOTED(text) aq_log_quote((char[AQ_LOG_QUOTED_MAX]){0}, AQ_LOG_QUOTED_MAX, (text))

/* One line a second for each limiter, and `more`. Else zero-initialised; one thread. */
typedef struct aq_log_limit {
    int64_t next_ns;
    uint64_t suppressed; /* lines, since one was written that told so */
    uint32_t more;
    uint32_t written; /* in the second that ends at next_ns */
} aq_log_limit;

/* What each member does has its line, up to so many a second. */
#define AQ_LOG_LIMIT_OF_MEMBERS ((aq_log_limit){.more = 19})

/* Whether a line may be written. */
bool aq_log_allowed(aq_log_limit *limit, int64_t now_ns);

/* aq_log, if it may; its last field, `suppressed`, says how many were not since the last one. */
void aq_log_limited(aq_log_limit *limit, int64_t now_ns, enum aq_log_level level, const char *event,
                    const char *message, const char *fields, ...) AQ_PRINTF(6, 7);

#endif
