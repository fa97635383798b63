/*
 * Segment format: the bytes of a store folder's files, all numbers little-endian.
 *
 * A file begins with a header that says what it is, of which store and, for a segment, which one.
 * Then records follow, each with a header of its own. That header has a check sum of its own too,
 * so that its length can be trusted before the payload is looked at; where it can't, the next
 * record is found by searching for a header that holds. Check sums of record headers begin with the
 * store and the number of the file, so that a piece of another segment inside a payload is never
 * taken for a record.
 *
 *   file header, 40 bytes             record header, 32 bytes
 *   0   magic "AqSegmnt"              0   magic 9e 41 51 52
 *   8   u32 format version            4   u8 kind, u8 flags, u16 zero
 *   12  u32 kind of file              8   u32 bytes of the payload
 *   16  u64 store                     12  u32 bytes of the payload when unpacked
 *   24  u64 number                    16  u64 number
 *   32  u32 zero                      24  u32 crc32c of the payload
 *   36  u32 crc32c of the above       28  u32 crc32c of the above, salted
 *
 * Pure functions, no state. Any thread.
 */
#ifndef AQ_REPLAY_DISK_SEGMENT_FORMAT_H
#define AQ_REPLAY_DISK_SEGMENT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "replay/disk/replay_log.h"

enum {
    AQ_SEGMENT_VERSION = 1,
    AQ_FILE_HEADER_BYTES = 40,
    AQ_RECORD_HEADER_BYTES = 32,
    AQ_FILE_FRONT_BYTES = AQ_FILE_HEADER_BYTES + AQ_RECORD_HEADER_BYTES,
    AQ_RECORD_BYTES_MAX = 1 << 30 /* of a payload; a snapshot's may be larger */
};

enum aq_store_file_kind {
    AQ_STORE_FILE_IDENTITY = 1,
    AQ_STORE_FILE_SEGMENT = 2,
    AQ_STORE_FILE_SNAPSHOT = 3
};

typedef struct aq_file_header {
    uint32_t kind;
    uint64_t store;
    uint64_t number; /* of the segment; 0 in the other kinds */
} aq_file_header;

void aq_file_header_encode(const aq_file_header *header, uint8_t bytes[AQ_FILE_HEADER_BYTES]);

/* AQ_E_FOREIGN: no such file of ours begins like this. AQ_E_CORRUPT: one of ours, damaged.
 * AQ_E_VERSION, in words about `path`: of a version that is not read here. `size` may be
 * anything. */
int aq_file_header_decode(const uint8_t *bytes, size_t size, const char *path,
                          aq_file_header *ret_header, aq_error *error) AQ_MUST_USE;

enum aq_record_kind {
    AQ_RECORD_IDENTITY = 1, /* what the store is of */
    AQ_RECORD_HEAD = 2,     /* `number`: of the first frame to come */
    AQ_RECORD_FRAME = 3,    /* `number`: the record's, as the log counts */
    AQ_RECORD_DROP = 4,     /* `number`: of a segment that is not needed any more; no payload */
    AQ_RECORD_SNAPSHOT = 5  /* `number`: every record up to this one was durable */
};

enum { AQ_RECORD_ZSTD = 1 }; /* flags: the payload is a zstd frame */

typedef struct aq_record {
    uint8_t kind;
    uint8_t flags;
    uint32_t size;          /* of the payload in the file */
    uint32_t unpacked_size; /* `size` where it isn't packed */
    uint64_t number;
    uint32_t payload_crc;
} aq_record;

uint32_t aq_record_salt(uint64_t store, uint64_t file_number);
void aq_record_encode(const aq_record *record, uint32_t salt,
                      uint8_t bytes[AQ_RECORD_HEADER_BYTES]);
bool aq_record_decode(const uint8_t bytes[AQ_RECORD_HEADER_BYTES], uint32_t salt,
                      aq_record *ret_record);

/* What stands before the payload of a file's first record, which is not packed. */
void aq_file_front_encode(const aq_file_header *header, enum aq_record_kind kind, uint64_t number,
                          const uint8_t *payload, uint32_t size,
                          uint8_t bytes[AQ_FILE_FRONT_BYTES]);

/* ---- the payload of a segment's head -------------------------------------------------------- */

/* Besides what the log's user keeps there, the older segments that are not noted to be dropped, so
 * that a missing one can be told from one that was dropped. */
typedef struct aq_segment_head {
    aq_log_head log;
    uint64_t live_count;
    const uint64_t *live; /* [live_count] */
} aq_segment_head;

/* AQ_E_NOMEM, AQ_E_TOO_BIG as of `out`. */
int aq_segment_head_encode(const aq_segment_head *head, aq_buffer *out) AQ_MUST_USE;

/* Both lists lie in one block, `*ret_block`, aq_free. AQ_E_CORRUPT, AQ_E_NOMEM. */
int aq_segment_head_decode(const uint8_t *bytes, size_t size, aq_segment_head *ret_head,
                           void **ret_block) AQ_MUST_USE;

/* ---- scanning ------------------------------------------------------------------------------- */

enum aq_scan_kind {
    AQ_SCAN_RECORD,  /* whole, its check sums hold */
    AQ_SCAN_PAYLOAD, /* damaged: a record whose payload is not what was written */
    AQ_SCAN_LOST,    /* damaged: no record begins here; one was found `size` bytes further */
    AQ_SCAN_TORN,    /* from here to the end of the file there is no whole record */
    AQ_SCAN_END
};

typedef struct aq_scan_step {
    enum aq_scan_kind kind;
    size_t offset;
    size_t size;            /* bytes of the file that it covers */
    aq_record record;       /* of RECORD and PAYLOAD */
    const uint8_t *payload; /* of RECORD and PAYLOAD */
} aq_scan_step;

/* The next thing in `bytes` at or after `offset`; go on at step.offset + step.size. */
aq_scan_step aq_segment_scan(const uint8_t *bytes, size_t size, uint32_t salt, size_t offset);

#endif
