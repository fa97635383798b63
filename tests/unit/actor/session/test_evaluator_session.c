/*
 * An evaluator's life in a run: policies in, results out, and a learner that is away, refuses or
 * ends the run. The network is a fake; no socket is opened and nobody waits.
 */
#include "actor/session/evaluator_session.h"
#include "common/sys/log.h"
#include "common/wire/wire_policy.h"
#include "tests/support/loopback.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/actor/fake_learner.h"
#include "tests/unit/actor/feed_give.h"

typedef struct stage {
    int64_t now_ns;
    fake_learner learner;
    loopback wire;
    aq_policy_feed *feed; /* NULL: nobody listens */
    aq_evaluator_session *session;
} stage;

static int listen_to(void *user, const char *url, aq_policy_feed *feed, aq_error *error)
{
    stage *all = user;
    (void)url;
    (void)error;
    all->feed = feed;
    return 0;
}

static void unlisten(void *user)
{
    stage *all = user;
    all->feed = NULL;
}

static void pass_frame(void *user, const uint8_t *frame, size_t size)
{
    stage *all = user;
    (void)feed_give(all->feed, all->now_ns, frame, size);
}

static aq_session_config config_of(stage *all)
{
    return (aq_session_config){
        .identity = {.role = AQ_ROLE_EVALUATOR, .incarnation = 5, .host = "stage"},
        .listener = {.user = all, .listen = listen_to, .unlisten = unlisten, .pass = pass_frame},
        .seed = 1,
    };
}

static stage *open_stage(void)
{
    static stage all;
    aq_log_set_level(AQ_LOG_OFF);
    memset(&all, 0, sizeof(all));
    fake_learner_init(&all.learner);
    loopback_init(&all.wire, all.learner.dispatcher);
    const aq_session_config config = config_of(&all);
    assert_int_equal(aq_evaluator_session_create(&all.wire.channel, &config, &all.session), 0);
    return &all;
}

static void close_stage(stage *all)
{
    loopback_close(&all->wire);
    aq_evaluator_session_destroy(all->session);
    fake_learner_fini(&all->learner);
}

#define TEST_ON_STAGE(name) TEST_OF(name, stage *all, open_stage(), close_stage)

static void pass(stage *all, int64_t ms)
{
    for (int64_t i = 0; i < ms; i++) {
        all->now_ns += AQ_NS_PER_MS;
        loopback_pump(&all->wire);
        aq_evaluator_session_tick(all->session, all->now_ns);
        while (aq_evaluator_session_work(all->session, all->now_ns) > 0) {
        }
    }
}

/* As a program does it: the session is looked at when something has come in, or when it is due. */
static void pass_when_due(stage *all, int64_t ms)
{
    for (int64_t i = 0; i < ms; i++) {
        all->now_ns += AQ_NS_PER_MS;
        bool has_come = loopback_pump(&all->wire);
        if (has_come || aq_evaluator_session_next_ns(all->session) <= all->now_ns) {
            aq_evaluator_session_tick(all->session, all->now_ns);
        }
    }
}

static void hear(stage *all, uint64_t version)
{
    fake_learner_set_policy(&all->learner, version, 1);
    assert_non_null(all->feed);
    assert_int_equal(feed_give(all->feed, all->now_ns, all->learner.policy_frame.data,
                               all->learner.policy_frame.size),
                     AQ_POLICY_NEW);
}

static enum aq_participant_phase phase(const stage *all)
{
    return aq_participant_phase_of(aq_evaluator_session_participant(all->session));
}

static stage *open_joined(void)
{
    stage *all = open_stage();
    pass(all, 20);
    return all;
}

#define TEST_OF_JOINED(name) TEST_OF(name, stage *all, open_joined(), close_stage)

TEST_OF_JOINED(it_joins_as_an_evaluator_and_waits_for_a_policy)
{
    assert_int_equal(all->learner.join_role, ACTORQ__V1__ROLE__ROLE_EVALUATOR);
    assert_int_equal(phase(all), AQ_PARTICIPANT_TAKING_PART);
    assert_int_equal(aq_evaluator_session_work(all->session, all->now_ns), 0);
    assert_true(aq_evaluator_session_next_ns(all->session) > all->now_ns);
}

