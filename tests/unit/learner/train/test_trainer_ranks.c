/*
 * The trainer's thread beside other ranks: it trains when all are ready, and ends when one does.
 */
#include <stdatomic.h>

#include "common/base/assert.h"
#include "tests/support/test.h"
#include "tests/unit/learner/trainer_desk.h"

enum { PERIOD = 1000000, PATIENCE_MS = 120000 };

/* Stands for another rank: it says what this one does, but for what the test wants. */
typedef struct other_rank {
    aq_rank_link link;
    atomic_int wanted; /* 0: the same, 1: it is not ready, 2: it ends, 3: it is lost */
    atomic_int unready;
    atomic_int waits; /* times that this one was not ready */
} other_rank;

static int answer(aq_rank_link *link, void *block, size_t bytes, size_t piece)
{
    other_rank *other = link->state;
    aq_rank_word *words = block;
    AQ_ASSERT(bytes == 2 * sizeof(*words) && piece == sizeof(*words));
    words[1] = words[0];
    words[0].orders.schedules.learning_rate = 0.5;
    words[0].orders.newest_version = 7;
    words[0].orders.coming_versions = 2;
    words[1].is_ready = other->wanted != 1;
    words[1].ends = other->wanted == 2;
    other->unready += words[0].is_ready && other->wanted == 1;
    other->waits += !words[0].is_ready;
    (void)snprintf(link->trouble, sizeof(link->trouble), "it is gone");
    return other->wanted == 3 ? -1 : 0;
}

static void start_with(trainer_desk *desk, aq_trainer_config config, other_rank *other,
                       aq_rank_meeting **ret_meeting)
{
    other->link = (aq_rank_link){.count = 2, .state = other, .join = answer};
    assert_int_equal(aq_rank_meeting_create(&other->link, ret_meeting), 0);
    config.meeting = *ret_meeting;
    trainer_desk_remake(desk, &config);
    trainer_desk_start(desk);
}

static enum aq_trainer_state wait_until_it_ends(trainer_desk *desk, aq_error *ret_error)
{
    enum aq_trainer_state state;
    const int64_t end_ns = aq_clock_monotonic_ns() + PATIENCE_MS * AQ_NS_PER_MS;
    while ((state = aq_trainer_state_of(desk->trainer, ret_error)) == AQ_TRAINER_RUNS) {
        assert_true(aq_clock_monotonic_ns() < end_ns);
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
    return state;
}

TEST_IN(trainer_desk, desk, it_waits_for_a_rank_that_has_no_group_and_keeps_its_own)
{
    static other_rank other;
    aq_rank_meeting *meeting;
    other.wanted = 1;
    start_with(desk, trainer_desk_config(desk, PERIOD), &other, &meeting);
    trainer_desk_give(desk, 0, 1);
    while (other.unready < 3) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
    assert_int_equal(aq_queue_count(desk->done), 0);
    other.wanted = 0;
    assert_ptr_equal(trainer_desk_wait(desk), desk->groups[0]);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(wait_until_it_ends(desk, &refusal), AQ_TRAINER_ENDED);
    assert_string_equal(refusal.text, "rank 0 has ended");
    assert_true(desk->algorithm.learning_rate == 0.5); /* the first rank's */
    assert_int_equal(aq_trainer_promised(desk->trainer), 9);
    aq_rank_meeting_destroy(meeting);
}

/* While a checkpoint is written, say, no place comes back. Each group makes two versions, which is
 * how many places there are. */
TEST_IN(trainer_desk, desk, it_meets_others_while_there_is_no_place_for_a_version)
{
    static other_rank other;
    aq_rank_meeting *meeting;
    aq_trainer_config config = trainer_desk_config(desk, 1);
    config.is_paced = true;
    start_with(desk, config, &other, &meeting);
    stage_watcher_hold(&desk->watcher, true);
    trainer_desk_give(desk, 0, 2);
    trainer_desk_wait(desk);
    const int waits = other.waits;
    while (other.waits < waits + 3) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
    assert_int_equal(aq_trainer_step(desk->trainer), 2);
    stage_watcher_hold(&desk->watcher, false);
    trainer_desk_wait(desk);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(aq_trainer_step(desk->trainer), 4);
    aq_rank_meeting_destroy(meeting);
}

static void assert_ends(trainer_desk *desk, int wanted, enum aq_trainer_state state,
                        const char *words)
{
    static other_rank other;
    aq_rank_meeting *meeting;
    other.wanted = wanted;
    start_with(desk, trainer_desk_config(desk, PERIOD), &other, &meeting);
    assert_int_equal(wait_until_it_ends(desk, &refusal), state);
    assert_string_equal(refusal.text, words);
    aq_trainer_stop(desk->trainer);
    aq_rank_meeting_destroy(meeting);
}

TEST_IN(trainer_desk, desk, it_ends_with_another_rank)
{
    assert_ends(desk, 2, AQ_TRAINER_ENDED, "rank 1 has ended");
}

TEST_IN(trainer_desk, desk, it_ends_without_another_rank_and_says_why)
{
    assert_ends(desk, 3, AQ_TRAINER_LOST, "it is gone");
}
