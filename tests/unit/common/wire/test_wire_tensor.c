/*
 * Tensors: compressed where that pays, bounded where they come in.
 */
#include <zstd.h>

#include "common/wire/wire_tensor.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"
#include "tests/unit/common/wire/wire_random.h"

enum { SIZE = 4096 };

typedef struct fixture {
    aq_tensor_packer packer;
    aq_tensor_reader reader;
    uint8_t bytes[SIZE];
} fixture;

static void fixture_setup(fixture *all)
{
    assert_int_equal(aq_tensor_packer_init(&all->packer, 2 * SIZE, SIZE), 0);
}

static void fixture_teardown(fixture *all)
{
    aq_tensor_packer_fini(&all->packer);
    aq_tensor_reader_fini(&all->reader);
}

TEST(planes_join_to_what_was_split)
{
    static const size_t widths[] = {1, 2, 4};
    uint8_t numbers[4 * 37], planes[4 * 37], joined[4 * 37];
    aq_rng rng = rng_of(fixture_seed(), 1);
    for (size_t i = 0; i < 3; i++) {
        any_bytes(&rng, numbers, sizeof(numbers));
        aq_planes_split(numbers, 37, widths[i], planes);
        aq_planes_join(planes, 37, widths[i], joined);
        assert_memory_equal(numbers, joined, 37 * widths[i]);
        assert_int_equal(planes[1], numbers[widths[i]]);
    }
}

TEST_IN(fixture, all, noise_is_not_compressed)
{
    ProtobufCBinaryData view = {.len = 4711};
    aq_rng rng = rng_of(fixture_seed(), 1);
    any_bytes(&rng, all->bytes, SIZE);
    assert_false(aq_tensor_compress(&all->packer, all->bytes, SIZE, &view));
    assert_int_equal(view.len, 4711); /* and nothing was taken */
    assert_false(aq_tensor_compress(&all->packer, NULL, 0, &view));
}

TEST_IN(fixture, all, what_was_compressed_comes_back)
{
    ProtobufCBinaryData view, second;
    for (size_t i = 0; i < SIZE; i++) {
        all->bytes[i] = (uint8_t)(i % 7 == 0);
    }
    assert_true(aq_tensor_compress(&all->packer, all->bytes, SIZE, &view));
    assert_true(view.len < SIZE / 8);
    memset(all->packer.scratch, 9, 100);
    aq_tensor_keep(&all->packer, all->packer.scratch, 100, &second);
    assert_ptr_equal(second.data, view.data + view.len);

    uint8_t read[SIZE];
    assert_succeeds(aq_tensor_check(&view, true, "it", SIZE, 1, &refusal));
    assert_succeeds(aq_tensor_read(&all->reader, &view, true, "it", SIZE, 1, read, &refusal));
    assert_memory_equal(read, all->bytes, SIZE);
    assert_int_equal(second.data[99], 9);
}

TEST_IN(fixture, all, a_claim_of_another_size_is_refused)
{
    uint8_t frame[SIZE];
    ProtobufCBinaryData data = {.data = frame};
    data.len = ZSTD_compress(frame, sizeof(frame), all->bytes, 1000, 1);
    assert_succeeds(aq_tensor_check(&data, true, "scale", 500, 2, &refusal));
    assert_int_equal(aq_tensor_check(&data, true, "scale", 250, 2, &refusal), AQ_E_CORRUPT);
    assert_string_equal(refusal.text, "scale is 1000 bytes long, not 250 times 2");
    data.len = 3;
    assert_refused(aq_tensor_check(&data, true, "scale", 500, 2, &refusal), AQ_E_CORRUPT,
                   "no zstd frame");
    data.len = 0;
    assert_int_equal(aq_tensor_check(&data, true, "scale", 0, 2, &refusal), AQ_E_CORRUPT);
}

