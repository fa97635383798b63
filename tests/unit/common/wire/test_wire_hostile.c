/*
 * Frames whose check sum is right and whose content is not: cut off anywhere, or with bits flipped.
 * Nothing crashes or leaks, and whatever is accepted is a valid object.
 */
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_delta.h"
#include "common/wire/wire_experience.h"
#include "common/wire/wire_policy.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/policy_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"

/* Decodes a frame; what comes out must be valid. Returns the decoder's code. */
typedef int (*decode_fn)(const aq_buffer *frame);

static int decode_experience(const aq_buffer *frame)
{
    aq_layout layout;
    aq_arrival *arrival;
    aq_lease *lease = fixture_lease(frame->data, frame->size);
    fixture_layout(&layout);
    int rc = aq_wire_experience_arrive(lease, false, FIXTURE_RUN, &layout, &arrival, &refusal);
    aq_lease_unref(lease);
    if (rc != 0) {
        assert_refused(rc, rc, "");
        return rc;
    }
    assert_in_range(arrival->chunk_count, 1, AQ_EXPERIENCE_CHUNKS_MAX);
    for (uint32_t i = 0; i < arrival->chunk_count; i++) {
        assert_int_equal(aq_chunk_view_validate(&arrival->chunks[i], &layout, NULL), 0);
    }
    aq_arrival_unref(arrival);
    return 0;
}

static int decode_policy(const aq_buffer *frame)
{
    aq_snapshot *snapshot;
    int rc = aq_wire_policy_unpack(frame->data, frame->size, &snapshot, &refusal);
    if (rc != 0) {
        assert_refused(rc, rc, "");
        return rc;
    }
    assert_int_equal(aq_snapshot_validate(snapshot, NULL), 0);
    aq_snapshot_unref(snapshot);
    return 0;
}

/* A change of policy_plain. */
static int decode_delta(const aq_buffer *frame)
{
    aq_snapshot *base = policy_plain();
    aq_snapshot *snapshot = NULL;
    aq_wire_delta *delta = NULL;
    refusal = (aq_error){0};
    int rc = aq_wire_delta_open(frame->data, frame->size, &delta, &refusal);
    if (rc == 0) {
        rc = aq_wire_delta_apply(delta, base, &snapshot, &refusal);
    }
    assert_int_equal(refusal.code, rc);
    assert_true(rc != 0 || aq_snapshot_validate(snapshot, NULL) == 0);
    aq_wire_delta_close(delta);
    aq_snapshot_unref(snapshot);
    aq_snapshot_unref(base);
    return rc;
}

static int decode_checkpoint(const aq_buffer *frame)
{
    aq_checkpoint checkpoint;
    aq_buffer again;
    int rc = aq_wire_checkpoint_unpack(frame->data, frame->size, &checkpoint, &refusal);
    if (rc != 0) {
        assert_refused(rc, rc, "");
        return rc;
    }
    assert_int_equal(aq_schema_validate(&checkpoint.schema, NULL), 0);
    assert_true(aq_named_arrays_find(&checkpoint.arrays, "parameters")->count >=
                aq_net_spec_parameters(&checkpoint.spec));
    aq_buffer_init(&again, FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, &again), 0);
    aq_buffer_fini(&again);
    aq_checkpoint_fini(&checkpoint);
    return 0;
}

static void make_experience(aq_buffer *out)
{
    aq_layout layout;
    aq_experience experience;
    fixture_layout(&layout);
    fixture_experience(&experience);
    assert_int_equal(aq_wire_experience_pack(&experience, &layout, out), 0);
    experience_fini(&experience);
}

static void make_policy(aq_buffer *out)
{
    assert_int_equal(aq_wire_policy_pack(fixture_snapshot(), out), 0);
}

static void make_compact_policy(aq_buffer *out)
{
    aq_snapshot *snapshot = policy_plain();
    assert_int_equal(aq_wire_policy_pack_compact(snapshot, out), 0);
    aq_snapshot_unref(snapshot);
}

static void make_delta(aq_buffer *out)
{
    aq_rng rng = rng_of(8, 1);
    aq_snapshot *base = policy_plain();
    aq_snapshot *next = policy_trained(&rng, base, 0.001);
    assert_int_equal(aq_wire_delta_pack(base, next, out), 0);
    aq_snapshot_unref(base);
    aq_snapshot_unref(next);
}

