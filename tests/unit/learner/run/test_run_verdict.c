/*
 * How a run goes, in words: what is said when, and how pressing it is.
 */
#include "learner/run/run_verdict.h"
#include "tests/support/test.h"

/* A run that goes well. */
static aq_run_facts good_facts(void)
{
    return (aq_run_facts){
        .state = AQ_RUN_RUNNING,
        .wall_s = 300,
        .uptime_s = 300,
        .env_steps = 100000,
        .env_steps_limit = 200000,
        .learner_steps = 50000,
        .env_steps_per_s = 1000,
        .learner_steps_per_s = 500,
        .stored = 100000,
        .needed = 1000,
        .actors = 2,
        .evaluators = 1,
        .shards = 1,
        .shards_wanted = 1,
        .learner_waits = 0.1,
        .actors_wait = 0.1,
        .return_now = 461.94,
        .return_best = 470,
        .best_is_fresh = true,
        .threshold = 475,
        .trend = AQ_TREND_RISING,
    };
}

static aq_verdict verdict_of(const aq_run_facts *facts)
{
    aq_verdict verdict;
    aq_verdict_of(facts, &verdict);
    return verdict;
}

/* Some note says this, and is that pressing. */
static void assert_note(const aq_run_facts *facts, enum aq_verdict_level level, const char *words)
{
    const aq_verdict verdict = verdict_of(facts);
    for (size_t i = 0; i < verdict.note_count; i++) {
        if (strstr(verdict.notes[i].text, words)) {
            assert_int_equal(verdict.notes[i].level, level);
            assert_true(verdict.level >= level);
            return;
        }
    }
    fail_msg("nothing says \"%s\"", words);
}

static void assert_silent(const aq_run_facts *facts, const char *words)
{
    const aq_verdict verdict = verdict_of(facts);
    for (size_t i = 0; i < verdict.note_count; i++) {
        assert_null(strstr(verdict.notes[i].text, words));
    }
}

TEST(a_run_that_goes_well_is_said_to)
{
    const aq_run_facts facts = good_facts();
    const aq_verdict verdict = verdict_of(&facts);
    assert_string_equal(verdict.headline, "Training: return 461.9, solved at 475.0, rising");
    assert_true(verdict.level <= AQ_VERDICT_NOTE);
    assert_note(&facts, AQ_VERDICT_GOOD, "keep pace");
}

TEST(the_time_to_the_nearest_limit_is_told)
{
    aq_run_facts facts = good_facts();
    assert_note(&facts, AQ_VERDICT_NOTE, "1m40s, at its limit of environment steps");
    facts.learner_steps_limit = 60000;
    assert_note(&facts, AQ_VERDICT_NOTE, "20.0s, at its limit of learner steps");
    facts.wall_limit_s = 310;
    assert_note(&facts, AQ_VERDICT_NOTE, "10.0s, at its limit of time");
    facts.wall_s = 320; /* it ends at the next look */
    assert_silent(&facts, "at its limit");
    facts = good_facts();
    facts.env_steps_per_s = NAN;
    assert_silent(&facts, "at its limit");
    facts = good_facts();
    facts.env_steps = facts.env_steps_limit + 1;
    assert_silent(&facts, "at its limit");
}

TEST(a_task_without_a_threshold_is_never_near_one)
{
    aq_run_facts facts = good_facts();
    facts.threshold = NAN;
    facts.trend = AQ_TREND_UNKNOWN;
    assert_string_equal(verdict_of(&facts).headline, "Training: return 461.9");
    facts.return_now = NAN;
    assert_says(verdict_of(&facts).headline, "no return has been measured since the learner was");
    facts.return_best = NAN;
    assert_says(verdict_of(&facts).headline, "no return has been measured yet");
}

TEST(what_is_waited_for_before_training_is_said)
{
    aq_run_facts facts = good_facts();
    facts.learner_steps = 0;
    assert_string_equal(verdict_of(&facts).headline, "About to train");
    facts.stored = facts.needed;
    assert_string_equal(verdict_of(&facts).headline, "About to train");
    facts.stored = 500;
    assert_says(verdict_of(&facts).headline, "500 of 1.0k steps");
    facts.actors = 0;
    assert_string_equal(verdict_of(&facts).headline, "Waiting for an actor to join");
    facts.shards = 0;
    assert_string_equal(verdict_of(&facts).headline, "Waiting for a replay shard to join");
}

TEST(a_learner_that_waits_wants_more_actors)
{
    aq_run_facts facts = good_facts();
    facts.learner_waits = 0.6;
    assert_note(&facts, AQ_VERDICT_ATTENTION, "60 % of the time: more actors would help");
    assert_silent(&facts, "keep pace");
    facts.waits_for = AQ_VERDICT_WAITS_FOR_ANSWERS;
    assert_note(&facts, AQ_VERDICT_ATTENTION, "faster network");
    assert_silent(&facts, "more actors");
}

