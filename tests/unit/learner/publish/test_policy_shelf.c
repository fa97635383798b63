/*
 * The shelf keeps the recent versions within its bounds and counts all there ever were.
 */
#include "learner/publish/policy_shelf.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { PLACES = 256 };

typedef struct shelf_desk {
    learner_kit kit;
    aq_policy_shelf *shelf;
} shelf_desk;

static void shelf_desk_setup(shelf_desk *desk)
{
    learner_kit_init(&desk->kit, 3);
    assert_int_equal(aq_policy_shelf_create(&desk->shelf), 0);
}

static void shelf_desk_teardown(shelf_desk *desk)
{
    aq_policy_shelf_destroy(desk->shelf);
    learner_kit_fini(&desk->kit);
}

/* A version whose frame takes `frame_bytes`; no more of it matters to the shelf. */
static void put_of(shelf_desk *desk, const aq_net_spec *spec, uint64_t version, size_t frame_bytes)
{
    aq_publication publication = {0};
    uint32_t formats[] = {AQ_FORMAT_F32, AQ_FORMAT_F32};
    uint8_t *bytes = NULL;
    assert_int_equal(aq_snapshot_create(spec, formats, NULL, &publication.snapshot), 0);
    publication.snapshot->version = version;
    publication.twin = aq_snapshot_ref(publication.snapshot);
    aq_buffer_init(&publication.frame, frame_bytes);
    assert_int_equal(aq_buffer_extend(&publication.frame, frame_bytes, &bytes), 0);
    publication.frame_bytes_fp32 = 3 * frame_bytes;
    publication.packed_bytes_fp32 = 2 * frame_bytes;
    publication.fell_back = version % 10 == 0;
    aq_policy_shelf_put(desk->shelf, &publication);
}

static void put(shelf_desk *desk, uint64_t version, size_t frame_bytes)
{
    put_of(desk, &desk->kit.spec, version, frame_bytes);
}

