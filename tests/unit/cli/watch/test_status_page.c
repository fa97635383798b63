/*
 * A status shows what a person asks first, in an order that can be scanned.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/watch/status_page.h"
#include "common/base/memory.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/status_fixture.h"

static char *page(const status_fixture *fixture, size_t members_max)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(aq_status_page_print(out, "tcp://learner:5550", &fixture->reply, members_max),
                     0);
    assert_int_equal(fclose(out), 0);
    return text;
}

TEST(the_head_says_where_what_and_how)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "learner at tcp://learner:5550: gym:CartPole-v1, running\n");
    cli_assert_in(text, "1122334455667788, seed 42, in runs/first");
    cli_assert_in(text, "version 0.1.0, up 2m05s, 45.0 MB resident");
    free(text);
}

TEST(the_learner_shows_progress_broadcast_error_and_return)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "12.3k of 500.0k steps (2.5 %), 2.5k/s");
    cli_assert_in(text, "161.2 kB; 606.4 kB in fp32 (3.762 times as much)");
    cli_assert_in(text, "0.78 % of 256 greedy actions differ, rms 0.25, largest 1; 2 versions");
    cli_assert_in(text, "187.2 +- 45.5 over 100 episodes of version 29 (confirmed); best 201.8");
    cli_assert_in(text, "of learner step 3000");
    free(text);
}

TEST(members_are_ordered_by_role_and_slot)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    const char *first = strstr(text, "box-a");
    const char *second = strstr(text, "box?[2J");
    const char *evaluator = strstr(text, "box-e");
    const char *replay = strstr(text, "box-r");
    assert_non_null(first);
    assert_true(first < second);
    assert_true(second < evaluator);
    assert_true(evaluator < replay);
    free(text);
}

TEST(a_host_name_cannot_clear_the_terminal)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    assert_null(strchr(text, '\033'));
    free(text);
}

TEST(members_beyond_the_limit_are_counted)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    char *text = page(&fixture, 1);
    cli_assert_in(text, "and 2 more\n");
    cli_assert_in(text, "box-r");
    assert_null(strstr(text, "box-e"));
    free(text);
}

TEST(before_the_first_evaluation_there_is_no_return)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    fixture.learner.return_mean = (double)NAN;
    fixture.metrics[0].value = (double)NAN;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "no evaluation yet");
    cli_assert_in(text, "loss -, step 23.5 rad; waits");
    assert_null(strstr(text, "nan"));
    free(text);
}

TEST(an_ended_run_says_how)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    fixture.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "gym:CartPole-v1, solved\n");
    free(text);
}

TEST(a_shard_shows_what_it_holds_and_whom_it_heard)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "replay at tcp://learner:5550");
    cli_assert_in(text, "12.0k transitions, 1.5 MB in memory, 125 B each");
    cli_assert_in(text, "actors wait: they are 900 steps ahead of the learner, for 2.5s");
    cli_assert_in(text, "0000000000000abc");
    free(text);
}

TEST(a_shard_shows_what_each_actor_sent_and_what_is_durable)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "steps  credit  taken  durable  repeats  gaps\n");
    cli_assert_in(text, "6.1k     700    210      205        3     2\n");
    fixture.members[0].intake = NULL; /* known from its marks alone */
    free(text);
    text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "0000000000000abc");
    free(text);
}

TEST(a_shard_shows_how_it_spent_its_time_and_how_old_samples_are)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "inserting 12 %, sampling 30 %; actors waited for the learner 5 %, the "
                        "learner for actors 1 %\n");
    cli_assert_in(text, "half under 4 versions, 90 % under 4, all under 16 [# # .]\n");
    cli_assert_in(text, "half under 16ms, 90 % under 16ms, all under 16ms [    #]\n");
    free(text);
}

