/*
 * Log merge: the logs of all daemons of a run, in the order of time. One thread.
 */
#ifndef AQ_CLI_WATCH_LOG_MERGE_H
#define AQ_CLI_WATCH_LOG_MERGE_H

#include <stdbool.h>

#include "cli/watch/log_line.h"
#include "common/base/error.h"

typedef struct aq_log_merge aq_log_merge;

/* `folder` is that of a run, or one that holds *.log files itself. AQ_E_NOT_FOUND, in words, when
 * there is no log in it. */
int aq_log_merge_open(const char *folder, aq_log_merge **ret_merge, aq_error *error) AQ_MUST_USE;
void aq_log_merge_close(aq_log_merge *merge); /* NULL is fine */

/* The next line, with the name of its file and the time that it stands at; NULL when there is none
 * for now. Valid until the next call. `is_final`: no more will come. */
const aq_log_line *aq_log_merge_next(aq_log_merge *merge, bool is_final, const char **ret_name,
                                     const char **ret_time);

/* Looks for logs of daemons that were started meanwhile. */
int aq_log_merge_refresh(aq_log_merge *merge, aq_error *error) AQ_MUST_USE;

#endif
