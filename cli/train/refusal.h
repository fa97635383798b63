/*
 * Refusal: what a daemon said, read from its log: when it ended itself, the last line that begins
 * with the program's name; of environments that fail, the reason that it logged.
 */
#ifndef AQ_CLI_TRAIN_REFUSAL_H
#define AQ_CLI_TRAIN_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* The words without the name, cut to fit; false when there are none, and `out` is untouched. */
bool aq_refusal_read(const char *log_path, char *out, size_t size);

/* Why an environment failed last, which may be a traceback; false when the log does not say, and
 * `out` is untouched. */
bool aq_env_failure_read(const char *log_path, char *out, size_t size);

/* The last lines of a log, on standard error, for somebody who wants to know why. */
void aq_log_tail_print(const char *log_path);

#endif
