/*
 * Reads recordings of Gymnasium environments as tools/golden_gym_csv.py writes them.
 */
#ifndef AQ_TESTS_UNIT_ENVS_GOLDEN_GYM_H
#define AQ_TESTS_UNIT_ENVS_GOLDEN_GYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { GOLDEN_VALUES_MAX = 32, GOLDEN_NAME_MAX = 64 };

typedef struct golden_record {
    char kind[GOLDEN_NAME_MAX];
    char name[GOLDEN_NAME_MAX]; /* of kinds "env" and "table" */
    size_t count;
    double values[GOLDEN_VALUES_MAX];
} golden_record;

/* Opens a file of tests/golden, or fails the test. */
FILE *golden_open(const char *name);

/* The next line that is no comment, without its end; false at the end of the file. */
bool golden_line(FILE *file, char *out, size_t size);

/* The next record, comments skipped; false at the end. Fails the test for a line it can't read. */
bool golden_next(FILE *file, golden_record *ret_record);

#endif
