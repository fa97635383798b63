/*
 * The shell on real sockets: an actor or an evaluator runs in a thread of its own, against a
 * learner and a shard that this thread serves. What a session does is tested elsewhere; here is
 * shown that sockets, threads, signals and the clock are joined to it rightly.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <uv.h>

#include "actor/daemon/actor_net.h"
#include "common/net/address/url.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/sockets/net.h"
#include "common/net/sockets/pubsub.h"
#include "common/net/sockets/pull.h"
#include "common/sys/log.h"
#include "tests/support/own_host.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/actor/fake_learner.h"
#include "tests/unit/actor/fake_shard.h"

/* Of calls: what is answered late by a busy machine is not sent again. */
enum { PATIENCE_MS = 120000, CALL_MS = 60000 };

static const aq_net_limits limits = {
    .message_bytes_max = 1 << 20,
    .reconnect_min_ms = 10,
    .reconnect_max_ms = 100,
};

typedef struct net_stage {
    uv_loop_t loop;
    uv_timer_t pulse;
    fake_learner learner;
    fake_shard shard;
    aq_rpc_server *learner_server;
    aq_publisher *publisher;
    aq_rpc_server *shard_server;
    aq_pull *pull;
    char learner_url[AQ_URL_MAX];

    pthread_t thread;
    bool started;
    aq_actor_options options;
    atomic_bool over;
    int rc, exit_code;
} net_stage;

static net_stage stage;

/* ---- the stage ------------------------------------------------------------------------------ */

static void on_pulse(uv_timer_t *timer)
{
    (void)timer;
    fake_shard_answer(&stage.shard, false);
}

static void on_message(void *user, aq_lease *message, const char *peer)
{
    (void)user;
    (void)peer;
    fake_shard_take(&stage.shard, message->bytes, message->size);
}

static void open_shard(const char *rpc_url, const char *push_url)
{
    assert_int_equal(aq_rpc_server_create(&stage.loop, rpc_url, &limits, stage.shard.dispatcher,
                                          &stage.shard_server, NULL),
                     0);
    assert_int_equal(
        aq_pull_create(&stage.loop, push_url, &limits, on_message, NULL, &stage.pull, NULL), 0);
    snprintf(stage.learner.shard_rpc_url, sizeof(stage.learner.shard_rpc_url), "%s",
             aq_rpc_server_url(stage.shard_server));
    snprintf(stage.learner.shard_push_url, sizeof(stage.learner.shard_push_url), "%s",
             aq_pull_url(stage.pull));
}

static void close_shard(void)
{
    aq_rpc_server_close(stage.shard_server);
    aq_pull_close(stage.pull);
    fake_shard_answer(&stage.shard, true); /* to nobody */
}

static int set_up(void **state)
{
    (void)state;
    aq_log_set_level(AQ_LOG_OFF);
    memset(&stage, 0, sizeof(stage));
    assert_int_equal(uv_loop_init(&stage.loop), 0);
    assert_int_equal(uv_timer_init(&stage.loop, &stage.pulse), 0);
    assert_int_equal(uv_timer_start(&stage.pulse, on_pulse, 1, 1), 0);
    fake_learner_init(&stage.learner);
    stage.learner.settings.config.net.rpc_timeout_ms = CALL_MS;
    fake_shard_init(&stage.shard);
    stage.learner.shards[0] = 1;
    stage.learner.shard_count = 1;
    assert_int_equal(aq_rpc_server_create(&stage.loop, "tcp://127.0.0.1:0", &limits,
                                          stage.learner.dispatcher, &stage.learner_server, NULL),
                     0);
    assert_int_equal(aq_publisher_create("tcp://127.0.0.1:0", &limits, &stage.publisher, NULL), 0);
    snprintf(stage.learner_url, sizeof(stage.learner_url), "%s",
             aq_rpc_server_url(stage.learner_server));
    snprintf(stage.learner.policy_url, sizeof(stage.learner.policy_url), "%s",
             aq_publisher_url(stage.publisher));
    open_shard(own_host_url(), own_host_url());
    return 0;
}

