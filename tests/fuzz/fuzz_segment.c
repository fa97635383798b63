/*
 * Any bytes in a segment's place are refused in words, or recovered as far as they go: as they are,
 * and as the payloads of records whose headers and check sums are right, which otherwise would keep
 * everything else out.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "replay/disk/segment_folder.h"
#include "replay/disk/segment_format.h"
#include "replay/disk/segment_map.h"
#include "replay/disk/segment_recovery.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/must.h"

enum { STORE = 42, SEGMENT = 1, BYTES_MAX = 1 << 16 };

static aq_segment_folder folder;

/* ---- what recovery gives --------------------------------------------------------------------- */

/* Every byte is looked at, so that the sanitizers look, too. */
static void touch(const void *bytes, size_t size)
{
    static volatile uint32_t sum;
    sum = aq_crc32c(sum, bytes, size);
}

static int on_head(void *user, uint64_t segment, const aq_log_head *head, aq_error *error)
{
    (void)user;
    (void)error;
    AQ_ASSERT(segment == SEGMENT);
    touch(head->marks, (size_t)head->mark_count * sizeof(*head->marks));
    return 0;
}

static int on_record(void *user, uint64_t segment, uint64_t number, aq_lease *frame, bool mapped,
                     aq_error *error)
{
    uint64_t *last = user;
    (void)mapped;
    AQ_ASSERT(segment == SEGMENT);
    AQ_ASSERT(number > *last);
    *last = number;
    touch(frame->bytes, frame->size);
    return number % 7 == 0 ? aq_fail(error, AQ_E_CORRUPT, "of no use") : 0;
}

static int on_snapshot(void *user, const void *bytes, size_t size, aq_error *error)
{
    (void)user;
    (void)error;
    touch(bytes, size);
    return 0;
}

static void on_damage(void *user, const char *what)
{
    (void)user;
    AQ_ASSERT(what[0] != '\0');
}

/* ---- feeding it ------------------------------------------------------------------------------ */

static void prepare(void)
{
    if (folder.path[0] == '\0') {
        const aq_store_identity identity = {.store = STORE, .run_id = 1, .task = "fuzz"};
        must(aq_segment_folder_open(fuzz_place(), &identity, &folder, NULL));
    }
}

static void recover(const uint8_t *bytes, size_t size)
{
    char path[PATH_MAX];
    uint64_t last = 0;
    aq_segment_map *map;
    aq_segment_recovered found = {0};
    aq_error error = {0};
    const aq_replay_log_recovery into = {&last, on_head, on_record, on_snapshot, on_damage};
    const char *name = strrchr(aq_segment_path(folder.path, SEGMENT, path), '/') + 1;
    (void)fuzz_place_write(name, bytes, size);
    must(aq_segment_map_create(&folder, &map));
    int rc = aq_segment_recover(&folder, map, &into, &found, &error);
    AQ_ASSERT(rc == error.code);
    if (rc == 0) {
        must(aq_segment_mend(&folder, &found, &error));
    }
    aq_segment_map_destroy(map);
}

/* Two bytes of the input say what a record is, the next two how long; the payload follows. */
static size_t make_records(const uint8_t *data, size_t size, uint8_t *out)
{
    const aq_file_header header = {
        .kind = AQ_STORE_FILE_SEGMENT,
        .store = STORE,
        .number = SEGMENT,
    };
    size_t end = AQ_FILE_HEADER_BYTES;
    uint64_t number = 0;
    aq_file_header_encode(&header, out);
    while (size > 4 && end + AQ_RECORD_HEADER_BYTES + size <= BYTES_MAX) {
        const size_t wanted = (size_t)data[2] | (size_t)data[3] << 8;
        const size_t payload = wanted < size - 4 ? wanted : size - 4;
        number += data[0] >> 4;
        const aq_record record = {
            .kind = data[0] & 7,
            .flags = data[1] & 1,
            .size = (uint32_t)payload,
            .unpacked_size = (uint32_t)(data[1] >> 1) * 64,
            .number = number,
            .payload_crc = aq_crc32c(0, data + 4, payload),
        };
        aq_record_encode(&record, aq_record_salt(STORE, SEGMENT), out + end);
        memcpy(out + end + AQ_RECORD_HEADER_BYTES, data + 4, payload);
        end += AQ_RECORD_HEADER_BYTES + payload;
        data += 4 + payload;
        size -= 4 + payload;
    }
    return end;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t made[BYTES_MAX];
    if (size > BYTES_MAX / 2) {
        return 0;
    }
    prepare();
    recover(data, size);
    recover(made, make_records(data, size, made));
    return 0;
}
