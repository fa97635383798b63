/*
 * A folder for the files of a fuzz target.
 */
#define _XOPEN_SOURCE 700 /* nftw */

#include "tests/fuzz/fuzz_place.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/assert.h"

enum { DESCRIPTORS = 8 };

static char place[PATH_MAX];

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    if (at->level > 0) {
        (void)remove(path);
    }
    return 0;
}

void fuzz_place_clear(void)
{
    (void)nftw(fuzz_place(), remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

static void clean_up(void)
{
    fuzz_place_clear();
    (void)rmdir(place);
}

const char *fuzz_place(void)
{
    static const char *const roots[] = {"/dev/shm", "/tmp"};
    for (int i = 0; i < 2 && place[0] == '\0'; i++) {
        (void)snprintf(place, sizeof(place), "%s/aq-fuzz-XXXXXX", roots[i]);
        if (mkdtemp(place) == NULL) {
            place[0] = '\0';
        } else {
            (void)atexit(clean_up);
        }
    }
    AQ_ASSERT(place[0] != '\0');
    return place;
}

const char *fuzz_place_of(const char *name)
{
    static char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/%s", fuzz_place(), name);
    AQ_ASSERT(length > 0 && length < PATH_MAX);
    return path;
}

const char *fuzz_place_write(const char *name, const void *bytes, size_t size)
{
    const char *path = fuzz_place_of(name);
    FILE *file = fopen(path, "wb");
    AQ_ASSERT(file != NULL);
    size_t written = size > 0 ? fwrite(bytes, 1, size, file) : 0;
    AQ_ASSERT(written == size);
    (void)fclose(file);
    return path;
}
