/*
 * The bytes of segments. Headers are put together and taken apart byte by byte, so that a store
 * moves between machines of either byte order.
 */
#include "replay/disk/segment_format.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/little_endian.h"
#include "common/base/memory.h"

static const uint8_t FILE_MAGIC[8] = {'A', 'q', 'S', 'e', 'g', 'm', 'n', 't'};
static const uint8_t RECORD_MAGIC[4] = {0x9e, 'A', 'Q', 'R'};

enum { HEAD_NUMBERS = 3, MARK_NUMBERS = 4 };

/* ---- headers -------------------------------------------------------------------------------- */

void aq_file_header_encode(const aq_file_header *header, uint8_t bytes[AQ_FILE_HEADER_BYTES])
{
    memcpy(bytes, FILE_MAGIC, sizeof(FILE_MAGIC));
    aq_u32_put(bytes + 8, AQ_SEGMENT_VERSION);
    aq_u32_put(bytes + 12, header->kind);
    aq_u64_put(bytes + 16, header->store);
    aq_u64_put(bytes + 24, header->number);
    aq_u32_put(bytes + 32, 0);
    aq_u32_put(bytes + 36, aq_crc32c(0, bytes, 36));
}

int aq_file_header_decode(const uint8_t *bytes, size_t size, const char *path,
                          aq_file_header *ret_header, aq_error *error)
{
    if (size < AQ_FILE_HEADER_BYTES) {
        return AQ_E_FOREIGN;
    }
    /* With the magic that it should have: damage of that alone is damage. */
    const uint32_t crc = aq_crc32c(aq_crc32c(0, FILE_MAGIC, sizeof(FILE_MAGIC)), bytes + 8, 28);
    const bool crc_holds = aq_u32_get(bytes + 36) == crc;
    const bool magic_holds = memcmp(bytes, FILE_MAGIC, sizeof(FILE_MAGIC)) == 0;
    if (!crc_holds || !magic_holds) {
        return crc_holds || magic_holds ? AQ_E_CORRUPT : AQ_E_FOREIGN;
    }
    const uint32_t version = aq_u32_get(bytes + 8);
    if (version != AQ_SEGMENT_VERSION) {
        return aq_fail(error, AQ_E_VERSION,
                       "%s: of format version %" PRIu32 "; this program reads %d", path, version,
                       AQ_SEGMENT_VERSION);
    }
    *ret_header = (aq_file_header){
        .kind = aq_u32_get(bytes + 12),
        .store = aq_u64_get(bytes + 16),
        .number = aq_u64_get(bytes + 24),
    };
    return 0;
}

uint32_t aq_record_salt(uint64_t store, uint64_t file_number)
{
    uint8_t bytes[16];
    aq_u64_put(bytes, store);
    aq_u64_put(bytes + 8, file_number);
    return aq_crc32c(0, bytes, sizeof(bytes));
}

void aq_record_encode(const aq_record *record, uint32_t salt, uint8_t bytes[AQ_RECORD_HEADER_BYTES])
{
    memcpy(bytes, RECORD_MAGIC, sizeof(RECORD_MAGIC));
    bytes[4] = record->kind;
    bytes[5] = record->flags;
    bytes[6] = 0;
    bytes[7] = 0;
    aq_u32_put(bytes + 8, record->size);
    aq_u32_put(bytes + 12, record->unpacked_size);
    aq_u64_put(bytes + 16, record->number);
    aq_u32_put(bytes + 24, record->payload_crc);
    aq_u32_put(bytes + 28, aq_crc32c(salt, bytes, 28));
}

bool aq_record_decode(const uint8_t bytes[AQ_RECORD_HEADER_BYTES], uint32_t salt,
                      aq_record *ret_record)
{
    if (memcmp(bytes, RECORD_MAGIC, sizeof(RECORD_MAGIC)) != 0 ||
        aq_u32_get(bytes + 28) != aq_crc32c(salt, bytes, 28)) {
        return false;
    }
    *ret_record = (aq_record){
        .kind = bytes[4],
        .flags = bytes[5],
        .size = aq_u32_get(bytes + 8),
        .unpacked_size = aq_u32_get(bytes + 12),
        .number = aq_u64_get(bytes + 16),
        .payload_crc = aq_u32_get(bytes + 24),
    };
    return true;
}

void aq_file_front_encode(const aq_file_header *header, enum aq_record_kind kind, uint64_t number,
                          const uint8_t *payload, uint32_t size, uint8_t bytes[AQ_FILE_FRONT_BYTES])
{
    const aq_record record = {
        .kind = (uint8_t)kind,
        .size = size,
        .unpacked_size = size,
        .number = number,
        .payload_crc = aq_crc32c(0, payload, size),
    };
    aq_file_header_encode(header, bytes);
    aq_record_encode(&record, aq_record_salt(header->store, header->number),
                     bytes + AQ_FILE_HEADER_BYTES);
}

/* ---- heads ---------------------------------------------------------------------------------- */

