/*
 * Recut: whatever the chunks were and are to be, each transition is new once, in its place, with
 * its own observations.
 */
#include "common/experience/chunk_view.h"
#include "replay/data/data_audit.h"
#include "replay/data/data_recut.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/replay/replay_kit.h"

enum { STEPS = 41 };

typedef struct harvest {
    aq_layout layout;
    aq_data_audit *audit;
    aq_data_recut *recut;
    int seen[STEPS]; /* how often each transition was new */
    int chunks;
} harvest;

static aq_layout layout_of(uint32_t n_step, uint32_t length)
{
    aq_run_settings settings = kit_settings();
    aq_layout layout;
    assert_int_equal(aq_layout_init(&settings.schema, n_step, length, &layout, NULL), 0);
    return layout;
}

static int on_chunk(void *user, uint64_t actor, uint64_t incarnation, aq_chunk *chunk,
                    aq_error *error)
{
    harvest *found = user;
    assert_int_equal(actor, 3);
    assert_int_equal(incarnation, 5);
    assert_int_equal(aq_chunk_view_validate(&chunk->view, &found->layout, error), 0);
    for (uint32_t row = 0; row < chunk->view.length; row++) {
        const uint32_t step = chunk->view.first + row;
        float obs[4];
        memcpy(obs, obs_of(chunk) + row * sizeof(obs) / 2, sizeof(obs));
        assert_true(obs[0] == (float)step && obs[2] == (float)step + 1.0f);
        assert_true(reward_of(chunk)[row] == (float)step);
        assert_int_equal(version_of(chunk)[row], step);
        found->seen[step] += row >= chunk->view.overlap;
    }
    const aq_data_set_block block = {
        .actor = actor, .incarnation = incarnation, .view = chunk->view};
    assert_int_equal(aq_data_audit_block(found->audit, &block), 0);
    found->chunks++;
    aq_chunk_unref(chunk);
    return 0;
}

/* Transitions first .. first + length - 1 of the one episode. */
static void give(harvest *found, const aq_layout *layout, uint32_t first, uint32_t length,
                 uint32_t overlap, bool ends)
{
    aq_chunk *chunk = kit_chunk(layout, first, length, 0, ends ? KIT_TRUNCATED : KIT_GOES_ON);
    chunk->view.first = first;
    chunk->view.overlap = overlap;
    const aq_data_set_block block = {.actor = 3, .incarnation = 5, .view = chunk->view};
    assert_succeeds(aq_data_recut_block(found->recut, &block, &refusal));
    aq_chunk_unref(chunk);
}

static void begin(harvest *found, uint32_t n_step, uint32_t length)
{
    memset(found, 0, sizeof(*found));
    found->layout = layout_of(n_step, length);
    assert_int_equal(aq_data_audit_create(&found->audit), 0);
    assert_int_equal(aq_data_recut_create(&found->layout, on_chunk, found, &found->recut), 0);
}

static void end(harvest *found)
{
    assert_succeeds(aq_data_recut_end(found->recut, &refusal));
    aq_data_recut_destroy(found->recut);
    aq_data_audit_destroy(found->audit);
}

/* Each of the first transitions was new once. */
static void assert_each_seen_once(const harvest *found, int steps)
{
    for (int step = 0; step < steps; step++) {
        assert_int_equal(found->seen[step], 1);
    }
}

/* Cuts the episode as an actor with `n_step` would. */
static void give_episode(harvest *found, uint32_t n_step, uint32_t length, bool ends)
{
    const aq_layout layout = layout_of(n_step, length);
    uint32_t first = 0;
    uint32_t overlap = 0;
    while (first + overlap < STEPS) {
        const uint32_t left = STEPS - first;
        const uint32_t now = left < length ? left : length;
        give(found, &layout, first, now, overlap, ends && now == left);
        first += now - (n_step - 1);
        overlap = n_step - 1;
    }
}

TEST(each_transition_is_new_once_whatever_the_cuts)
{
    for (uint32_t from = 1; from <= 5; from++) {
        for (uint32_t to = 1; to <= 7; to++) {
            for (uint32_t length = to; length <= 17; length += 5) {
                harvest found;
                begin(&found, to, length);
                give_episode(&found, from, 9, true);
                assert_int_equal(aq_data_recut_left_out(found.recut), 0);
                assert_each_seen_once(&found, STEPS);
                aq_data_summary summary = aq_data_audit_summary(found.audit);
                assert_int_equal(summary.transitions, STEPS);
                assert_int_equal(summary.gaps + summary.doubles, 0);
                assert_int_equal(summary.whole_episodes, 1);
                assert_true(summary.return_mean == STEPS * (STEPS - 1) / 2.0);
                end(&found);
            }
        }
    }
}

