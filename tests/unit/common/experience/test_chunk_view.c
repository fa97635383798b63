/*
 * A view tells of its columns what the chunk that they were copied from tells, at any alignment.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/rng.h"
#include "common/experience/chunk_view.h"
#include "tests/support/test.h"

enum { SPAN = 4, LENGTH = 9, OBS_BYTES = 12 };

static const aq_chunk_layout layout = {.obs_bytes = OBS_BYTES,
                                       .action_bytes = 4,
                                       .n_step = SPAN,
                                       .length_max = LENGTH,
                                       .obs_is_f32 = 1,
                                       .choice_count = 3};

static aq_chunk *chunk_of(aq_rng *rng)
{
    aq_chunk *chunk;
    assert_int_equal(aq_chunk_create(&layout, LENGTH, &chunk), 0);
    chunk->length = LENGTH;
    chunk->first = 20;
    chunk->overlap = 2;
    chunk->episode = 7;
    chunk->lane = 3;
    for (uint32_t i = 0; i < LENGTH; i++) {
        int32_t choice = (int32_t)aq_rng_below(rng, 3);
        memcpy(chunk->action + 4 * i, &choice, sizeof(choice));
        chunk->reward[i] = (float)aq_rng_uniform(rng) - 0.5f;
        chunk->version[i] = (uint32_t)aq_rng_next(rng);
    }
    return chunk;
}

/* Columns end to end from an odd address on; exactly as much memory as they take. */
typedef struct packed {
    uint8_t *block;
    uint8_t *obs, *action, *reward;
    aq_chunk_view view;
} packed;

static packed pack(const aq_chunk *chunk, size_t shift)
{
    const size_t obs = (LENGTH + 1) * OBS_BYTES, rest = LENGTH * 4;
    packed it = {.block = malloc(shift + obs + 3 * rest), .view = aq_chunk_view_of(chunk)};
    assert_non_null(it.block);
    it.obs = it.block + shift;
    it.action = it.obs + obs;
    it.reward = it.action + rest;
    memcpy(it.obs, chunk->obs, obs);
    memcpy(it.action, chunk->action, rest);
    memcpy(it.reward, chunk->reward, rest);
    memcpy(it.reward + rest, chunk->version, rest);
    it.view.obs = it.obs;
    it.view.action = it.action;
    it.view.reward = it.reward;
    it.view.version = it.reward + rest;
    return it;
}

TEST(a_view_of_a_chunk_tells_what_the_chunk_tells)
{
    aq_rng rng;
    aq_rng_init(&rng, 4, 1);
    aq_chunk *chunk = chunk_of(&rng);
    aq_chunk_view view = aq_chunk_view_of(chunk);
    assert_ptr_equal(view.obs, chunk->obs);
    assert_true(view.episode == 7 && view.lane == 3 && view.first == 20);
    assert_int_equal(aq_chunk_view_fresh(&view), LENGTH - 2);
    assert_int_equal(aq_chunk_view_items(&view, &layout), LENGTH - SPAN + 1);
    view.truncated = 1;
    assert_int_equal(aq_chunk_view_items(&view, &layout), LENGTH);
    aq_chunk_unref(chunk);
}

TEST(columns_are_read_at_any_alignment)
{
    aq_rng rng;
    aq_rng_init(&rng, 4, 2);
    aq_chunk *chunk = chunk_of(&rng);
    for (size_t shift = 0; shift < 8; shift++) {
        packed it = pack(chunk, shift);
        assert_int_equal(aq_chunk_view_validate(&it.view, &layout, NULL), 0);
        for (uint32_t i = 0; i < LENGTH; i++) {
            assert_true(aq_chunk_view_reward(&it.view, i) == chunk->reward[i]);
            assert_int_equal(aq_chunk_view_version(&it.view, i), chunk->version[i]);
        }
        free(it.block);
    }
    aq_chunk_unref(chunk);
}

TEST(folds_are_those_of_the_chunk)
{
    aq_rng rng;
    aq_rng_init(&rng, 4, 3);
    aq_chunk *chunk = chunk_of(&rng);
    for (int end = 0; end < 2; end++) {
        chunk->terminated = (uint8_t)end;
        packed it = pack(chunk, 3);
        for (uint32_t row = 0; row < aq_chunk_items(chunk, &layout); row++) {
            float sum, bootstrap, view_sum, view_bootstrap;
            uint32_t next, view_next;
            aq_chunk_fold(chunk, &layout, row, 0.9f, &sum, &bootstrap, &next);
            aq_chunk_view_fold(&it.view, SPAN, row, 0.9f, &view_sum, &view_bootstrap, &view_next);
            assert_true(sum == view_sum && bootstrap == view_bootstrap && next == view_next);
        }
        free(it.block);
    }
    aq_chunk_unref(chunk);
}

TEST(a_table_may_fold_less_than_the_layout_spans)
{
    aq_rng rng;
    float sum, bootstrap;
    uint32_t next;
    aq_rng_init(&rng, 4, 4);
    aq_chunk *chunk = chunk_of(&rng);
    aq_chunk_view view = aq_chunk_view_of(chunk);
    aq_chunk_view_fold(&view, 2, 5, 0.5f, &sum, &bootstrap, &next);
    assert_true(sum == (float)((double)chunk->reward[5] + 0.5 * (double)chunk->reward[6]));
    assert_true(bootstrap == 0.25f);
    assert_int_equal(next, 7);
    aq_chunk_unref(chunk);
}

static void refuse(const packed *it, int code, const char *words)
{
    aq_error error = {0};
    assert_int_equal(aq_chunk_view_validate(&it->view, &layout, &error), code);
    if (strstr(error.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    }
}

TEST(what_is_wrong_is_found_at_any_alignment)
{
    const float bad = NAN;
    const int32_t negative = -1, third = 3;
    aq_rng rng;
    aq_rng_init(&rng, 4, 5);
    aq_chunk *chunk = chunk_of(&rng);
    for (size_t shift = 0; shift < 4; shift++) {
        packed it = pack(chunk, shift);
        memcpy(it.action + 32, &negative, sizeof(negative));
        refuse(&it, AQ_E_SCHEMA, "action 8 is -1; 0 to 2 are possible");
        memcpy(it.action + 28, &third, sizeof(third));
        refuse(&it, AQ_E_SCHEMA, "action 7 is 3");
        memcpy(it.reward + 32, &bad, sizeof(bad));
        refuse(&it, AQ_E_CORRUPT, "reward 8");
        memcpy(it.obs + LENGTH * OBS_BYTES + 8, &bad, sizeof(bad));
        refuse(&it, AQ_E_CORRUPT, "observation 9, element 2");
        free(it.block);
    }
    aq_chunk_unref(chunk);
}
