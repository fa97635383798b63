/*
 * Beating: what is told and learnt, and how a member lives through a learner that fails, forgets,
 * restarts or changes its run.
 */
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/common/member/member_fake.h"

TEST_WITH(the_first_heartbeat_follows_at_once_with_statistics, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_join join;
    fake_join_init(&join);
    fake_pass(fake, 0);
    fake_reply(fake, &join.reply.base);
    assert_int_equal(fake_wait_for_call(fake, 1), 0);
    Actorq__V1__HeartbeatRequest *request = (Actorq__V1__HeartbeatRequest *)fake_request(
        fake, "Heartbeat", &actorq__v1__heartbeat_request__descriptor);
    assert_true(request->run_id == FAKE_RUN);
    assert_true(request->member == 7);
    assert_true(request->incarnation == FAKE_INCARNATION);
    assert_true(request->actor->env_steps == 987654);
    assert_null(request->replay);
    protobuf_c_message_free_unpacked(&request->base, NULL);
    assert_int_equal(fake->timeout_ms, 1500); /* the run's */
}

TEST_WITH(the_owner_is_told_of_shards_and_version, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_settle(fake);
    assert_int_equal(fake->changed, 1);
    assert_true(fake->view.version == 5);
    assert_int_equal(fake->view.shard_count, 1);
    assert_true(fake->view.shards[0].member == 3);
    assert_string_equal(fake->view.shards[0].rpc_url, "tcp://10.0.0.2:6000");
    assert_string_equal(fake->view.shards[0].push_url, "tcp://10.0.0.2:6001");
}

TEST_WITH(a_heartbeat_goes_every_period, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(fake_wait_for_call(fake, 501), 500);
        fake_pass(fake, 0);
        fake_reply(fake, &beat.reply.base);
    }
}

TEST_WITH(a_slow_answer_does_not_delay_the_next_heartbeat, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    assert_int_equal(fake_wait_for_call(fake, 501), 500);
    fake_pass(fake, 300);
    fake_reply(fake, &beat.reply.base);
    assert_int_equal(fake_wait_for_call(fake, 501), 200);
}

/* Sends the next heartbeat and answers it. */
static void beat_with(member_fake *fake, const fake_beat *beat)
{
    fake_wait_for_call(fake, 5000);
    fake_reply(fake, &beat->reply.base);
}

TEST_WITH(nothing_new_is_no_news, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    beat_with(fake, &beat);
    assert_int_equal(fake->changed, 1);
}

TEST_WITH(a_new_version_is_news, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    beat.reply.version = 6;
    beat_with(fake, &beat);
    assert_int_equal(fake->changed, 2);
    assert_true(fake->view.version == 6);
}

TEST_WITH(settings_that_changed_are_news_and_only_live_ones_are_taken, fake_setup, fake_teardown)
{
    static fake_join join;
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    fake_join_init(&join);
    const uint32_t envs = join.settings.config.actor.envs;
    join.settings.config.actor.noise = 0.75;
    join.settings.config.log.level = 1;
    join.settings.config.actor.envs = envs + 1;
    aq_wire_settings_to(&join.settings, &join.view);
    beat.reply.settings = &join.view.message;
    beat.reply.settings_generation = 9;
    beat_with(fake, &beat);
    assert_int_equal(fake->changed, 2);
    assert_true(fake->view.settings.config.actor.noise == 0.75);
    assert_int_equal(fake->view.settings.config.log.level, 1);
    assert_int_equal(fake->view.settings.config.actor.envs, envs);

    fake_wait_for_call(fake, 5000); /* and the learner hears which it has */
    Actorq__V1__HeartbeatRequest *request = (Actorq__V1__HeartbeatRequest *)fake_request(
        fake, "Heartbeat", &actorq__v1__heartbeat_request__descriptor);
    assert_int_equal(request->settings_generation, 9);
    protobuf_c_message_free_unpacked(&request->base, NULL);
}

