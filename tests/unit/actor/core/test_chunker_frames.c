/*
 * Two chunkers are given the same steps: one whose layout says that observations are stacks of
 * frames, and one that knows nothing of it. Their chunks say the same, at a part of the bytes.
 */
#include "actor/core/chunker.h"
#include "tests/support/stacked_chunks.h"
#include "tests/support/test.h"

enum { STEPS = 200, LENGTH_MAX = 7, VALUE_MAX = 256 };

/* What an agent sees: the last frames, of which the first of an episode stands for all before. */
typedef struct seen {
    aq_frames frames;
    uint32_t dtype;
    uint8_t last[VALUE_MAX]; /* frames end to end, the oldest first */
    uint8_t value[VALUE_MAX];
} seen;

static void see(seen *it, bool begins, aq_rng *rng)
{
    const size_t bytes = it->frames.bytes;
    const size_t newest = (it->frames.count - 1) * bytes;
    memmove(it->last, it->last + bytes, newest);
    for (size_t i = 0; i < bytes; i++) {
        it->last[newest + i] = (uint8_t)aq_rng_below(rng, 64); /* no float is infinite */
    }
    for (size_t f = 0; begins && f + 1 < it->frames.count; f++) {
        memcpy(it->last + f * bytes, it->last + newest, bytes);
    }
    stack_plainly(&it->frames, it->dtype, it->last, it->value);
}

static void check_chunks(const aq_layout *layout, const aq_layout *plain, aq_chunk *stacked,
                         aq_chunk *whole)
{
    aq_chunk *made = whole_chunk(layout, plain, stacked);
    assert_succeeds(aq_chunk_view_validate(&stacked->view, layout, &refusal));
    assert_int_equal(stacked->view.length, whole->view.length);
    assert_int_equal(stacked->view.first, whole->view.first);
    assert_int_equal(stacked->view.overlap, whole->view.overlap);
    assert_true(has_same_rows(plain, &made->view, 0, &whole->view, whole->view.length));
    assert_true(aq_layout_bytes(layout, LENGTH_MAX) < aq_layout_bytes(plain, LENGTH_MAX));
    aq_chunk_unref(made);
    aq_chunk_unref(stacked);
    aq_chunk_unref(whole);
}

static void check(const aq_space *obs, uint32_t n_step, aq_rng *rng)
{
    const aq_layout layouts[] = {stacked_layout(obs, n_step, LENGTH_MAX),
                                 whole_layout(obs, n_step, LENGTH_MAX)};
    aq_chunker *chunkers[2];
    seen now = {.frames = layouts[0].columns[AQ_COLUMN_OBS].frames, .dtype = obs->dtype};
    bool in_episode = false;
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(aq_chunker_create(&layouts[k], 1, &chunkers[k]), 0);
    }
    for (int64_t i = 0; i < STEPS; i++) {
        const int32_t action = (int32_t)aq_rng_below(rng, 3);
        const float reward = (float)i;
        const uint32_t version = (uint32_t)i;
        const uint64_t chance = aq_rng_below(rng, 9);
        aq_closed_chunk closed[2];
        bool is_closed[2];
        see(&now, !in_episode, rng);
        for (size_t k = 0; k < 2; k++) {
            const aq_step_values values = {.of = {now.value, &action, &reward, &version},
                                           .terminated = chance == 0,
                                           .truncated = chance == 1};
            if (!in_episode) {
                aq_chunker_begin(chunkers[k], 0, &values);
                is_closed[k] = false;
                continue;
            }
            assert_int_equal(aq_chunker_reserve(chunkers[k]), 0);
            is_closed[k] = aq_chunker_append(chunkers[k], 0, i, &values, &closed[k]);
            if (!is_closed[k] && chance == 2) {
                is_closed[k] = aq_chunker_flush(chunkers[k], 0, i, &closed[k]);
            }
        }
        in_episode = !in_episode || chance > 1;
        assert_int_equal(is_closed[0], is_closed[1]);
        if (is_closed[0]) {
            check_chunks(&layouts[0], &layouts[1], closed[0].chunk, closed[1].chunk);
        }
    }
    aq_chunker_destroy(chunkers[0]);
    aq_chunker_destroy(chunkers[1]);
}

TEST(chunks_of_frames_say_what_those_of_whole_values_do)
{
    static const aq_space spaces[] = {STACKED_PICTURE, STACKED_CHANNELS, STACKED_NUMBERS};
    aq_rng rng = rng_of(test_seed(), 2);
    EACH_ROW(i, spaces) {
        for (uint32_t n_step = 1; n_step <= 5; n_step += 2) {
            check(&spaces[i], n_step, &rng);
        }
    }
}