/* A version whose tensors take that much. */
static void put_large(shelf_desk *desk, uint64_t version, uint32_t size_mib)
{
    aq_net_spec spec;
    assert_int_equal(
        aq_net_spec_init_mlp(size_mib << 8, NULL, 0, 1024, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    put_of(desk, &spec, version, 100);
}

TEST_IN(shelf_desk, desk, an_empty_shelf_has_nothing)
{
    aq_policy_totals totals = aq_policy_shelf_totals(desk->shelf);
    assert_null(aq_policy_shelf_newest(desk->shelf));
    assert_null(aq_policy_shelf_find(desk->shelf, 0));
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
    assert_int_equal(totals.versions + totals.bytes + totals.bytes_fp32 + totals.fallbacks, 0);
}

TEST_IN(shelf_desk, desk, the_shelf_takes_what_the_publication_holds)
{
    aq_publication publication;
    learner_kit_publication(&desk->kit, 5, AQ_FORMAT_INT8_CHANNEL, &publication);
    const aq_snapshot *snapshot = publication.snapshot;
    const aq_snapshot *twin = publication.twin;
    const uint8_t *frame = publication.frame.data;
    aq_policy_shelf_put(desk->shelf, &publication);
    assert_null(publication.snapshot);
    assert_null(publication.twin);
    assert_null(publication.frame.data);
    const aq_publication *newest = aq_policy_shelf_newest(desk->shelf);
    assert_ptr_equal(newest->snapshot, snapshot);
    assert_ptr_equal(newest->twin, twin);
    assert_ptr_equal(newest->frame.data, frame);
    aq_publication_fini(&publication); /* an emptied one may still be finished */
}

TEST_IN(shelf_desk, desk, each_version_on_the_shelf_is_found)
{
    for (uint64_t version = 1; version <= 10; version++) {
        put(desk, 3 * version, 100);
        assert_int_equal(aq_policy_shelf_newest(desk->shelf)->snapshot->version, 3 * version);
    }
    for (uint64_t version = 1; version <= 10; version++) {
        assert_int_equal(aq_policy_shelf_find(desk->shelf, 3 * version)->snapshot->version,
                         3 * version);
        assert_null(aq_policy_shelf_find(desk->shelf, 3 * version + 1));
    }
}

TEST_IN(shelf_desk, desk, the_oldest_goes_when_all_places_are_taken)
{
    for (uint64_t version = 1; version <= PLACES; version++) {
        put(desk, version, 100);
    }
    assert_non_null(aq_policy_shelf_find(desk->shelf, 1));
    put(desk, PLACES + 1, 100);
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
    assert_non_null(aq_policy_shelf_find(desk->shelf, 2));
    for (uint64_t version = PLACES + 2; version <= 3 * PLACES; version++) {
        put(desk, version, 100);
        assert_null(aq_policy_shelf_find(desk->shelf, version - PLACES));
        assert_non_null(aq_policy_shelf_find(desk->shelf, version - PLACES + 1));
    }
}

/* Nobody fetches one of them any more. */
TEST_IN(shelf_desk, desk, frames_of_versions_before_take_no_room)
{
    for (uint64_t version = 1; version <= 80; version++) {
        put(desk, version, (size_t)1 << 20);
    }
    assert_non_null(aq_policy_shelf_find(desk->shelf, 1));
}

TEST_IN(shelf_desk, desk, the_oldest_go_when_the_bytes_are_too_many)
{
    for (uint64_t version = 1; version <= 6; version++) {
        put_large(desk, version, 10);
    }
    assert_non_null(aq_policy_shelf_find(desk->shelf, 1)); /* 60 of 64 MiB */
    put_large(desk, 7, 10);
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
    assert_non_null(aq_policy_shelf_find(desk->shelf, 2));
}

TEST_IN(shelf_desk, desk, four_versions_are_kept_however_large)
{
    for (uint64_t version = 1; version <= 6; version++) {
        put_large(desk, version, 20);
    }
    assert_null(aq_policy_shelf_find(desk->shelf, 2));
    for (uint64_t version = 3; version <= 6; version++) {
        assert_non_null(aq_policy_shelf_find(desk->shelf, version));
    }
    put(desk, 7, 100); /* still too many: another of the large ones goes */
    assert_null(aq_policy_shelf_find(desk->shelf, 3));
    assert_non_null(aq_policy_shelf_find(desk->shelf, 4));
    for (uint64_t version = 8; version <= 50; version++) {
        put(desk, version, 100);
    }
    assert_non_null(aq_policy_shelf_find(desk->shelf, 5)); /* 40 of 64 MiB, and many small ones */
}

TEST_IN(shelf_desk, desk, only_the_newest_keeps_its_frame)
{
    put(desk, 1, 100);
    assert_int_equal(aq_policy_shelf_newest(desk->shelf)->frame.size, 100);
    put(desk, 2, 200);
    assert_int_equal(aq_policy_shelf_newest(desk->shelf)->frame.size, 200);
    assert_int_equal(aq_policy_shelf_find(desk->shelf, 1)->frame.size, 0);
}

/* What went out counts, and not what could be fetched. */
TEST_IN(shelf_desk, desk, a_delta_counts_by_its_own_bytes)
{
    aq_publication publication;
    uint8_t *bytes;
    learner_kit_publication(&desk->kit, 5, AQ_FORMAT_INT8_CHANNEL, &publication);
    assert_int_equal(aq_buffer_extend(&publication.delta, 77, &bytes), 0);
    assert_ptr_equal(aq_publication_broadcast(&publication), &publication.delta);
    aq_policy_shelf_put(desk->shelf, &publication);
    aq_policy_totals totals = aq_policy_shelf_totals(desk->shelf);
    assert_int_equal(totals.bytes, 77);
    assert_int_equal(totals.deltas, 1);
    assert_int_equal(aq_policy_shelf_newest(desk->shelf)->delta.size, 0);
}

TEST_IN(shelf_desk, desk, who_holds_a_reference_keeps_a_version_that_has_left)
{
    put(desk, 1, 100);
    aq_snapshot *kept = aq_snapshot_ref(aq_policy_shelf_find(desk->shelf, 1)->snapshot);
    for (uint64_t version = 2; version <= PLACES + 1; version++) {
        put(desk, version, 100);
    }
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
    assert_int_equal(kept->version, 1);
    aq_snapshot_unref(kept);
}

TEST_IN(shelf_desk, desk, a_version_stays_until_its_holder_holds_another)
{
    put(desk, 1, 100);
    aq_policy_shelf_hold(desk->shelf, 1, 0);
    aq_policy_shelf_hold(desk->shelf, 77, 0); /* which it does not have */
    for (uint64_t version = 2; version <= PLACES + 1; version++) {
        put(desk, version, 100);
        aq_policy_shelf_hold(desk->shelf, version, 1);
    }
    const aq_publication *held = aq_policy_shelf_find(desk->shelf, 1);
    assert_non_null(held);
    assert_int_equal(held->snapshot->version, 1);
    assert_int_equal(held->frame.size, 0);
    aq_policy_shelf_hold(desk->shelf, 1, 0); /* once more */
    assert_non_null(aq_policy_shelf_find(desk->shelf, 1));
    aq_policy_shelf_hold(desk->shelf, 2, 0);
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
}

TEST_IN(shelf_desk, desk, holders_beyond_its_places_share_one)
{
    put(desk, 1, 100);
    put(desk, 2, 100);
    aq_policy_shelf_hold(desk->shelf, 1, 3);
    for (uint64_t version = 3; version <= PLACES + 2; version++) {
        put(desk, version, 100);
    }
    assert_non_null(aq_policy_shelf_find(desk->shelf, 1));
    aq_policy_shelf_hold(desk->shelf, 3, 3 + 16);
    assert_null(aq_policy_shelf_find(desk->shelf, 1));
}

TEST_IN(shelf_desk, desk, totals_are_of_all_there_ever_were)
{
    for (uint64_t version = 1; version <= 2 * PLACES; version++) {
        put(desk, version, 10);
    }
    aq_policy_totals totals = aq_policy_shelf_totals(desk->shelf);
    assert_int_equal(totals.versions, 2 * PLACES);
    assert_int_equal(totals.bytes, 10 * 2 * PLACES);
    assert_int_equal(totals.bytes_fp32, 30 * 2 * PLACES);
    assert_int_equal(totals.packed_bytes_fp32, 20 * 2 * PLACES);
    assert_int_equal(totals.deltas, 0);
    assert_int_equal(totals.fallbacks, 51);
}

TEST_IN(shelf_desk, desk, totals_go_on_from_those_of_an_earlier_process)
{
    aq_policy_totals before = {.versions = 7, .bytes = 700, .bytes_fp32 = 2100, .fallbacks = 2};
    aq_policy_shelf_restore_totals(desk->shelf, &before);
    put(desk, 1030, 100);
    aq_policy_totals totals = aq_policy_shelf_totals(desk->shelf);
    assert_int_equal(totals.versions, 8);
    assert_int_equal(totals.bytes, 800);
    assert_int_equal(totals.bytes_fp32, 2400);
    assert_int_equal(totals.fallbacks, 3);
    assert_int_equal(totals.packed_bytes_fp32, 0); /* which was not told of those before */
}

TEST_IN(shelf_desk, desk, create_survives_a_failed_allocation)
{
    aq_policy_shelf *shelf = desk->shelf;
    assert_fails_without_memory(aq_policy_shelf_create(&shelf));
    assert_ptr_equal(shelf, desk->shelf); /* untouched */
    aq_policy_shelf_destroy(NULL);
}
