/*
 * Everything about a chunk that a peer could get wrong is refused in words, and nothing else is.
 */
#include <math.h>
#include <string.h>

#include "common/base/rng.h"
#include "common/experience/chunk.h"
#include "tests/support/test.h"

enum { N_STEP = 3, LENGTH_MAX = 8, OBS = 2, CHOICES = 4 };

typedef struct fixture {
    aq_chunk_layout layout;
    aq_chunk *chunk; /* room for LENGTH_MAX */
} fixture;

/* A chunk from the middle of an episode: six transitions, two of them repeated. */
static void fill(fixture *f)
{
    aq_chunk *chunk = f->chunk;
    chunk->episode = 5;
    chunk->first = 10;
    chunk->lane = 1;
    chunk->length = 6;
    chunk->overlap = 2;
    chunk->terminated = chunk->truncated = 0;
    memset(chunk->obs, 0, (LENGTH_MAX + 1) * (size_t)f->layout.obs_bytes);
    memset(chunk->action, 0, LENGTH_MAX * (size_t)f->layout.action_bytes);
    memset(chunk->reward, 0, LENGTH_MAX * sizeof(float));
}

static fixture setup(bool box_action)
{
    const float low[OBS] = {-1.0f, -1.0f}, high[OBS] = {1.0f, 1.0f};
    aq_schema schema;
    fixture f;
    aq_space_init_box(&schema.obs, OBS, low, high);
    aq_space_init_discrete(&schema.action, CHOICES);
    if (box_action) {
        aq_space_init_box(&schema.action, OBS, low, high);
    }
    assert_int_equal(aq_chunk_layout_init(&schema, N_STEP, LENGTH_MAX, &f.layout, NULL), 0);
    assert_int_equal(aq_chunk_create(&f.layout, LENGTH_MAX, &f.chunk), 0);
    fill(&f);
    return f;
}

static void teardown(fixture *f)
{
    aq_chunk_unref(f->chunk);
}

static void accept(const fixture *f)
{
    assert_int_equal(aq_chunk_validate(f->chunk, &f->layout, NULL), 0);
}

