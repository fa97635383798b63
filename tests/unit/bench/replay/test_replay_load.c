/*
 * The load's own check: what was sent passes, and one changed number anywhere does not.
 */
#include "bench/replay/replay_load.h"
#include "common/experience/chunk_view.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"

enum { ROWS = 7, N_STEP = 3, LENGTH = 12, CHUNKS = 4 };

#define DISCOUNT 0.9f

typedef struct fixture {
    aq_replay_load load;
    aq_batch *batch; /* as a shard would fill it */
} fixture;

static void fill_row(const fixture *f, uint32_t row)
{
    const aq_chunk *chunk = f->load.chunks[row % CHUNKS];
    const size_t obs = f->batch->obs_bytes, action = f->batch->action_bytes;
    uint32_t next;
    chunk_fold(&chunk->view, N_STEP, row, DISCOUNT, &f->batch->reward[row],
               &f->batch->bootstrap[row], &next);
    memcpy(f->batch->obs + row * obs, obs_of(chunk) + row * obs, obs);
    memcpy(f->batch->next_obs + row * obs, obs_of(chunk) + next * obs, obs);
    memcpy(f->batch->action + row * action, action_of(chunk) + row * action, action);
    f->batch->version[row] = version_of(chunk)[row];
}

static int open_load(void **state)
{
    static fixture f;
    const aq_load_shape shape = {.obs_count = 3,
                                 .action_count = 2,
                                 .n_step = N_STEP,
                                 .chunk_length = LENGTH,
                                 .chunk_count = CHUNKS};
    assert_int_equal(aq_replay_load_init(&shape, &f.load, NULL), 0);
    assert_int_equal(aq_batch_create(&f.load.layout, 0, ROWS, &f.batch), 0);
    f.batch->rows = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        fill_row(&f, i);
    }
    *state = &f;
    return 0;
}

static int close_load(void **state)
{
    fixture *f = *state;
    aq_batch_destroy(f->batch);
    aq_replay_load_fini(&f->load);
    return 0;
}

TEST_WITH(what_was_sent_passes, open_load, close_load)
{
    fixture *f = *state;
    assert_int_equal(aq_replay_load_check(&f->load, f->batch, DISCOUNT, NULL), 0);
}

static void refuse_change(fixture *f, void *column, size_t offset)
{
    uint8_t *byte = (uint8_t *)column + offset;
    *byte ^= 1;
    assert_refused(aq_replay_load_check(&f->load, f->batch, DISCOUNT, &refusal), AQ_E_CORRUPT,
                   "row ");
    *byte ^= 1;
}

TEST_WITH(one_changed_bit_in_any_column_does_not_pass, open_load, close_load)
{
    fixture *f = *state;
    const size_t obs_bytes = ROWS * (size_t)f->batch->obs_bytes;
    for (size_t at = 0; at < obs_bytes; at += 4) {
        refuse_change(f, f->batch->obs, at);
        refuse_change(f, f->batch->next_obs, at);
    }
    for (size_t at = 0; at < ROWS * (size_t)f->batch->action_bytes; at += 4) {
        refuse_change(f, f->batch->action, at);
    }
    for (size_t row = 0; row < ROWS; row++) {
        refuse_change(f, &f->batch->reward[row], 0);
        refuse_change(f, &f->batch->bootstrap[row], 0);
        refuse_change(f, &f->batch->version[row], 0);
    }
    test_what_was_sent_passes(state);
}

TEST_WITH(chunks_are_valid_and_follow_one_another, open_load, close_load)
{
    const fixture *f = *state;
    for (uint32_t i = 0; i < CHUNKS; i++) {
        assert_int_equal(aq_chunk_view_validate(&f->load.chunks[i]->view, &f->load.layout, NULL),
                         0);
        assert_int_equal(aq_chunk_view_fresh(&f->load.chunks[i]->view), f->load.fresh);
        assert_int_equal(f->load.chunks[i]->view.first,
                         f->load.chunks[0]->view.first + i * f->load.fresh);
    }
    assert_int_equal(aq_replay_load_step_bytes(&f->load), 20);
}

TEST(without_memory_there_is_no_load)
{
    const aq_load_shape shape = {
        .obs_count = 3, .action_count = 2, .n_step = 1, .chunk_length = 4, .chunk_count = 3};
    int rc = 0;
    EACH_ALLOCATION_FAILS(rc) {
        aq_replay_load load = {.chunks = NULL};
        rc = aq_replay_load_init(&shape, &load, NULL);
        assert_true(rc == 0 || load.chunks == NULL);
        aq_replay_load_fini(&load);
    }
}