static void *run_actor(void *argument)
{
    (void)argument;
    stage.rc = aq_actor_run(&stage.options, &stage.exit_code, NULL);
    atomic_store(&stage.over, true);
    return NULL;
}

static void start_actor(bool evaluate)
{
    stage.exit_code = -1;
    stage.options = (aq_actor_options){
        .learner_url = stage.learner_url,
        .evaluate = evaluate,
        .start_ns = aq_clock_monotonic_ns(),
    };
    assert_int_equal(pthread_create(&stage.thread, NULL, run_actor, NULL), 0);
    stage.started = true;
}

/* Serves until the condition holds. */
typedef bool (*condition_fn)(void);

static void serve_until(condition_fn condition)
{
    int64_t end_ns = aq_clock_monotonic_ns() + PATIENCE_MS * AQ_NS_PER_MS;
    while (!condition()) {
        assert_true(aq_clock_monotonic_ns() < end_ns);
        (void)uv_run(&stage.loop, UV_RUN_ONCE);
    }
}

static void serve_for(int64_t time_ms)
{
    int64_t end_ns = aq_clock_monotonic_ns() + time_ms * AQ_NS_PER_MS;
    while (aq_clock_monotonic_ns() < end_ns) {
        (void)uv_run(&stage.loop, UV_RUN_ONCE);
    }
}

static bool is_over(void)
{
    return atomic_load(&stage.over);
}

static void join_actor(int exit_code)
{
    serve_until(is_over);
    assert_int_equal(pthread_join(stage.thread, NULL), 0);
    stage.started = false;
    assert_int_equal(stage.rc, 0);
    assert_int_equal(stage.exit_code, exit_code);
}

static int tear_down(void **state)
{
    (void)state;
    if (stage.started) { /* a failed test */
        stage.learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_STOPPED;
        serve_until(is_over);
        pthread_join(stage.thread, NULL);
    }
    close_shard();
    aq_rpc_server_close(stage.learner_server);
    aq_publisher_close(stage.publisher);
    uv_close((uv_handle_t *)&stage.pulse, NULL);
    assert_int_equal(uv_run(&stage.loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&stage.loop), 0);
    fake_shard_fini(&stage.shard);
    fake_learner_fini(&stage.learner);
    return 0;
}

static void end_run(void)
{
    stage.learner.state = ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    join_actor(EXIT_SUCCESS);
}

/* ---- conditions ----------------------------------------------------------------------------- */

static bool has_spent_its_credit(void)
{
    return stage.learner.stats.env_steps == stage.shard.granted;
}

/* What is left is not enough for all environments. */
static bool has_spent_its_credit_but_a_part(void)
{
    return stage.learner.stats.env_steps == stage.shard.granted / KIT_ENVS * KIT_ENVS;
}

/* The new process of a shard has been told what the old one had granted. */
static bool has_called_again(void)
{
    return stage.shard.granted > 0;
}

static bool has_the_newest_policy(void)
{
    return stage.learner.stats.policy_version == stage.learner.version;
}

static bool has_sent_all_items(void)
{
    return stage.shard.fresh + 2 * KIT_ENVS >= stage.shard.granted;
}

static bool has_reported(void)
{
    return stage.learner.reports > 0;
}

static bool has_heard_of_the_version(void)
{
    /* A broadcast is heard by those who listen at the time, so it goes on until then. */
    int rc = aq_publisher_send(stage.publisher, stage.learner.policy_frame.data,
                               stage.learner.policy_frame.size);
    return rc == 0 && has_the_newest_policy();
}

/* ---- facts ---------------------------------------------------------------------------------- */

TEST_WITH(an_actor_joins_acts_sends_and_ends_with_its_run, set_up, tear_down)
{
    stage.shard.granted = 2000 * KIT_ENVS;
    start_actor(false);
    serve_until(has_spent_its_credit);
    serve_until(has_sent_all_items);
    assert_true(stage.learner.joins >= 1); /* again where the machine is slow */
    assert_int_equal(stage.shard.gaps + stage.shard.duplicates, 0);
    assert_true(stage.learner.stats.resident_bytes > 0);
    end_run();
    assert_int_equal(stage.learner.leaves, 1);
}

