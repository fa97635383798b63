/*
 * Catches what a test writes to standard error. One test at a time; at most a pipe's 64 KiB.
 */
#ifndef AQ_TESTS_UNIT_COMMON_SYS_STDERR_CAPTURE_H
#define AQ_TESTS_UNIT_COMMON_SYS_STDERR_CAPTURE_H

#include <stddef.h>

/* Standard error goes into a pipe from here on. */
void stderr_capture_begin(void);

/* Standard error is back; what was written lies in out[size], terminated. Returns its length. */
size_t stderr_capture_end(char *out, size_t size);

#endif