static void make_checkpoint(aq_buffer *out)
{
    aq_checkpoint checkpoint;
    fixture_checkpoint(&checkpoint);
    checkpoint.best_policy = fixture_snapshot();
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, out), 0);
}

typedef struct frame_kind {
    enum aq_frame_kind kind;
    void (*make)(aq_buffer *out);
    decode_fn decode;
} frame_kind;

static const frame_kind kinds[] = {
    {AQ_FRAME_EXPERIENCE, make_experience, decode_experience},
    {AQ_FRAME_POLICY, make_policy, decode_policy},
    {AQ_FRAME_POLICY, make_compact_policy, decode_policy},
    {AQ_FRAME_POLICY_DELTA, make_delta, decode_delta},
    {AQ_FRAME_CHECKPOINT, make_checkpoint, decode_checkpoint},
};

TEST(a_frame_that_was_cut_off_is_refused)
{
    EACH_ROW(k, kinds) {
        aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
        kinds[k].make(frame);
        assert_int_equal(kinds[k].decode(frame), 0);
        for (size_t size = frame->size; size > 0; size--) {
            aq_buffer cut = {.data = frame->data, .size = size - 1, .size_max = size};
            assert_int_not_equal(kinds[k].decode(&cut), 0);
        }
    }
}

TEST(a_payload_that_was_cut_off_gives_nothing_invalid)
{
    EACH_ROW(k, kinds) {
        size_t size;
        aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
        aq_buffer *cut = buffer_up_to(FIXTURE_FRAME_MAX);
        kinds[k].make(frame);
        const uint8_t *payload = fixture_payload(frame, &size);
        for (size_t kept = 0; kept <= size; kept++) {
            fixture_frame(payload, kept, kinds[k].kind, cut);
            int rc = kinds[k].decode(cut);
            assert_true(kept < size || rc == 0);
        }
    }
}

static void flip_bits(aq_rng *rng, const frame_kind *kind, const aq_buffer *frame, uint64_t rounds)
{
    size_t size;
    uint32_t accepted = 0;
    const uint8_t *payload = fixture_payload(frame, &size);
    aq_buffer *flipped = buffer_up_to(FIXTURE_FRAME_MAX);
    for (uint64_t i = 0; i < rounds; i++) {
        fixture_frame(payload, size, kind->kind, flipped);
        for (uint64_t flips = 1 + aq_rng_below(rng, 4); flips > 0; flips--) {
            size_t at = AQ_FRAME_HEADER_BYTES + (size_t)aq_rng_below(rng, size);
            flipped->data[at] ^= (uint8_t)(1u << aq_rng_below(rng, 8));
        }
        aq_frame_end(flipped, 0, kind->kind);
        accepted += kind->decode(flipped) == 0;
    }
    assert_true(accepted > 0); /* numbers were flipped, and not only tags */
}

TEST(flipped_bits_give_nothing_invalid)
{
    aq_rng rng = rng_of(fixture_seed(), 6);
    EACH_ROW(k, kinds) {
        aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
        kinds[k].make(frame);
        flip_bits(&rng, &kinds[k], frame, test_rounds(5000));
    }
}

/* The same field twice, as protobuf allows: parts are merged, and what comes of it is checked. */
TEST(a_payload_sent_twice_in_one_frame_gives_nothing_invalid)
{
    EACH_ROW(k, kinds) {
        size_t size;
        aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
        aq_buffer *twice = buffer_up_to(FIXTURE_FRAME_MAX);
        kinds[k].make(frame);
        const uint8_t *payload = fixture_payload(frame, &size);
        fixture_frame(payload, size, kinds[k].kind, twice);
        assert_int_equal(aq_buffer_append(twice, payload, size), 0);
        aq_frame_end(twice, 0, kinds[k].kind);
        (void)kinds[k].decode(twice);
    }
}

TEST(random_bytes_are_refused)
{
    uint8_t bytes[256];
    aq_rng rng = rng_of(fixture_seed(), 7);
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    const uint64_t rounds = test_rounds(5000);
    for (uint64_t i = 0; i < rounds; i++) {
        size_t size = (size_t)aq_rng_below(&rng, sizeof(bytes));
        for (size_t j = 0; j < size; j++) {
            bytes[j] = (uint8_t)aq_rng_next(&rng);
        }
        for (size_t k = 0; k < 5; k++) {
            fixture_frame(bytes, size, kinds[k].kind, frame);
            assert_int_not_equal(kinds[k].decode(frame), 0);
        }
    }
}
