/*
 * Files of tests, written and read whole, the folders they lie in, and what the shell does to them.
 * A failure fails the test.
 */
#ifndef AQ_TESTS_SUPPORT_FILE_KIT_H
#define AQ_TESTS_SUPPORT_FILE_KIT_H

#include "common/base/buffer.h"

/* A new folder below /tmp. That of file_folder goes with all that is in it when the test is over,
 * that of file_folder_make by file_folder_remove. */
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

/* All of it, until the test is over; behind it is a zero that its size leaves out. */
aq_buffer *file_bytes(const char *path);
char *file_text(const char *path);

/* Flips a bit of the byte at `offset`, counted from the end when negative. */
void file_flip(const char *path, long offset);

/* The status of a command that the shell runs, as system() has it; or it must be 0. */
int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
void shell_succeeds(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
