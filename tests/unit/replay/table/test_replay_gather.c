/*
 * Gathering: every column against the steps that the chunks were made of, the n-step returns at the
 * ends of chunks and episodes, and sequences with what lies beyond their ends. Discount 0.5 makes
 * all sums exact.
 */
#include "replay/table/chunk_items.h"
#include "replay/table/replay_gather.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

/* A ring of one message's chunks. */
typedef struct gathering {
    aq_table_spec spec;
    aq_arrival *arrival;
    aq_chunk_ring ring;
    aq_batch *batch;
} gathering;

static void close_it(void *user)
{
    gathering *it = user;
    aq_batch_destroy(it->batch);
    aq_chunk_ring_fini(&it->ring);
    aq_arrival_unref(it->arrival);
    aq_free(it);
}

static gathering *gathering_of(const aq_table_spec *spec, const aq_layout *layout,
                               const table_kit_piece *pieces, uint32_t count, uint32_t rows)
{
    gathering *it = aq_alloc(1, sizeof(*it));
    assert_non_null(it);
    it->spec = *spec;
    it->arrival = table_kit_arrival(layout, pieces, count);
    assert_int_equal(aq_chunk_ring_init(&it->ring), 0);
    at_end(close_it, it);
    for (uint32_t i = 0; i < count; i++) {
        const aq_chunk_view *view = &it->arrival->chunks[i];
        uint32_t items = aq_chunk_items_count(spec, layout, view);
        assert_int_equal(aq_chunk_ring_reserve(&it->ring, 1, items), 0);
        if (items > 0) {
            aq_chunk_ring_append(&it->ring, NULL, view, items);
        }
    }
    assert_int_equal(aq_batch_create(layout, spec->sequence_length, rows, &it->batch), 0);
    memset(it->batch->obs, 0x77, (size_t)rows * layout->columns[AQ_COLUMN_OBS].bytes);
    return it;
}

static void gather_shaped(gathering *it, const uint64_t *items, uint32_t rows, float discount,
                          aq_reward_shape shape)
{
    it->batch->rows = rows;
    memcpy(it->batch->item, items, rows * sizeof(*items));
    aq_replay_gather(&it->spec, &it->ring, discount, shape, it->batch);
}

static void gather(gathering *it, const uint64_t *items, uint32_t rows, float discount)
{
    gather_shaped(it, items, rows, discount, (aq_reward_shape){.scale = 1.0f});
}

typedef struct gathered {
    float obs[2], next_obs, reward, bootstrap;
    uint32_t action, version;
} gathered;

static gathered gather_one(const table_kit_piece *piece, uint64_t item)
{
    aq_layout layout = table_kit_layout();
    aq_table_spec spec = table_kit_spec();
    gathered row;
    gathering *it = gathering_of(&spec, &layout, piece, 1, 1);
    gather(it, &item, 1, 0.5f);
    row.reward = it->batch->reward[0];
    row.bootstrap = it->batch->bootstrap[0];
    row.version = it->batch->version[0];
    memcpy(row.obs, it->batch->obs, sizeof(row.obs));
    memcpy(&row.next_obs, it->batch->next_obs, sizeof(float));
    memcpy(&row.action, it->batch->action, sizeof(uint32_t));
    return row;
}

static const table_kit_piece goes_on = {.step = 100, .length = 8};
static const table_kit_piece terminated = {.step = 100, .length = 8, .terminated = true};
static const table_kit_piece truncated = {.step = 100, .length = 8, .truncated = true};

TEST(an_item_inside_a_chunk_folds_n_steps)
{
    gathered row = gather_one(&goes_on, 2);
    assert_true(row.obs[0] == 102.0f && row.obs[1] == 102.25f);
    assert_true(row.next_obs == 105.0f);
    assert_true(row.reward == 102.0f + 0.5f * 103.0f + 0.25f * 104.0f);
    assert_true(row.bootstrap == 0.125f);
    assert_int_equal(row.action, 102);
    assert_int_equal(row.version, 102);
}