TEST(a_shard_shows_its_log)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "9.0 MB on disk; 65.0 kB not durable yet; 4321 "
                        "messages, 12 snapshots written");
    cli_assert_in(text, "10.0k transitions at the start; 1 damaged records");
    assert_null(strstr(text, "stuck"));
    assert_null(strstr(text, "failed to sync"));
    free(text);
    fixture.replay.sync_failures = 2;
    text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "failed to sync 2 times");
    free(text);
    char reason[] = "segment-7: no space left on the device";
    fixture.replay.stuck = reason;
    text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "nothing is acknowledged: segment-7: no space left on the device\n");
    free(text);
}

TEST(what_is_mapped_takes_no_memory)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    fixture.replay.mapped_bytes = 1000000;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "12.0k transitions, 500.0 kB in memory and 1.0 MB in mapped files\n");
    free(text);
}

TEST(a_shard_without_a_log_says_so)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    fixture.replay.durable_messages = fixture.replay.disk_bytes = fixture.replay.backlog_bytes = 0;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "none: steps are in memory only\n");
    free(text);
}

TEST(a_shard_shows_its_tables)
{
    status_fixture fixture;
    status_fixture_shard(&fixture);
    fixture.tables[1].times_sampled = (double)NAN;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "main    11.0k        12.0k  1.4 MB  5.5k    98.8k         7.5");
    cli_assert_in(text, "recent  11.0k        12.0k  1.4 MB  5.5k    98.8k           -");
    free(text);
}

TEST(the_learner_shows_how_it_gets_on_with_replay)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "1.5k answers, 3ms each; 12 times not yet, 1 failed\n");
    cli_assert_in(text, "for actors 2.5s, for answers 250ms, for a shard to join 0s, for one to be "
                        "reached 0s\n");
    cli_assert_in(text,
                  "trained on      half under 4 versions, 90 % under 4, all under 16 [# # .]");
    cli_assert_in(text, "1.0k sent back: 900 applied, 90 too late, 10 dropped\n");
    free(text);
    fixture.replay_use.priorities_sent = 0;
    text = page(&fixture, SIZE_MAX);
    assert_null(strstr(text, "sent back"));
    free(text);
}

TEST(the_learner_adds_its_shards_up)
{
    status_fixture fixture;
    status_fixture_learner(&fixture);
    fixture.members[3].role = ACTORQ__V1__ROLE__ROLE_REPLAY;
    fixture.members[3].replay = &fixture.replay;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "24.0k transitions, 3.0 MB in memory, 125 B each");
    cli_assert_in(text, "18.0 MB on disk; 130.0 kB not durable yet");
    cli_assert_in(text, "inserting 12 %, sampling 30 %");
    cli_assert_in(text, "recent  22.0k        24.0k  2.8 MB  11.0k   197.5k         7.5");
    cli_assert_in(text, "2.5s: actors wait: they are 900 steps ahead of the learner\n");
    free(text);
}

TEST(a_shard_that_is_stuck_says_so_to_the_learner_first)
{
    status_fixture fixture;
    char reason[] = "no space left on the device";
    status_fixture_learner(&fixture);
    fixture.replay.stuck = reason;
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "stuck: no space left on the device\n");
    free(text);
}

TEST(an_empty_answer_is_shown)
{
    status_fixture fixture = {0};
    actorq__v1__status_reply__init(&fixture.reply);
    char *text = page(&fixture, SIZE_MAX);
    cli_assert_in(text, "in an unknown state");
    free(text);
}

TEST(without_memory_the_page_fails)
{
    status_fixture fixture;
    char *text = NULL;
    size_t size = 0;
    int rc = AQ_E_NOMEM;
    status_fixture_learner(&fixture);
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    for (uint64_t nth = 1; rc; nth++) {
        aq_memory_fail_at(nth, 0);
        rc = aq_status_page_print(out, "x", &fixture.reply, SIZE_MAX);
        aq_memory_fail_at(0, 0);
        assert_true(rc == 0 ? nth > 4 : rc == AQ_E_NOMEM);
    }
    (void)fclose(out);
    free(text);
}
