/*
 * Beating: what is told and learnt, and how a member lives through a learner that fails, forgets,
 * restarts or changes its run.
 */
#include "tests/support/test.h"
#include "tests/unit/common/member/member_fake.h"

TEST_OF_MEMBER(the_first_heartbeat_follows_at_once_with_statistics)
{
    fake_pass(fake, 0);
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake_wait_for_call(fake, 1), 0);
    Actorq__V1__HeartbeatRequest *request = (Actorq__V1__HeartbeatRequest *)fake_request(
        fake, "Heartbeat", &actorq__v1__heartbeat_request__descriptor);
    assert_true(request->run_id == FAKE_RUN);
    assert_true(request->member == 7);
    assert_true(request->incarnation == FAKE_INCARNATION);
    assert_true(request->actor->env_steps == 987654);
    assert_null(request->replay);
    assert_int_equal(fake->timeout_ms, 1500); /* the run's */
}

TEST_OF_SETTLED(the_owner_is_told_of_shards_and_version)
{
    assert_int_equal(fake->changed, 1);
    assert_true(fake->view.version == 5);
    assert_int_equal(fake->view.shard_count, 1);
    assert_true(fake->view.shards[0].member == 3);
    assert_string_equal(fake->view.shards[0].rpc_url, "tcp://10.0.0.2:6000");
    assert_string_equal(fake->view.shards[0].push_url, "tcp://10.0.0.2:6001");
}

TEST_OF_SETTLED(a_heartbeat_goes_every_period)
{
    for (int i = 0; i < 10; i++) {
        assert_int_equal(fake_wait_for_call(fake, 501), 500);
        fake_pass(fake, 0);
        fake_reply(fake, &fake->beat.reply.base);
    }
}

TEST_OF_SETTLED(a_slow_answer_does_not_delay_the_next_heartbeat)
{
    assert_int_equal(fake_wait_for_call(fake, 501), 500);
    fake_pass(fake, 300);
    fake_reply(fake, &fake->beat.reply.base);
    assert_int_equal(fake_wait_for_call(fake, 501), 200);
}

TEST_OF_SETTLED(nothing_new_is_no_news)
{
    fake_beat_once(fake);
    assert_int_equal(fake->changed, 1);
}

TEST_OF_SETTLED(a_new_version_is_news)
{
    fake->beat.reply.version = 6;
    fake_beat_once(fake);
    assert_int_equal(fake->changed, 2);
    assert_true(fake->view.version == 6);
}

TEST_OF_SETTLED(settings_that_changed_are_news_and_only_live_ones_are_taken)
{
    const uint32_t envs = fake->join.settings.config.actor.envs;
    fake->join.settings.config.actor.noise = 0.75;
    fake->join.settings.config.log.level = 1;
    fake->join.settings.config.actor.envs = envs + 1;
    aq_wire_settings_to(&fake->join.settings, &fake->join.view);
    fake->beat.reply.settings = &fake->join.view.message;
    fake->beat.reply.settings_generation = 9;
    fake_beat_once(fake);
    assert_int_equal(fake->changed, 2);
    assert_true(fake->view.settings.config.actor.noise == 0.75);
    assert_int_equal(fake->view.settings.config.log.level, 1);
    assert_int_equal(fake->view.settings.config.actor.envs, envs);

    fake_wait_for_call(fake, 5000); /* and the learner hears which it has */
    Actorq__V1__HeartbeatRequest *request = (Actorq__V1__HeartbeatRequest *)fake_request(
        fake, "Heartbeat", &actorq__v1__heartbeat_request__descriptor);
    assert_int_equal(request->settings_generation, 9);
}

TEST_OF_SETTLED(settings_that_are_not_valid_leave_the_old_ones)
{
    const double noise = fake->view.settings.config.actor.noise;
    fake->join.settings.config.actor.noise = 99;
    aq_wire_settings_to(&fake->join.settings, &fake->join.view);
    fake->beat.reply.settings = &fake->join.view.message;
    fake->beat.reply.settings_generation = 9;
    fake->beat.reply.version = 6;
    fake->beat.reply.leave = 1;
    fake_beat_once(fake);
    assert_int_equal(fake->trouble, 1);
    assert_true(aq_member_look(fake->member)->settings.config.actor.noise == noise);
    assert_int_equal(aq_member_look(fake->member)->settings_generation, 0);
    assert_int_equal(fake->changed, 2); /* the rest of the answer counts */
    assert_true(fake->view.version == 6 && fake->view.is_asked_to_leave);
    assert_int_equal(fake_wait_for_call(fake, 501), 500);
    fake->beat.reply.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    fake_reply(fake, &fake->beat.reply.base);
    assert_int_equal(fake->ended, 1);
}

