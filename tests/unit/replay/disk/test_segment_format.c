/*
 * Headers and heads read back as they were written, and nothing else is read as one; a scan finds
 * every record that damage has left.
 */
#include "common/base/crc32c.h"
#include "replay/disk/segment_format.h"
#include "tests/support/test.h"

enum { STORE = 42, SEGMENT = 3, RECORDS = 5, BYTES_MAX = 2000 };

static uint8_t bytes[BYTES_MAX];
static size_t starts[RECORDS + 1]; /* of the records, and the end */
static uint32_t salt;

/* Records of 0, 17, 34, ... bytes, as many as there are. */
static int set_up(void **state)
{
    (void)state;
    size_t at = 0;
    salt = aq_record_salt(STORE, SEGMENT);
    aq_rng rng = rng_of(1, 0);
    for (uint32_t i = 0; i < RECORDS; i++) {
        aq_record record = {
            .kind = AQ_RECORD_FRAME,
            .size = 17 * i,
            .unpacked_size = 17 * i,
            .number = i + 1,
        };
        uint8_t *payload = bytes + at + AQ_RECORD_HEADER_BYTES;
        for (uint32_t b = 0; b < record.size; b++) {
            payload[b] = (uint8_t)aq_rng_next(&rng);
        }
        record.payload_crc = aq_crc32c(0, payload, record.size);
        aq_record_encode(&record, salt, bytes + at);
        starts[i] = at;
        at += AQ_RECORD_HEADER_BYTES + record.size;
    }
    starts[RECORDS] = at;
    return 0;
}

/* Which records a scan of the first `size` bytes finds; what it covers must be all of it. */
static uint32_t scan(size_t size, uint32_t *ret_damages)
{
    uint32_t found = 0;
    size_t offset = 0;
    *ret_damages = 0;
    for (;;) {
        const aq_scan_step step = aq_segment_scan(bytes, size, salt, offset);
        assert_int_equal(step.offset, offset);
        if (step.kind == AQ_SCAN_END) {
            assert_int_equal(offset, size);
            return found;
        }
        assert_true(step.size > 0);
        if (step.kind == AQ_SCAN_RECORD) {
            assert_in_range(step.record.number, 1, RECORDS);
            assert_int_equal(step.offset, starts[step.record.number - 1]);
            assert_ptr_equal(step.payload, bytes + offset + AQ_RECORD_HEADER_BYTES);
            found |= UINT32_C(1) << (step.record.number - 1);
        } else {
            *ret_damages += 1;
        }
        offset += step.size;
    }
}

enum { ALL = (1 << RECORDS) - 1 };

TEST_WITH(a_record_header_reads_back, set_up, NULL)
{
    const aq_record record = {
        .kind = AQ_RECORD_SNAPSHOT,
        .flags = 0x81,
        .size = 0x89abcdef,
        .unpacked_size = 0xfedcba98,
        .number = UINT64_C(0x0123456789abcdef),
        .payload_crc = 0xdeadbeef,
    };
    uint8_t header[AQ_RECORD_HEADER_BYTES];
    aq_record read = {0};
    aq_record_encode(&record, 5, header);
    assert_true(aq_record_decode(header, 5, &read));
    assert_int_equal(read.kind, record.kind);
    assert_int_equal(read.flags, record.flags);
    assert_int_equal(read.size, record.size);
    assert_int_equal(read.unpacked_size, record.unpacked_size);
    assert_int_equal(read.number, record.number);
    assert_int_equal(read.payload_crc, record.payload_crc);
    assert_false(aq_record_decode(header, 6, &read));
}

TEST_WITH(record_headers_of_other_files_do_not_hold, set_up, NULL)
{
    aq_record record;
    assert_true(aq_record_decode(bytes, aq_record_salt(STORE, SEGMENT), &record));
    assert_false(aq_record_decode(bytes, aq_record_salt(STORE, SEGMENT + 1), &record));
    assert_false(aq_record_decode(bytes, aq_record_salt(STORE + 1, SEGMENT), &record));
}

TEST_WITH(a_file_header_reads_back_and_its_damage_is_told, set_up, NULL)
{
    const aq_file_header header = {
        .kind = AQ_STORE_FILE_SEGMENT,
        .store = UINT64_MAX - 1,
        .number = UINT64_C(1) << 40,
    };
    uint8_t good[AQ_FILE_HEADER_BYTES];
    aq_file_header read = {0};
    aq_file_header_encode(&header, good);
    assert_int_equal(aq_file_header_decode(good, sizeof(good), "f", &read, NULL), 0);
    assert_int_equal(read.kind, header.kind);
    assert_int_equal(read.store, header.store);
    assert_int_equal(read.number, header.number);
    for (size_t i = 0; i < sizeof(good); i++) {
        good[i] ^= 0x10;
        assert_int_equal(aq_file_header_decode(good, sizeof(good), "f", &read, NULL), AQ_E_CORRUPT);
        good[i] ^= 0x10;
    }
    for (size_t size = 0; size < sizeof(good); size++) {
        assert_int_equal(aq_file_header_decode(good, size, "f", &read, NULL), AQ_E_FOREIGN);
    }
    memset(good, 'x', sizeof(good));
    assert_int_equal(aq_file_header_decode(good, sizeof(good), "f", &read, NULL), AQ_E_FOREIGN);
}