static size_t head_bytes(uint64_t mark_count, uint64_t live_count)
{
    return (HEAD_NUMBERS + MARK_NUMBERS * mark_count + live_count) * sizeof(uint64_t);
}

int aq_segment_head_encode(const aq_segment_head *head, aq_buffer *out)
{
    uint8_t *bytes;
    int rc = aq_buffer_extend(out, head_bytes(head->log.mark_count, head->live_count), &bytes);
    if (rc != 0) {
        return rc;
    }
    aq_u64_put(bytes, head->log.inserted);
    aq_u64_put(bytes + 8, head->log.mark_count);
    aq_u64_put(bytes + 16, head->live_count);
    bytes += HEAD_NUMBERS * sizeof(uint64_t);
    for (uint64_t i = 0; i < head->log.mark_count; i++) {
        aq_u64_put(bytes, head->log.marks[i].actor);
        aq_u64_put(bytes + 8, head->log.marks[i].incarnation);
        aq_u64_put(bytes + 16, head->log.marks[i].acknowledged);
        aq_u64_put(bytes + 24, head->log.marks[i].transitions);
        bytes += MARK_NUMBERS * sizeof(uint64_t);
    }
    for (uint64_t i = 0; i < head->live_count; i++) {
        aq_u64_put(bytes + i * sizeof(uint64_t), head->live[i]);
    }
    return 0;
}

int aq_segment_head_decode(const uint8_t *bytes, size_t size, aq_segment_head *ret_head,
                           void **ret_block)
{
    if (size < head_bytes(0, 0)) {
        return AQ_E_CORRUPT;
    }
    const uint64_t mark_count = aq_u64_get(bytes + 8);
    const uint64_t live_count = aq_u64_get(bytes + 16);
    /* Each alone first, or their sum could wrap round to the size. */
    if (mark_count > size || live_count > size || size != head_bytes(mark_count, live_count)) {
        return AQ_E_CORRUPT;
    }
    aq_log_mark *marks = aq_alloc(1, size);
    if (marks == NULL) {
        return AQ_E_NOMEM;
    }
    uint64_t *live = (uint64_t *)(void *)(marks + mark_count);
    const uint8_t *from = bytes + HEAD_NUMBERS * sizeof(uint64_t);
    for (uint64_t i = 0; i < mark_count; i++) {
        marks[i] = (aq_log_mark){
            .actor = aq_u64_get(from),
            .incarnation = aq_u64_get(from + 8),
            .acknowledged = aq_u64_get(from + 16),
            .transitions = aq_u64_get(from + 24),
        };
        from += MARK_NUMBERS * sizeof(uint64_t);
    }
    for (uint64_t i = 0; i < live_count; i++) {
        live[i] = aq_u64_get(from + i * sizeof(uint64_t));
    }
    *ret_head = (aq_segment_head){
        .log = {.inserted = aq_u64_get(bytes), .mark_count = mark_count, .marks = marks},
        .live_count = live_count,
        .live = live,
    };
    *ret_block = marks;
    return 0;
}

/* ---- scanning ------------------------------------------------------------------------------- */

static bool fits(size_t size, size_t offset, const aq_record *record)
{
    return record->size <= size - offset - AQ_RECORD_HEADER_BYTES;
}

/* Where the next header that holds begins, from `offset` on; `size` if there is none. */
static size_t find_header(const uint8_t *bytes, size_t size, uint32_t salt, size_t offset)
{
    aq_record record;
    while (size - offset >= AQ_RECORD_HEADER_BYTES) {
        const size_t starts = size - offset - AQ_RECORD_HEADER_BYTES + 1;
        const uint8_t *found = memchr(bytes + offset, RECORD_MAGIC[0], starts);
        if (found == NULL) {
            break;
        }
        offset = (size_t)(found - bytes);
        if (aq_record_decode(found, salt, &record) && fits(size, offset, &record)) {
            return offset;
        }
        offset++;
    }
    return size;
}

aq_scan_step aq_segment_scan(const uint8_t *bytes, size_t size, uint32_t salt, size_t offset)
{
    AQ_ASSERT(offset <= size);
    aq_scan_step step = {.kind = AQ_SCAN_END, .offset = offset};
    if (offset == size) {
        return step;
    }
    const bool has_header = size - offset >= AQ_RECORD_HEADER_BYTES &&
                            aq_record_decode(bytes + offset, salt, &step.record);
    if (!has_header) {
        const size_t next = find_header(bytes, size, salt, offset + 1);
        step.kind = next < size ? AQ_SCAN_LOST : AQ_SCAN_TORN;
        step.size = next - offset;
        return step;
    }
    if (!fits(size, offset, &step.record)) {
        step.kind = AQ_SCAN_TORN;
        step.size = size - offset;
        return step;
    }
    step.payload = bytes + offset + AQ_RECORD_HEADER_BYTES;
    step.size = AQ_RECORD_HEADER_BYTES + (size_t)step.record.size;
    step.kind = aq_crc32c(0, step.payload, step.record.size) == step.record.payload_crc
                    ? AQ_SCAN_RECORD
                    : AQ_SCAN_PAYLOAD;
    return step;
}
