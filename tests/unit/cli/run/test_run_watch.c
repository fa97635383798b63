/*
 * A learner is asked again and again, whether it is there or not.
 */
#include <uv.h>

#include "cli/run/run_watch.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"
#include "tests/unit/cli/fake_daemon.h"

enum { PATIENCE_MS = 120000 };

typedef struct watch_desk {
    uv_loop_t loop;
    uv_timer_t watchdog;
    bool out_of_patience;
    aq_run_watch *watch;
    unsigned changes;
    bool close_at_first; /* from inside the callback */
    bool solved;
} watch_desk;

static void on_changed(void *user, const Actorq__V1__StatusReply *status)
{
    watch_desk *desk = user;
    desk->changes++;
    desk->solved = status->state == ACTORQ__V1__RUN_STATE__RUN_STATE_SOLVED;
    if (desk->close_at_first) {
        aq_run_watch_close(desk->watch);
        desk->watch = NULL;
    }
}

static void on_watchdog(uv_timer_t *timer)
{
    watch_desk *desk = timer->data;
    desk->out_of_patience = true;
}

static watch_desk *open_watch_desk(void)
{
    watch_desk *desk = aq_alloc(1, sizeof(*desk));
    assert_non_null(desk);
    assert_int_equal(uv_loop_init(&desk->loop), 0);
    uv_timer_init(&desk->loop, &desk->watchdog);
    desk->watchdog.data = desk;
    uv_timer_start(&desk->watchdog, on_watchdog, PATIENCE_MS, 0);
    return desk;
}

static void close_watch_desk(watch_desk *desk)
{
    aq_run_watch_close(desk->watch);
    uv_close((uv_handle_t *)&desk->watchdog, NULL);
    assert_int_equal(uv_run(&desk->loop, UV_RUN_DEFAULT), 0);
    assert_int_equal(uv_loop_close(&desk->loop), 0);
    aq_free(desk);
}

#define TEST_OF_WATCH_DESK(name)                                                                   \
    TEST_OF(name, watch_desk *desk, open_watch_desk(), close_watch_desk)

static void watch(watch_desk *desk, const char *url)
{
    assert_int_equal(aq_run_watch_create(&desk->loop, url, 5, on_changed, desk, &desk->watch, NULL),
                     0);
}

static void run_until(watch_desk *desk, unsigned changes)
{
    while (desk->changes < changes && !desk->out_of_patience) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_true(desk->changes >= changes);
}

TEST_OF_WATCH_DESK(the_newest_answer_is_kept)
{
    fake_daemon *daemon = fake_daemon_start("inproc://run-watch-newest");
    watch(desk, fake_daemon_url(daemon));
    assert_null(aq_run_watch_take(desk->watch));
    run_until(desk, 3);
    Actorq__V1__StatusReply *status = aq_run_watch_take(desk->watch);
    assert_string_equal(status->role, "learner");
    assert_int_equal(status->learner->env_steps, 12345);
    actorq__v1__status_reply__free_unpacked(status, NULL);
    assert_false(desk->solved);
    fake_daemon_end_run(daemon);
    while (!desk->solved && !desk->out_of_patience) {
        uv_run(&desk->loop, UV_RUN_ONCE);
    }
    assert_true(desk->solved);
    fake_daemon_stop(daemon);
}

TEST_OF_WATCH_DESK(a_learner_that_is_not_there_yet_is_waited_for)
{
    watch(desk, "inproc://run-watch-late");
    for (int i = 0; i < 5; i++) {
        uv_run(&desk->loop, UV_RUN_NOWAIT);
    }
    assert_null(aq_run_watch_take(desk->watch));
    fake_daemon *daemon = fake_daemon_start("inproc://run-watch-late");
    run_until(desk, 1);
    fake_daemon_stop(daemon);
}

TEST_OF_WATCH_DESK(the_last_answer_stays_when_the_learner_goes)
{
    fake_daemon *daemon = fake_daemon_start("inproc://run-watch-gone");
    watch(desk, fake_daemon_url(daemon));
    run_until(desk, 1);
    fake_daemon_stop(daemon);
    unsigned changes = desk->changes;
    for (int i = 0; i < 20; i++) {
        uv_run(&desk->loop, UV_RUN_NOWAIT);
    }
    assert_true(desk->changes <= changes + 1); /* one may have been on its way */
    Actorq__V1__StatusReply *status = aq_run_watch_take(desk->watch);
    assert_int_equal(status->learner->env_steps, 12345);
    actorq__v1__status_reply__free_unpacked(status, NULL);
}

TEST_OF_WATCH_DESK(a_watch_may_be_closed_while_it_waits)
{
    watch(desk, "inproc://run-watch-nobody");
    for (int i = 0; i < 5; i++) { /* its question is out */
        uv_run(&desk->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(desk->changes, 0);
}

TEST_OF_WATCH_DESK(a_watch_may_be_closed_by_what_it_tells)
{
    fake_daemon *daemon = fake_daemon_start("inproc://run-watch-closed");
    desk->close_at_first = true;
    watch(desk, fake_daemon_url(daemon));
    run_until(desk, 1);
    for (int i = 0; i < 20; i++) {
        uv_run(&desk->loop, UV_RUN_NOWAIT);
    }
    assert_int_equal(desk->changes, 1);
    fake_daemon_stop(daemon);
}

TEST_OF_WATCH_DESK(an_address_that_is_none_is_named)
{
    int untouched = 0;
    aq_run_watch *none = (aq_run_watch *)(void *)&untouched;
    assert_refused(
        aq_run_watch_create(&desk->loop, "nonsense", 5, on_changed, desk, &none, &refusal),
        AQ_E_INVALID, "nonsense");
    assert_ptr_equal(none, &untouched);
}

TEST_OF_WATCH_DESK(create_survives_every_failed_allocation)
{
    aq_run_watch *made;
    assert_made_despite_failures(made, aq_run_watch_create(&desk->loop, "inproc://run-watch-memory",
                                                           5, on_changed, desk, &made, NULL));
    aq_run_watch_close(made);
    aq_run_watch_close(NULL);
}
