/*
 * The daemon on real sockets, in a thread of its own, with a learner that only knows membership:
 * from joining to each of the ways in which it ends.
 */
#include "replay/daemon/replay_addresses.h"
#include "tests/support/test.h"
#include "tests/unit/replay/net_stage.h"
#include "tests/unit/replay/replay_kit.h"

static void on_sample(const Actorq__V1__SampleReply *reply, void *user)
{
    net_stage *stage = user;
    stage->rows = reply != NULL ? reply->rows : 0;
    stage->replies++;
}

TEST_IN(net_stage, stage, steps_are_taken_acknowledged_and_sampled)
{
    Actorq__V1__SampleRequest request = ACTORQ__V1__SAMPLE_REQUEST__INIT;
    net_stage_start(stage);
    net_stage_join(stage);
    aq_rpc_stub sampling = net_stage_stub(stage, &actorq__v1__sampling__descriptor);
    request.run_id = KIT_RUN_ID;
    request.schema_hash = stage->settings.schema_hash;
    request.batch_rows = 8;
    request.batch_count = 2;
    request.discount = 0.9f;
    request.wait_ms = 5000;
    stage->replies = 0;
    actorq__v1__sampling__sample(&sampling.base, &request, on_sample, stage);
    net_stage_send(stage, 1, 24);
    net_stage_await(stage, &stage->replies, 1);
    if (stage->rows == 0) { /* the steps came later than it waits; now they are there or coming */
        net_stage_await_acknowledgement(stage, 1);
        stage->replies = 0;
        actorq__v1__sampling__sample(&sampling.base, &request, on_sample, stage);
        net_stage_await(stage, &stage->replies, 1);
    }
    assert_int_equal(stage->rows, 16);
    net_stage_await_acknowledgement(stage, 1);
    net_stage_end(stage);
}

TEST_IN(net_stage, stage, the_daemon_ends_with_the_run)
{
    net_stage_start(stage);
    net_stage_await(stage, &stage->heartbeats, 1);
    stage->state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_equal(net_stage_finish(stage), 0);
}

TEST_IN(net_stage, stage, heartbeats_carry_statistics)
{
    net_stage_live(stage, 1, 1);
    net_stage_await(stage, &stage->heartbeats, stage->heartbeats + 2);
    assert_int_equal(stage->heard_inserted, 24);
    net_stage_end(stage);
}

/* A learner that forgets the shard and takes it in again finds so many steps. */
static void assert_forgotten(net_stage *stage, uint64_t stored)
{
    const int joins = stage->joins; /* a busy machine may have asked more than once */
    stage->forget_once = true;
    net_stage_await(stage, &stage->joins, joins + 1);
    net_stage_await(stage, &stage->heartbeats, stage->heartbeats + 1);
    assert_int_equal(net_stage_ask_stored(stage), stored);
}

TEST_IN(net_stage, stage, a_learner_that_forgot_the_shard_finds_its_store_as_it_was)
{
    net_stage_live(stage, 1, 1);
    assert_forgotten(stage, 24);
    net_stage_end(stage);
}

TEST_IN(net_stage, stage, another_run_begins_with_an_empty_store)
{
    net_stage_live(stage, 1, 1);
    stage->run_id++;
    assert_forgotten(stage, 0);
    net_stage_end(stage);
}

TEST_IN(net_stage, stage, other_settings_begin_with_an_empty_store)
{
    net_stage_live(stage, 1, 1);
    stage->settings.tables[0].capacity = 500;
    assert_forgotten(stage, 0);
    net_stage_end(stage);
}

TEST_IN(net_stage, stage, a_refusal_ends_the_daemon_in_words)
{
    stage->refuse = true;
    net_stage_start(stage);
    assert_int_equal(net_stage_finish(stage), AQ_E_PEER);
    assert_says(stage->error.text, "no room for shards");
    assert_non_null(strstr(stage->error.text, stage->options.learner_url));
}

TEST_IN(net_stage, stage, settings_that_cannot_work_end_the_daemon_in_words)
{
    stage->settings.tables[0].tolerance = 2.0;
    net_stage_start(stage);
    net_stage_await(stage, &stage->leaves, 1);
    assert_int_equal(net_stage_finish(stage), AQ_E_INVALID);
    assert_says(stage->error.text, "tolerance");
}

TEST_IN(net_stage, stage, an_address_in_use_is_named)
{
    stage->options.listen_url = stage->options.learner_url;
    net_stage_start(stage);
    assert_int_equal(net_stage_finish(stage), AQ_E_IN_USE);
    assert_non_null(strstr(stage->error.text, stage->options.listen_url));
}

