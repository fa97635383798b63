/*
 * Files of tests, written and read whole, and the folders they lie in. A failure fails the test.
 */
#ifndef AQ_TESTS_SUPPORT_FILE_KIT_H
#define AQ_TESTS_SUPPORT_FILE_KIT_H

#include <stddef.h>

/* A new folder below /tmp, and its removal with all that is in it; the first is the test's, which
 * removes it when it is over. */
const char *file_folder(void);
char *file_folder_make(void);
void file_folder_remove(void *folder);

/* FOLDER/NAME, until the test is over. */
const char *file_in(const char *folder, const char *name);

/* How many of a folder's entries have `part` in their names; of these, the path of the last by
 * name, which there must be. */
size_t file_count(const char *folder, const char *part);
const char *file_last(const char *folder, const char *part);

void file_put(const char *path, const void *bytes, size_t size);
void file_put_text(const char *path, const char *text);

/* Returns its size, which is below `size_max`. */
size_t file_get(const char *path, void *bytes, size_t size_max);

/* Flips a bit of the byte at `offset`, counted from the end when negative. */
void file_flip(const char *path, long offset);

#endif