TEST_OF_SETTLED(to_be_asked_to_leave_is_news_once)
{
    fake->beat.reply.leave = 1;
    fake_beat_once(fake);
    fake_beat_once(fake);
    assert_int_equal(fake->changed, 2);
    assert_true(fake->view.is_asked_to_leave);
}

TEST_OF_SETTLED(a_shard_that_moved_is_news)
{
    char url[] = "tcp://10.0.0.3:6001";
    fake->beat.shard.push_url = url;
    fake_beat_once(fake);
    assert_int_equal(fake->changed, 2);
    assert_string_equal(fake->view.shards[0].push_url, url);
}

TEST_OF_SETTLED(a_shard_that_went_is_news)
{
    fake->beat.reply.n_shards = 0;
    fake_beat_once(fake);
    assert_int_equal(fake->changed, 2);
    assert_int_equal(fake->view.shard_count, 0);
}

TEST_OF_SETTLED(an_actor_without_a_shard_asks_soon_and_then_ever_more_seldom)
{
    static const int pauses_ms[] = {20, 40, 80, 160, 320, 500, 500};
    for (int times = 0; times < 2; times++) {
        fake->beat.reply.n_shards = 0;
        fake_beat_once(fake);
        EACH_ROW(i, pauses_ms) {
            assert_int_equal(fake_wait_for_call(fake, 501), pauses_ms[i]);
            fake_reply(fake, &fake->beat.reply.base);
        }
        fake->beat.reply.n_shards = 1;
        fake_beat_once(fake);
        assert_int_equal(fake_wait_for_call(fake, 501), 500);
        fake_reply(fake, &fake->beat.reply.base);
    }
}

/* ---- a learner that fails, forgets, restarts ------------------------------------------------- */

TEST_OF_SETTLED(a_member_outlives_a_learner_that_is_away)
{
    int64_t bound_ms = 20; /* the run's own bounds now: 20 to 640 */
    fake_wait_for_call(fake, 501);
    for (uint32_t i = 1; i <= 8; i++) {
        fake_lose(fake, AQ_E_TIMEOUT);
        assert_int_equal(fake->trouble, i);
        bound_ms = bound_ms * 2 < 640 ? bound_ms * 2 : 640;
        int64_t pause_ms = fake_wait_for_call(fake, 641);
        assert_true(pause_ms >= bound_ms / 2 && pause_ms <= bound_ms);
    }
    assert_int_equal(aq_member_look(fake->member)->state, AQ_MEMBER_JOINED);
    fake_reply(fake, &fake->beat.reply.base);
    assert_int_equal(fake->joined, 1);
    fake_wait_for_call(fake, 501);
    fake_lose(fake, AQ_E_TIMEOUT);
    assert_in_range(fake_wait_for_call(fake, 641), 20, 40); /* all is forgiven */
}

static void forget(member_fake *fake)
{
    fake->beat.reply.known = 0;
    fake->beat.reply.n_shards = 0;
    fake_beat_once(fake);
}

TEST_OF_SETTLED(a_member_that_was_forgotten_joins_again_as_what_it_was)
{
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
    fake->join.reply.slot = 4;
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake->joined, 2);
    assert_int_equal(fake->again, 1);
    assert_int_equal(fake->view.slot, 4);
    assert_int_equal(fake->view.shard_count, 1); /* what was known of the run still holds */
    assert_true(fake->view.version == 5);
}

TEST_OF_SETTLED(another_run_is_a_new_beginning)
{
    forget(fake);
    fake_wait_for_call(fake, 50);
    fake->join.reply.run_id = FAKE_RUN + 1;
    fake_reply(fake, &fake->join.reply.base);
    assert_int_equal(fake->joined, 2);
    assert_int_equal(fake->again, 0);
    assert_true(fake->view.run_id == FAKE_RUN + 1);
    assert_int_equal(fake->view.shard_count, 0);
    assert_true(fake->view.version == 0);
}

TEST_OF_SETTLED(a_learner_that_always_forgets_is_asked_ever_more_seldom)
{
    for (int i = 0; i < 8; i++) {
        forget(fake);
        fake_wait_for_call(fake, 641);
        fake_reply(fake, &fake->join.reply.base);
    }
    forget(fake);
    assert_in_range(fake_wait_for_call(fake, 641), 320, 640);
}

