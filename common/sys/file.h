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

/* Appends the file's bytes to `out`; AQ_E_TOO_BIG when they exceed out's limit. */
int aq_file_read(const char *path, aq_buffer *out, aq_error *error) AQ_MUST_USE;

/* Writes a temporary file beside `path`, fsyncs, renames it over `path`, fsyncs the folder: after
 * a crash or a full disk `path` is the old content or the new, never a part. On failure the
 * temporary file is removed. */
int aq_file_write_atomic(const char *path, const void *bytes, size_t size,
                         aq_error *error) AQ_MUST_USE;

/* Makes the folder and its parents. An existing folder is fine. */
int aq_dir_create(const char *path, aq_error *error) AQ_MUST_USE;

/* 1 when there is something at `path`. */
bool aq_path_exists(const char *path);

#endif
