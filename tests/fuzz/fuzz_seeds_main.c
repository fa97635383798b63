/*
 * The other end of a fuzz target: it is given files, and folders of files, one after the other.
 * What was found once is kept among them, so that it is not found again.
 *
 *   fuzz_policy FILE_OR_FOLDER...
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/assert.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

enum { SEED_BYTES_MAX = 1 << 20 };

static int seeds;

/* In a block that ends where the seed ends, so that a sanitizer sees who reads on. */
static void give_file(const char *path)
{
    static uint8_t content[SEED_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        (void)fprintf(stderr, "%s: cannot be opened\n", path);
        exit(EXIT_FAILURE);
    }
    size_t size = fread(content, 1, sizeof(content), file);
    AQ_ASSERT(size < sizeof(content));
    (void)fclose(file);
    uint8_t *seed = malloc(size > 0 ? size : 1);
    AQ_ASSERT(seed != NULL);
    memcpy(seed, content, size);
    must(LLVMFuzzerTestOneInput(seed, size));
    free(seed);
    seeds++;
}

static void give_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    AQ_ASSERT(count >= 0);
    for (int i = 0; i < count; i++) {
        char inner[PATH_MAX];
        (void)snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            give_file(inner);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct stat info;
        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode)) {
            give_folder(argv[i]);
        } else {
            give_file(argv[i]);
        }
    }
    if (seeds == 0) {
        (void)fprintf(stderr, "%s: no seeds\n", argv[0]);
        return EXIT_FAILURE;
    }
    (void)printf("%d seeds\n", seeds);
    return EXIT_SUCCESS;
}
