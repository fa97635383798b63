/*
 * Place: a folder for the files that a target's input becomes. In memory where the system lets us:
 * a disk is slower than everything that is tested. Made when it is first asked for, removed when
 * the process ends.
 */
#ifndef AQ_TESTS_FUZZ_FUZZ_PLACE_H
#define AQ_TESTS_FUZZ_FUZZ_PLACE_H

#include <stddef.h>

/* The folder's path; static storage. */
const char *fuzz_place(void);

/* "PLACE/NAME", PATH_MAX bytes; valid until the next call. */
const char *fuzz_place_of(const char *name);

/* The file's content, whatever it was before; returns its path, as fuzz_place_of does. */
const char *fuzz_place_write(const char *name, const void *bytes, size_t size);

/* Removes what is in the folder. */
void fuzz_place_clear(void);

#endif
