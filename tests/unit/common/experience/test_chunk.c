/*
 * Chunks: their layout, one block of aligned columns, references, items and the n-step fold.
 */
#include <pthread.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/experience/chunk.h"
#include "tests/support/test.h"

static aq_schema schema_of(uint32_t obs_elements, uint32_t choice_count)
{
    float low[AQ_BOUNDS_MAX] = {0}, high[AQ_BOUNDS_MAX] = {0};
    aq_schema schema;
    aq_space_init_box(&schema.obs, obs_elements, low, high);
    aq_space_init_discrete(&schema.action, choice_count);
    return schema;
}

static aq_chunk_layout layout_of(uint32_t n_step, uint32_t length_max)
{
    aq_schema schema = schema_of(3, 2);
    aq_chunk_layout layout;
    assert_int_equal(aq_chunk_layout_init(&schema, n_step, length_max, &layout, NULL), 0);
    return layout;
}

static aq_chunk *chunk_of(const aq_chunk_layout *layout, uint32_t length)
{
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(layout, length, &chunk), 0);
    assert_int_equal(chunk->length, 0);
    chunk->length = length;
    for (uint32_t i = 0; i < length; i++) {
        chunk->reward[i] = (float)(i + 1);
    }
    return chunk;
}

TEST(a_layout_follows_the_schema)
{
    aq_chunk_layout layout = layout_of(3, 32);
    assert_int_equal(layout.obs_bytes, 12);
    assert_int_equal(layout.action_bytes, 4);
    assert_int_equal(layout.obs_is_f32, 1);
    assert_int_equal(layout.action_is_f32, 0);
    assert_int_equal(layout.choice_count, 2);
}

TEST(a_layout_of_boxes_and_choices_knows_what_to_check)
{
    aq_schema schema = schema_of(3, 2);
    aq_chunk_layout layout;
    schema.action = schema.obs;
    schema.obs.dtype = AQ_DTYPE_U8;
    assert_int_equal(aq_chunk_layout_init(&schema, 1, 1, &layout, NULL), 0);
    assert_int_equal(layout.obs_bytes, 3);
    assert_int_equal(layout.action_bytes, 12);
    assert_int_equal(layout.obs_is_f32, 0);
    assert_int_equal(layout.action_is_f32, 1);
    assert_int_equal(layout.choice_count, 0);
    aq_space_init_discrete(&schema.obs, 16);
    assert_int_equal(aq_chunk_layout_init(&schema, 1, 1, &layout, NULL), 0);
    assert_int_equal(layout.obs_bytes, 4);
    assert_int_equal(layout.obs_is_f32, 0);
}

static void refuse_layout(const aq_schema *schema, uint32_t n_step, uint32_t length_max, int code)
{
    aq_chunk_layout layout, before;
    aq_error error = {0};
    memset(&before, 0x5a, sizeof(before));
    layout = before;
    assert_int_equal(aq_chunk_layout_init(schema, n_step, length_max, &layout, &error), code);
    assert_int_equal(error.code, code);
    assert_memory_equal(&layout, &before, sizeof(layout));
}

TEST(a_layout_that_cannot_work_is_refused)
{
    aq_schema schema = schema_of(3, 2), big = schema_of(3, 2);
    refuse_layout(&schema, 0, 32, AQ_E_INVALID);
    refuse_layout(&schema, 33, 32, AQ_E_INVALID);
    refuse_layout(&schema, 1, 0, AQ_E_INVALID);
    refuse_layout(&schema, 1, AQ_CHUNK_LENGTH_MAX + 1, AQ_E_INVALID);
    refuse_layout(&schema, UINT32_MAX, UINT32_MAX, AQ_E_INVALID);
    big.obs.shape[0] = AQ_SPACE_ELEMENTS_MAX;
    big.obs.bound_count = 1;
    refuse_layout(&big, 1, 4, AQ_E_TOO_BIG); /* five rows of 64 MiB */
    schema.action.choice_count = 0;
    refuse_layout(&schema, 1, 32, AQ_E_SCHEMA);
}

TEST(columns_are_aligned_apart_and_zeroed)
{
    aq_chunk_layout layout = layout_of(2, 100);
    for (uint32_t room = 1; room <= 100; room++) {
        aq_chunk *chunk = NULL;
        assert_int_equal(aq_chunk_create(&layout, room, &chunk), 0);
        const uint8_t *block = (const uint8_t *)chunk;
        const uint8_t *columns[] = {chunk->obs, chunk->action, (const uint8_t *)chunk->reward,
                                    (const uint8_t *)chunk->version};
        const size_t bytes[] = {(room + 1) * 12, room * 4, room * 4, room * 4};
        const uint8_t *end = block + sizeof(*chunk);
        for (int i = 0; i < 4; i++) {
            assert_int_equal((uintptr_t)columns[i] % AQ_ALIGNMENT_BYTES, 0);
            assert_true(columns[i] >= end);
            for (size_t k = 0; k < bytes[i]; k++) {
                assert_int_equal(columns[i][k], 0);
            }
            end = columns[i] + bytes[i];
        }
        assert_int_equal(end - block, chunk->bytes);
        aq_chunk_unref(chunk);
    }
}

TEST(room_is_bounded_by_the_layout)
{
    aq_chunk_layout layout = layout_of(2, 10);
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(&layout, 0, &chunk), AQ_E_INVALID);
    assert_int_equal(aq_chunk_create(&layout, 11, &chunk), AQ_E_TOO_BIG);
    assert_int_equal(aq_chunk_create(&layout, UINT32_MAX, &chunk), AQ_E_TOO_BIG);
    assert_null(chunk);
}

