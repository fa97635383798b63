/*
 * Everything about a chunk that a peer could get wrong is refused in words, and nothing else is.
 */
#include "common/experience/chunk.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

enum { N_STEP = 3, LENGTH_MAX = 8, OBS = 2, CHOICES = 4 };

typedef struct fixture {
    aq_layout layout;
    aq_chunk *chunk; /* room for LENGTH_MAX */
} fixture;

/* A chunk from the middle of an episode: six transitions, two of them repeated. */
static void fill(fixture *f)
{
    aq_chunk *chunk = f->chunk;
    chunk->view.episode = 5;
    chunk->view.first = 10;
    chunk->view.lane = 1;
    chunk->view.length = 6;
    chunk->view.overlap = 2;
    chunk->view.terminated = chunk->view.truncated = 0;
    memset(obs_of(chunk), 0, (LENGTH_MAX + 1) * (size_t)f->layout.columns[AQ_COLUMN_OBS].bytes);
    memset(action_of(chunk), 0, LENGTH_MAX * (size_t)f->layout.columns[AQ_COLUMN_ACTION].bytes);
    memset(reward_of(chunk), 0, LENGTH_MAX * sizeof(float));
}

static void fixture_open(fixture *f, bool box_action)
{
    const aq_space box = chunk_box(AQ_DTYPE_F32, OBS);
    f->layout = box_action ? chunk_layout_of(box, box, N_STEP, LENGTH_MAX)
                           : chunk_layout(OBS, CHOICES, N_STEP, LENGTH_MAX);
    assert_int_equal(aq_chunk_create(&f->layout, LENGTH_MAX, &f->chunk), 0);
    fill(f);
}

static void fixture_setup(fixture *f)
{
    fixture_open(f, false);
}

static void fixture_teardown(fixture *f)
{
    aq_chunk_unref(f->chunk);
}

#define TEST_OF_CHUNK(name) TEST_IN(fixture, f, name)

static void accept(const fixture *f)
{
    assert_int_equal(aq_chunk_view_validate(&f->chunk->view, &f->layout, NULL), 0);
}

/* Refused with these words; the chunk is then made whole again. */
static void refuse(fixture *f, int code, const char *words)
{
    assert_refused(aq_chunk_view_validate(&f->chunk->view, &f->layout, &refusal), code, words);
    fill(f);
}

TEST_OF_CHUNK(a_chunk_from_the_middle_is_valid)
{
    accept(f);
}

TEST_OF_CHUNK(lengths_outside_the_layout_are_refused)
{
    f->chunk->view.length = 0;
    refuse(f, AQ_E_CORRUPT, "0 transitions");
    f->chunk->view.length = LENGTH_MAX + 1;
    refuse(f, AQ_E_CORRUPT, "9 transitions");
    f->chunk->view.length = UINT32_MAX;
    refuse(f, AQ_E_CORRUPT, "transitions");
    f->chunk->view.length = LENGTH_MAX;
    accept(f);
}

TEST_OF_CHUNK(flags_are_zero_or_one_and_exclude_each_other)
{
    f->chunk->view.terminated = 2;
    refuse(f, AQ_E_CORRUPT, "flag");
    f->chunk->view.truncated = 255;
    refuse(f, AQ_E_CORRUPT, "flag");
    f->chunk->view.terminated = f->chunk->view.truncated = 1;
    refuse(f, AQ_E_CORRUPT, "both terminated and was truncated");
    f->chunk->view.terminated = 1;
    accept(f);
    f->chunk->view.terminated = 0;
    f->chunk->view.truncated = 1;
    accept(f);
}

TEST_OF_CHUNK(an_overlap_of_n_steps_or_of_everything_is_refused)
{
    f->chunk->view.overlap = N_STEP;
    refuse(f, AQ_E_CORRUPT, "repeated");
    f->chunk->view.length = f->chunk->view.overlap = 2;
    f->chunk->view.terminated = 1;
    refuse(f, AQ_E_CORRUPT, "repeated");
    f->chunk->view.overlap = UINT16_MAX;
    refuse(f, AQ_E_CORRUPT, "repeated");
    f->chunk->view.overlap = 0; /* after a loss, an actor may begin anew */
    accept(f);
}

TEST_OF_CHUNK(the_first_chunk_of_an_episode_repeats_nothing)
{
    f->chunk->view.first = 0;
    refuse(f, AQ_E_CORRUPT, "first chunk");
    f->chunk->view.first = 0;
    f->chunk->view.overlap = 0;
    accept(f);
}

