/*
 * Events files are what TensorBoard's reader takes: read back here by the published layout of
 * records and messages, with a checksum of our own, bit by bit.
 */

#include "learner/metrics/tensorboard_events.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/run_dir_fixture.h"

enum { SCALARS_MAX = 600 };

typedef struct read_scalar {
    char tag[160];
    float value;
    uint64_t step;
    double wall_s;
} read_scalar;

typedef struct read_back {
    size_t records;
    char version[32];
    size_t sessions;
    uint64_t session_step;
    read_scalar scalars[SCALARS_MAX];
    size_t count;
} read_back;

static read_back file_of_test;

/* ---- a reader ------------------------------------------------------------------------------- */

static uint32_t masked_crc(const uint8_t *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (crc & 1 ? UINT32_C(0x82f63b78) : 0);
        }
    }
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
}

static uint64_t little(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | bytes[i - 1];
    }
    return value;
}

/* One field of a message: its number, and its value or its bytes. */
typedef struct field {
    uint64_t number;
    uint64_t value;
    const uint8_t *bytes;
    size_t size;
} field;

static uint64_t varint(const uint8_t **at)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            return value;
        }
    }
}

static bool next_field(const uint8_t **at, const uint8_t *end, field *out)
{
    if (*at >= end) {
        return false;
    }
    const uint64_t key = varint(at);
    *out = (field){.number = key >> 3};
    switch (key & 7) {
    case 0:
        out->value = varint(at);
        break;
    case 1:
        out->value = little(*at, 8);
        *at += 8;
        break;
    case 2:
        out->size = (size_t)varint(at);
        out->bytes = *at;
        *at += out->size;
        break;
    case 5:
        out->value = little(*at, 4);
        *at += 4;
        break;
    default:
        fail_msg("wire type %d", (int)(key & 7));
    }
    assert_true(*at <= end);
    return true;
}

static void read_value(read_back *file, const field *value, uint64_t step, double wall_s)
{
    field part;
    const uint8_t *at = value->bytes;
    assert_true(file->count < SCALARS_MAX);
    read_scalar *scalar = &file->scalars[file->count++];
    *scalar = (read_scalar){.step = step, .wall_s = wall_s, .value = -1e30F};
    while (next_field(&at, value->bytes + value->size, &part)) {
        if (part.number == 1) {
            assert_true(part.size < sizeof(scalar->tag));
            memcpy(scalar->tag, part.bytes, part.size);
        } else if (part.number == 2) {
            const uint32_t bits = (uint32_t)part.value;
            memcpy(&scalar->value, &bits, sizeof(bits));
        }
    }
}

static void read_event(read_back *file, const uint8_t *bytes, size_t size)
{
    uint64_t step = 0;
    double wall_s = 0;
    field part, value;
    const uint8_t *at = bytes;
    while (next_field(&at, bytes + size, &part)) {
        if (part.number == 1) {
            memcpy(&wall_s, &part.value, sizeof(wall_s));
        } else if (part.number == 2) {
            step = part.value;
        } else if (part.number == 3) {
            memcpy(file->version, part.bytes, part.size);
        } else if (part.number == 7) {
            file->sessions++;
            file->session_step = step;
            assert_int_equal(part.size, 2); /* status = 1 */
            assert_memory_equal(part.bytes, "\x08\x01", 2);
        } else if (part.number == 5) {
            const uint8_t *in = part.bytes;
            while (next_field(&in, part.bytes + part.size, &value)) {
                assert_int_equal(value.number, 1);
                read_value(file, &value, step, wall_s);
            }
        }
    }
}

/* The newest events file of the folder; every record must be whole. */
static const read_back *read_file(run_dir *dir)
{
    read_back *file = &file_of_test;
    memset(file, 0, sizeof(*file));
    const aq_buffer *bytes = file_bytes(file_last(dir->path, "events.out.tfevents."));
    for (size_t at = 0; at < bytes->size; file->records++) {
        assert_true(at + 12 <= bytes->size);
        const size_t size = (size_t)little(bytes->data + at, 8);
        assert_int_equal(little(bytes->data + at + 8, 4), masked_crc(bytes->data + at, 8));
        assert_true(at + 16 + size <= bytes->size);
        const uint8_t *message = bytes->data + at + 12;
        assert_int_equal(little(message + size, 4), masked_crc(message, size));
        read_event(file, message, size);
        at += 16 + size;
    }
    return file;
}

static aq_tensorboard *open_board(run_dir *dir, bool goes_on)
{
    aq_tensorboard *board = NULL;
    assert_int_equal(aq_tensorboard_open(dir->path, goes_on, &board, NULL), 0);
    return board;
}

/* ---- tests ---------------------------------------------------------------------------------- */

TEST_IN(run_dir, dir, a_new_file_says_its_version)
{
    aq_tensorboard_close(open_board(dir, false));
    const read_back *file = read_file(dir);
    assert_int_equal(file->records, 1);
    assert_string_equal(file->version, "brain.Event:2");
}

