/*
 * Chunks against the episodes that they were cut from: whatever their lengths, n, and the moments
 * of flushing, the items of all chunks are those of the uncut episode, each exactly once.
 */
#include "actor/core/chunker.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

enum { OBS = 2, CHOICES = 3, EPISODE_MAX = 70, LANES = 3, ROUNDS = 600, STEPS = 150 };

static aq_layout layout_of(uint32_t n_step, uint32_t length_max)
{
    return chunk_layout(OBS, CHOICES, n_step, length_max);
}

static aq_chunker *chunker_of(const aq_layout *layout, uint32_t lanes)
{
    aq_chunker *chunker = NULL;
    assert_int_equal(aq_chunker_create(layout, lanes, &chunker), 0);
    return chunker;
}

/* An episode as it happened, uncut, and which of its items were seen in chunks. */
typedef struct track {
    aq_layout layout; /* long enough for the whole */
    aq_chunk *whole;
    uint64_t number;
    bool seen[EPISODE_MAX];
    uint32_t fresh; /* steps, over its chunks */
    uint32_t length_planned;
    bool truncates;
} track;

static void make_obs(uint32_t lane, uint64_t episode, uint32_t step, float *obs)
{
    obs[0] = (float)(lane * 1000 + episode % 1000);
    obs[1] = (float)step;
}

static void course_begin(track *course, uint32_t lane, aq_rng *rng, aq_chunker *chunker)
{
    float obs[OBS];
    const aq_step_values values = {.of = {[AQ_COLUMN_OBS] = obs}};
    assert_int_equal(aq_chunk_create(&course->layout, EPISODE_MAX, &course->whole), 0);
    course->number++;
    memset(course->seen, 0, sizeof(course->seen));
    course->fresh = 0;
    course->length_planned = 1 + (uint32_t)aq_rng_below(rng, EPISODE_MAX);
    course->truncates = aq_rng_below(rng, 2) == 0;
    make_obs(lane, course->number, 0, obs);
    memcpy(obs_of(course->whole), obs, sizeof(obs));
    aq_chunker_begin(chunker, lane, &values);
}

/* The chunk is a piece of the uncut episode, and each of its items is new. */
static void check_chunk(track *course, const aq_layout *layout, uint32_t lane,
                        const aq_chunk *chunk)
{
    const aq_chunk_view *whole = &course->whole->view;
    const aq_chunk_view *view = &chunk->view;
    assert_int_equal(aq_chunk_view_validate(view, layout, NULL), 0);
    assert_int_equal(view->lane, lane);
    assert_int_equal(view->episode, course->number);
    assert_true(view->first + view->length <= whole->length);
    assert_true(has_same_rows(layout, whole, view->first, view, view->length));
    if (view->first + view->length == whole->length) {
        assert_int_equal(view->terminated, whole->terminated);
        assert_int_equal(view->truncated, whole->truncated);
    }
    for (uint32_t row = 0; row < aq_chunk_view_items(view, layout); row++) {
        assert_false(course->seen[view->first + row]);
        course->seen[view->first + row] = true;
    }
    course->fresh += aq_chunk_view_fresh(view);
}

static void course_end(track *course)
{
    for (uint32_t i = 0; i < course->whole->view.length; i++) {
        assert_true(course->seen[i]);
    }
    assert_int_equal(course->fresh, course->whole->view.length); /* no step is counted twice */
    aq_chunk_unref(course->whole);
    course->whole = NULL;
}

/* One step of a lane, kept whole in the course and cut by the chunker. */
static void course_step(track *course, const aq_layout *layout, uint32_t lane, int64_t now_ns,
                        aq_rng *rng, aq_chunker *chunker)
{
    aq_chunk *whole = course->whole;
    float obs[OBS];
    const int32_t action = (int32_t)aq_rng_below(rng, CHOICES);
    const float reward = (float)aq_rng_range(rng, -1.0, 1.0);
    const uint32_t version = (uint32_t)(now_ns / 7);
    const bool ends = whole->view.length + 1 == course->length_planned;
    make_obs(lane, course->number, whole->view.length + 1, obs);
    const aq_step_values values = {
        .of = {obs, &action, &reward, &version},
        .terminated = ends && !course->truncates,
        .truncated = ends && course->truncates,
    };
    memcpy(action_of(whole) + whole->view.length * sizeof(action), &action, sizeof(action));
    reward_of(whole)[whole->view.length] = reward;
    version_of(whole)[whole->view.length] = version;
    whole->view.length++;
    memcpy(obs_of(whole) + whole->view.length * sizeof(obs), obs, sizeof(obs));
    whole->view.terminated = values.terminated;
    whole->view.truncated = values.truncated;
    aq_closed_chunk closed;
    if (aq_chunker_append(chunker, lane, now_ns, &values, &closed)) {
        check_chunk(course, layout, lane, closed.chunk);
        aq_chunk_unref(closed.chunk);
    }
    if (ends) {
        course_end(course);
        course_begin(course, lane, rng, chunker);
    }
}

