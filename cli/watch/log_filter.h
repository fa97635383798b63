/*
 * Log filter: which lines of a merged log are shown.
 */
#ifndef AQ_CLI_WATCH_LOG_FILTER_H
#define AQ_CLI_WATCH_LOG_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/watch/log_line.h"
#include "common/base/error.h"

typedef struct aq_log_filter {
    const char *role;  /* NULL: any */
    const char *event; /* NULL: any */
    int64_t id;        /* -1: any */
    enum aq_log_level level;
    char since[AQ_LOG_TS_BYTES]; /* "": from the beginning */
} aq_log_filter;

/* "15m" (s, m, h, d) before `now_ns` of the wall clock, or a moment, "2026-11-20" or
 * "2026-11-20T10:30" or more of it, in UTC. AQ_E_INVALID. */
int aq_log_filter_since(aq_log_filter *filter, const char *text, int64_t now_ns,
                        aq_error *error) AQ_MUST_USE;

/* "actor"; the text is not copied. AQ_E_INVALID, with the roles that there are. */
int aq_log_filter_role(aq_log_filter *filter, const char *text, aq_error *error) AQ_MUST_USE;

/* `name` is the line's file, which stands for the role and id of a text; a text has no event, and
 * any level. */
bool aq_log_filter_passes(const aq_log_filter *filter, const aq_log_line *line, const char *name,
                          const char *time);

#endif
