/*
 * The scan tells the fields that are there, refuses what is no protobuf, and never reads past the
 * end: each message lies in a block of exactly its size.
 */
#include "common/net/rpc/wire_scan.h"
#include "tests/support/test.h"

typedef struct scanned {
    int rc; /* of the last step */
    uint32_t count;
    aq_wire_field fields[8];
} scanned;

static scanned scan_all(const uint8_t *bytes, size_t size)
{
    scanned all = {.count = 0};
    uint8_t *exact = malloc(size);
    memcpy(exact, bytes, size);
    aq_wire_scan scan = aq_wire_scan_of(exact, size);
    while (all.count < 8 && (all.rc = aq_wire_scan_next(&scan, &all.fields[all.count])) > 0) {
        all.count++;
    }
    free(exact);
    return all;
}

#define SCAN(...) scan_all((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

TEST(each_kind_of_field_is_read)
{
    scanned all = SCAN(0x08, 0x96, 0x01,                 /* 1: 150 */
                       0x11, 8, 7, 6, 5, 4, 3, 2, 1,     /* 2: fixed64 */
                       0x1d, 4, 3, 2, 1,                 /* 3: fixed32 */
                       0x22, 3, 'a', 'b', 'c',           /* 4: bytes */
                       0xf8, 0xff, 0xff, 0xff, 0x0f, 5); /* the largest number */
    assert_int_equal(all.rc, 0);
    assert_int_equal(all.count, 5);
    assert_true(all.fields[0].number == 1 && all.fields[0].type == AQ_WIRE_VARINT);
    assert_true(all.fields[0].value == 150);
    assert_true(all.fields[1].type == AQ_WIRE_FIXED64);
    assert_true(all.fields[1].value == UINT64_C(0x0102030405060708));
    assert_true(all.fields[2].type == AQ_WIRE_FIXED32 && all.fields[2].value == 0x01020304);
    assert_true(all.fields[3].type == AQ_WIRE_BYTES && all.fields[3].size == 3);
    assert_true(all.fields[4].number == (1u << 29) - 1 && all.fields[4].value == 5);
}

TEST(an_empty_message_has_no_fields)
{
    const uint8_t nothing = 0;
    aq_wire_scan scan = aq_wire_scan_of(&nothing, 0);
    aq_wire_field field;
    assert_int_equal(aq_wire_scan_next(&scan, &field), 0);
}

TEST(the_largest_number_takes_ten_bytes)
{
    scanned all = SCAN(8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
    assert_true(all.rc == 0 && all.count == 1 && all.fields[0].value == UINT64_MAX);
    all = SCAN(8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 1);
    assert_int_equal(all.rc, AQ_E_CORRUPT);
}

TEST(a_field_that_is_cut_off_is_refused)
{
    assert_int_equal(SCAN(0x08).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x08, 0x80).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x88).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x11, 1, 2, 3, 4, 5, 6, 7).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x1d, 1, 2, 3).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x22).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x22, 3, 1, 2).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x22, 0).rc, 0);
}

TEST(a_length_of_gigabytes_is_refused)
{
    assert_int_equal(SCAN(0x22, 0xff, 0xff, 0xff, 0xff, 0x07).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x22, 0xff, 0xff, 0xff, 0xff, 0x7f).rc, AQ_E_CORRUPT);
    assert_int_equal(SCAN(0x22, 0x81, 0x80, 0x80, 0x80, 0x80, 0x00, 1).rc, AQ_E_CORRUPT);
}

TEST(what_no_writer_writes_is_refused)
{
    assert_int_equal(SCAN(0x00, 0x00).rc, AQ_E_CORRUPT);                         /* number 0 */
    assert_int_equal(SCAN(0x0b, 0x0c).rc, AQ_E_CORRUPT);                         /* groups */
    assert_int_equal(SCAN(0x0e, 0x00).rc, AQ_E_CORRUPT);                         /* type 6 */
    assert_int_equal(SCAN(0x0f, 0x00).rc, AQ_E_CORRUPT);                         /* type 7 */
    assert_int_equal(SCAN(0x88, 0x80, 0x80, 0x80, 0x80, 0, 1).rc, AQ_E_CORRUPT); /* long tag */
}

TEST(a_failure_leaves_the_field_untouched)
{
    const uint8_t cut[] = {0x22, 9};
    aq_wire_scan scan = aq_wire_scan_of(cut, sizeof(cut));
    aq_wire_field field = {.number = 77};
    assert_int_equal(aq_wire_scan_next(&scan, &field), AQ_E_CORRUPT);
    assert_int_equal(field.number, 77);
}