static void play(uint64_t seed)
{
    aq_rng rng;
    track courses[LANES] = {0};
    aq_rng_init(&rng, seed, 0);
    uint32_t n_step = 1 + (uint32_t)aq_rng_below(&rng, 6);
    const bool is_long = aq_rng_below(&rng, 2) == 0; /* then chunks grow */
    uint32_t length_max = n_step + (uint32_t)aq_rng_below(&rng, is_long ? 100 : 12);
    uint64_t flush_odds = 1 + aq_rng_below(&rng, is_long ? 120 : 12);
    aq_layout layout = layout_of(n_step, length_max);
    aq_chunker *chunker = chunker_of(&layout, LANES);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        courses[lane].layout = layout_of(n_step, EPISODE_MAX);
        course_begin(&courses[lane], lane, &rng, chunker);
    }
    for (int64_t now_ns = 0; now_ns < STEPS; now_ns++) {
        assert_int_equal(aq_chunker_reserve(chunker), 0);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            course_step(&courses[lane], &layout, lane, now_ns, &rng, chunker);
        }
        for (uint32_t lane = 0; lane < LANES; lane++) {
            aq_closed_chunk closed;
            if (aq_rng_below(&rng, flush_odds) == 0 &&
                aq_chunker_flush(chunker, lane, now_ns - (int64_t)aq_rng_below(&rng, 5), &closed)) {
                assert_true(closed.since_ns <= now_ns);
                check_chunk(&courses[lane], &layout, lane, closed.chunk);
                aq_chunk_unref(closed.chunk);
            }
        }
    }
    for (uint32_t lane = 0; lane < LANES; lane++) {
        aq_chunk_unref(courses[lane].whole);
    }
    aq_chunker_destroy(chunker);
}

TEST(the_items_of_all_chunks_are_those_of_the_uncut_episode)
{
    for (uint64_t seed = 0; seed < ROUNDS; seed++) {
        play(seed);
    }
}

/* ---- facts, one by one ---------------------------------------------------------------------- */

static const float obs_zero[OBS];

static const aq_step_values first_values = {.of = {[AQ_COLUMN_OBS] = obs_zero}};

static bool step(aq_chunker *chunker, int64_t now_ns, int end, aq_closed_chunk *ret_closed)
{
    const int32_t action = 0;
    const float reward = 1.0f;
    const uint32_t version = 0;
    const aq_step_values values = {
        .of = {obs_zero, &action, &reward, &version},
        .terminated = end == 1,
        .truncated = end == 2,
    };
    assert_int_equal(aq_chunker_reserve(chunker), 0);
    return aq_chunker_append(chunker, 0, now_ns, &values, ret_closed);
}

static aq_chunker *one_lane(uint32_t n_step, uint32_t length_max)
{
    aq_layout layout = layout_of(n_step, length_max);
    aq_chunker *chunker = chunker_of(&layout, 1);
    aq_chunker_begin(chunker, 0, &first_values);
    return chunker;
}

#define TEST_OF_LANE(name, n_step, length_max)                                                     \
    TEST_OF(name, aq_chunker *chunker, one_lane(n_step, length_max), aq_chunker_destroy)