TEST_IN(fixture, all, a_short_frame_of_much_is_refused_before_it_is_unpacked)
{
    const size_t much = (size_t)64 << 20;
    uint8_t *zeros = aq_alloc(much, 1);
    uint8_t *frame = aq_alloc(ZSTD_compressBound(much), 1);
    ProtobufCBinaryData data = {.data = frame};
    size_t size = 0;
    assert_non_null(zeros);
    assert_non_null(frame);
    data.len = ZSTD_compress(frame, ZSTD_compressBound(much), zeros, much, 1);
    assert_true(data.len < much / AQ_TENSOR_RATIO_MAX);
    assert_refused(aq_tensor_claim(&data, true, "weights", &size, &refusal), AQ_E_CORRUPT,
                   "claim to be 67108864");
    aq_free(zeros);
    aq_free(frame);
}

TEST(the_packer_makes_no_frame_that_would_be_refused)
{
    aq_tensor_packer packer;
    ProtobufCBinaryData view;
    const size_t much = (size_t)4 << 20;
    assert_int_equal(aq_tensor_packer_init(&packer, much, much), 0);
    memset(packer.scratch, 0, much);
    assert_false(aq_tensor_compress(&packer, packer.scratch, much, &view));
    assert_true(aq_tensor_compress(&packer, packer.scratch, AQ_TENSOR_SMALL_BYTES, &view));
    aq_tensor_packer_fini(&packer);
}

/* Noise but for its last eighth. */
TEST(a_part_that_can_be_compressed_is_found_in_a_large_tensor)
{
    aq_tensor_packer packer;
    ProtobufCBinaryData view;
    const size_t much = (size_t)4 << 20;
    aq_rng rng = rng_of(fixture_seed(), 2);
    assert_int_equal(aq_tensor_packer_init(&packer, 2 * much, much), 0);
    any_bytes(&rng, packer.scratch, much);
    assert_false(aq_tensor_compress(&packer, packer.scratch, much, &view));
    memset(packer.scratch + much / 8 * 7, 1, much / 8);
    assert_true(aq_tensor_compress(&packer, packer.scratch, much, &view));
    assert_in_range(view.len, much / 8 * 7, much / 16 * 15);
    aq_tensor_packer_fini(&packer);
}

TEST_IN(fixture, all, a_damaged_frame_is_refused)
{
    uint8_t frame[SIZE], read[SIZE];
    ProtobufCBinaryData data = {.data = frame};
    aq_rng rng = rng_of(fixture_seed(), 1);
    for (size_t i = 0; i < SIZE; i++) {
        all->bytes[i] = (uint8_t)aq_rng_below(&rng, 5);
    }
    data.len = ZSTD_compress(frame, sizeof(frame), all->bytes, SIZE, 1);
    data.len -= 2;
    assert_refused(aq_tensor_read(&all->reader, &data, true, "bias", SIZE, 1, read, &refusal),
                   AQ_E_CORRUPT, "bias cannot be unpacked");
    assert_int_equal(aq_tensor_read(&all->reader, &data, true, "bias", SIZE / 4, 4, read, &refusal),
                     AQ_E_CORRUPT);
}

/* A frame behind the one that says how long it is. */
TEST_IN(fixture, all, more_than_was_claimed_is_refused)
{
    uint8_t frame[SIZE], read[SIZE];
    ProtobufCBinaryData data = {.data = frame};
    data.len = ZSTD_compress(frame, sizeof(frame), all->bytes, 1000, 1);
    data.len += ZSTD_compress(frame + data.len, sizeof(frame) - data.len, all->bytes, 1000, 1);
    assert_succeeds(aq_tensor_check(&data, true, "bias", 1000, 1, &refusal));
    assert_int_equal(aq_tensor_read(&all->reader, &data, true, "bias", 1000, 1, read, &refusal),
                     AQ_E_CORRUPT);
}

TEST(a_packer_without_memory_fails)
{
    aq_tensor_packer packer = {.room_left = 4711};
    assert_fails_without_memory(aq_tensor_packer_init(&packer, SIZE, SIZE));
    assert_int_equal(packer.room_left, 4711);
}
