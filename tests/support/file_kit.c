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

size_t file_get(const char *path, void *bytes, size_t size_max)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, size_max, file);
    assert_true(size < size_max);
    (void)fclose(file);
    return size;
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