TEST_WITH(settings_that_are_not_valid_leave_the_old_ones, fake_setup, fake_teardown)
{
    static fake_join join;
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    fake_join_init(&join);
    const double noise = fake->view.settings.config.actor.noise;
    join.settings.config.actor.noise = 99;
    aq_wire_settings_to(&join.settings, &join.view);
    beat.reply.settings = &join.view.message;
    beat.reply.settings_generation = 9;
    beat_with(fake, &beat);
    assert_int_equal(fake->trouble, 1);
    assert_true(aq_member_look(fake->member)->settings.config.actor.noise == noise);
}

TEST_WITH(to_be_asked_to_leave_is_news_once, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    beat.reply.leave = 1;
    beat_with(fake, &beat);
    beat_with(fake, &beat);
    assert_int_equal(fake->changed, 2);
    assert_true(fake->view.is_asked_to_leave);
}

TEST_WITH(a_shard_that_moved_is_news, fake_setup, fake_teardown)
{
    char url[] = "tcp://10.0.0.3:6001";
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    beat.shard.push_url = url;
    beat_with(fake, &beat);
    assert_int_equal(fake->changed, 2);
    assert_string_equal(fake->view.shards[0].push_url, url);
}

TEST_WITH(a_shard_that_went_is_news, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    beat.reply.n_shards = 0;
    beat_with(fake, &beat);
    assert_int_equal(fake->changed, 2);
    assert_int_equal(fake->view.shard_count, 0);
}

/* ---- a learner that fails, forgets, restarts ------------------------------------------------- */

TEST_WITH(a_member_outlives_a_learner_that_is_away, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    int64_t bound_ms = 20; /* the run's own bounds now: 20 to 640 */
    fake_settle(fake);
    fake_beat_init(&beat);
    fake_wait_for_call(fake, 501);
    for (uint32_t i = 1; i <= 8; i++) {
        fake_lose(fake, AQ_E_TIMEOUT);
        assert_int_equal(fake->trouble, i);
        bound_ms = bound_ms * 2 < 640 ? bound_ms * 2 : 640;
        int64_t pause_ms = fake_wait_for_call(fake, 641);
        assert_true(pause_ms >= bound_ms / 2 && pause_ms <= bound_ms);
    }
    assert_int_equal(aq_member_look(fake->member)->state, AQ_MEMBER_JOINED);
    fake_reply(fake, &beat.reply.base);
    assert_int_equal(fake->joined, 1);
    fake_wait_for_call(fake, 501);
    fake_lose(fake, AQ_E_TIMEOUT);
    assert_in_range(fake_wait_for_call(fake, 641), 20, 40); /* all is forgiven */
}

static void forget(member_fake *fake)
{
    fake_beat beat;
    fake_beat_init(&beat);
    beat.reply.known = 0;
    beat.reply.n_shards = 0;
    beat_with(fake, &beat);
}

TEST_WITH(a_member_that_was_forgotten_joins_again_as_what_it_was, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_join join;
    fake_settle(fake);
    fake->seen_version = 5;
    forget(fake);
    assert_int_equal(aq_member_look(fake->member)->state, AQ_MEMBER_JOINING);
    fake_wait_for_call(fake, 50);
    Actorq__V1__JoinRequest *request = (Actorq__V1__JoinRequest *)fake_request(
        fake, "Join", &actorq__v1__join_request__descriptor);
    assert_true(request->member == 7);
    assert_int_equal(request->slot, 2);
    assert_true(request->run_id == FAKE_RUN);
    assert_true(request->incarnation == FAKE_INCARNATION);
    assert_true(request->version == 5);
    protobuf_c_message_free_unpacked(&request->base, NULL);
    fake_join_init(&join);
    join.reply.slot = 4;
    fake_reply(fake, &join.reply.base);
    assert_int_equal(fake->joined, 2);
    assert_int_equal(fake->again, 1);
    assert_int_equal(fake->view.slot, 4);
    assert_int_equal(fake->view.shard_count, 1); /* what was known of the run still holds */
    assert_true(fake->view.version == 5);
}