TEST(the_last_item_of_a_chunk_that_goes_on_folds_n_steps)
{
    gathered row = gather_one(&goes_on, 5);
    assert_true(row.obs[0] == 105.0f);
    assert_true(row.next_obs == 108.0f);
    assert_true(row.reward == 105.0f + 0.5f * 106.0f + 0.25f * 107.0f);
    assert_true(row.bootstrap == 0.125f);
}

TEST(a_termination_shortens_the_fold_and_cuts_the_bootstrap)
{
    gathered row = gather_one(&terminated, 6);
    assert_true(row.obs[0] == 106.0f);
    assert_true(row.next_obs == 108.0f);
    assert_true(row.reward == 106.0f + 0.5f * 107.0f);
    assert_true(row.bootstrap == 0.0f);
}

TEST(an_item_that_ends_just_at_the_termination_has_no_bootstrap)
{
    assert_true(gather_one(&terminated, 5).bootstrap == 0.0f);
    assert_true(gather_one(&terminated, 4).bootstrap == 0.125f);
}

TEST(a_truncation_shortens_the_fold_and_keeps_the_bootstrap)
{
    gathered row = gather_one(&truncated, 7);
    assert_true(row.obs[0] == 107.0f);
    assert_true(row.next_obs == 108.0f);
    assert_true(row.reward == 107.0f);
    assert_true(row.bootstrap == 0.5f);
}

/* Rewards of 102, 103 and 104, held at 103 each before they are added up. */
TEST(rewards_are_held_and_scaled_before_they_are_folded)
{
    const aq_layout layout = table_kit_layout();
    const aq_table_spec spec = table_kit_spec();
    gathering *it = gathering_of(&spec, &layout, &goes_on, 1, 1);
    gather_shaped(it, (const uint64_t[]){2}, 1, 0.5f,
                  (aq_reward_shape){.clip = 103.0f, .scale = 2.0f});
    assert_true(it->batch->reward[0] == 204.0f + 0.5f * 206.0f + 0.25f * 206.0f);
}

TEST(a_table_of_fewer_steps_than_the_span_folds_its_own)
{
    aq_layout layout = table_kit_layout();
    aq_table_spec spec = table_kit_spec();
    spec.n_step = 1;
    gathering *it = gathering_of(&spec, &layout, &goes_on, 1, 1);
    gather(it, (const uint64_t[]){5}, 1, 0.5f);
    float next;
    memcpy(&next, it->batch->next_obs, sizeof(next));
    assert_true(next == 106.0f);
    assert_true(it->batch->reward[0] == 105.0f);
    assert_true(it->batch->bootstrap[0] == 0.5f);
}

TEST(draws_are_counted_by_chunk)
{
    aq_layout layout = table_kit_layout();
    aq_table_spec spec = table_kit_spec();
    const table_kit_piece pieces[] = {terminated, terminated};
    gathering *it = gathering_of(&spec, &layout, pieces, 2, 4);
    gather(it, (const uint64_t[]){0, 3, 3, 9}, 4, 1.0f);
    assert_int_equal(aq_chunk_ring_slot(&it->ring, 0)->draws, 3);
    assert_int_equal(aq_chunk_ring_slot(&it->ring, 1)->draws, 1);
}