TEST_IN(net_stage, stage, an_address_without_a_next_port_is_refused)
{
    stage->options.listen_url = "tcp://127.0.0.1:65535";
    net_stage_start(stage);
    assert_int_not_equal(net_stage_finish(stage), 0);
    assert_says(stage->error.text, "65535");
}

TEST_IN(net_stage, stage, a_daemon_that_finds_no_memory_ends_in_words)
{
    char listen_url[AQ_URL_MAX];
    unsigned port;
    /* The port before the learner's, so that what comes next fails even with all memory. */
    assert_int_equal(sscanf(stage->options.learner_url, "tcp://127.0.0.1:%u", &port), 1);
    snprintf(listen_url, sizeof(listen_url), "tcp://127.0.0.1:%u", port - 1);
    stage->options.listen_url = listen_url;
    uint64_t nth = 1;
    for (int rc = AQ_E_NOMEM; rc == AQ_E_NOMEM; nth++) {
        aq_memory_fail_at(nth, 0);
        rc = aq_replay_run(&stage->options, &stage->error);
        aq_memory_fail_at(0, 0);
        assert_true(rc == AQ_E_NOMEM || rc == AQ_E_IN_USE);
        assert_int_not_equal(stage->error.text[0], '\0');
    }
    assert_true(nth > 10);
}

TEST_IN(net_stage, stage, an_advertised_host_stands_before_the_bound_ports)
{
    char host[AQ_URL_MAX];
    stage->options.listen_url = "tcp://*:0";
    stage->options.daemon.insecure = true;
    stage->options.advertise_url = "tcp://127.0.0.2:0";
    net_stage_start(stage);
    net_stage_join(stage);
    snprintf(host, sizeof(host), "%.16s", stage->rpc_url);
    assert_string_equal(host, "tcp://127.0.0.2:");
    snprintf(host, sizeof(host), "%.16s", stage->push_url);
    assert_string_equal(host, "tcp://127.0.0.2:");
    assert_string_not_equal(stage->rpc_url, "tcp://127.0.0.2:0");
    net_stage_send(stage, 1, 24);
    net_stage_await_acknowledgement(stage, 1);
    net_stage_end(stage);
}

TEST(port_0_of_an_advertised_address_stands_for_those_that_were_bound)
{
    static const struct {
        const char *advertised, *bound, *rpc_url, *push_url;
    } rows[] = {
        {NULL, "tcp://10.0.0.5", "tcp://10.0.0.5:5560", "tcp://10.0.0.5:5571"},
        {"tcp://host-b:0", "tcp://[::]", "tcp://host-b:5560", "tcp://host-b:5571"},
        {"tcp://host-b:0", "tcp://127.0.0.1", "tcp://host-b:5560", "tcp://host-b:5571"},
        {"tcp://203.0.113.7:0", "tcp://10.0.0.5", "tcp://203.0.113.7:5560",
         "tcp://203.0.113.7:5571"},
        {"tcp://[fd00::7]:0", "tcp://[fd00::5]", "tcp://[fd00::7]:5560", "tcp://[fd00::7]:5571"},
        {"tcp://127.0.0.2:0", "tcp://127.0.0.1", "tcp://127.0.0.2:5560", "tcp://127.0.0.2:5571"},
        {"tcp://host-b:6000", "tcp://10.0.0.5", "tcp://host-b:6000", "tcp://host-b:6001"},
    };
    EACH_ROW(i, rows) {
        char rpc_url[AQ_URL_MAX], push_url[AQ_URL_MAX];
        aq_member_identity identity = {.incarnation = 1};
        snprintf(rpc_url, sizeof(rpc_url), "%s:5560", rows[i].bound);
        snprintf(push_url, sizeof(push_url), "%s:5571", rows[i].bound);
        assert_succeeds(
            aq_replay_name_addresses(rows[i].advertised, rpc_url, push_url, &identity, &refusal));
        assert_string_equal(identity.rpc_url, rows[i].rpc_url);
        assert_string_equal(identity.push_url, rows[i].push_url);
    }
}

TEST(port_0_of_an_advertised_address_needs_one_that_was_bound)
{
    aq_member_identity identity = {.incarnation = 1};
    assert_refused(aq_replay_name_addresses("tcp://host-b:0", "ipc:///run/shard",
                                            "ipc:///run/shard.push", &identity, &refusal),
                   AQ_E_INVALID, "ipc:///run/shard has none");
}
