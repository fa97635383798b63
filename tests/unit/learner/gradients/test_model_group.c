/*
 * What ranks of a model group have from each other: sums and whole arrays of any length, one word.
 */
#include "learner/gradients/model_group.h"

#include "tests/support/rank_crew.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { RANKS = 3, VALUES = 310007 /* more than is under way at once */, WHOLE = 901602 };

typedef struct talk {
    float values[RANKS][VALUES];
    float begun[WHOLE], whole[WHOLE];
    double squares[RANKS][2];
    bool heard[RANKS];
    int found[RANKS], codes[RANKS];
    aq_exchange_figures figures;
    aq_batch *groups[RANKS];
    uint64_t sent[RANKS];
} talk;

static talk made;

static void act(void *user, aq_rank_link *link)
{
    talk *t = user;
    const uint32_t own = link->rank;
    aq_model_group *group = NULL;
    int rc = aq_model_group_create(link, &group);
    if (rc == 0) {
        aq_split_ranks *ranks = aq_model_group_split(group);
        ranks->sum(ranks, t->values[own], VALUES);
        t->heard[own] = aq_model_group_says(group, own != 1);
        rc = aq_model_group_judge(group, t->found[own], t->squares[own], 2);
    }
    if (own == 0) {
        t->figures = aq_model_group_figures(group);
    }
    t->codes[own] = rc;
    aq_model_group_destroy(group);
}

static talk *talk_of(void)
{
    aq_rng rng = rng_of(5, 0);
    memset(&made, 0, sizeof(made));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        fill_range(made.values[rank], VALUES, -1, 1, &rng);
        made.squares[rank][0] = rank;
        made.squares[rank][1] = 0.1;
    }
    return &made;
}

TEST(sums_are_made_in_the_order_of_the_ranks_and_are_everybodys)
{
    static float sums[VALUES];
    talk *t = talk_of();
    for (size_t i = 0; i < VALUES; i++) {
        sums[i] = t->values[0][i] + t->values[1][i] + t->values[2][i];
    }
    crew_run(RANKS, 0, act, t);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t->codes[rank], 0);
        assert_memory_equal(t->values[rank], sums, sizeof(sums));
        assert_true(t->heard[rank]);
        assert_true(t->squares[rank][0] == 3.0 && t->squares[rank][1] == 0.1 + 0.1 + 0.1);
    }
    assert_true(t->figures.sent_bytes > (size_t)VALUES * sizeof(float));
}

TEST(what_one_finds_at_fault_is_a_fault_to_all)
{
    talk *t = talk_of();
    t->found[2] = AQ_E_CORRUPT;
    crew_run(RANKS, 0, act, t);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t->codes[rank], 0);
        assert_true(isnan(t->squares[rank][0]) && isnan(t->squares[rank][1]));
    }
}

TEST(a_lost_rank_is_no_word_and_no_judgement)
{
    talk *t = talk_of();
    crew_run(RANKS, 2, act, t);
    assert_int_equal(t->codes[0], AQ_E_PEER);
    assert_false(t->heard[0]);
}

static void share(void *user, aq_rank_link *link)
{
    talk *t = user;
    aq_model_group *group = NULL;
    int rc = aq_model_group_create(link, &group);
    t->codes[link->rank] = rc == 0 ? aq_model_group_share_rows(group, t->groups[link->rank]) : rc;
    t->sent[link->rank] = rc == 0 ? aq_model_group_figures(group).sent_bytes : 0;
    aq_model_group_destroy(group);
}

/* Who sends them is the engine's business; the sum over all ranks is what two of them get. */
TEST(rows_that_are_shared_count_as_sent_by_all_alike)
{
    enum { ROWS = 300 };
    talk *t = talk_of();
    learner_kit kit;
    learner_kit_init(&kit, 2);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        t->groups[rank] = learner_kit_group(&kit, ROWS);
        t->groups[rank]->reward[7] = (float)rank;
    }
    crew_run(RANKS, 0, share, t);
    const uint32_t columns = t->groups[0]->column_count;
    size_t bytes = 2 * sizeof(uint32_t);
    for (uint32_t c = 0; c < columns; c++) {
        const bool goes = c != AQ_BATCH_PRIORITY;
        bytes += goes * ROWS * aq_batch_column_bytes(&t->groups[0]->columns[c]);
    }
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t->codes[rank], 0);
        assert_true(t->groups[rank]->reward[7] == 0);
        assert_near((double)t->sent[rank], (double)bytes * (RANKS - 1) / RANKS, columns);
        aq_batch_destroy(t->groups[rank]);
    }
    learner_kit_fini(&kit);
}

static void gather(void *user, aq_rank_link *link)
{
    talk *t = user;
    aq_net_spec spec = {0};
    aq_model_group *group = NULL;
    const aq_layer_spec layers[] = {aq_layer_linear(300, 900, AQ_ACTIVATION_RELU),
                                    aq_layer_linear(900, 700, AQ_ACTIVATION_NONE)};
    int rc = aq_net_spec_add(&spec, &layers[0], NULL);
    rc = rc == 0 ? aq_net_spec_add(&spec, &layers[1], NULL) : rc;
    rc = rc == 0 ? aq_model_group_create(link, &group) : rc;
    if (rc == 0) {
        const aq_net_split split = aq_net_split_of(&spec, aq_model_group_split(group));
        const aq_slices slices = {.count = 1, .nets = {&split}, .rest = 2};
        aq_slices_take(&slices, link->rank, t->begun, t->values[link->rank]);
        rc = aq_model_group_gather(group, &slices, t->values[link->rank], t->whole);
    }
    t->codes[link->rank] = rc;
    aq_model_group_destroy(group);
}

TEST(slices_become_whole_on_the_first_rank)
{
    talk *t = talk_of();
    for (size_t i = 0; i < WHOLE; i++) {
        t->begun[i] = (float)(i + 1);
    }
    crew_run(RANKS, 0, gather, t);
    assert_int_equal(t->codes[0], 0);
    assert_memory_equal(t->whole, t->begun, sizeof(t->whole));
}
