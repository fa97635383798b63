/*
 * The property that chunks exist for: however an episode is cut, the items of its chunks are the
 * items of the whole episode, each exactly once and with the same return, bootstrap and rows.
 */
#include "common/experience/chunk.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

enum { EPISODE_MAX = 120, CHUNKS_MAX = EPISODE_MAX, EPISODES = 3000 };

static const uint64_t seed = 20261; /* of every draw here */
static const float discount = 0.97f;

typedef struct episode {
    uint32_t n_step;
    uint32_t length;
    bool terminated;
    aq_layout whole_layout;
    aq_layout cut_layout;
    aq_chunk *whole;
    aq_chunk *chunks[CHUNKS_MAX];
    size_t chunk_count;
} episode;

/* The observation of a row is its index in the episode, so that rows can be told apart. */
static float obs_at(const aq_chunk *chunk, uint32_t row)
{
    float value;
    memcpy(&value, obs_of(chunk) + row * sizeof(value), sizeof(value));
    return value;
}

static aq_chunk *make_whole(const episode *e, aq_rng *rng)
{
    aq_chunk *whole = NULL;
    assert_int_equal(aq_chunk_create(&e->whole_layout, e->length, &whole), 0);
    whole->view.length = e->length;
    whole->view.terminated = e->terminated;
    whole->view.truncated = !e->terminated;
    for (uint32_t i = 0; i <= e->length; i++) {
        float index = (float)i;
        memcpy(obs_of(whole) + i * sizeof(index), &index, sizeof(index));
    }
    for (uint32_t i = 0; i < e->length; i++) {
        int32_t action = (int32_t)aq_rng_below(rng, 3);
        memcpy(action_of(whole) + i * sizeof(action), &action, sizeof(action));
        reward_of(whole)[i] = (float)aq_rng_normal(rng);
        version_of(whole)[i] = 1000 + i;
    }
    return whole;
}

static aq_chunk *copy_rows(const episode *e, uint32_t first, uint32_t length, uint32_t overlap)
{
    aq_chunk *chunk = NULL;
    const aq_chunk *whole = e->whole;
    assert_int_equal(aq_chunk_create(&e->cut_layout, length, &chunk), 0);
    chunk->view.first = first;
    chunk->view.overlap = (uint16_t)overlap;
    aq_chunk_append(chunk, &e->cut_layout, &whole->view, first, length);
    if (first + length == e->length) {
        chunk->view.terminated = whole->view.terminated;
        chunk->view.truncated = whole->view.truncated;
    }
    return chunk;
}

/* Closes chunks at random lengths, as an actor does that is now and then made to flush. */
static void cut(episode *e, aq_rng *rng)
{
    uint32_t first = 0, overlap = 0;
    e->chunk_count = 0;
    for (;;) {
        uint32_t least = overlap + 1 > e->n_step ? overlap + 1 : e->n_step;
        uint32_t most = e->cut_layout.length_max;
        uint32_t length = least + (uint32_t)aq_rng_below(rng, most - least + 1);
        bool last = first + length >= e->length;
        assert_true(e->chunk_count < CHUNKS_MAX);
        e->chunks[e->chunk_count++] =
            copy_rows(e, first, last ? e->length - first : length, overlap);
        if (last) {
            return;
        }
        overlap = e->n_step - 1;
        first += length - overlap;
    }
}

static void make_episode(episode *e, aq_rng *rng)
{
    e->n_step = 1 + (uint32_t)aq_rng_below(rng, 8);
    e->length = 1 + (uint32_t)aq_rng_below(rng, EPISODE_MAX);
    e->terminated = aq_rng_below(rng, 2) == 1;
    e->whole_layout = chunk_layout(1, 3, e->n_step, EPISODE_MAX);
    e->cut_layout = chunk_layout(1, 3, e->n_step, e->n_step + (uint32_t)aq_rng_below(rng, 20));
    e->whole = make_whole(e, rng);
    cut(e, rng);
}

static void drop_episode(episode *e)
{
    for (size_t i = 0; i < e->chunk_count; i++) {
        aq_chunk_unref(e->chunks[i]);
    }
    aq_chunk_unref(e->whole);
}

static void check_item(const episode *e, const aq_chunk *chunk, uint32_t row)
{
    float got_return, got_bootstrap, want_return, want_bootstrap;
    uint32_t got_next, want_next, index = chunk->view.first + row;
    chunk_fold(&chunk->view, e->n_step, row, discount, &got_return, &got_bootstrap, &got_next);
    chunk_fold(&e->whole->view, e->n_step, index, discount, &want_return, &want_bootstrap,
               &want_next);
    assert_true(got_return == want_return);
    assert_true(got_bootstrap == want_bootstrap);
    assert_true(obs_at(chunk, row) == (float)index);
    assert_true(obs_at(chunk, got_next) == (float)want_next);
    assert_int_equal(version_of(chunk)[row], 1000 + index);
}

TEST(cut_episodes_give_each_item_exactly_once)
{
    aq_rng rng;
    aq_rng_init(&rng, seed, 0);
    for (int i = 0; i < EPISODES; i++) {
        episode e;
        uint8_t seen[EPISODE_MAX] = {0};
        uint32_t fresh = 0;
        make_episode(&e, &rng);
        for (size_t k = 0; k < e.chunk_count; k++) {
            const aq_chunk *chunk = e.chunks[k];
            assert_int_equal(aq_chunk_view_validate(&chunk->view, &e.cut_layout, NULL), 0);
            fresh += aq_chunk_view_fresh(&chunk->view);
            for (uint32_t row = 0; row < aq_chunk_view_items(&chunk->view, &e.cut_layout); row++) {
                check_item(&e, chunk, row);
                seen[chunk->view.first + row]++;
            }
        }
        for (uint32_t index = 0; index < e.length; index++) {
            assert_int_equal(seen[index], 1);
        }
        assert_int_equal(fresh, e.length); /* so no step is counted twice either */
        drop_episode(&e);
    }
}