TEST_IN(run_dir, dir, scalars_are_read_back)
{
    aq_tensorboard *board = open_board(dir, false);
    aq_tensorboard_scalar(board, "return/int8", 187.5);
    aq_tensorboard_scalar(board, "loss", 0);
    assert_int_equal(aq_tensorboard_write(board, 12345678901, 1700000000500000000, NULL), 0);
    aq_tensorboard_scalar(board, "loss", -0.25);
    assert_int_equal(aq_tensorboard_write(board, 12345678902, 1700000001000000000, NULL), 0);
    aq_tensorboard_close(board);
    const read_back *file = read_file(dir);
    assert_int_equal(file->records, 3);
    assert_int_equal(file->count, 3);
    assert_string_equal(file->scalars[0].tag, "return/int8");
    assert_true(file->scalars[0].value == 187.5F);
    assert_int_equal(file->scalars[0].step, 12345678901);
    assert_true(file->scalars[0].wall_s == 1700000000.5);
    assert_true(file->scalars[1].value == 0); /* a zero is said, too */
    assert_int_equal(file->scalars[2].step, 12345678902);
    assert_int_equal(file->sessions, 0);
}

TEST_IN(run_dir, dir, a_run_that_goes_on_says_where_in_a_file_of_its_own)
{
    aq_tensorboard *first = open_board(dir, false);
    aq_tensorboard *second = open_board(dir, true);
    aq_tensorboard_scalar(second, "loss", 1);
    assert_int_equal(aq_tensorboard_write(second, 700, 1, NULL), 0);
    aq_tensorboard_scalar(second, "loss", 1);
    assert_int_equal(aq_tensorboard_write(second, 800, 2, NULL), 0);
    aq_tensorboard_close(first);
    aq_tensorboard_close(second);
    const read_back *file = read_file(dir);
    assert_int_equal(file->records, 4);
    assert_int_equal(file->sessions, 1);
    assert_int_equal(file->session_step, 700);
}

TEST_IN(run_dir, dir, a_file_sorts_behind_those_that_are_there_whatever_the_clock_says)
{
    file_put(run_dir_path(dir, "events.out.tfevents.9000000000.host.1.0"), "", 0);
    file_put(run_dir_path(dir, "events.out.tfevents."), "", 0); /* says no time */
    aq_tensorboard_close(open_board(dir, true));
    assert_says(file_last(dir->path, "tfevents"), "/events.out.tfevents.9000000001.");
    assert_int_equal(read_file(dir)->records, 1);
}

TEST_IN(run_dir, dir, nothing_gathered_is_no_record)
{
    aq_tensorboard *board = open_board(dir, true);
    assert_int_equal(aq_tensorboard_write(board, 1, 1, NULL), 0);
    aq_tensorboard_close(board);
    assert_int_equal(read_file(dir)->records, 1);
}

TEST_IN(run_dir, dir, more_scalars_than_a_record_takes_are_left_out)
{
    char tag[256];
    aq_tensorboard *board = open_board(dir, false);
    memset(tag, 'x', sizeof(tag));
    tag[sizeof(tag) - 1] = '\0';
    aq_tensorboard_scalar(board, tag, 1);
    for (int i = 0; i < AQ_TENSORBOARD_SCALARS_MAX + 5; i++) {
        (void)snprintf(tag, sizeof(tag), "scalar/%d", i);
        aq_tensorboard_scalar(board, tag, i);
    }
    assert_int_equal(aq_tensorboard_write(board, 1, 1, NULL), 0);
    aq_tensorboard_close(board);
    const read_back *file = read_file(dir);
    assert_int_equal(file->count, AQ_TENSORBOARD_SCALARS_MAX);
    assert_string_equal(file->scalars[0].tag, "scalar/0");
}

/* A limit of file sizes stands for the full disk. */
TEST_IN(run_dir, dir, what_a_full_disk_cuts_short_is_taken_back)
{
    aq_tensorboard *board = open_board(dir, false);
    fixture_limit_file_size(64);
    aq_tensorboard_scalar(board, "a/tag/that/is/long/enough/to/pass/the/limit", 1);
    int rc = aq_tensorboard_write(board, 1, 1, &refusal);
    fixture_limit_file_size(0);
    assert_int_equal(rc, AQ_E_NO_SPACE);
    aq_tensorboard_scalar(board, "loss", 2);
    assert_int_equal(aq_tensorboard_write(board, 2, 2, NULL), 0);
    aq_tensorboard_close(board);
    const read_back *file = read_file(dir);
    assert_int_equal(file->count, 1);
    assert_string_equal(file->scalars[0].tag, "loss");
}

TEST_IN(run_dir, dir, without_memory_or_folder_there_is_no_file)
{
    aq_tensorboard *board = NULL;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        aq_memory_fail_at(nth, 0);
        assert_int_equal(aq_tensorboard_open(dir->path, false, &board, NULL), AQ_E_NOMEM);
        aq_memory_fail_at(0, 0);
    }
    assert_int_equal(aq_tensorboard_open(run_dir_path(dir, "nowhere"), false, &board, &refusal),
                     AQ_E_NOT_FOUND);
    assert_null(board);
    aq_tensorboard_close(NULL);
}