/* Rows of many sizes, aligned and not, against a plain fold. */
static void check_many(aq_rng *rng, uint32_t obs_bytes, uint32_t action_bytes, uint32_t n_step)
{
    enum { CHUNKS = 40, ROWS = 300 };
    const aq_layout layout = chunk_layout_of(chunk_box(AQ_DTYPE_U8, obs_bytes),
                                             chunk_box(AQ_DTYPE_U8, action_bytes), 8, 24);
    aq_table_spec spec = table_kit_spec();
    table_kit_piece pieces[CHUNKS];
    spec.n_step = n_step;
    for (uint64_t i = 0; i < CHUNKS; i++) {
        uint64_t end = aq_rng_below(rng, 3);
        pieces[i] = (table_kit_piece){.step = 24 * i,
                                      .length = 8 + (uint32_t)aq_rng_below(rng, 17),
                                      .terminated = end == 1,
                                      .truncated = end == 2};
    }
    gathering *it = gathering_of(&spec, &layout, pieces, CHUNKS, ROWS);
    uint64_t items[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        items[i] = aq_rng_below(rng, aq_chunk_ring_end_item(&it->ring));
    }
    gather(it, items, ROWS, 0.97f);
    for (uint32_t i = 0; i < ROWS; i++) {
        uint64_t ordinal = aq_chunk_ring_find(&it->ring, items[i]);
        const aq_chunk_slot *slot = aq_chunk_ring_slot(&it->ring, ordinal);
        uint32_t row = (uint32_t)(items[i] - slot->first_item);
        float reward, bootstrap;
        uint32_t next;
        chunk_fold(slot->view, n_step, row, 0.97f, &reward, &bootstrap, &next);
        assert_true(it->batch->reward[i] == reward);
        assert_true(it->batch->bootstrap[i] == bootstrap);
        assert_int_equal(it->batch->version[i], aq_chunk_view_version(slot->view, row));
        const uint8_t *obs = aq_chunk_view_column(slot->view, AQ_COLUMN_OBS);
        const uint8_t *action = aq_chunk_view_column(slot->view, AQ_COLUMN_ACTION);
        assert_memory_equal(it->batch->obs + (size_t)i * obs_bytes, obs + (size_t)row * obs_bytes,
                            obs_bytes);
        assert_memory_equal(it->batch->next_obs + (size_t)i * obs_bytes,
                            obs + (size_t)next * obs_bytes, obs_bytes);
        assert_memory_equal(it->batch->action + (size_t)i * action_bytes,
                            action + (size_t)row * action_bytes, action_bytes);
    }
}

TEST(rows_of_all_sizes_agree_with_a_plain_fold)
{
    const uint32_t sizes[] = {1,  4,  8,  12, 15,  16,   17,   20,   31,  32,
                              33, 48, 64, 68, 100, 1023, 1024, 1025, 4000};
    aq_rng rng = rng_of(test_seed(), 7);
    EACH_ROW(i, sizes) {
        for (size_t n = 0; n < 4; n++) {
            check_many(&rng, sizes[i], sizes[(i * 5 + n) % 11],
                       1 + (uint32_t)aq_rng_below(&rng, 8));
        }
    }
}

/* ---- recorded columns ---------------------------------------------------------------------- */

static void record_two(aq_layout *layout)
{
    const aq_column columns[] = {
        {"noise", AQ_DTYPE_F32, AQ_PER_STEP, sizeof(float), {0}, {0}},
        {"hidden", AQ_DTYPE_F32, AQ_PER_BOUNDARY, sizeof(float), {0}, {0}}};
    assert_int_equal(aq_layout_record(layout, columns, 2, NULL), 0);
}

static float recorded_at(const aq_batch *batch, uint32_t column, uint32_t index)
{
    float value;
    memcpy(&value, batch->columns[AQ_BATCH_RECORDED + column].bytes + index * sizeof(value),
           sizeof(value));
    return value;
}

TEST(an_item_has_what_was_recorded_and_of_boundaries_what_it_leads_to)
{
    aq_layout layout = table_kit_layout();
    const aq_table_spec spec = table_kit_spec();
    record_two(&layout);
    gathering *it = gathering_of(&spec, &layout, &terminated, 1, 1);
    gather(it, (const uint64_t[]){6}, 1, 0.5f);
    assert_int_equal(it->batch->column_count, AQ_BATCH_RECORDED + 4);
    assert_true(recorded_at(it->batch, 0, 0) == 106.5f);
    assert_int_equal(it->batch->columns[AQ_BATCH_RECORDED + 1].values, 0); /* no next noise */
    assert_true(recorded_at(it->batch, 2, 0) == 106.5f);
    assert_string_equal(it->batch->columns[AQ_BATCH_RECORDED + 3].is.name, "next_hidden");
    assert_true(recorded_at(it->batch, 3, 0) == 108.5f);
}

/* ---- sequences ----------------------------------------------------------------------------- */

enum { STEPS = 4, PERIOD = 3 };

static aq_table_spec sequence_spec(void)
{
    aq_table_spec spec = table_kit_spec();
    spec.sequence_length = STEPS;
    spec.sequence_period = PERIOD;
    return spec;
}