TEST_OF_CHUNK(places_in_an_episode_do_not_wrap)
{
    f->chunk->view.first = UINT32_MAX - 5;
    refuse(f, AQ_E_CORRUPT, "out of any episode");
    f->chunk->view.first = UINT32_MAX - 6;
    accept(f);
}

TEST_OF_CHUNK(a_short_chunk_is_valid_only_at_an_end)
{
    f->chunk->view.length = N_STEP - 1;
    f->chunk->view.overlap = 1;
    refuse(f, AQ_E_CORRUPT, "no return over 3 steps");
    f->chunk->view.length = N_STEP;
    accept(f);
    f->chunk->view.length = 1;
    f->chunk->view.overlap = 0;
    f->chunk->view.truncated = 1;
    accept(f);
}

static void put_float(uint8_t *column, size_t index, float value)
{
    memcpy(column + index * sizeof(value), &value, sizeof(value));
}

TEST_OF_CHUNK(a_bad_observation_is_named_by_row_and_element)
{
    put_float(obs_of(f->chunk), 3 * OBS + 1, NAN);
    refuse(f, AQ_E_CORRUPT, "obs 3, element 1");
    put_float(obs_of(f->chunk), 6 * OBS, INFINITY); /* the row after the last transition */
    refuse(f, AQ_E_CORRUPT, "obs 6, element 0");
    put_float(obs_of(f->chunk), 7 * OBS, NAN); /* past the end: not part of it */
    accept(f);
}

TEST_OF_CHUNK(a_bad_reward_is_named_by_row)
{
    reward_of(f->chunk)[5] = -INFINITY;
    refuse(f, AQ_E_CORRUPT, "reward 5");
    reward_of(f->chunk)[6] = NAN; /* past the end */
    accept(f);
}

TEST_OF_CHUNK(a_bad_box_action_is_named_by_row_and_element)
{
    fixture_teardown(f);
    fixture_open(f, true);
    accept(f);
    put_float(action_of(f->chunk), 4 * OBS + 1, NAN);
    refuse(f, AQ_E_CORRUPT, "action 4, element 1");
}

TEST_OF_CHUNK(a_choice_that_is_none_is_another_schema)
{
    const int32_t bad[] = {CHOICES, -1, INT32_MAX, INT32_MIN};
    const int32_t last = CHOICES - 1;
    for (int i = 0; i < 4; i++) {
        memcpy(action_of(f->chunk) + 5 * 4, &bad[i], 4);
        refuse(f, AQ_E_SCHEMA, "action 5 is ");
    }
    memcpy(action_of(f->chunk) + 5 * 4, &last, 4);
    accept(f);
}

TEST_OF_CHUNK(bytes_of_observations_may_be_anything)
{
    f->layout.columns[AQ_COLUMN_OBS].dtype = AQ_DTYPE_U8;
    memset(obs_of(f->chunk), 0xff,
           (LENGTH_MAX + 1) * (size_t)f->layout.columns[AQ_COLUMN_OBS].bytes);
    accept(f);
}

/* Whatever the numbers of a header are: no crash, and what is valid keeps its promises. */
TEST_OF_CHUNK(valid_random_headers_hold_an_item_and_a_fresh_transition)
{
    aq_rng rng;
    int valid = 0;
    aq_rng_init(&rng, 2024, 0);
    for (int i = 0; i < 20000; i++) {
        f->chunk->view.first = (uint32_t)aq_rng_below(&rng, 3);
        f->chunk->view.length = (uint32_t)aq_rng_below(&rng, LENGTH_MAX + 3);
        f->chunk->view.overlap = (uint16_t)aq_rng_below(&rng, N_STEP + 2);
        f->chunk->view.terminated = (uint8_t)aq_rng_below(&rng, 3);
        f->chunk->view.truncated = (uint8_t)aq_rng_below(&rng, 3);
        if (aq_chunk_view_validate(&f->chunk->view, &f->layout, NULL) == 0) {
            uint32_t items = aq_chunk_view_items(&f->chunk->view, &f->layout);
            assert_true(items >= 1 && items <= f->chunk->view.length);
            assert_true(aq_chunk_view_fresh(&f->chunk->view) >= 1);
            valid++;
        }
    }
    assert_true(valid > 1000);
}

TEST_OF_CHUNK(whoever_reads_chunks_of_any_run_takes_whatever_they_repeat)
{
    f->layout.n_step = AQ_CHUNK_SPAN_ANY;
    for (uint16_t overlap = 0; overlap < f->chunk->view.length; overlap++) {
        f->chunk->view.overlap = overlap;
        accept(f);
    }
    f->chunk->view.overlap = (uint16_t)f->chunk->view.length;
    refuse(f, AQ_E_CORRUPT, "are repeated");
}
