/*
 * What rank 0 says, and what the cores of the others then go by.
 */
#include "learner/train/rank_turn.h"
#include "tests/support/must.h"
#include "tests/support/rank_crew.h"
#include "tests/support/test.h"
#include "tests/unit/learner/fake_algorithm.h"

enum { RANKS = 2, BATCH_ROWS = 8, PERIOD = 3, NEW_PERIOD = 5 };

typedef struct turn_desk {
    learner_kit kit;
    fake_algorithm algorithms[RANKS];
    aq_trainer_core *cores[RANKS];
    unsigned offers[RANKS];
    int codes[RANKS];
} turn_desk;

static bool count_offer(void *user, const aq_params *params, uint64_t step, const float *obs,
                        size_t rows)
{
    ++*(unsigned *)user;
    return params != NULL && step > 0 && obs == NULL && rows == 0;
}

static void turn_desk_setup(turn_desk *desk)
{
    learner_kit_init(&desk->kit, 2);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        const aq_trainer_core_config config = {.publish_period = PERIOD};
        fake_algorithm_init(&desk->algorithms[rank], &desk->kit, BATCH_ROWS);
        must(aq_trainer_core_create(&config, desk->algorithms[rank].agent, count_offer,
                                    &desk->offers[rank], &desk->cores[rank]));
    }
}

static void turn_desk_teardown(turn_desk *desk)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        aq_trainer_core_destroy(desk->cores[rank]);
        fake_algorithm_fini(&desk->algorithms[rank]);
    }
    learner_kit_fini(&desk->kit);
}

static void take_one(void *user, aq_rank_link *link)
{
    turn_desk *desk = user;
    const uint32_t own = link->rank;
    const aq_turn_wish wish = {0};
    aq_rank_meeting *meeting = NULL;
    aq_rank_outcome outcome;
    aq_rank_turn turn;
    aq_error error;
    desk->codes[own] = aq_rank_meeting_create(link, &meeting);
    if (desk->codes[own] == 0) {
        aq_rank_turn_init(&turn, meeting, desk->cores[own], desk->algorithms[own].agent);
        desk->codes[own] = aq_rank_turn_take(&turn, &wish, &outcome, &error);
    }
    aq_rank_meeting_destroy(meeting);
}

TEST_IN(turn_desk, desk, a_period_that_is_changed_at_rank_0_holds_for_all)
{
    aq_trainer_settings settings = {.epsilon = 0.5};
    settings.config.quantizer.publish_period = NEW_PERIOD;
    settings.config.learner.learning_rate = 2.0;
    aq_trainer_core_configure(desk->cores[0], &settings);
    crew_run(RANKS, 0, take_one, desk);

    aq_batch *group = learner_kit_group(&desk->kit, NEW_PERIOD * BATCH_ROWS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        aq_batch before = aq_batch_slice(group, 0, (NEW_PERIOD - 1) * BATCH_ROWS);
        aq_batch last = aq_batch_slice(group, (NEW_PERIOD - 1) * BATCH_ROWS, BATCH_ROWS);
        assert_int_equal(desk->codes[rank], 0);
        aq_trainer_core_train(desk->cores[rank], &before, 0);
        assert_int_equal(desk->offers[rank], 0);
        aq_trainer_core_train(desk->cores[rank], &last, 0);
        assert_int_equal(desk->offers[rank], 1);
    }
    aq_batch_destroy(group);
}