TEST_OF_LANE(a_full_chunk_closes_and_the_next_repeats_its_end, 3, 4)
{
    aq_closed_chunk closed = {0};
    for (int64_t i = 0; i < 3; i++) {
        assert_false(step(chunker, i, 0, &closed));
    }
    assert_true(step(chunker, 3, 0, &closed));
    assert_int_equal(closed.chunk->view.length, 4);
    assert_int_equal(closed.chunk->view.overlap, 0);
    assert_int_equal(closed.since_ns, 0);
    aq_chunk_unref(closed.chunk);
    assert_false(step(chunker, 4, 0, &closed));
    assert_true(step(chunker, 5, 0, &closed));
    assert_int_equal(closed.chunk->view.length, 4);
    assert_int_equal(closed.chunk->view.overlap, 2);
    assert_int_equal(closed.chunk->view.first, 2);
    assert_int_equal(closed.since_ns, 4); /* repeated transitions are not new */
    aq_chunk_unref(closed.chunk);
}

TEST_OF_LANE(a_flush_leaves_alone_what_holds_no_item, 3, 8)
{
    aq_closed_chunk closed = {0};
    assert_false(step(chunker, 0, 0, &closed));
    assert_false(step(chunker, 1, 0, &closed));
    assert_false(aq_chunker_flush(chunker, 0, INT64_MAX, &closed));
    assert_int_equal(aq_chunker_oldest_ns(chunker), INT64_MAX);
    assert_false(step(chunker, 2, 0, &closed));
    assert_int_equal(aq_chunker_oldest_ns(chunker), 0);
    assert_true(aq_chunker_flush(chunker, 0, INT64_MAX, &closed));
    assert_int_equal(closed.chunk->view.length, 3);
    aq_chunk_unref(closed.chunk);
    aq_chunker_look(chunker);
    assert_int_equal(aq_chunker_oldest_ns(chunker), INT64_MAX);
}

TEST_OF_LANE(a_flush_leaves_alone_what_holds_nothing_new, 2, 8)
{
    aq_closed_chunk closed = {0};
    assert_false(step(chunker, 0, 0, &closed));
    assert_false(step(chunker, 1, 0, &closed));
    assert_true(aq_chunker_flush(chunker, 0, INT64_MAX, &closed));
    aq_chunk_unref(closed.chunk);
    assert_int_equal(aq_chunker_reserve(chunker), 0); /* opens one with an overlap of 1 */
    assert_false(aq_chunker_flush(chunker, 0, INT64_MAX, &closed));
    assert_false(step(chunker, 2, 0, &closed));
    assert_true(aq_chunker_flush(chunker, 0, INT64_MAX, &closed)); /* one new, one repeated */
    assert_int_equal(aq_chunk_view_fresh(&closed.chunk->view), 1);
    aq_chunk_unref(closed.chunk);
}

TEST_OF_LANE(a_flush_spares_what_is_younger, 1, 8)
{
    aq_closed_chunk closed = {0};
    assert_false(step(chunker, 10, 0, &closed));
    assert_false(aq_chunker_flush(chunker, 0, 9, &closed));
    assert_true(aq_chunker_flush(chunker, 0, 10, &closed));
    aq_chunk_unref(closed.chunk);
}

TEST_OF_LANE(an_end_closes_even_the_shortest_episode, 5, 8)
{
    aq_closed_chunk closed = {0};
    assert_true(step(chunker, 0, 1, &closed));
    assert_int_equal(closed.chunk->view.length, 1);
    assert_true(closed.chunk->view.terminated);
    assert_false(closed.chunk->view.truncated);
    assert_int_equal(closed.chunk->view.episode, 1);
    aq_chunk_unref(closed.chunk);
    aq_chunker_begin(chunker, 0, &first_values);
    assert_true(step(chunker, 1, 2, &closed));
    assert_true(closed.chunk->view.truncated);
    assert_int_equal(closed.chunk->view.episode, 2);
    assert_int_equal(closed.chunk->view.first, 0);
    aq_chunk_unref(closed.chunk);
}

TEST_OF_LANE(an_abandoned_episode_goes_no_further, 3, 4)
{
    aq_closed_chunk closed = {0};
    for (int64_t i = 0; i < 3; i++) {
        assert_false(step(chunker, i, 0, &closed));
    }
    assert_true(step(chunker, 3, 0, &closed));
    aq_chunk_unref(closed.chunk);
    assert_false(step(chunker, 4, 0, &closed));
    assert_int_equal(aq_chunker_abandon(chunker, 0), 1); /* two more are in the closed one, too */
    assert_int_equal(aq_chunker_reserve(chunker), 0);    /* no episode: no chunk */
    assert_false(aq_chunker_flush(chunker, 0, INT64_MAX, &closed));
    assert_int_equal(aq_chunker_abandon(chunker, 0), 0);
    aq_chunker_begin(chunker, 0, &first_values);
    assert_true(step(chunker, 5, 1, &closed));
    assert_int_equal(closed.chunk->view.episode, 2);
    assert_int_equal(closed.chunk->view.first, 0);
    assert_int_equal(closed.chunk->view.overlap, 0);
    aq_chunk_unref(closed.chunk);
}

