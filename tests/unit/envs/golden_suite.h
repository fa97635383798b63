/*
 * Reads figures of the control suite as tools/golden_suite_csv.py writes them.
 */
#ifndef AQ_TESTS_UNIT_ENVS_GOLDEN_SUITE_H
#define AQ_TESTS_UNIT_ENVS_GOLDEN_SUITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SUITE_LINE_MAX = 8192, SUITE_NUMBERS_MAX = 256 };

/* One record: its kind, and what follows the first comma. */
typedef struct suite_line {
    char text[SUITE_LINE_MAX];
    const char *kind;
    char *rest;
} suite_line;

/* Opens a file of tests/golden, or fails the test. */
FILE *suite_golden_open(const char *name);

/* The next record, comments skipped; false at the end. Fails the test for a line it can't read. */
bool suite_golden_next(FILE *file, suite_line *ret_line);

/* The numbers of a record into out[SUITE_NUMBERS_MAX], and how many there are. */
size_t suite_golden_numbers(const suite_line *line, double *out);

/* |a - b| / max(1, |b|). */
double suite_golden_error(double ours, double theirs);

#endif