TEST(actors_that_wait_are_too_many)
{
    aq_run_facts facts = good_facts();
    facts.actors_wait = 0.75;
    assert_note(&facts, AQ_VERDICT_NOTE, "wait for the learner 75 % of the time");
    assert_note(&facts, AQ_VERDICT_NOTE, "fewer would do, or a lower replay.samples_per_insert.");
    facts.queue = true;
    assert_note(&facts, AQ_VERDICT_NOTE, "fewer would do.");
}

TEST(more_actors_are_not_wanted_where_actors_wait_as_well)
{
    aq_run_facts facts = good_facts();
    facts.learner_waits = 0.6;
    facts.actors_wait = 0.9;
    assert_note(&facts, AQ_VERDICT_ATTENTION, "actors wait as well");
    assert_silent(&facts, "more actors");
    assert_silent(&facts, "fewer");
}

TEST(who_is_missing_is_said)
{
    aq_run_facts facts = good_facts();
    facts.shards_wanted = 3;
    assert_note(&facts, AQ_VERDICT_ATTENTION, "1 of 3 replay shards");
    facts.shards = 0;
    assert_note(&facts, AQ_VERDICT_BAD, "0 of 3 replay shards");
    facts.evaluators = 0;
    assert_note(&facts, AQ_VERDICT_ATTENTION, "No evaluator");
    facts.actors = 0;
    assert_note(&facts, AQ_VERDICT_BAD, "No actor");
    facts.offline = true;
    assert_silent(&facts, "No actor");
}

TEST(members_in_trouble_are_counted)
{
    aq_run_facts facts = good_facts();
    facts.silent = 1;
    facts.stuck = 2;
    assert_note(&facts, AQ_VERDICT_ATTENTION, "1 member is silent");
    assert_note(&facts, AQ_VERDICT_BAD, "2 replay shards cannot write");
    assert_silent(&facts, "The learner cannot");
    facts.trouble = "checkpoints: no space left";
    assert_note(&facts, AQ_VERDICT_BAD,
                "The learner cannot keep or publish what it learns: checkpoints: no space left.");
}

TEST(trouble_that_is_no_text_is_told)
{
    aq_run_facts facts = good_facts();
    facts.trouble = "runs/\xff: no space left";
    assert_note(&facts, AQ_VERDICT_BAD, "learns: runs/?: no space left.");
}

TEST(training_that_stands_still_is_bad)
{
    aq_run_facts facts = good_facts();
    facts.learner_steps_per_s = 0;
    assert_note(&facts, AQ_VERDICT_BAD, "No training step");
    facts.uptime_s = 30; /* of a run that was resumed */
    assert_silent(&facts, "No training step");
}

TEST(falling_returns_and_findings_want_attention)
{
    aq_run_facts facts = good_facts();
    facts.trend = AQ_TREND_FALLING;
    facts.findings = (aq_findings){.rows = {{"values are large", "learner.tau=0.005"}}, .count = 1};
    assert_note(&facts, AQ_VERDICT_ATTENTION, "the best was 470.0");
    assert_note(&facts, AQ_VERDICT_ATTENTION, "Values are large; try learner.tau=0.005.");
    facts.state = AQ_RUN_BUDGET; /* what was found holds at the end, too */
    assert_note(&facts, AQ_VERDICT_ATTENTION, "Values are large; try learner.tau=0.005.");
}

TEST(an_end_is_told_with_what_it_took)
{
    aq_run_facts facts = good_facts();
    facts.state = AQ_RUN_SOLVED;
    aq_verdict verdict = verdict_of(&facts);
    assert_string_equal(verdict.headline,
                        "Solved, after 5m00s and 100.0k environment steps; best return 470.0");
    assert_int_equal(verdict.note_count, 0);
    assert_int_equal(verdict.level, AQ_VERDICT_GOOD);
    facts.state = AQ_RUN_BUDGET;
    facts.best_is_fresh = false;
    assert_says(verdict_of(&facts).headline, "Ended at its limit");
    assert_says(verdict_of(&facts).headline, "; best return 470.0 (screening)");
    facts.state = AQ_RUN_STOPPED;
    assert_says(verdict_of(&facts).headline, "Stopped");
    facts.state = AQ_RUN_DIVERGED;
    verdict = verdict_of(&facts);
    assert_says(verdict.headline, "Diverged");
    assert_int_equal(verdict.level, AQ_VERDICT_BAD);
}

TEST(everything_at_once_has_room)
{
    aq_run_facts facts = good_facts();
    facts.shards = 0;
    facts.shards_wanted = UINT32_MAX;
    facts.actors = facts.evaluators = 0;
    facts.silent = facts.stuck = UINT32_MAX;
    facts.trouble = "versions: no space left";
    facts.learner_waits = facts.actors_wait = 1;
    facts.trend = AQ_TREND_FALLING;
    facts.return_now = facts.return_best = -1.7976931348623157e308;
    facts.findings.count = AQ_FINDINGS_MAX;
    facts.env_steps_limit = UINT64_MAX;
    const aq_verdict verdict = verdict_of(&facts);
    assert_in_range(verdict.note_count, 6, AQ_VERDICT_NOTES_MAX);
    assert_int_equal(verdict.level, AQ_VERDICT_BAD);
    assert_string_equal(aq_verdict_level_name(verdict.level), "bad");
}