TEST_OF_SETTLED(a_member_that_was_cut_off_and_forgotten_joins_without_a_long_pause)
{
    for (int i = 0; i < 8; i++) {
        fake_wait_for_call(fake, 641);
        fake_lose(fake, AQ_E_TIMEOUT);
    }
    forget(fake);
    assert_in_range(fake_wait_for_call(fake, 641), 20, 40);
}

TEST_OF_SETTLED(a_heartbeat_refused_for_good_means_joining_again)
{
    fake_wait_for_call(fake, 501);
    fake_status(fake, AQ_RPC_FAILED_PRECONDITION, "another run");
    assert_int_equal(fake->ended, 0);
    assert_int_equal(fake->trouble, 1);
    fake_wait_for_call(fake, 41);
    (void)fake_request(fake, "Join", &actorq__v1__join_request__descriptor);
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
        assert_int_equal(fake_open(&fake, i), 0);
        fake_settle(&fake);
        fake.beat.reply.state = states[i];
        fake_beat_once(&fake);
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

/* The member says so, keeps what it knew, and beats again; then all is well. */
static void assert_dropped(member_fake *fake, const char *words)
{
    const uint32_t trouble = fake->trouble;
    fake_beat_once(fake);
    assert_says(fake->reason, words);
    assert_int_equal(fake->trouble, trouble + 1);
    assert_int_equal(fake->changed, 1);
    assert_int_equal(fake->ended, 0);
    assert_memory_equal(aq_member_look(fake->member), &fake->view, sizeof(fake->view));
    fake_beat_init(&fake->beat);
    fake_wait_for_call(fake, 41);
    fake_reply(fake, &fake->beat.reply.base);
}

TEST_OF_SETTLED(what_cannot_be_is_not_believed)
{
    char nothing[] = "";
    Actorq__V1__HeartbeatReply *reply = &fake->beat.reply;
    Actorq__V1__ShardAddress *shard = &fake->beat.shard;
    shard->slot = AQ_MEMBER_SHARDS_MAX;
    assert_dropped(fake, "slot 64; at most 64");
    shard->member = 0;
    assert_dropped(fake, "no member number");
    shard->push_url = nothing;
    assert_dropped(fake, "push_url is empty");
    reply->state = ACTORQ__V1__RUN_STATE__RUN_STATE_UNKNOWN;
    assert_dropped(fake, "state 0");
}

TEST_OF_SETTLED(shards_that_cannot_be_together_are_not_believed)
{
    Actorq__V1__HeartbeatReply *reply = &fake->beat.reply;
    Actorq__V1__ShardAddress other = fake->beat.shard;
    Actorq__V1__ShardAddress *shards[AQ_MEMBER_SHARDS_MAX + 1];
    for (size_t i = 0; i <= AQ_MEMBER_SHARDS_MAX; i++) {
        shards[i] = &fake->beat.shard;
    }
    reply->n_shards = AQ_MEMBER_SHARDS_MAX + 1;
    reply->shards = shards;
    assert_dropped(fake, "65 shards");
    reply->n_shards = 2;
    reply->shards = shards;
    assert_dropped(fake, "shard 1 is named twice");
    other.member++;
    shards[1] = &other;
    reply->n_shards = 2;
    reply->shards = shards;
    assert_dropped(fake, "two shards have slot 0");
}

TEST_OF_SETTLED(another_store_in_a_slot_is_news)
{
    fake->beat.shard.store = 12345;
    fake_beat_once(fake);
    assert_int_equal(fake->view.shards[0].store, 12345);
}

TEST_OF_SETTLED(as_many_shards_as_there_can_be_are_believed)
{
    Actorq__V1__ShardAddress shards[AQ_MEMBER_SHARDS_MAX];
    Actorq__V1__ShardAddress *pointers[AQ_MEMBER_SHARDS_MAX];
    for (uint32_t i = 0; i < AQ_MEMBER_SHARDS_MAX; i++) {
        shards[i] = fake->beat.shard;
        shards[i].member = 100 + i;
        shards[i].slot = AQ_MEMBER_SHARDS_MAX - 1 - i;
        shards[i].store = 7 + i;
        pointers[i] = &shards[i];
    }
    fake->beat.reply.n_shards = AQ_MEMBER_SHARDS_MAX;
    fake->beat.reply.shards = pointers;
    fake_beat_once(fake);
    assert_int_equal(fake->view.shard_count, AQ_MEMBER_SHARDS_MAX);
    assert_true(fake->view.shards[AQ_MEMBER_SHARDS_MAX - 1].member == 163);
    assert_int_equal(fake->view.shards[0].slot, AQ_MEMBER_SHARDS_MAX - 1);
    assert_int_equal(fake->view.shards[0].store, 7);
}