TEST_OF_JOINED(a_policy_is_screened_and_reported)
{
    hear(all, 4);
    pass(all, 5);
    assert_int_equal(all->learner.reports, 1);
    assert_int_equal(all->learner.report[0].run_id, KIT_RUN);
    assert_int_equal(all->learner.report[0].member, 7);
    assert_int_equal(all->learner.report[0].version, 4);
    assert_int_equal(all->learner.report[0].format, AQ_FORMAT_F32);
    assert_int_equal(all->learner.report[0].episodes, 3);
    assert_false(all->learner.report[0].confirmed);
    pass(all, 200);
    assert_int_equal(all->learner.reports, 1); /* each version once */
    assert_int_equal(all->learner.stats.policy_version, 4);
    assert_int_equal(all->learner.stats.episodes, 3);
    assert_true(all->learner.stats.env_steps >= 3 * 8);
    assert_true(all->learner.stats.return_mean >= 8.0);
}

TEST_ON_STAGE(a_policy_that_passes_is_confirmed)
{
    all->learner.settings.evaluation_threshold = 5.0;
    pass(all, 20);
    hear(all, 4);
    pass(all, 5);
    assert_int_equal(all->learner.reports, 2);
    assert_false(all->learner.report[0].confirmed);
    assert_true(all->learner.report[1].confirmed);
    assert_int_equal(all->learner.report[1].episodes, 6);
}

TEST_OF_JOINED(a_result_is_told_until_the_learner_has_heard_it)
{
    all->wire.is_cut = true;
    hear(all, 4);
    pass(all, 300);
    hear(all, 5);
    pass(all, 300);
    assert_int_equal(all->learner.reports, 0);
    all->wire.is_cut = false;
    pass(all, 200);
    assert_int_equal(all->learner.reports, 2);
    assert_int_equal(all->learner.report[0].version, 4);
    assert_int_equal(all->learner.report[1].version, 5);
}

/* By which the learner knows it again. */
TEST_OF_JOINED(a_result_that_is_told_again_has_its_number_still)
{
    static const uint64_t numbers[] = {1, 1, 1, 2};
    all->learner.answers_lost = 2;
    hear(all, 4);
    pass(all, 300);
    hear(all, 5);
    pass(all, 100);
    assert_int_equal(all->learner.reports, 4);
    EACH_ROW(i, numbers) {
        assert_int_equal(all->learner.report[i].number, numbers[i]);
        assert_int_equal(all->learner.report[i].version, 3 + numbers[i]);
    }
}

TEST_OF_JOINED(a_result_that_is_refused_is_forgotten)
{
    static const enum aq_rpc_code codes[] = {AQ_RPC_INVALID_ARGUMENT, AQ_RPC_FAILED_PRECONDITION};
    EACH_ROW(i, codes) {
        all->learner.refuse_report = codes[i];
        hear(all, 4 + 2 * i);
        pass(all, 50);
        all->learner.refuse_report = AQ_RPC_OK;
        hear(all, 5 + 2 * i);
        pass(all, 50);
        assert_int_equal(all->learner.reports, i + 1);
        assert_int_equal(all->learner.report[i].version, 5 + 2 * i);
    }
}

TEST_OF_JOINED(with_a_result_untold_no_policy_is_taken)
{
    all->learner.refuse_report = AQ_RPC_UNAVAILABLE;
    for (uint64_t version = 1; version <= 5; version++) {
        hear(all, version);
        pass(all, 3);
    }
    all->learner.refuse_report = AQ_RPC_OK;
    pass(all, 500);
    assert_int_equal(all->learner.reports, 2); /* the first, and then the newest */
    assert_int_equal(all->learner.report[0].version, 1);
    assert_int_equal(all->learner.report[1].version, 5);
}