TEST_WITH(another_run_is_a_new_beginning, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_join join;
    fake_settle(fake);
    forget(fake);
    fake_wait_for_call(fake, 50);
    fake_join_init(&join);
    join.reply.run_id = FAKE_RUN + 1;
    fake_reply(fake, &join.reply.base);
    assert_int_equal(fake->joined, 2);
    assert_int_equal(fake->again, 0);
    assert_true(fake->view.run_id == FAKE_RUN + 1);
    assert_int_equal(fake->view.shard_count, 0);
    assert_true(fake->view.version == 0);
}

TEST_WITH(a_learner_that_always_forgets_is_asked_ever_more_seldom, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_join join;
    fake_settle(fake);
    fake_join_init(&join);
    for (int i = 0; i < 8; i++) {
        forget(fake);
        fake_wait_for_call(fake, 641);
        fake_reply(fake, &join.reply.base);
    }
    forget(fake);
    assert_in_range(fake_wait_for_call(fake, 641), 320, 640);
}

TEST_WITH(a_member_that_was_cut_off_and_forgotten_joins_without_a_long_pause, fake_setup,
          fake_teardown)
{
    member_fake *fake = *state;
    fake_settle(fake);
    for (int i = 0; i < 8; i++) {
        fake_wait_for_call(fake, 641);
        fake_lose(fake, AQ_E_TIMEOUT);
    }
    forget(fake);
    assert_in_range(fake_wait_for_call(fake, 641), 20, 40);
}

TEST_WITH(a_heartbeat_refused_for_good_means_joining_again, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_settle(fake);
    fake_wait_for_call(fake, 501);
    fake_status(fake, AQ_RPC_FAILED_PRECONDITION, "another run");
    assert_int_equal(fake->ended, 0);
    assert_int_equal(fake->trouble, 1);
    fake_wait_for_call(fake, 41);
    protobuf_c_message_free_unpacked(
        fake_request(fake, "Join", &actorq__v1__join_request__descriptor), NULL);
    fake_status(fake, AQ_RPC_FAILED_PRECONDITION, "this shard holds another run");
    assert_int_equal(fake->ended, 1);
    assert_int_equal(fake->view.state, AQ_MEMBER_REFUSED);
}

TEST(the_end_of_the_run_ends_the_member)
{
    const Actorq__V1__RunState states[] = {ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED,
                                           ACTORQ__V1__RUN_STATE__RUN_STATE_BUDGET,
                                           ACTORQ__V1__RUN_STATE__RUN_STATE_STOPPED};
    for (size_t i = 0; i < 3; i++) {
        member_fake fake;
        fake_beat beat;
        assert_int_equal(fake_open(&fake, i), 0);
        fake_settle(&fake);
        fake_beat_init(&beat);
        beat.reply.state = states[i];
        beat_with(&fake, &beat);
        assert_int_equal(fake.ended, 1);
        assert_int_equal(fake.view.state, AQ_MEMBER_ENDED);
        assert_int_equal(fake.view.run_state, states[i]);
        uint32_t sends = fake.sends;
        fake_pass(&fake, 100000);
        assert_int_equal(fake.sends, sends);
        assert_true(fake.next_ns == INT64_MAX);
        fake_close(&fake);
    }
}

/* ---- answers that cannot be ------------------------------------------------------------------ */