/* Refused with these words; the chunk is then made whole again. */
static void refuse(fixture *f, int code, const char *words)
{
    aq_error error = {0};
    assert_int_equal(aq_chunk_validate(f->chunk, &f->layout, &error), code);
    assert_int_equal(error.code, code);
    if (strstr(error.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    }
    fill(f);
}

TEST(a_chunk_from_the_middle_is_valid)
{
    fixture f = setup(false);
    accept(&f);
    teardown(&f);
}

TEST(lengths_outside_the_layout_are_refused)
{
    fixture f = setup(false);
    f.chunk->length = 0;
    refuse(&f, AQ_E_CORRUPT, "0 transitions");
    f.chunk->length = LENGTH_MAX + 1;
    refuse(&f, AQ_E_CORRUPT, "9 transitions");
    f.chunk->length = UINT32_MAX;
    refuse(&f, AQ_E_CORRUPT, "transitions");
    f.chunk->length = LENGTH_MAX;
    accept(&f);
    teardown(&f);
}

TEST(flags_are_zero_or_one_and_exclude_each_other)
{
    fixture f = setup(false);
    f.chunk->terminated = 2;
    refuse(&f, AQ_E_CORRUPT, "flag");
    f.chunk->truncated = 255;
    refuse(&f, AQ_E_CORRUPT, "flag");
    f.chunk->terminated = f.chunk->truncated = 1;
    refuse(&f, AQ_E_CORRUPT, "both terminated and was truncated");
    f.chunk->terminated = 1;
    accept(&f);
    f.chunk->terminated = 0;
    f.chunk->truncated = 1;
    accept(&f);
    teardown(&f);
}

TEST(an_overlap_of_n_steps_or_of_everything_is_refused)
{
    fixture f = setup(false);
    f.chunk->overlap = N_STEP;
    refuse(&f, AQ_E_CORRUPT, "repeated");
    f.chunk->length = f.chunk->overlap = 2;
    f.chunk->terminated = 1;
    refuse(&f, AQ_E_CORRUPT, "repeated");
    f.chunk->overlap = UINT32_MAX;
    refuse(&f, AQ_E_CORRUPT, "repeated");
    f.chunk->overlap = 0; /* after a loss, an actor may begin anew */
    accept(&f);
    teardown(&f);
}

TEST(the_first_chunk_of_an_episode_repeats_nothing)
{
    fixture f = setup(false);
    f.chunk->first = 0;
    refuse(&f, AQ_E_CORRUPT, "first chunk");
    f.chunk->first = 0;
    f.chunk->overlap = 0;
    accept(&f);
    teardown(&f);
}

TEST(places_in_an_episode_do_not_wrap)
{
    fixture f = setup(false);
    f.chunk->first = UINT32_MAX - 5;
    refuse(&f, AQ_E_CORRUPT, "out of any episode");
    f.chunk->first = UINT32_MAX - 6;
    accept(&f);
    teardown(&f);
}

TEST(a_short_chunk_is_valid_only_at_an_end)
{
    fixture f = setup(false);
    f.chunk->length = N_STEP - 1;
    f.chunk->overlap = 1;
    refuse(&f, AQ_E_CORRUPT, "no return over 3 steps");
    f.chunk->length = N_STEP;
    accept(&f);
    f.chunk->length = 1;
    f.chunk->overlap = 0;
    f.chunk->truncated = 1;
    accept(&f);
    teardown(&f);
}

static void put_float(uint8_t *column, size_t index, float value)
{
    memcpy(column + index * sizeof(value), &value, sizeof(value));
}

TEST(a_bad_observation_is_named_by_row_and_element)
{
    fixture f = setup(false);
    put_float(f.chunk->obs, 3 * OBS + 1, NAN);
    refuse(&f, AQ_E_CORRUPT, "observation 3, element 1");
    put_float(f.chunk->obs, 6 * OBS, INFINITY); /* the row after the last transition */
    refuse(&f, AQ_E_CORRUPT, "observation 6, element 0");
    put_float(f.chunk->obs, 7 * OBS, NAN); /* past the end: not part of it */
    accept(&f);
    teardown(&f);
}

TEST(a_bad_reward_is_named_by_row)
{
    fixture f = setup(false);
    f.chunk->reward[5] = -INFINITY;
    refuse(&f, AQ_E_CORRUPT, "reward 5");
    f.chunk->reward[6] = NAN; /* past the end */
    accept(&f);
    teardown(&f);
}

TEST(a_bad_box_action_is_named_by_row_and_element)
{
    fixture f = setup(true);
    accept(&f);
    put_float(f.chunk->action, 4 * OBS + 1, NAN);
    refuse(&f, AQ_E_CORRUPT, "action 4, element 1");
    teardown(&f);
}

TEST(a_choice_that_is_none_is_another_schema)
{
    fixture f = setup(false);
    const int32_t bad[] = {CHOICES, -1, INT32_MAX, INT32_MIN};
    const int32_t last = CHOICES - 1;
    for (int i = 0; i < 4; i++) {
        memcpy(f.chunk->action + 5 * 4, &bad[i], 4);
        refuse(&f, AQ_E_SCHEMA, "action 5 is ");
    }
    memcpy(f.chunk->action + 5 * 4, &last, 4);
    accept(&f);
    teardown(&f);
}

TEST(bytes_of_observations_may_be_anything)
{
    fixture f = setup(false);
    f.layout.obs_is_f32 = 0;
    memset(f.chunk->obs, 0xff, (LENGTH_MAX + 1) * (size_t)f.layout.obs_bytes);
    accept(&f);
    teardown(&f);
}

/* Whatever the numbers of a header are: no crash, and what is valid keeps its promises. */
TEST(valid_random_headers_hold_an_item_and_a_fresh_transition)
{
    fixture f = setup(false);
    aq_rng rng;
    int valid = 0;
    aq_rng_init(&rng, 2024, 0);
    for (int i = 0; i < 20000; i++) {
        f.chunk->first = (uint32_t)aq_rng_below(&rng, 3);
        f.chunk->length = (uint32_t)aq_rng_below(&rng, LENGTH_MAX + 3);
        f.chunk->overlap = (uint32_t)aq_rng_below(&rng, N_STEP + 2);
        f.chunk->terminated = (uint8_t)aq_rng_below(&rng, 3);
        f.chunk->truncated = (uint8_t)aq_rng_below(&rng, 3);
        if (aq_chunk_validate(f.chunk, &f.layout, NULL) == 0) {
            uint32_t items = aq_chunk_items(f.chunk, &f.layout);
            assert_true(items >= 1 && items <= f.chunk->length);
            assert_true(aq_chunk_fresh(f.chunk) >= 1);
            valid++;
        }
    }
    assert_true(valid > 1000);
    teardown(&f);
}

TEST(whoever_reads_chunks_of_any_run_takes_whatever_they_repeat)
{
    fixture f = setup(false);
    f.layout.n_step = AQ_CHUNK_SPAN_ANY;
    for (uint32_t overlap = 0; overlap < f.chunk->length; overlap++) {
        f.chunk->overlap = overlap;
        accept(&f);
    }
    f.chunk->overlap = f.chunk->length;
    refuse(&f, AQ_E_CORRUPT, "are repeated");
    teardown(&f);
}
