/*
 * What ranks agree on when they meet.
 */
#include "learner/train/rank_meeting.h"
#include "tests/support/must.h"
#include "tests/support/rank_crew.h"
#include "tests/support/test.h"

enum { RANKS = 3, ROUNDS = 2 };

typedef struct talk {
    aq_rank_word words[RANKS];
    int codes[RANKS];
    aq_rank_outcome outcomes[RANKS];
    aq_error errors[RANKS];
    uint32_t notes[RANKS][RANKS]; /* what each heard of each in the last round; 0: nothing */
    unsigned read[RANKS];         /* notes that were new */
} talk;

static void act(void *user, aq_rank_link *link)
{
    talk *t = user;
    const uint32_t own = link->rank;
    uint64_t seen[RANKS] = {0};
    aq_rank_meeting *meeting = NULL;
    t->codes[own] = aq_rank_meeting_create(link, &meeting);
    const uint32_t note = 100 + own;
    for (int round = 0; t->codes[own] == 0 && round < ROUNDS; round++) {
        if (own != 1 && round == 0) {
            aq_rank_note_post(meeting, &note, sizeof(note));
        }
        t->codes[own] = aq_rank_meet(meeting, &t->words[own], &t->outcomes[own], &t->errors[own]);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            t->read[own] +=
                aq_rank_note_read(meeting, rank, &seen[rank], &t->notes[own][rank], sizeof(note));
        }
    }
    aq_rank_meeting_destroy(meeting);
}

static talk *talk_of(void)
{
    static talk made;
    made = (talk){0};
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        made.words[rank] =
            (aq_rank_word){.is_ready = 1, .step = 5, .orders.schedules.learning_rate = rank + 1.0};
    }
    return &made;
}

TEST(they_train_when_all_are_ready_at_the_rate_of_the_first)
{
    talk *t = talk_of();
    crew_run(RANKS, 0, act, t);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t->codes[rank], 0);
        assert_true(t->outcomes[rank].is_ready && !t->outcomes[rank].ends);
        assert_true(t->outcomes[rank].orders.schedules.learning_rate == 1.0);
    }
    t = talk_of();
    t->words[2].is_ready = 0;
    crew_run(RANKS, 0, act, t);
    assert_false(t->outcomes[0].is_ready || t->outcomes[1].is_ready || t->outcomes[2].is_ready);
}

/* Rank 0 alone says what is outdated. */
TEST(an_outdated_group_holds_up_all_and_is_passed_over_by_its_rank)
{
    talk *t = talk_of();
    t->words[0].orders.fresh_from = 4;
    t->words[0].oldest_version = t->words[2].oldest_version = 4;
    t->words[1].oldest_version = 3;
    t->words[1].orders.fresh_from = 1;
    for (int is_ready = 0; is_ready < 2; is_ready++) {
        t->words[1].is_ready = (uint32_t)is_ready;
        crew_run(RANKS, 0, act, t);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            assert_false(t->outcomes[rank].is_ready);
            assert_true(t->outcomes[rank].is_outdated == (is_ready && rank == 1));
        }
    }
    t->words[1].oldest_version = 9;
    crew_run(RANKS, 0, act, t);
    assert_true(t->outcomes[2].is_ready);
}

TEST(one_that_ends_ends_all)
{
    talk *t = talk_of();
    t->words[1].ends = 1;
    crew_run(RANKS, 0, act, t);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_true(t->outcomes[rank].ends && t->outcomes[rank].ender == 1);
    }
}

TEST(who_differs_is_named)
{
    talk *t = talk_of();
    t->words[2].step = 6;
    crew_run(RANKS, 0, act, t);
    assert_int_equal(t->codes[0], AQ_E_CORRUPT);
    assert_string_equal(t->errors[1].text, "rank 2 is at step 6, rank 0 at step 5");
    t = talk_of();
    t->words[0].hash = t->words[2].hash = 7;
    t->words[1].hash = 8;
    crew_run(RANKS, 0, act, t);
    assert_string_equal(t->errors[0].text, "rank 1 and rank 0 have different parameters at step 5");
}

TEST(a_note_reaches_everybody_once)
{
    talk *t = talk_of();
    crew_run(RANKS, 0, act, t);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t->notes[rank][0], 100);
        assert_int_equal(t->notes[rank][1], 0);
        assert_int_equal(t->notes[rank][2], 102);
        assert_int_equal(t->read[rank], 2);
    }
}

/* As its loop does whose trainer has ended: it hears what had come by then, and may still post. */
static void outlive_the_link(void *user, aq_rank_link *link)
{
    talk *t = user;
    const uint32_t own = link->rank;
    const uint32_t note = 100 + own;
    aq_rank_meeting *meeting = NULL;
    must(aq_rank_meeting_create(link, &meeting));
    aq_rank_note_post(meeting, &note, sizeof(note));
    must(aq_rank_meet(meeting, &t->words[own], &t->outcomes[own], &t->errors[own]));
    const aq_rank_link before = *link;
    *link = (aq_rank_link){0}; /* as closing leaves it */
    aq_rank_note_post(meeting, &note, sizeof(note));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        uint64_t seen = 0;
        t->read[own] += aq_rank_note_read(meeting, rank, &seen, &t->notes[own][rank], sizeof(note));
    }
    aq_rank_meeting_destroy(meeting);
    *link = before;
}

TEST(notes_that_have_come_are_read_after_the_link_was_closed)
{
    talk *t = talk_of();
    crew_run(RANKS, 0, outlive_the_link, t);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        assert_int_equal(t->read[rank], RANKS);
        assert_int_equal(t->notes[rank][1], 101);
    }
}

TEST(a_lost_rank_is_told_in_the_words_of_the_link)
{
    talk *t = talk_of();
    crew_run(RANKS, 2, act, t);
    assert_int_equal(t->codes[0], AQ_E_PEER);
    assert_string_equal(t->errors[0].text, "lost");
}
