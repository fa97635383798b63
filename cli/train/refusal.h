/*
 * Refusal: what a daemon said when it ended itself, read from its log: the last line that begins
 * with the program's name.
 */
#ifndef AQ_CLI_TRAIN_REFUSAL_H
#define AQ_CLI_TRAIN_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* The words without the name, cut to fit; false when there are none, and `out` is untouched. */
bool aq_refusal_read(const char *log_path, char *out, size_t size);

/* The last lines of a log, on standard error, for somebody who wants to know why. */
void aq_log_tail_print(const char *log_path);

#endif
