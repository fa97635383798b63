/*
 * Contenders take turns; medians and ratios are taken over the rounds.
 */
#include "bench/kernels/paired_timing.h"
#include "tests/support/test.h"

enum { CONTENDERS = 3, ROUNDS = 7 };

/* Counts its calls, and how often it came right after itself. */
typedef struct turn {
    int index;
    int *last;
    int calls, begins;
} turn;

static void take_turn(void *self)
{
    turn *one = self;
    one->calls++;
    one->begins += *one->last != one->index;
    *one->last = one->index;
}

TEST(every_contender_has_a_slice_in_every_round)
{
    int last = -1;
    turn turns[CONTENDERS];
    aq_contender contenders[CONTENDERS];
    aq_paired_times times;
    for (int i = 0; i < CONTENDERS; i++) {
        turns[i] = (turn){.index = i, .last = &last};
        contenders[i] = (aq_contender){take_turn, &turns[i]};
    }
    const aq_timing_plan plan = {.rounds = ROUNDS, .slice_ns = 1};
    assert_int_equal(aq_paired_times_measure(contenders, CONTENDERS, &plan, &times), 0);
    assert_int_equal(times.count, CONTENDERS);
    assert_int_equal(times.rounds, ROUNDS);
    for (int i = 0; i < CONTENDERS; i++) {
        /* Once when calls were counted, then once a round; where a round begins with whom the last
         * one ended, the two are one. */
        assert_true(turns[i].begins > ROUNDS / 2);
        assert_true(turns[i].begins <= ROUNDS + 1);
        assert_true(turns[i].calls > ROUNDS);
        assert_true(aq_paired_times_us(&times, (size_t)i) >= 0.0);
    }
    aq_paired_times_fini(&times);
    aq_paired_times_fini(&times);
}

TEST(medians_and_ratios_are_over_the_rounds)
{
    /* The second contender takes twice as long in most rounds, whatever the machine does. */
    double us[] = {1, 10, 3, 4, 1, /* */ 2, 20, 6, 1, 2};
    const aq_paired_times times = {.count = 2, .rounds = 5, .us = us};
    assert_true(aq_paired_times_us(&times, 0) == 3.0);
    assert_true(aq_paired_times_us(&times, 1) == 2.0);
    assert_true(aq_paired_times_ratio(&times, 1, 0) == 2.0);
    assert_true(aq_paired_times_ratio(&times, 0, 1) == 0.5);
}

TEST(an_even_number_of_rounds_has_a_middle)
{
    double us[] = {4, 1, 2, 30};
    const aq_paired_times times = {.count = 1, .rounds = 4, .us = us};
    assert_true(aq_paired_times_us(&times, 0) == 3.0);
}

TEST(no_memory_is_told)
{
    int last = -1;
    turn one = {.last = &last};
    const aq_contender contender = {take_turn, &one};
    const aq_timing_plan plan = {.rounds = 1, .slice_ns = 1};
    aq_paired_times times = {0};
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_paired_times_measure(&contender, 1, &plan, &times), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_null(times.us);
}