static aq_layout sequence_layout(void)
{
    aq_layout layout = table_kit_layout();
    layout.n_step = STEPS;
    layout.length_max = 16;
    return layout;
}

static float obs_at(const aq_batch *batch, uint32_t row, uint32_t step)
{
    float value;
    memcpy(&value, batch->obs + ((size_t)row * (batch->steps + 1) + step) * batch->obs_bytes,
           sizeof(value));
    return value;
}

TEST(a_sequence_has_all_its_steps)
{
    const aq_table_spec spec = sequence_spec();
    const aq_layout layout = sequence_layout();
    const table_kit_piece piece = {.step = 100, .length = 12};
    gathering *it = gathering_of(&spec, &layout, &piece, 1, 2);
    assert_int_equal(aq_chunk_ring_end_item(&it->ring), 3); /* rows 0, 3, 6 */
    gather(it, (const uint64_t[]){2, 1}, 2, 0.5f);
    for (uint32_t row = 0; row < 2; row++) {
        uint32_t first = row == 0 ? 106 : 103;
        assert_int_equal(it->batch->length[row], STEPS);
        for (uint32_t i = 0; i < STEPS; i++) {
            assert_true(it->batch->reward[row * STEPS + i] == (float)(first + i));
            assert_true(it->batch->bootstrap[row * STEPS + i] == 0.5f);
            assert_int_equal(it->batch->version[row * STEPS + i], first + i);
        }
        for (uint32_t i = 0; i <= STEPS; i++) {
            assert_true(obs_at(it->batch, row, i) == (float)(first + i));
        }
    }
}

TEST(rewards_of_sequences_are_held_and_scaled_step_by_step)
{
    const aq_table_spec spec = sequence_spec();
    const aq_layout layout = sequence_layout();
    const table_kit_piece piece = {.step = 100, .length = 11, .terminated = true};
    gathering *it = gathering_of(&spec, &layout, &piece, 1, 1);
    gather_shaped(it, (const uint64_t[]){3}, 1, 0.5f,
                  (aq_reward_shape){.clip = 109.0f, .scale = 0.5f});
    static const float expected[] = {54.5f, 54.5f}; /* of 109 and 110 */
    assert_memory_equal(it->batch->reward, expected, sizeof(expected));
}

/* The second of two, of which the first is whole. */
TEST(beyond_the_end_of_an_episode_a_sequence_is_zero)
{
    const aq_table_spec spec = sequence_spec();
    const aq_layout layout = sequence_layout();
    for (int end = 0; end < 2; end++) {
        const table_kit_piece piece = {
            .step = 100, .length = 11, .terminated = end == 0, .truncated = end == 1};
        gathering *it = gathering_of(&spec, &layout, &piece, 1, 2);
        aq_batch *batch = it->batch;
        assert_int_equal(aq_chunk_ring_end_item(&it->ring), 4); /* rows 0, 3, 6, 9 */
        memset(batch->reward, 0x77, 2 * STEPS * sizeof(float));
        memset(batch->bootstrap, 0x77, 2 * STEPS * sizeof(float));
        memset(batch->version, 0x77, 2 * STEPS * sizeof(uint32_t));
        memset(batch->action, 0x77, 2 * (size_t)STEPS * batch->action_bytes);
        memset(batch->obs, 0x77, 2 * (STEPS + 1) * (size_t)batch->obs_bytes);
        gather(it, (const uint64_t[]){0, 3}, 2, 0.5f);
        const float *reward = batch->reward + STEPS, *bootstrap = batch->bootstrap + STEPS;
        assert_int_equal(batch->steps, STEPS);
        assert_true(batch->bootstrap[STEPS - 1] == 0.5f); /* the episode goes on there */
        assert_int_equal(batch->length[1], 2);
        assert_true(reward[1] == 110.0f && reward[2] == 0.0f);
        assert_true(bootstrap[0] == 0.5f);
        assert_true(bootstrap[1] == (end == 0 ? 0.0f : 0.5f));
        assert_true(bootstrap[2] == 0.0f && bootstrap[3] == 0.0f);
        assert_true(obs_at(batch, 1, 2) == 111.0f); /* after the last transition */
        assert_true(obs_at(batch, 1, 3) == 0.0f && obs_at(batch, 1, 4) == 0.0f);
        assert_int_equal(batch->version[STEPS + 3], 0);
        uint32_t action;
        memcpy(&action, batch->action + (STEPS + 2) * (size_t)batch->action_bytes, sizeof(action));
        assert_int_equal(action, 0);
    }
}