TEST_WITH(the_broadcast_reaches_the_actor, set_up, tear_down)
{
    stage.shard.granted = 100 * KIT_ENVS;
    start_actor(false);
    serve_until(has_spent_its_credit);
    fake_learner_set_policy(&stage.learner, 3, 1);
    serve_until(has_heard_of_the_version);
    end_run();
}

TEST_WITH(a_late_actor_fetches_the_policy, set_up, tear_down)
{
    fake_learner_set_policy(&stage.learner, 8, 1);
    start_actor(false);
    serve_until(has_the_newest_policy);
    assert_true(stage.learner.fetches >= 1);
    end_run();
}

TEST_WITH(a_signal_makes_it_finish_and_leave, set_up, tear_down)
{
    stage.shard.granted = 100 * KIT_ENVS + 3;
    start_actor(false);
    serve_until(has_spent_its_credit_but_a_part);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    join_actor(EXIT_SUCCESS);
    assert_int_equal(stage.learner.leaves, 1);
    assert_true(has_sent_all_items());
}

TEST_WITH(a_shard_that_dies_is_found_again_and_nothing_is_lost, set_up, tear_down)
{
    char rpc_url[64], push_url[64];
    stage.shard.granted = 500 * KIT_ENVS;
    start_actor(false);
    serve_until(has_sent_all_items);
    for (int i = 0; i < 3; i++) {
        strcpy(rpc_url, stage.learner.shard_rpc_url);
        strcpy(push_url, stage.learner.shard_push_url);
        close_shard();
        serve_for(30);
        fake_shard_restart(&stage.shard);
        open_shard(rpc_url, push_url);
        serve_until(has_called_again);
        stage.shard.granted += 500 * KIT_ENVS;
        serve_until(has_sent_all_items); /* and again what the dead one had not acknowledged */
    }
    assert_int_equal(stage.shard.gaps, 0);
    end_run();
}

/* What all threads but this one have worked. */
static int64_t others_cpu_ns(void)
{
    return aq_clock_cpu_ns() - aq_clock_thread_ns();
}

TEST_WITH(an_idle_actor_takes_no_processor_time, set_up, tear_down)
{
    stage.shard.granted = 8 * KIT_ENVS;
    start_actor(false);
    serve_until(has_spent_its_credit);
    int64_t spent_ns = INT64_MAX;
    for (int i = 0; i < 10 && spent_ns >= 100 * AQ_NS_PER_MS; i++) { /* it may come to rest late */
        serve_for(50);
        const int64_t before_ns = others_cpu_ns();
        serve_for(500);
        spent_ns = others_cpu_ns() - before_ns;
    }
    /* A loop that spins would take all that it gets. */
    assert_true(spent_ns < 100 * AQ_NS_PER_MS);
    end_run();
}

TEST_WITH(an_evaluator_reports_and_ends_with_its_run, set_up, tear_down)
{
    fake_learner_set_policy(&stage.learner, 5, 1);
    start_actor(true);
    serve_until(has_reported);
    assert_int_equal(stage.learner.join_role, ACTORQ__V1__ROLE__ROLE_EVALUATOR);
    assert_int_equal(stage.learner.report[0].version, 5);
    end_run();
}

TEST_WITH(being_refused_ends_in_failure, set_up, tear_down)
{
    stage.learner.refuse_join = AQ_RPC_FAILED_PRECONDITION;
    start_actor(false);
    join_actor(EXIT_FAILURE);
}

TEST(an_address_that_is_none_is_refused_in_words)
{
    const aq_actor_options options = {.learner_url = "nonsense"};
    int exit_code = 77;
    assert_refused(aq_actor_run(&options, &exit_code, &refusal), AQ_E_INVALID, "nonsense");
    assert_int_equal(exit_code, 77);
}