/* The member says so, keeps what it knew, and beats again. */
static void assert_answer_dropped(member_fake *fake, const fake_beat *beat, const char *words)
{
    fake_settle(fake);
    beat_with(fake, beat);
    assert_int_equal(fake->trouble, 1);
    assert_int_equal(fake->changed, 1);
    assert_int_equal(fake->ended, 0);
    if (strstr(fake->reason, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", fake->reason, words);
    }
    assert_memory_equal(aq_member_look(fake->member), &fake->view, sizeof(fake->view));
    fake_wait_for_call(fake, 41);
}

TEST_WITH(more_shards_than_there_can_be_are_not_believed, fake_setup, fake_teardown)
{
    Actorq__V1__ShardAddress *many[AQ_MEMBER_SHARDS_MAX + 1];
    fake_beat beat;
    fake_beat_init(&beat);
    for (size_t i = 0; i <= AQ_MEMBER_SHARDS_MAX; i++) {
        many[i] = &beat.shard;
    }
    beat.reply.n_shards = AQ_MEMBER_SHARDS_MAX + 1;
    beat.reply.shards = many;
    assert_answer_dropped(*state, &beat, "65 shards");
}

TEST_WITH(one_shard_named_twice_is_not_believed, fake_setup, fake_teardown)
{
    Actorq__V1__ShardAddress *twice[2];
    fake_beat beat;
    fake_beat_init(&beat);
    twice[0] = &beat.shard;
    twice[1] = &beat.shard;
    beat.reply.n_shards = 2;
    beat.reply.shards = twice;
    assert_answer_dropped(*state, &beat, "shard 1 is named twice");
}

TEST_WITH(two_shards_of_one_slot_are_not_believed, fake_setup, fake_teardown)
{
    Actorq__V1__ShardAddress other;
    Actorq__V1__ShardAddress *both[2];
    fake_beat beat;
    fake_beat_init(&beat);
    other = beat.shard;
    other.member++;
    both[0] = &beat.shard;
    both[1] = &other;
    beat.reply.n_shards = 2;
    beat.reply.shards = both;
    assert_answer_dropped(*state, &beat, "two shards have slot 0");
}

TEST_WITH(a_slot_that_cannot_be_is_not_believed, fake_setup, fake_teardown)
{
    fake_beat beat;
    fake_beat_init(&beat);
    beat.shard.slot = AQ_MEMBER_SHARDS_MAX;
    assert_answer_dropped(*state, &beat, "slot 64; at most 64");
}

TEST_WITH(another_store_in_a_slot_is_news, fake_setup, fake_teardown)
{
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    beat.shard.store = 12345;
    beat_with(fake, &beat);
    assert_int_equal(fake->view.shards[0].store, 12345);
}

TEST_WITH(a_shard_without_a_number_is_not_believed, fake_setup, fake_teardown)
{
    fake_beat beat;
    fake_beat_init(&beat);
    beat.shard.member = 0;
    assert_answer_dropped(*state, &beat, "no member number");
}

TEST_WITH(a_shard_without_an_address_is_not_believed, fake_setup, fake_teardown)
{
    char nothing[] = "";
    fake_beat beat;
    fake_beat_init(&beat);
    beat.shard.push_url = nothing;
    assert_answer_dropped(*state, &beat, "push_url is empty");
}

TEST_WITH(a_state_that_is_not_known_is_not_believed, fake_setup, fake_teardown)
{
    fake_beat beat;
    fake_beat_init(&beat);
    beat.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_UNKNOWN;
    assert_answer_dropped(*state, &beat, "state 0");
}

TEST_WITH(as_many_shards_as_there_can_be_are_believed, fake_setup, fake_teardown)
{
    Actorq__V1__ShardAddress shards[AQ_MEMBER_SHARDS_MAX];
    Actorq__V1__ShardAddress *pointers[AQ_MEMBER_SHARDS_MAX];
    member_fake *fake = *state;
    fake_beat beat;
    fake_settle(fake);
    fake_beat_init(&beat);
    for (uint32_t i = 0; i < AQ_MEMBER_SHARDS_MAX; i++) {
        shards[i] = beat.shard;
        shards[i].member = 100 + i;
        shards[i].slot = AQ_MEMBER_SHARDS_MAX - 1 - i;
        shards[i].store = 7 + i;
        pointers[i] = &shards[i];
    }
    beat.reply.n_shards = AQ_MEMBER_SHARDS_MAX;
    beat.reply.shards = pointers;
    beat_with(fake, &beat);
    assert_int_equal(fake->view.shard_count, AQ_MEMBER_SHARDS_MAX);
    assert_true(fake->view.shards[AQ_MEMBER_SHARDS_MAX - 1].member == 163);
    assert_int_equal(fake->view.shards[0].slot, AQ_MEMBER_SHARDS_MAX - 1);
    assert_int_equal(fake->view.shards[0].store, 7);
}