TEST_OF_JOINED(a_screening_is_followed_by_fresh_episodes_of_the_version_that_leads)
{
    static const uint64_t told[] = {4, 4, 5, 4, 6, 6, 7}; /* versions, as they are reported */
    all->learner.leader = 4;
    for (uint64_t version = 4; version <= 7; version++) {
        all->learner.leader = version == 6 ? 6 : all->learner.leader;
        hear(all, version);
        all->learner.leader = version == 7 ? 3 : all->learner.leader; /* which it never had */
        pass(all, 20);
    }
    assert_int_equal(all->learner.reports, sizeof(told) / sizeof(told[0]));
    EACH_ROW(i, told) {
        assert_int_equal(all->learner.report[i].version, told[i]);
        assert_int_equal(all->learner.report[i].ranks_only, i % 2);
        assert_int_equal(all->learner.report[i].episodes, 3);
        assert_false(all->learner.report[i].confirmed);
    }
    assert_true(all->learner.report[1].return_mean != all->learner.report[3].return_mean);
    all->learner.leader = 8; /* whose fresh episodes are no result of their own */
    hear(all, 8);
    pass(all, 200);
    assert_true(all->learner.reports == 9 && all->learner.report[8].ranks_only);
    assert_true(all->learner.report[8].return_mean != all->learner.report[7].return_mean);
    assert_true(all->learner.stats.return_mean == all->learner.report[7].return_mean);
}

TEST_OF_JOINED(in_another_run_old_results_are_not_told)
{
    all->learner.refuse_report = AQ_RPC_UNAVAILABLE;
    hear(all, 4);
    pass(all, 50);
    all->learner.refuse_report = AQ_RPC_OK;
    all->learner.run_id = KIT_RUN + 1;
    all->learner.member = 9;
    all->learner.version = 0;
    all->learner.has_forgotten = true;
    all->wire.is_cut = true; /* so that the old result is not told before the new run is known */
    pass(all, 1);
    all->wire.is_cut = false;
    pass(all, 300);
    assert_int_equal(all->learner.stats.policy_version, 0);
    assert_int_equal(all->learner.stats.episodes, 0);
    assert_int_equal(all->learner.stats.env_steps, 0);
    assert_true(isnan(all->learner.stats.return_mean));
    hear(all, 1);
    pass(all, 20);
    assert_true(all->learner.reports >= 1);
    const uint32_t last = all->learner.reports - 1;
    assert_int_equal(all->learner.report[last].run_id, KIT_RUN + 1);
    assert_int_equal(all->learner.report[last].member, 9);
    assert_int_equal(all->learner.report[last].version, 1);
}

/* The version at hand is played anew, in other episodes. */
TEST_OF_JOINED(with_other_numbers_of_episodes_nothing_is_lost_and_none_is_played_again)
{
    all->learner.refuse_report = AQ_RPC_UNAVAILABLE;
    hear(all, 4);
    pass(all, 50);
    all->learner.settings.config.evaluator.episodes = 9;
    all->learner.version = 4;
    all->learner.has_forgotten = true;
    pass(all, 300);
    assert_int_equal(all->learner.joins, 2);
    all->learner.refuse_report = AQ_RPC_OK;
    pass(all, 1500);
    assert_int_equal(all->learner.reports, 2);
    assert_int_equal(all->learner.report[0].version, 4);
    assert_int_equal(all->learner.report[1].version, 4);
    assert_true(all->learner.report[0].return_mean != all->learner.report[1].return_mean);
}

TEST_OF_JOINED(when_the_run_ends_it_tells_what_it_has_and_leaves)
{
    all->learner.refuse_report = AQ_RPC_UNAVAILABLE;
    hear(all, 4);
    pass(all, 50);
    all->learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    all->learner.refuse_report = AQ_RPC_OK;
    pass_when_due(all, 300); /* nobody wakes it for having been told the last result */
    assert_int_equal(all->learner.reports, 1);
    assert_int_equal(all->learner.leaves, 1);
    assert_int_equal(phase(all), AQ_PARTICIPANT_DONE);
    assert_int_equal(aq_participant_exit_code(aq_evaluator_session_participant(all->session)),
                     EXIT_SUCCESS);
}

