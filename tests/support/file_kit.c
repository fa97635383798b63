/*
 * Files of tests: see file_kit.h.
 */
#include "tests/support/file_kit.h"

#include "tests/support/test.h"

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
