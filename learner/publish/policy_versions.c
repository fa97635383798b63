/*
 * The file holds one decimal number and the end of a line: the first that is not reserved. A
 * missing file is a new run folder; any other content is refused, as guessing could hand out a
 * number twice.
 */
#include "learner/publish/policy_versions.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buffer.h"
#include "common/base/parse.h"
#include "common/sys/file.h"

enum {
    FILE_BYTES_MAX = 21, /* "18446744073709551615\n" */
    BLOCK = 1024,        /* numbers that a process reserves at a time */
    LEAP_MAX = 1 << 24,  /* days of versions: more than that nobody is believed */
    LEAPS_MAX = 4,       /* one copy of a folder needs one or two; lies would need hundreds */
};

/* Of the 32 bits that steps carry, nobody's word leads into the upper half. */
#define SEEN_MAX (UINT32_MAX / 2)

/* "N\n" to N. */
static int parse_next(const uint8_t *bytes, size_t size, uint64_t *ret_next)
{
    char text[FILE_BYTES_MAX];

    if (size == 0 || size > sizeof(text) || bytes[size - 1] != '\n') {
        return AQ_E_CORRUPT;
    }
    memcpy(text, bytes, size - 1);
    text[size - 1] = '\0';
    if (strlen(text) != size - 1) {
        return AQ_E_CORRUPT;
    }
    return aq_parse_u64(text, ret_next);
}

static int read_next(const char *path, uint64_t *ret_next, aq_error *error)
{
    aq_buffer bytes;

    aq_buffer_init(&bytes, FILE_BYTES_MAX);
    int rc = aq_file_read(path, &bytes, error);
    if (rc == AQ_E_NOT_FOUND) {
        *ret_next = 1;
        rc = 0;
    } else if (rc == AQ_E_TOO_BIG ||
               (rc == 0 && parse_next(bytes.data, bytes.size, ret_next) != 0)) {
        rc = aq_fail(error, AQ_E_CORRUPT, "%s: it must be one number and the end of a line", path);
    }
    aq_buffer_fini(&bytes);
    return rc;
}

static int write_next(const char *path, uint64_t next, aq_error *error)
{
    char text[FILE_BYTES_MAX + 1];
    snprintf(text, sizeof(text), "%" PRIu64 "\n", next);
    return aq_file_write_atomic(path, text, strlen(text), error);
}

int aq_version_reserve(const char *run_dir, uint64_t at_least, uint64_t count, uint64_t *ret_first,
                       aq_error *error)
{
    char path[PATH_MAX];
    uint64_t first;
    int rc = aq_path_in(path, sizeof(path), run_dir, "versions", error);

    if (rc != 0) {
        return rc;
    }
    rc = read_next(path, &first, error);
    if (rc != 0) {
        return rc;
    }
    if (first <= at_least) {
        first = at_least + 1; /* 0 after the last number there is */
    }
    if (first == 0 || first > UINT32_MAX || count > UINT32_MAX - first + 1) {
        return aq_fail(error, AQ_E_TOO_BIG,
                       "%s: no %" PRIu64 " policy versions are left from %" PRIu64
                       " on, as steps carry 32 bits of them",
                       path, count, first);
    }
    rc = write_next(path, first + count, error);
    if (rc == 0) {
        *ret_first = first;
    }
    return rc;
}

void aq_version_numbers_init(aq_version_numbers *numbers, const char *run_dir, uint64_t last)
{
    /* No block is at hand: one is reserved before the first number is used. */
    numbers->run_dir = run_dir;
    atomic_init(&numbers->next, last + 1);
    numbers->reserved_end = last + 1;
    atomic_init(&numbers->leaps, 0);
    atomic_init(&numbers->seen, 0);
}

void aq_version_numbers_see(aq_version_numbers *numbers, uint64_t version)
{
    const uint64_t next = atomic_load(&numbers->next);
    uint64_t seen = atomic_load(&numbers->seen);
    const bool is_ahead = version >= next;
    if (is_ahead && (version - next >= LEAP_MAX || version > SEEN_MAX ||
                     atomic_load(&numbers->leaps) >= LEAPS_MAX)) {
        return; /* kept, it would hide what others have seen */
    }
    while (version > seen && !atomic_compare_exchange_weak(&numbers->seen, &seen, version)) {
    }
}

int aq_version_numbers_take(aq_version_numbers *numbers, uint64_t *ret_version, aq_error *error)
{
    const uint64_t seen = atomic_load(&numbers->seen);
    const bool is_behind = seen >= numbers->next;
    if (is_behind || numbers->next == numbers->reserved_end) {
        uint64_t first;
        int rc = aq_version_reserve(numbers->run_dir, numbers->next - 1, BLOCK, &first, error);
        if (rc == 0 && is_behind && first <= seen) {
            rc = aq_version_reserve(numbers->run_dir, seen, BLOCK, &first, error);
            numbers->leaps += rc == 0;
        }
        if (rc != 0) {
            return rc;
        }
        numbers->next = first;
        numbers->reserved_end = first + BLOCK;
    }
    *ret_version = numbers->next++;
    return 0;
}

void aq_version_numbers_give_back(aq_version_numbers *numbers)
{
    char path[PATH_MAX];
    const bool has_rest = numbers->next < numbers->reserved_end;
    if (has_rest && numbers->seen < numbers->next &&
        aq_path_in(path, sizeof(path), numbers->run_dir, "versions", NULL) == 0 &&
        write_next(path, numbers->next, NULL) == 0) {
        numbers->reserved_end = numbers->next;
    }
}

uint64_t aq_version_numbers_last(const aq_version_numbers *numbers)
{
    return numbers->next - 1;
}
