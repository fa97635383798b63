/*
 * Files of tests: see file_kit.h.
 */
#include "tests/support/file_kit.h"

#include <dirent.h>
#include <limits.h>

#include "common/sys/file.h"
#include "tests/support/test.h"

char *file_folder_make(void)
{
    char *folder = strdup("/tmp/aq-test-XXXXXX");
    assert_non_null(folder);
    assert_non_null(mkdtemp(folder));
    return folder;
}

void file_folder_remove(void *folder)
{
    (void)aq_dir_remove(folder);
    assert_false(aq_path_exists(folder));
    free(folder);
}

const char *file_folder(void)
{
    char *folder = file_folder_make();
    at_end(file_folder_remove, folder);
    return folder;
}

const char *file_in(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + sizeof("/");
    char *path = malloc(size);
    assert_non_null(path);
    (void)snprintf(path, size, "%s/%s", folder, name);
    at_end(free, path);
    return path;
}

/* "": there is none. */
static size_t look_for(const char *folder, const char *part, char ret_last[NAME_MAX + 1])
{
    size_t count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    ret_last[0] = '\0';
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.' || strstr(entry->d_name, part) == NULL) {
            continue;
        }
        count++;
        if (strcmp(entry->d_name, ret_last) > 0) {
            strcpy(ret_last, entry->d_name);
        }
    }
    (void)closedir(entries);
    return count;
}

size_t file_count(const char *folder, const char *part)
{
    char last[NAME_MAX + 1];
    return look_for(folder, part, last);
}

const char *file_last(const char *folder, const char *part)
{
    char last[NAME_MAX + 1];
    assert_true(look_for(folder, part, last) > 0);
    return file_in(folder, last);
}

void file_put(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void file_put_text(const char *path, const char *text)
{
    file_put(path, text, strlen(text));
}

aq_buffer *file_bytes(const char *path)
{
    enum { BYTES_MAX = 64 << 20 };
    aq_buffer *bytes = buffer_up_to(BYTES_MAX);
    assert_succeeds(aq_file_read(path, bytes, &refusal));
    assert_int_equal(aq_buffer_append(bytes, "", 1), 0);
    bytes->size--;
    return bytes;
}

char *file_text(const char *path)
{
    return (char *)file_bytes(path)->data;
}

void file_flip(const char *path, long offset)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, offset, offset < 0 ? SEEK_END : SEEK_SET), 0);
    const int byte = fgetc(file);
    assert_int_not_equal(byte, EOF);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    assert_int_not_equal(fputc(byte ^ 0x10, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static int run(const char *format, va_list values, bool must_succeed)
{
    char command[8192];
    const int length = vsnprintf(command, sizeof(command), format, values);
    assert_in_range(length, 1, sizeof(command) - 1);
    const int status = system(command);
    if (must_succeed && status != 0) {
        fail_msg("this ends with %d: %s", status, command);
    }
    return status;
}

int shell(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int status = run(format, values, false);
    va_end(values);
    return status;
}

void shell_succeeds(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    (void)run(format, values, true);
    va_end(values);
}