TEST(a_chunk_is_one_allocation_and_may_fail)
{
    aq_chunk_layout layout = layout_of(2, 10);
    aq_chunk *chunk = NULL;
    uint64_t before = aq_memory_allocation_count();
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_chunk_create(&layout, 10, &chunk), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_null(chunk);
    assert_int_equal(aq_chunk_create(&layout, 10, &chunk), 0);
    assert_true(aq_memory_allocation_count() == before + 2);
    aq_chunk_unref(chunk);
}

TEST(nothing_can_be_unreferenced)
{
    aq_chunk_unref(NULL);
}

enum { THREADS = 4, ROUNDS = 2000 };

static void *hold_and_release(void *argument)
{
    aq_chunk *chunk = argument;
    float sum = 0.0f;
    for (int i = 0; i < ROUNDS; i++) {
        aq_chunk_ref(chunk);
        sum += chunk->reward[0];
        aq_chunk_unref(chunk);
    }
    assert_true(sum == (float)ROUNDS);
    aq_chunk_unref(chunk);
    return NULL;
}

/* The last of them frees it, whoever that is: a leak checker and a race detector judge. */
TEST(references_are_counted_between_threads)
{
    aq_chunk_layout layout = layout_of(2, 10);
    aq_chunk *chunk = chunk_of(&layout, 5);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        aq_chunk *held = aq_chunk_ref(chunk);
        assert_int_equal(pthread_create(&threads[i], NULL, hold_and_release, held), 0);
    }
    aq_chunk_unref(chunk);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

TEST(items_of_an_episode_that_goes_on_need_n_steps)
{
    aq_chunk_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 10);
    const uint32_t items[] = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};
    for (uint32_t length = 0; length <= 10; length++) {
        chunk->length = length;
        assert_int_equal(aq_chunk_items(chunk, &layout), items[length]);
    }
    aq_chunk_unref(chunk);
}

TEST(items_of_an_ended_episode_are_all_rows)
{
    aq_chunk_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 2);
    chunk->truncated = 1;
    assert_int_equal(aq_chunk_items(chunk, &layout), 2);
    chunk->truncated = 0;
    chunk->terminated = 1;
    assert_int_equal(aq_chunk_items(chunk, &layout), 2);
    aq_chunk_unref(chunk);
}

TEST(fresh_transitions_are_those_not_repeated)
{
    aq_chunk_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 10);
    assert_int_equal(aq_chunk_fresh(chunk), 10);
    chunk->overlap = 2;
    assert_int_equal(aq_chunk_fresh(chunk), 8);
    aq_chunk_unref(chunk);
}

typedef struct folded {
    float sum, bootstrap;
    uint32_t next_row;
} folded;

static folded fold(const aq_chunk *chunk, const aq_chunk_layout *layout, uint32_t row)
{
    folded result = {-1.0f, -1.0f, UINT32_MAX};
    aq_chunk_fold(chunk, layout, row, 0.5f, &result.sum, &result.bootstrap, &result.next_row);
    return result;
}

TEST(a_fold_inside_an_episode_takes_n_rewards)
{
    aq_chunk_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 6); /* rewards 1, 2, ..., 6 */
    folded first = fold(chunk, &layout, 0);
    assert_true(first.sum == 1.0f + 2.0f / 2 + 3.0f / 4);
    assert_true(first.bootstrap == 0.125f);
    assert_int_equal(first.next_row, 3);
    folded last = fold(chunk, &layout, 3);
    assert_true(last.sum == 4.0f + 5.0f / 2 + 6.0f / 4);
    assert_true(last.bootstrap == 0.125f);
    assert_int_equal(last.next_row, 6);
    aq_chunk_unref(chunk);
}

TEST(termination_cuts_the_bootstrap_where_it_is_reached)
{
    aq_chunk_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 4);
    chunk->terminated = 1;
    assert_true(fold(chunk, &layout, 0).bootstrap == 0.125f); /* ends one step before */
    assert_true(fold(chunk, &layout, 1).bootstrap == 0.0f);
    assert_true(fold(chunk, &layout, 1).sum == 2.0f + 3.0f / 2 + 4.0f / 4);
    assert_true(fold(chunk, &layout, 3).bootstrap == 0.0f);
    assert_true(fold(chunk, &layout, 3).sum == 4.0f);
    assert_int_equal(fold(chunk, &layout, 3).next_row, 4);
    aq_chunk_unref(chunk);
}

TEST(truncation_folds_fewer_steps_and_keeps_the_bootstrap)
{
    aq_chunk_layout layout = layout_of(3, 10);
    aq_chunk *chunk = chunk_of(&layout, 4);
    chunk->truncated = 1;
    assert_true(fold(chunk, &layout, 2).sum == 3.0f + 4.0f / 2);
    assert_true(fold(chunk, &layout, 2).bootstrap == 0.25f);
    assert_int_equal(fold(chunk, &layout, 2).next_row, 4);
    assert_true(fold(chunk, &layout, 3).bootstrap == 0.5f);
    aq_chunk_unref(chunk);
}

TEST(a_long_fold_does_not_lose_small_rewards)
{
    aq_chunk_layout layout = layout_of(64, 64);
    aq_chunk *chunk = chunk_of(&layout, 64);
    float sum, bootstrap;
    uint32_t next_row;
    chunk->reward[0] = 16777216.0f; /* in float, adding 0.5 to it changes nothing */
    for (int i = 1; i < 64; i++) {
        chunk->reward[i] = 0.5f;
    }
    aq_chunk_fold(chunk, &layout, 0, 1.0f, &sum, &bootstrap, &next_row);
    assert_true(sum == 16777248.0f);
    assert_true(bootstrap == 1.0f);
    aq_chunk_unref(chunk);
}
