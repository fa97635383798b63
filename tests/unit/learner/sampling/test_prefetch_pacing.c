/*
 * Pacing: when a group is asked for, and of which versions its steps are to be.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/prefetch_stand.h"

enum { STEPS = 100, SEQUENCE_LENGTH = 10 };

typedef prefetch_stand paced_stand;
#define paced_stand_teardown prefetch_stand_teardown

static void renew(paced_stand *stand, uint32_t versions_max)
{
    stand->config.versions_max = versions_max;
    stand->config.steps = STEPS;
    stand->config.table = (aq_table_spec){.selector = AQ_SELECTOR_QUEUE};
    stand->config.importance_exponent = 0;
    prefetch_stand_renew(stand);
    prefetch_stand_add(stand, 0);
}

static void paced_stand_setup(paced_stand *stand)
{
    prefetch_stand_setup(stand);
    renew(stand, 1);
}

static void tell(paced_stand *stand, uint64_t newest, uint64_t coming)
{
    aq_prefetch_tell_versions(stand->prefetch, newest, coming);
    prefetch_stand_pass(stand, 1);
}

static void assert_asks(const paced_stand *stand, size_t requests, uint64_t version_min)
{
    const sample_shard *shard = &stand->shards[0];
    assert_int_equal(shard->count, requests);
    assert_int_equal(shard->calls[requests - 1]->version_min, version_min);
    assert_int_equal(shard->calls[requests - 1]->steps, STEPS);
}

TEST_IN(paced_stand, stand, a_group_is_asked_for_when_its_version_is_out)
{
    tell(stand, 0, 1);
    assert_int_equal(stand->shards[0].count, 0);
    tell(stand, 1, 0);
    assert_asks(stand, 1, 1);
    (void)prefetch_stand_fill(stand, 0);
    tell(stand, 1, 0); /* in training */
    assert_int_equal(stand->shards[0].count, 0);
    tell(stand, 1, 1); /* and trained, but its version is still to come */
    prefetch_stand_give_back(stand);
    prefetch_stand_pass(stand, 1);
    assert_int_equal(stand->shards[0].count, 0);
    tell(stand, 2, 0);
    assert_asks(stand, 1, 2);
}

TEST_IN(paced_stand, stand, a_version_that_never_comes_is_not_waited_for)
{
    tell(stand, 5, 0);
    (void)prefetch_stand_fill(stand, 0);
    prefetch_stand_give_back(stand);
    tell(stand, 5, 0);
    assert_asks(stand, 1, 5);
}

TEST_IN(paced_stand, stand, with_more_versions_groups_are_asked_for_ahead)
{
    renew(stand, 3);
    tell(stand, 1, 0);
    assert_asks(stand, 3, 1); /* the third is trained on under version 3 */
    tell(stand, 7, 0);
    assert_asks(stand, 3, 1);
    (void)prefetch_stand_fill(stand, 0);
    prefetch_stand_give_back(stand);
    tell(stand, 7, 1);
    assert_int_equal(stand->shards[0].count, 2);
    tell(stand, 8, 0);
    assert_asks(stand, 3, 8); /* trained on under version 10: 8, 9 and 10 will do */
}

TEST_IN(paced_stand, stand, a_group_has_as_many_rows_as_make_its_steps)
{
    tell(stand, 1, 0);
    stand->good->rows = 3;
    const aq_batch *group = prefetch_stand_fill(stand, 0);
    assert_int_equal(group->rows, 3);
    assert_true(group->weight[2] == 1.0f);
    assert_int_equal(stand->troubles, 0);
}

/* Of so many sequences, which are all as long. */
static unsigned troubles_of(paced_stand *stand, uint32_t rows, uint32_t length)
{
    aq_batch *sequences = NULL;
    const unsigned before = stand->troubles;
    assert_int_equal(aq_batch_create(&stand->kit.layout, SEQUENCE_LENGTH, STAND_ROWS, &sequences),
                     0);
    aq_batch_fit(sequences, length);
    sequences->rows = stand->good->rows = rows;
    for (uint32_t row = 0; row < rows; row++) {
        sequences->length[row] = length;
        sequences->weight[row] = 1.0f;
        sequences->item[row] = row;
    }
    tell(stand, 1, 0);
    sample_shard_answer(&stand->shards[0], 0, sequences, 1);
    aq_batch_destroy(sequences);
    return stand->troubles - before;
}

TEST_IN(paced_stand, stand, a_group_goes_beyond_its_steps_with_its_last_row_alone)
{
    stand->config.steps = 3 * SEQUENCE_LENGTH;
    stand->config.table.sequence_length = SEQUENCE_LENGTH;
    prefetch_stand_renew(stand);
    prefetch_stand_add(stand, 0);
    assert_int_equal(troubles_of(stand, 4, SEQUENCE_LENGTH), 1);
    assert_says(stand->trouble, "sample of 40 steps; 30 were asked for");
    prefetch_stand_pass(stand, 60000);
    assert_int_equal(troubles_of(stand, 4, SEQUENCE_LENGTH - 1), 0);
    assert_int_equal(stand->ready_count, 1);
}

TEST_IN(paced_stand, stand, shards_take_turns_and_may_wait_for_steps)
{
    prefetch_stand_add(stand, 1);
    stand->shards[0].mass = 1000; /* how much they hold is the same to a queue */
    for (int i = 0; i < 8; i++) {
        tell(stand, 1, 0);
        const size_t asked = stand->shards[0].count > 0 ? 0 : 1;
        assert_true(stand->shards[asked].calls[0]->wait_ms > 0);
        (void)prefetch_stand_fill(stand, asked);
        prefetch_stand_give_back(stand);
    }
    assert_int_equal(stand->shards[0].asked, 4);
    assert_int_equal(stand->shards[1].asked, 4);
}
