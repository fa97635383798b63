/*
 * Files of tests, written and read whole. A failure fails the test.
 */
#ifndef AQ_TESTS_SUPPORT_FILE_KIT_H
#define AQ_TESTS_SUPPORT_FILE_KIT_H

#include <stddef.h>

void file_put(const char *path, const void *bytes, size_t size);
void file_put_text(const char *path, const char *text);

/* Returns its size, which is below `size_max`. */
size_t file_get(const char *path, void *bytes, size_t size_max);

#endif