TEST_OF_JOINED(stopping_gives_up_what_is_half_evaluated)
{
    hear(all, 4);
    assert_true(aq_evaluator_session_work(all->session, all->now_ns) > 0);
    aq_participant_stop(aq_evaluator_session_participant(all->session), "SIGTERM");
    pass(all, 10);
    assert_int_equal(all->learner.reports, 0);
    assert_int_equal(phase(all), AQ_PARTICIPANT_DONE);
}

/* A version in fp16 is heard, whose fp32 form would be fetched. It plays `choice`, that form 1. */
static void hear_in_fp16(stage *all, uint64_t version, int32_t choice)
{
    aq_snapshot *snapshot = kit_policy_in(KIT_RUN, version, choice, AQ_FORMAT_F16);
    aq_buffer *frame = buffer_up_to(1 << 16);
    fake_learner_set_policy(&all->learner, version, 1);
    assert_int_equal(aq_wire_policy_pack(snapshot, frame), 0);
    assert_int_equal(feed_give(all->feed, all->now_ns, frame->data, frame->size), AQ_POLICY_NEW);
    aq_snapshot_unref(snapshot);
}

TEST_ON_STAGE(a_version_is_compared_with_its_fp32_form)
{
    all->learner.settings.config.evaluator.fp32 = true;
    pass(all, 20);
    hear_in_fp16(all, 4, 1);
    pass(all, 10);
    assert_int_equal(all->learner.reports, 2);
    assert_int_equal(all->learner.fetches, 1);
    assert_int_equal(all->learner.fetched_version, 4);
    assert_int_equal(all->learner.fetched_format, AQ_FORMAT_F32);
    assert_int_equal(all->learner.report[0].gap_episodes, 0);
    assert_int_equal(all->learner.report[1].version, 4);
    assert_int_equal(all->learner.report[1].gap_episodes, 3);
    /* The same actions in the same episodes. */
    assert_true(all->learner.report[1].gap_mean == 0.0);
    const double both = all->learner.report[0].return_mean;
    assert_true(fabs(all->learner.report[1].return_fp32 - both) < 1e-9);
    assert_true(all->learner.report[0].return_std > 0);
    assert_near(all->learner.report[1].return_fp32_std, all->learner.report[0].return_std, 1e-9);
    hear_in_fp16(all, 5, 0);
    pass(all, 10);
    assert_int_equal(all->learner.reports, 4);
    const double apart = all->learner.report[3].return_mean - all->learner.report[3].return_fp32;
    assert_true(fabs(all->learner.report[3].gap_mean - apart) < 1e-9);
}

TEST_ON_STAGE(a_confirmation_is_told_once_with_what_fp32_reached)
{
    all->learner.settings.evaluation_threshold = 5.0;
    pass(all, 20);
    hear_in_fp16(all, 4, 1);
    pass(all, 20);
    assert_int_equal(all->learner.reports, 2);
    assert_int_equal(all->learner.report[0].gap_episodes, 0);
    assert_true(all->learner.report[1].confirmed);
    assert_int_equal(all->learner.report[1].gap_episodes, 6);
}

TEST_ON_STAGE(a_confirmation_without_its_fp32_form_is_told_as_it_is)
{
    all->learner.settings.evaluation_threshold = 5.0;
    pass(all, 20);
    hear_in_fp16(all, 4, 1);
    aq_buffer_clear(&all->learner.policy_frame); /* it has left the shelf */
    pass(all, 20);
    assert_int_equal(all->learner.reports, 2);
    assert_true(all->learner.report[1].confirmed);
    assert_int_equal(all->learner.report[1].gap_episodes, 0);
}

TEST_ON_STAGE(stopping_tells_a_confirmation_without_its_fp32_form)
{
    all->learner.settings.evaluation_threshold = 5.0;
    pass(all, 20);
    hear_in_fp16(all, 4, 1);
    while (aq_evaluator_session_work(all->session, all->now_ns) > 0) {
    }
    aq_participant_stop(aq_evaluator_session_participant(all->session), "SIGTERM");
    pass(all, 20);
    assert_int_equal(all->learner.reports, 2);
    assert_true(all->learner.report[1].confirmed);
    assert_int_equal(all->learner.report[1].gap_episodes, 0);
    assert_int_equal(phase(all), AQ_PARTICIPANT_DONE);
}

