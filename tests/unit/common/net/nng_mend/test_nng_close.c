/*
 * Closing while NNG's one thread that ends connections is held up: nobody waits for long, and what
 * was given up is closed after all.
 */
#include <nng/nng.h>
#include <nng/protocol/pair0/pair.h>
#include <poll.h>
#include <semaphore.h>

#include "common/base/assert.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/net/sockets/endpoint.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { SOCKETS = 6, PATIENCE_S = 120 };

/* `held` is connected to the first of the others, the second to the third, and the fourth to the
 * fifth: by inproc, as NNG ends connections of every kind in the one thread. */
typedef struct fixture {
    nng_socket held, others[SOCKETS];
    sem_t entered, let_go;
} fixture;

/* In that thread. */
static void hold_up(nng_pipe pipe, nng_pipe_ev event, void *user)
{
    fixture *f = user;
    (void)pipe;
    (void)event;
    int rc = sem_post(&f->entered);
    AQ_ASSERT(rc == 0);
    while (sem_wait(&f->let_go) != 0) {
    }
}

static nng_socket open_one(void)
{
    nng_socket opened;
    assert_int_equal(nng_pair0_open(&opened), 0);
    return opened;
}

static void connect_both(nng_socket a, nng_socket b)
{
    char url[AQ_URL_MAX], bound[AQ_URL_MAX];
    nng_listener listener;
    int rc = aq_endpoint_listen(a, net_kit_url("inproc", url), &net_kit_limits, 0, &listener, bound,
                                NULL);
    assert_int_equal(rc, 0);
    assert_int_equal(nng_dial(b, bound, NULL, 0), 0);
}

static void wait_unclosed(unsigned count)
{
    const int64_t late_ns = aq_clock_monotonic_ns() + PATIENCE_S * AQ_NS_PER_S;
    while (aq_net_unclosed() != count) {
        assert_true(aq_clock_monotonic_ns() < late_ns);
        (void)poll(NULL, 0, 5);
    }
}

TEST(what_is_late_is_closed_when_nng_gets_to_it)
{
    fixture f;
    assert_int_equal(sem_init(&f.entered, 0, 0), 0);
    assert_int_equal(sem_init(&f.let_go, 0, 0), 0);
    f.held = open_one();
    for (int i = 0; i < SOCKETS; i++) {
        f.others[i] = open_one();
    }
    connect_both(f.held, f.others[0]);
    connect_both(f.others[1], f.others[2]);
    connect_both(f.others[3], f.others[4]);
    assert_int_equal(nng_pipe_notify(f.held, NNG_PIPE_EV_REM_POST, hold_up, &f), 0);

    assert_false(aq_nng_close(f.held));
    assert_int_equal(sem_wait(&f.entered), 0);
    assert_int_equal(aq_net_unclosed(), 1);
    const int64_t before_ns = aq_clock_monotonic_ns();
    for (int i = 1; i < 5; i++) {
        assert_false(aq_nng_close(f.others[i]));
    }
    /* Nobody waited for them, as for the first: that is five seconds for each. */
    assert_true(aq_clock_monotonic_ns() - before_ns < 19 * AQ_NS_PER_S);
    assert_int_equal(aq_net_unclosed(), 5);
    assert_false(aq_net_is_stuck()); /* that takes longer */

    assert_int_equal(sem_post(&f.let_go), 0);
    wait_unclosed(0);
    assert_true(aq_nng_close(f.others[0]));
    assert_true(aq_nng_close(f.others[5]));
    assert_int_equal(nng_pipe_notify(f.held, NNG_PIPE_EV_REM_POST, NULL, NULL), NNG_ECLOSED);
    assert_int_equal(sem_destroy(&f.entered), 0);
    assert_int_equal(sem_destroy(&f.let_go), 0);
}
