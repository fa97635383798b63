/*
 * Log source: the lines of one log file, as they come. One thread.
 */
#ifndef AQ_CLI_WATCH_LOG_SOURCE_H
#define AQ_CLI_WATCH_LOG_SOURCE_H

#include <stdbool.h>

#include "cli/watch/log_line.h"
#include "common/base/error.h"

typedef struct aq_log_source aq_log_source;

/* `name` is what the file is called without its ending: "actor-3". Names the path on failure. */
int aq_log_source_open(const char *path, const char *name, aq_log_source **ret_source,
                       aq_error *error) AQ_MUST_USE;
void aq_log_source_close(aq_log_source *source); /* NULL is fine */
const char *aq_log_source_name(const aq_log_source *source);

/* The next line, which stays until it is taken; NULL when there is none yet. `is_final`: what has
 * no end yet is a line, too. A line that is too long goes on as another. */
const aq_log_line *aq_log_source_look(aq_log_source *source, bool is_final);
void aq_log_source_take(aq_log_source *source);

/* The time that the line at hand stands at: its own, which lies before that of the line above where
 * the clock was set back, and that of the line above for a text. */
const char *aq_log_source_time(const aq_log_source *source);

#endif
