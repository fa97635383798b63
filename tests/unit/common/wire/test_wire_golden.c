/*
 * The bytes of one frame of each kind, as they were when the format was fixed: today's encoder
 * gives the same ones, and today's decoder reads them. A change of format is a diff of
 * tests/golden/wire.
 *
 * AQ_WRITE_GOLDEN=1 writes the files anew.
 */
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_policy.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/policy_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"

enum { LINE_BYTES = 32, FILE_BYTES_MAX = 1 << 16 };

static void to_hex(const aq_buffer *frame, aq_buffer *out)
{
    char digits[3];
    for (size_t i = 0; i < frame->size; i++) {
        snprintf(digits, sizeof(digits), "%02x", frame->data[i]);
        assert_int_equal(aq_buffer_append(out, digits, 2), 0);
        if (i % LINE_BYTES == LINE_BYTES - 1 || i + 1 == frame->size) {
            assert_int_equal(aq_buffer_append(out, "\n", 1), 0);
        }
    }
}

static void write_golden(const char *path, const aq_buffer *frame)
{
    aq_buffer *hex = buffer_up_to(FILE_BYTES_MAX);
    to_hex(frame, hex);
    file_put(path, hex->data, hex->size);
}

static uint8_t hex_digit(uint8_t digit)
{
    const char *digits = "0123456789abcdef";
    const char *at = strchr(digits, digit);
    assert_true(digit != '\0' && at != NULL);
    return (uint8_t)(at - digits);
}

static const char *golden_path(const char *name)
{
    return file_in(AQ_GOLDEN_DIR "/wire", name);
}

static const aq_buffer *read_golden(const char *name)
{
    const aq_buffer *hex = file_bytes(golden_path(name));
    aq_buffer *out = buffer_up_to(FILE_BYTES_MAX);
    for (size_t i = 0; i + 1 < hex->size; i++) {
        if (hex->data[i] == '\n') {
            continue;
        }
        uint8_t byte = (uint8_t)(hex_digit(hex->data[i]) << 4 | hex_digit(hex->data[i + 1]));
        assert_int_equal(aq_buffer_append(out, &byte, 1), 0);
        i++;
    }
    return out;
}

static void assert_golden(const char *name, const aq_buffer *frame)
{
    if (getenv("AQ_WRITE_GOLDEN") != NULL) {
        write_golden(golden_path(name), frame);
    }
    assert_same_buffers(frame, read_golden(name));
}

TEST(an_experience_frame_has_not_changed)
{
    aq_layout layout;
    aq_experience experience;
    aq_arrival *read;
    fixture_layout(&layout);
    fixture_experience(&experience);
    aq_buffer *frame = buffer_up_to(FILE_BYTES_MAX);
    assert_int_equal(aq_wire_experience_pack(&experience, &layout, frame), 0);
    assert_golden("experience.hex", frame);
    aq_lease *lease = fixture_lease(frame->data, frame->size);
    assert_int_equal(aq_wire_experience_arrive(lease, false, FIXTURE_RUN, &layout, &read, NULL), 0);
    aq_lease_unref(lease);
    assert_true(read->seq == 41 && read->chunk_count == 2);
    assert_true(read->chunks[1].terminated == 1);
    assert_int_equal(aq_chunk_view_version(&read->chunks[1], 3), 303);
    experience_fini(&experience);
    aq_arrival_unref(read);
}

TEST(a_policy_frame_has_not_changed)
{
    aq_snapshot *snapshot = fixture_snapshot();
    aq_snapshot *read;
    aq_buffer *frame = buffer_up_to(FILE_BYTES_MAX);
    assert_int_equal(aq_wire_policy_pack(snapshot, frame), 0);
    assert_golden("policy.hex", frame);
    assert_int_equal(aq_wire_policy_unpack(frame->data, frame->size, &read, NULL), 0);
    assert_true(read->version == 17);
    assert_int_equal(read->layers[0].format, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(read->layers[1].format, AQ_FORMAT_F32);
    assert_int_equal(((const int8_t *)read->layers[0].weights)[0], 127);
    aq_snapshot_unref(read);
}

TEST(a_policy_delta_has_not_changed)
{
    aq_rng rng;
    aq_rng_init(&rng, 1, 1);
    aq_snapshot *base = fixture_snapshot();
    aq_snapshot *next = policy_trained(&rng, base, 0.5);
    aq_snapshot *read;
    aq_wire_delta *delta;
    aq_buffer *frame = buffer_up_to(FILE_BYTES_MAX);
    assert_int_equal(aq_wire_delta_pack(base, next, frame), 0);
    assert_golden("policy_delta.hex", frame);
    assert_int_equal(aq_wire_delta_open(frame->data, frame->size, &delta, NULL), 0);
    assert_int_equal(aq_wire_delta_apply(delta, base, &read, NULL), 0);
    assert_same_policy(next, read);
    aq_wire_delta_close(delta);
    aq_snapshot_unref(next);
    aq_snapshot_unref(read);
}

TEST(a_checkpoint_has_not_changed)
{
    aq_checkpoint checkpoint, read;
    fixture_checkpoint(&checkpoint);
    checkpoint.best_policy = fixture_snapshot();
    aq_buffer *frame = buffer_up_to(FILE_BYTES_MAX);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, frame), 0);
    assert_golden("checkpoint.hex", frame);
    assert_int_equal(aq_wire_checkpoint_unpack(frame->data, frame->size, &read, NULL), 0);
    assert_true(read.learner_step == 1800 && read.best_policy->version == 17);
    aq_checkpoint_fini(&read);
}