TEST_WITH(a_newer_file_header_tells_its_version, set_up, NULL)
{
    const aq_file_header header = {.kind = AQ_STORE_FILE_SEGMENT};
    uint8_t newer[AQ_FILE_HEADER_BYTES];
    aq_file_header read;
    aq_file_header_encode(&header, newer);
    newer[8] = AQ_SEGMENT_VERSION + 1;
    const uint32_t crc = aq_crc32c(0, newer, 36);
    for (int i = 0; i < 4; i++) {
        newer[36 + i] = (uint8_t)(crc >> (8 * i));
    }
    assert_int_equal(aq_file_header_decode(newer, sizeof(newer), "here/store", &read, &refusal),
                     AQ_E_VERSION);
    assert_string_equal(refusal.text, "here/store: of format version 2; this program reads 1");
}

TEST_WITH(the_bytes_of_version_1_stay_as_they_are, set_up, NULL)
{
    static const char expected[] =
        "41715365676d6e7401000000020000000807060504030201"
        "0500000000000000000000002d9d5675"
        "9e4151520301000064000000c80000000900000000000000efbeadde8410b001";
    const aq_file_header file = {
        .kind = AQ_STORE_FILE_SEGMENT,
        .store = UINT64_C(0x0102030405060708),
        .number = 5,
    };
    const aq_record record = {
        .kind = AQ_RECORD_FRAME,
        .flags = AQ_RECORD_ZSTD,
        .size = 100,
        .unpacked_size = 200,
        .number = 9,
        .payload_crc = 0xdeadbeef,
    };
    uint8_t written[AQ_FILE_HEADER_BYTES + AQ_RECORD_HEADER_BYTES];
    char hex[2 * sizeof(written) + 1];
    aq_file_header_encode(&file, written);
    aq_record_encode(&record, aq_record_salt(file.store, file.number),
                     written + AQ_FILE_HEADER_BYTES);
    for (size_t i = 0; i < sizeof(written); i++) {
        snprintf(hex + 2 * i, 3, "%02x", written[i]);
    }
    assert_string_equal(hex, expected);
}

TEST_WITH(a_head_reads_back, set_up, NULL)
{
    const aq_log_mark marks[2] = {{1, 2, 3, 4}, {5, 6, 7, UINT64_MAX}};
    const uint64_t live[3] = {8, 9, 10};
    const aq_segment_head head = {
        .log = {.inserted = 11, .mark_count = 2, .marks = marks},
        .live_count = 3,
        .live = live,
    };
    aq_segment_head read;
    aq_buffer *out = buffer_up_to(1000);
    void *block;
    assert_int_equal(aq_segment_head_encode(&head, out), 0);
    assert_int_equal(aq_segment_head_decode(out->data, out->size, &read, &block), 0);
    assert_int_equal(read.log.inserted, 11);
    assert_int_equal(read.log.mark_count, 2);
    assert_memory_equal(read.log.marks, marks, sizeof(marks));
    assert_int_equal(read.live_count, 3);
    assert_memory_equal(read.live, live, sizeof(live));
    aq_free(block);
    for (size_t size = 0; size < out->size; size++) {
        assert_int_equal(aq_segment_head_decode(out->data, size, &read, &block), AQ_E_CORRUPT);
    }
    memset(out->data + 8, 0xff, 16); /* counts whose bytes would wrap round */
    assert_int_equal(aq_segment_head_decode(out->data, out->size, &read, &block), AQ_E_CORRUPT);
}

TEST_WITH(a_scan_finds_every_record, set_up, NULL)
{
    uint32_t damages;
    assert_int_equal(scan(starts[RECORDS], &damages), ALL);
    assert_int_equal(damages, 0);
}

TEST_WITH(a_flipped_byte_costs_its_record_alone, set_up, NULL)
{
    uint32_t damages;
    uint32_t record = 0;
    for (size_t i = 0; i < starts[RECORDS]; i++) {
        record += i == starts[record + 1];
        for (int bit = 0; bit < 8; bit += 7) {
            bytes[i] ^= (uint8_t)(1 << bit);
            assert_int_equal(scan(starts[RECORDS], &damages), ALL & ~(1 << record));
            assert_int_equal(damages, 1);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    }
}

TEST_WITH(a_file_cut_anywhere_keeps_its_whole_records, set_up, NULL)
{
    for (size_t size = 0; size <= starts[RECORDS]; size++) {
        uint32_t damages;
        uint32_t whole = 0;
        while (whole < RECORDS && starts[whole + 1] <= size) {
            whole++;
        }
        assert_int_equal(scan(size, &damages), (1 << whole) - 1);
        assert_int_equal(damages, size != starts[whole]);
    }
}

TEST_WITH(bytes_between_records_are_passed_over, set_up, NULL)
{
    uint32_t damages;
    memset(bytes + starts[1], 0, starts[3] - starts[1]);
    bytes[starts[2]] = 0x9e; /* what a header begins with */
    assert_int_equal(scan(starts[RECORDS], &damages), ALL & ~6);
    assert_int_equal(damages, 1);
}

TEST_WITH(a_record_inside_a_payload_is_not_one, set_up, NULL)
{
    uint32_t damages;
    uint8_t piece[2 * AQ_RECORD_HEADER_BYTES];
    const aq_record inner = {.kind = AQ_RECORD_FRAME, .number = 3};
    aq_record_encode(&inner, aq_record_salt(STORE, SEGMENT + 1), piece);
    memcpy(bytes + starts[4] + AQ_RECORD_HEADER_BYTES, piece, AQ_RECORD_HEADER_BYTES);
    bytes[starts[4]] ^= 1; /* and the header around it is damaged */
    assert_int_equal(scan(starts[RECORDS], &damages), ALL & ~16);
    assert_int_equal(damages, 1);
}
