/*
 * The tracker alone, and under a network that drops, repeats and reorders.
 */
#include "replay/shard/seq_tracker.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

static aq_seq_tracker tracker_at(uint64_t acknowledged)
{
    aq_seq_tracker tracker;
    aq_seq_tracker_init(&tracker, acknowledged);
    return tracker;
}

TEST(messages_are_taken_in_their_turn)
{
    aq_seq_tracker tracker = tracker_at(0);
    for (uint64_t seq = 1; seq <= 3; seq++) {
        assert_int_equal(aq_seq_tracker_expected(&tracker), seq);
        assert_int_equal(aq_seq_tracker_judge(&tracker, seq), AQ_REPLAY_STORED);
        aq_seq_tracker_taken(&tracker);
    }
    assert_int_equal(tracker.taken, 3);
}

TEST(a_message_that_was_not_stored_is_still_the_next)
{
    aq_seq_tracker tracker = tracker_at(0);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 1), AQ_REPLAY_STORED);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 1), AQ_REPLAY_STORED);
    assert_int_equal(tracker.taken, 0);
}

TEST(a_repeat_is_a_duplicate)
{
    aq_seq_tracker tracker = tracker_at(5);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 5), AQ_REPLAY_DUPLICATE);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 1), AQ_REPLAY_DUPLICATE);
    assert_int_equal(tracker.gaps, 0);
    assert_int_equal(tracker.duplicates, 2);
}

TEST(a_message_before_its_turn_is_a_gap_and_counted)
{
    aq_seq_tracker tracker = tracker_at(5);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 7), AQ_REPLAY_GAP);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 8), AQ_REPLAY_GAP);
    assert_int_equal(tracker.gaps, 2);
    assert_int_equal(aq_seq_tracker_expected(&tracker), 6);
}

TEST(the_mark_is_lifted_to_what_the_sender_knows)
{
    aq_seq_tracker tracker = tracker_at(2);
    aq_seq_tracker_lift(&tracker, 9);
    assert_int_equal(aq_seq_tracker_judge(&tracker, 10), AQ_REPLAY_STORED);
}

TEST(the_mark_is_never_lowered)
{
    aq_seq_tracker tracker = tracker_at(9);
    aq_seq_tracker_lift(&tracker, 2);
    assert_int_equal(tracker.taken, 9);
}

TEST(what_was_taken_is_acknowledged_when_it_is_kept_for_good)
{
    aq_seq_tracker tracker = tracker_at(0);
    aq_seq_tracker_taken(&tracker);
    aq_seq_tracker_taken(&tracker);
    assert_int_equal(tracker.acknowledged, 0);
    aq_seq_tracker_acknowledge(&tracker, 2);
    aq_seq_tracker_acknowledge(&tracker, 1); /* old news */
    assert_int_equal(tracker.acknowledged, 2);
}

enum { MESSAGES = 400, AIR_MAX = 32 };

/* A sender that goes back to the mark now and then, and the air between. */
typedef struct lossy {
    aq_rng *rng;
    uint64_t next;         /* to send */
    uint64_t air[AIR_MAX]; /* in flight */
    size_t air_count;
} lossy;

static void lossy_send(lossy *net, uint64_t drop, uint64_t repeat)
{
    if (net->next > MESSAGES || net->air_count + 2 > AIR_MAX) {
        return;
    }
    if (aq_rng_below(net->rng, 100) >= drop) {
        net->air[net->air_count++] = net->next;
        if (aq_rng_below(net->rng, 100) < repeat) {
            net->air[net->air_count++] = net->next;
        }
    }
    net->next++;
}

static uint64_t lossy_receive(lossy *net, uint64_t reorder)
{
    size_t at = aq_rng_below(net->rng, 100) < reorder ? aq_rng_below(net->rng, net->air_count) : 0;
    uint64_t seq = net->air[at];
    net->air_count--;
    memmove(&net->air[at], &net->air[at + 1], (net->air_count - at) * sizeof(net->air[0]));
    return seq;
}

TEST(a_lossy_network_delivers_each_message_once_and_in_order)
{
    aq_rng rng = rng_of(test_seed(), 2);
    for (int round = 0; round < 100; round++) {
        lossy net = {.rng = &rng, .next = 1};
        uint64_t drop = aq_rng_below(&rng, 60);
        uint64_t repeat = aq_rng_below(&rng, 60);
        uint64_t reorder = aq_rng_below(&rng, 60);
        aq_seq_tracker tracker = tracker_at(0);
        uint64_t stored = 0;
        for (int step = 0; stored < MESSAGES; step++) {
            assert_true(step < 1000000);
            if (aq_rng_below(&rng, 2) == 0) {
                lossy_send(&net, drop, repeat);
            } else if (net.air_count > 0) {
                uint64_t seq = lossy_receive(&net, reorder);
                if (aq_seq_tracker_judge(&tracker, seq) == AQ_REPLAY_STORED) {
                    aq_seq_tracker_taken(&tracker);
                    assert_int_equal(seq, stored + 1);
                    stored++;
                }
            }
            if (aq_rng_below(&rng, 40) == 0) {
                net.next = tracker.taken + 1; /* go back */
            }
        }
        assert_int_equal(tracker.taken, MESSAGES);
    }
}
