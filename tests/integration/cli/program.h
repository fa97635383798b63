/*
 * Program: runs actorq as its users do, and keeps what it said and how it ended. A failure to run
 * it fails the test.
 */
#ifndef AQ_TESTS_INTEGRATION_CLI_PROGRAM_H
#define AQ_TESTS_INTEGRATION_CLI_PROGRAM_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROGRAM_TEXT_MAX = 1 << 18 };

typedef struct program_result {
    int exit_status; /* -1: it was ended by a signal */
    char out[PROGRAM_TEXT_MAX];
    char err[PROGRAM_TEXT_MAX];
} program_result;

/* Which file is run; once, before everything else. */
void program_choose(const char *path);
const char *program_path(void);

/* Runs it with these arguments (strings, then NULL) to its end, for a minute at most. The result is
 * static: it is valid until the next run. */
const program_result *program_run(const char *first, ...) __attribute__((sentinel));

/* The same, with the arguments of a line: words between single blanks, or between ''. */
const program_result *program_run_line(const char *line);

/* The setting that ends a run after so many steps of its environment (under a sanitizer a fifth of
 * them; see test_rounds). Valid until the next call. */
const char *program_short_run(uint64_t env_steps);

/* Starts it and returns at once; program_wait waits for its end. One at a time. */
void program_start(const char *first, ...) __attribute__((sentinel));
pid_t program_pid(void);
void program_wait_for_words(const char *words);             /* on standard error */
void program_wait_for_out(const char *words, size_t times); /* so often on the other */
const program_result *program_wait(void);

/* The same, and it succeeds, or fails with status 1 and one sentence with these words. */
void program_succeeds(const char *first, ...) __attribute__((sentinel));
void program_refuses(const char *words, const char *first, ...) __attribute__((sentinel));

/* The same, and it prints the one object that is returned, which is the test's. */
json_t *program_gives(const char *first, ...) __attribute__((sentinel));

/* Asserts about the last run. */
void program_assert_success(void);                               /* 0, nothing on standard error */
void program_assert_failure(int exit_status, const char *words); /* one sentence with these words */
void program_assert_out(const char *words);

/* Standard output of the last run, which must be exactly one JSON object; it is the test's. */
json_t *program_json(void);

#endif
