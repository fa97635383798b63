/*
 * Reads recordings of the control suite as tools/golden_suite_csv.py writes them, and plays them.
 */
#ifndef AQ_TESTS_UNIT_ENVS_GOLDEN_SUITE_H
#define AQ_TESTS_UNIT_ENVS_GOLDEN_SUITE_H

#include "tests/unit/envs/golden_gym.h"

enum { SUITE_LINE_MAX = 8192, SUITE_NUMBERS_MAX = 256 };

/* One record: its kind, and what follows the first comma. */
typedef struct suite_line {
    char text[SUITE_LINE_MAX];
    const char *kind;
    char *rest;
} suite_line;

/* The next record, comments skipped; false at the end. Fails the test for a line it can't read. */
bool suite_golden_next(FILE *file, suite_line *ret_line);

/* The numbers of a record into out[SUITE_NUMBERS_MAX], and how many there are. */
size_t suite_golden_numbers(const suite_line *line, double *out);

/* |a - b| / max(1, |b|). */
double suite_golden_error(double ours, double theirs);

/* Plays a recording in the tasks that it is of. Fails the test where an observation or a reward of
 * ours has a larger error than `limit`, or when there was nothing to compare. */
void suite_golden_play(const char *name, double limit);

#endif
