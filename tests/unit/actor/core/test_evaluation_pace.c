/*
 * How much an evaluator may work: no pause at first, a share later.
 */
#include "actor/core/evaluation_pace.h"
#include "tests/support/test.h"

/* Works for `work_ns` whenever it may, until `end_ns`; returns the time worked. */
static int64_t work_until(aq_evaluation_pace *pace, int64_t *now_ns, int64_t work_ns,
                          int64_t end_ns)
{
    int64_t worked_ns = 0;
    while (*now_ns < end_ns) {
        const int64_t due_ns = aq_evaluation_pace_due_ns(pace);
        if (due_ns > *now_ns) {
            *now_ns = due_ns < end_ns ? due_ns : end_ns;
            aq_evaluation_pace_tell(pace, *now_ns, false);
            continue;
        }
        aq_evaluation_pace_tell(pace, *now_ns, true);
        *now_ns += work_ns;
        worked_ns += work_ns;
        aq_evaluation_pace_tell(pace, *now_ns, false);
    }
    return worked_ns;
}

TEST(the_first_seconds_of_work_have_no_pause)
{
    aq_evaluation_pace pace;
    int64_t now_ns = 7 * AQ_NS_PER_S;
    aq_evaluation_pace_init(&pace, 0.1, now_ns);
    const int64_t end_ns = now_ns + 10 * AQ_NS_PER_S;
    assert_int_equal(work_until(&pace, &now_ns, AQ_NS_PER_MS, end_ns), 10 * AQ_NS_PER_S);
    assert_true(aq_evaluation_pace_due_ns(&pace) == INT64_MIN);
}

TEST(a_small_share_is_little_from_the_start)
{
    aq_evaluation_pace pace;
    int64_t now_ns = 0;
    aq_evaluation_pace_init(&pace, 0.01, now_ns);
    const int64_t worked_ns = work_until(&pace, &now_ns, AQ_NS_PER_MS, 5 * AQ_NS_PER_S);
    assert_in_range(worked_ns, 1050 * AQ_NS_PER_MS, 1055 * AQ_NS_PER_MS); /* of 100 and of 5 s */
}

TEST(over_an_hour_it_is_the_share)
{
    aq_evaluation_pace pace;
    const double shares[] = {0.01, 0.1, 0.5};
    for (int i = 0; i < 3; i++) {
        int64_t now_ns = 0;
        aq_evaluation_pace_init(&pace, shares[i], now_ns);
        const double worked_s =
            (double)work_until(&pace, &now_ns, 300 * AQ_NS_PER_MS, 3600 * AQ_NS_PER_S) /
            (double)AQ_NS_PER_S;
        assert_true(worked_s >= shares[i] * 3600);
        assert_true(worked_s <= shares[i] * (3600 + 100) + 0.4);
    }
}

TEST(a_long_evaluation_is_paid_for_afterwards)
{
    aq_evaluation_pace pace;
    aq_evaluation_pace_init(&pace, 0.1, 0);
    for (int second = 0; second < 100; second++) {
        aq_evaluation_pace_tell(&pace, second * AQ_NS_PER_S, true);
    }
    aq_evaluation_pace_tell(&pace, 100 * AQ_NS_PER_S, false); /* 10 + 10 of 100 are paid for */
    const int64_t due_ns = aq_evaluation_pace_due_ns(&pace);
    assert_true(due_ns >= 900 * AQ_NS_PER_S - 1000 && due_ns <= 900 * AQ_NS_PER_S + 1000);
    aq_evaluation_pace_tell(&pace, due_ns, false);
    assert_true(aq_evaluation_pace_due_ns(&pace) == INT64_MIN);
}

TEST(who_was_stopped_while_it_played_owes_a_step)
{
    aq_evaluation_pace pace;
    const int64_t now_ns = 3600 * AQ_NS_PER_S;
    aq_evaluation_pace_init(&pace, 0.1, 0);
    pace.saved_ns = 0;
    aq_evaluation_pace_tell(&pace, 0, true);
    aq_evaluation_pace_tell(&pace, now_ns, false);
    assert_true(aq_evaluation_pace_due_ns(&pace) == INT64_MIN); /* an hour's share paid for it */
    aq_evaluation_pace_init(&pace, 0.1, 0);
    pace.saved_ns = 0;
    aq_evaluation_pace_tell(&pace, 0, true);
    aq_evaluation_pace_tell(&pace, 5 * AQ_NS_PER_S, false); /* a second, of which half is paid */
    const double due_s = (double)aq_evaluation_pace_due_ns(&pace) / (double)AQ_NS_PER_S;
    assert_true(due_s > 5 + 4.99 && due_s < 5 + 5.01);
}

TEST(no_more_is_saved_than_at_the_start)
{
    aq_evaluation_pace pace;
    int64_t now_ns = 1000 * AQ_NS_PER_S;
    aq_evaluation_pace_init(&pace, 0.1, 0);
    aq_evaluation_pace_tell(&pace, now_ns, false); /* nothing to evaluate for long */
    assert_true(pace.saved_ns == 0.1 * (double)AQ_PACE_SPAN_NS);
    const int64_t worked_ns = work_until(&pace, &now_ns, AQ_NS_PER_MS, now_ns + 20 * AQ_NS_PER_S);
    assert_true(worked_ns <= 12 * AQ_NS_PER_S + AQ_NS_PER_MS);
}

TEST(the_whole_of_a_processor_has_no_pause)
{
    aq_evaluation_pace pace;
    int64_t now_ns = 0;
    aq_evaluation_pace_init(&pace, 1.0, 0);
    assert_int_equal(work_until(&pace, &now_ns, AQ_NS_PER_S, 100 * AQ_NS_PER_S), 100 * AQ_NS_PER_S);
}

TEST(another_share_counts_from_now_on)
{
    aq_evaluation_pace pace;
    aq_evaluation_pace_init(&pace, 0.1, 0);
    pace.saved_ns = 0;
    aq_evaluation_pace_tell(&pace, 0, true);
    aq_evaluation_pace_tell(&pace, AQ_NS_PER_S, false); /* a debt of 0.9 s */
    aq_evaluation_pace_set_share(&pace, 0.5, 2 * AQ_NS_PER_S);
    const double due_s = (double)aq_evaluation_pace_due_ns(&pace) / (double)AQ_NS_PER_S;
    assert_true(due_s > 2 + 1.59 && due_s < 2 + 1.61); /* 0.8 s are left, at half the time */
}