TEST_OF_LANE(an_episode_may_be_abandoned_between_two_chunks, 2, 2)
{
    aq_closed_chunk closed = {0};
    assert_false(step(chunker, 0, 0, &closed));
    assert_true(step(chunker, 1, 0, &closed));
    aq_chunk_unref(closed.chunk);
    assert_int_equal(aq_chunker_abandon(chunker, 0), 0);
    aq_chunker_begin(chunker, 0, &first_values);
    assert_true(step(chunker, 2, 2, &closed));
    assert_int_equal(closed.chunk->view.length, 1);
    aq_chunk_unref(closed.chunk);
}

TEST(reserve_without_memory_changes_nothing_and_can_be_tried_again)
{
    aq_closed_chunk closed = {0};
    aq_layout layout = layout_of(2, 4);
    aq_chunker *chunker = chunker_of(&layout, LANES);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        aq_chunker_begin(chunker, lane, &first_values);
    }
    for (uint64_t nth = 1; nth <= LANES; nth++) {
        aq_memory_fail_at(1, 0);
        assert_int_equal(aq_chunker_reserve(chunker), AQ_E_NOMEM);
        aq_memory_fail_at(2, 0);
        assert_int_equal(aq_chunker_reserve(chunker), nth < LANES ? AQ_E_NOMEM : 0);
    }
    aq_memory_fail_at(0, 0);
    assert_false(step(chunker, 0, 0, &closed));
    aq_chunker_destroy(chunker);
}

TEST_OF_LANE(only_a_new_chunk_is_allocated, 3, 8)
{
    aq_closed_chunk closed = {0};
    assert_false(step(chunker, 0, 0, &closed));
    uint64_t before = aq_memory_allocation_count();
    for (int64_t i = 1; i < 8; i++) {
        assert_int_equal(step(chunker, i, 0, &closed), i == 7);
    }
    assert_int_equal(aq_memory_allocation_count(), before);
    aq_chunk_unref(closed.chunk);
}

TEST_OF_LANE(a_chunk_takes_memory_for_what_it_holds, 1, AQ_CHUNK_LENGTH_MAX)
{
    const aq_layout layout = layout_of(1, AQ_CHUNK_LENGTH_MAX);
    const int64_t lengths[] = {3, 100, 5000};
    EACH_ROW(i, lengths) {
        aq_closed_chunk closed = {0};
        for (int64_t row = 1; row < lengths[i]; row++) {
            assert_false(step(chunker, row, 0, &closed));
        }
        assert_true(step(chunker, lengths[i], 1, &closed));
        assert_int_equal(closed.chunk->view.length, lengths[i]);
        const size_t held = aq_layout_bytes(&layout, closed.chunk->view.length);
        assert_true(closed.chunk->bytes < 2 * held + 2048);
        aq_chunk_unref(closed.chunk);
        aq_chunker_begin(chunker, 0, &first_values);
    }
}

TEST_OF_LANE(a_chunk_that_cannot_grow_is_kept, 1, 100)
{
    aq_closed_chunk closed = {0};
    int64_t steps = 0;
    aq_memory_fail_at(2, 1); /* all but the first, with which it opens */
    while (aq_chunker_reserve(chunker) == 0) {
        assert_false(step(chunker, steps++, 0, &closed));
    }
    assert_true(aq_chunker_flush(chunker, 0, 0, &closed));
    assert_int_equal(closed.chunk->view.length, steps);
    aq_chunk_unref(closed.chunk);
    assert_int_equal(aq_chunker_reserve(chunker), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_false(step(chunker, steps, 0, &closed));
}

TEST(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    aq_layout layout = layout_of(2, 4);
    aq_chunker *chunker = NULL;
    assert_made_despite_failures(chunker, aq_chunker_create(&layout, LANES, &chunker));
    aq_chunker_destroy(chunker);
    aq_chunker_destroy(NULL);
}