TEST(a_batch_is_as_wide_as_its_longest_sequence)
{
    const aq_table_spec spec = sequence_spec();
    const aq_layout layout = sequence_layout();
    const table_kit_piece pieces[] = {{.step = 100, .length = 2, .terminated = true},
                                      {.step = 200, .length = 3, .terminated = true},
                                      {.step = 300, .length = 9, .terminated = true}};
    gathering *it = gathering_of(&spec, &layout, pieces, 3, 2);
    gather(it, (const uint64_t[]){0, 1}, 2, 0.5f);
    assert_int_equal(it->batch->steps, 3);
    assert_true(it->batch->reward[1] == 101.0f && it->batch->reward[2] == 0.0f);
    assert_true(it->batch->reward[3] == 200.0f && it->batch->reward[5] == 202.0f);
    assert_true(obs_at(it->batch, 1, 0) == 200.0f && obs_at(it->batch, 1, 3) == 203.0f);
    /* The same batch, again as wide as it was made. */
    gather(it, (const uint64_t[]){0, 2}, 2, 0.5f);
    assert_int_equal(it->batch->steps, STEPS);
    assert_true(it->batch->reward[STEPS] == 300.0f && it->batch->reward[STEPS + 3] == 303.0f);
}

TEST(sequences_start_at_multiples_of_the_period_in_the_episode)
{
    const aq_table_spec spec = sequence_spec();
    const aq_layout layout = sequence_layout();
    /* An episode of 30 steps in chunks of 10 that repeat STEPS - 1. */
    table_kit_piece pieces[4];
    uint32_t first = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t length = i < 3 ? 10 : 30 - first;
        pieces[i] = (table_kit_piece){.step = first,
                                      .first = first,
                                      .length = length,
                                      .overlap = i > 0 ? STEPS - 1 : 0,
                                      .terminated = i == 3};
        first += length - (STEPS - 1);
    }
    gathering *it = gathering_of(&spec, &layout, pieces, 4, 10);
    assert_int_equal(aq_chunk_ring_end_item(&it->ring), 10); /* 0, 3, ... 27 */
    const uint64_t items[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    gather(it, items, 10, 0.5f);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(it->batch->version[i * STEPS], 3 * i);
        assert_int_equal(it->batch->length[i], i < 9 ? 4 : 3);
    }
}

TEST(a_sequence_has_what_was_recorded_and_zeros_beyond_its_end)
{
    const aq_table_spec spec = sequence_spec();
    const table_kit_piece piece = {.step = 100, .length = 11, .terminated = true};
    aq_layout layout = sequence_layout();
    record_two(&layout);
    gathering *it = gathering_of(&spec, &layout, &piece, 1, 1);
    gather(it, (const uint64_t[]){3}, 1, 0.5f);
    assert_int_equal(it->batch->length[0], 2);
    assert_true(recorded_at(it->batch, 0, 1) == 110.5f && recorded_at(it->batch, 0, 2) == 0.0f);
    assert_true(recorded_at(it->batch, 2, 2) == 111.5f && recorded_at(it->batch, 2, 3) == 0.0f);
}

TEST(a_chunk_may_hold_no_sequence)
{
    aq_table_spec spec = sequence_spec();
    const aq_layout layout = sequence_layout();
    spec.sequence_period = 50;
    const table_kit_piece piece = {.step = 51, .first = 51, .length = 12, .terminated = true};
    aq_arrival *arrival = table_kit_arrival(&layout, &piece, 1);
    assert_int_equal(aq_chunk_items_count(&spec, &layout, &arrival->chunks[0]), 0);
    aq_arrival_unref(arrival);
}
