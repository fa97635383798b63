/*
 * Files: whole-file reads with a limit, and writes that are either complete or absent.
 */
#ifndef AQ_COMMON_SYS_FILE_H
#define AQ_COMMON_SYS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"

/* "PATH: can't WHAT: No space left on device", from errno, and the code that fits it. */
int aq_file_fail(aq_error *error, const char *path, const char *what);

/* Appends the file's bytes to `out`; AQ_E_TOO_BIG when they exceed out's limit, AQ_E_NOT_FOUND when
 * there is none. On failure out's content is as before. */
int aq_file_read(const char *path, aq_buffer *out, aq_error *error) AQ_MUST_USE;

/* The beginning of a small file, as those of /proc are, in size - 1 bytes and a zero. False, and
 * out is "", where it is empty or can't be read; errno says why it can't. */
bool aq_file_peek(char *out, size_t size, const char *path_format, ...) AQ_PRINTF(3, 4);

/* Writes a temporary file beside `path`, fsyncs, renames it over `path`, fsyncs the folder: after
 * a crash or a full disk `path` is the old content or the new, never a part. On failure the
 * temporary file is removed; one that a crash left is called PATH.tmp-<16 hex digits>.
 * AQ_E_NO_SPACE on a full disk. Of a link, that is done to the file that it leads to, and the link
 * stays. A pipe or a device is written as it is, without any of that, and standard output and
 * standard error through their own descriptors. */
int aq_file_write_atomic(const char *path, const void *bytes, size_t size,
                         aq_error *error) AQ_MUST_USE;

/* The same of a secret: nobody else may read or write the file, and a link is replaced. */
int aq_file_write_private(const char *path, const void *bytes, size_t size,
                          aq_error *error) AQ_MUST_USE;

/* For files that are written in pieces, what that one does. The name of a temporary file beside
 * `path`, a new one each time: AQ_E_TOO_BIG. And to make a rename to `path` durable; errno says why
 * it can't. */
int aq_file_temporary(char *out, size_t size, const char *path) AQ_MUST_USE;
int aq_file_sync_folder(const char *path, aq_error *error) AQ_MUST_USE;

/* Makes the folder and its parents, durably. An existing folder is fine, another thing of that name
 * is not: AQ_E_EXISTS. */
int aq_dir_create(const char *path, aq_error *error) AQ_MUST_USE;

/* Removes what crashes left of aq_file_write_atomic in the folder, as far as that can be done: what
 * is at least so old. Somebody may be writing the rest. */
void aq_dir_tidy(const char *path, int64_t age_s);

/* Removes the folder with all that is in it, as far as that can be done. Links are not followed.
 * Returns how many bytes its files had. */
uint64_t aq_dir_remove(const char *path);

/* FOLDER/NAME; AQ_E_TOO_BIG, with `out` cut off, when it does not fit. */
int aq_path_in(char *out, size_t size, const char *folder, const char *name,
               aq_error *error) AQ_MUST_USE;

/* False when there is nothing at `path`; true when there is something, be it a link that leads
 * nowhere, and also when nobody can tell: who then opens it hears why. */
bool aq_path_exists(const char *path);

/* The same of FOLDER/NAME. */
bool aq_path_exists_in(const char *folder, const char *name);

/* Which of standard output and standard error the path is another name of, such as /dev/stdout; -1
 * for neither, and for the name that a file has of its own. A socket can be written in no other
 * way, nor can what was opened for another user. */
int aq_path_stream(const char *path) AQ_MUST_USE;

/* A folder, or a link to one, that can be looked at. */
bool aq_path_is_folder(const char *path);

#endif
