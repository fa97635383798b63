/*
 * Output file: what commands that read files and write others look at before, and do after.
 *
 * No state but the process's standard output; one thread.
 */
#ifndef AQ_CLI_TEXT_OUTPUT_FILE_H
#define AQ_CLI_TEXT_OUTPUT_FILE_H

#include "common/base/error.h"

/* That `target`, which a command is about to write, is no folder, and not `source`, the file that
 * it has read, or the policy of a run in its folder: that may be the only copy. AQ_E_INVALID, in
 * words. A NULL on either side is fine. */
int aq_output_check(const char *source, const char *target, aq_error *error) AQ_MUST_USE;

/* That two files to be written are not one. AQ_E_INVALID, in words; NULL is fine. */
int aq_output_check_both(const char *first, const char *second, aq_error *error) AQ_MUST_USE;

/* `target` was written. If it is standard output, as /dev/stdout, what else the command says goes
 * to standard error, so that a pipe gets the file alone. */
void aq_output_written(const char *target);

#endif