TEST_ON_STAGE(a_version_in_fp32_is_not_compared_with_itself)
{
    all->learner.settings.config.evaluator.fp32 = true;
    pass(all, 20);
    hear(all, 4);
    pass(all, 10);
    assert_int_equal(all->learner.reports, 1);
    assert_int_equal(all->learner.fetches, 0);
}

TEST_ON_STAGE(without_its_fp32_form_the_next_version_is_evaluated)
{
    all->learner.settings.config.evaluator.fp32 = true;
    pass(all, 20);
    hear_in_fp16(all, 4, 1);
    aq_buffer_clear(&all->learner.policy_frame); /* it has left the shelf */
    pass(all, 10);
    assert_int_equal(all->learner.reports, 1);
    hear_in_fp16(all, 5, 1);
    pass(all, 10);
    assert_int_equal(all->learner.reports, 3);
    assert_int_equal(all->learner.report[2].version, 5);
    assert_int_equal(all->learner.report[2].gap_episodes, 3);
}

TEST_ON_STAGE(another_version_than_was_asked_for_is_not_compared)
{
    all->learner.settings.config.evaluator.fp32 = true;
    pass(all, 20);
    hear_in_fp16(all, 4, 1);
    fake_learner_set_policy(&all->learner, 5, 1);
    pass(all, 10);
    assert_int_equal(all->learner.fetches, 1);
    assert_int_equal(all->learner.reports, 1);
}

/* Works in steps of 100 ms of time, which costs it a pause for each. */
TEST_ON_STAGE(it_takes_its_share_of_the_time_and_the_newest_version)
{
    all->learner.settings.config.evaluator.share = 0.1;
    pass(all, 20);
    for (uint64_t version = 1; version <= 600; version++) {
        const int64_t begun_ns = all->now_ns;
        hear(all, version);
        while (aq_evaluator_session_work(all->session, all->now_ns) > 0) {
            all->now_ns += 100 * AQ_NS_PER_MS;
        }
        all->now_ns += all->now_ns == begun_ns ? 100 * AQ_NS_PER_MS : 0;
        loopback_pump(&all->wire);
        aq_evaluator_session_tick(all->session, all->now_ns);
        all->learner.reports = 0;
    }
    /* It took about a tenth, and ten seconds at the start. */
    const double worked_s = (double)all->learner.stats.env_steps / 3.0 * 0.1;
    const double passed_s = (double)all->now_ns / (double)AQ_NS_PER_S;
    assert_true(passed_s >= 60.0);
    assert_true(worked_s >= 0.05 * passed_s && worked_s <= 0.1 * passed_s + 12.0);
}

/* It owes minutes of pauses by then, of which there are none with a share of 1. */
TEST_ON_STAGE(another_share_counts_also_beside_other_numbers_of_episodes)
{
    all->learner.settings.config.evaluator.share = 0.001;
    pass(all, 20);
    hear(all, 4);
    assert_true(aq_evaluator_session_work(all->session, all->now_ns) > 0);
    all->now_ns += AQ_NS_PER_S;
    pass(all, 300);
    hear(all, 5);
    pass(all, 300);
    assert_int_equal(all->learner.reports, 1);
    all->learner.settings.config.evaluator.share = 1;
    all->learner.settings.config.evaluator.episodes = 9;
    all->learner.has_forgotten = true;
    pass(all, 1500);
    assert_int_equal(all->learner.reports, 2);
    assert_int_equal(all->learner.report[1].version, 5);
}

TEST_ON_STAGE(create_survives_every_failed_allocation_and_destroy_takes_null)
{
    const aq_session_config config = config_of(all);
    aq_evaluator_session *session = NULL;
    assert_made_despite_failures(
        session, aq_evaluator_session_create(&all->wire.channel, &config, &session));
    aq_evaluator_session_destroy(session);
    aq_evaluator_session_destroy(NULL);
}