TEST(an_episode_that_goes_on_is_closed_at_the_end)
{
    harvest found;
    begin(&found, 4, 8);
    give_episode(&found, 3, 9, false);
    assert_succeeds(aq_data_recut_end(found.recut, &refusal));
    assert_each_seen_once(&found, STEPS);
    end(&found);
}

TEST(what_is_missing_makes_a_new_beginning)
{
    harvest found;
    const aq_layout layout = layout_of(3, 9);
    begin(&found, 3, 9);
    give(&found, &layout, 0, 9, 0, false);
    give(&found, &layout, 14, 9, 2, true); /* 9 to 15 are missing, but two are repeated here */
    assert_int_equal(found.seen[8], 1);
    assert_int_equal(found.seen[15], 0);
    assert_int_equal(found.seen[16], 1);
    assert_int_equal(aq_data_audit_summary(found.audit).gaps, 1);
    assert_says(aq_data_audit_summary(found.audit).first_fault, "transition 16");
    end(&found);
}

TEST(what_was_there_is_passed_over)
{
    harvest found;
    const aq_layout layout = layout_of(1, 9);
    begin(&found, 1, 30);
    give(&found, &layout, 0, 9, 0, false);
    give(&found, &layout, 5, 9, 0, false); /* 5 to 8 again */
    give(&found, &layout, 14, 9, 0, true);
    assert_each_seen_once(&found, 23);
    end(&found);
}

TEST(too_few_steps_for_an_item_are_left_out_and_counted)
{
    harvest found;
    const aq_layout layout = layout_of(1, 9);
    begin(&found, 6, 9);
    give(&found, &layout, 0, 5, 0, false);
    assert_succeeds(aq_data_recut_end(found.recut, &refusal));
    assert_int_equal(found.chunks, 0);
    assert_int_equal(aq_data_recut_left_out(found.recut), 5);
    end(&found);
}

TEST(an_audit_tells_messages_that_are_missing_or_twice)
{
    aq_data_audit *audit;
    assert_int_equal(aq_data_audit_create(&audit), 0);
    const uint64_t numbers[] = {4, 5, 5, 8};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(aq_data_audit_message(audit, 1, 2, numbers[i]), 0);
    }
    const aq_data_summary summary = aq_data_audit_summary(audit);
    assert_int_equal(summary.seq_doubles, 1);
    assert_int_equal(summary.seq_holes, 2);
    assert_says(summary.first_fault, "message 5 of actor 1");
    aq_data_audit_destroy(audit);
}

TEST(an_audit_of_a_running_shard_misses_no_message)
{
    aq_data_audit *audit;
    assert_int_equal(aq_data_audit_create(&audit), 0);
    aq_data_audit_pass_over_holes(audit);
    assert_int_equal(aq_data_audit_message(audit, 1, 2, 4), 0);
    assert_int_equal(aq_data_audit_message(audit, 1, 2, 8), 0);
    assert_int_equal(aq_data_audit_message(audit, 1, 2, 8), 0);
    const aq_data_summary summary = aq_data_audit_summary(audit);
    assert_int_equal(summary.seq_holes, 0);
    assert_int_equal(summary.seq_doubles, 1);
    assert_says(summary.first_fault, "message 8 of actor 1");
    aq_data_audit_destroy(audit);
}

TEST(an_audit_misses_nothing_that_was_dropped)
{
    aq_data_audit *audit;
    assert_int_equal(aq_data_audit_create(&audit), 0);
    assert_int_equal(aq_data_audit_message(audit, 1, 2, 4), 0);
    assert_int_equal(aq_data_audit_mark(audit, 1, 2, 9), 0); /* the next segment's head */
    assert_int_equal(aq_data_audit_message(audit, 1, 2, 10), 0);
    assert_int_equal(aq_data_audit_summary(audit).seq_holes, 0);
    assert_int_equal(aq_data_audit_message(audit, 1, 2, 12), 0);
    assert_int_equal(aq_data_audit_summary(audit).seq_holes, 1);
    aq_data_audit_destroy(audit);
}
