/*
 * Run lines: the lines of a run's metrics.jsonl, one after the other. The file may be written to
 * meanwhile, and a crash may have left half a line, or zeros: what has no end, has a zero in it, or
 * is longer than ours ever are, is passed over.
 */
#ifndef AQ_CLI_RUN_RUN_LINES_H
#define AQ_CLI_RUN_RUN_LINES_H

#include "common/base/error.h"

enum { AQ_RUN_LINE_BYTES_MAX = 1 << 20 };

/* `line` is without its newline. Another result than 0 ends the reading. */
typedef int (*aq_run_line_fn)(void *user, const char *line);

/* Of the run in that folder. As opening and reading fail, AQ_E_NOMEM, and as `take` does; in words.
 */
int aq_run_lines_read(const char *folder, aq_run_line_fn take, void *user,
                      aq_error *error) AQ_MUST_USE;

#endif
