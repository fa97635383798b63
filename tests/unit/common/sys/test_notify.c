/*
 * What a service manager hears, and what is heard when there is none.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/sys/notify.h"
#include "tests/support/test.h"

/* The service manager: a socket of datagrams. */
typedef struct manager {
    int fd;
    char name[64];
    uv_loop_t loop;
} manager;

static int manager_setup(void **state)
{
    static manager listener;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 10};
    listener.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)snprintf(listener.name, sizeof(listener.name), "@actorq-notify-%d", (int)getpid());
    size_t length = strlen(listener.name);
    memcpy(address.sun_path + 1, listener.name + 1, length - 1);
    if (listener.fd < 0 ||
        setsockopt(listener.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        bind(listener.fd, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) != 0 ||
        uv_loop_init(&listener.loop) != 0) {
        return -1;
    }
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
    *state = &listener;
    return setenv("NOTIFY_SOCKET", listener.name, 1);
}

static int manager_teardown(void **state)
{
    manager *listener = *state;
    (void)close(listener->fd);
    return uv_loop_close(&listener->loop);
}

static void assert_heard(const manager *listener, const char *wanted)
{
    char line[128];
    ssize_t length = recv(listener->fd, line, sizeof(line) - 1, 0);
    assert_true(length > 0);
    line[length] = '\0';
    assert_string_equal(line, wanted);
}

static void assert_silence(const manager *listener)
{
    char line[128];
    assert_int_equal(recv(listener->fd, line, sizeof(line), MSG_DONTWAIT), -1);
}

static aq_notify *begin(manager *listener)
{
    aq_error error = {0};
    aq_notify *notify = NULL;
    assert_int_equal(aq_notify_create(&listener->loop, &notify, &error), 0);
    return notify;
}

static void end(manager *listener, aq_notify *notify)
{
    aq_notify_close(notify);
    assert_int_equal(uv_run(&listener->loop, UV_RUN_DEFAULT), 0);
}

TEST_WITH(a_process_says_that_it_is_ready_and_that_it_stops, manager_setup, manager_teardown)
{
    manager *listener = *state;
    aq_notify *notify = begin(listener);
    assert_non_null(notify);
    assert_heard(listener, "READY=1");
    aq_notify_stopping(notify);
    assert_heard(listener, "STOPPING=1");
    end(listener, notify);
    assert_silence(listener);
}

TEST_WITH(a_watchdog_hears_that_the_loop_turns, manager_setup, manager_teardown)
{
    manager *listener = *state;
    setenv("WATCHDOG_USEC", "6000", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    for (int i = 0; i < 3; i++) {
        (void)uv_run(&listener->loop, UV_RUN_ONCE);
        assert_heard(listener, "WATCHDOG=1");
    }
    end(listener, notify);
}

TEST_WITH(a_loop_that_does_not_turn_is_silent, manager_setup, manager_teardown)
{
    manager *listener = *state;
    setenv("WATCHDOG_USEC", "3000", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    uv_sleep(5);
    assert_silence(listener);
    end(listener, notify);
}

TEST_WITH(a_watchdog_of_another_process_hears_nothing, manager_setup, manager_teardown)
{
    manager *listener = *state;
    setenv("WATCHDOG_USEC", "3000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    uv_sleep(5);
    (void)uv_run(&listener->loop, UV_RUN_NOWAIT);
    assert_silence(listener);
    end(listener, notify);
}

TEST_WITH(children_do_not_speak_in_its_name, manager_setup, manager_teardown)
{
    manager *listener = *state;
    setenv("WATCHDOG_USEC", "3000000", 1);
    aq_notify *notify = begin(listener);
    assert_null(getenv("NOTIFY_SOCKET"));
    assert_null(getenv("WATCHDOG_USEC"));
    end(listener, notify);
}

TEST_WITH(without_a_manager_nothing_is_said, manager_setup, manager_teardown)
{
    manager *listener = *state;
    unsetenv("NOTIFY_SOCKET");
    aq_notify *notify = begin(listener);
    assert_null(notify);
    aq_notify_stopping(notify);
    aq_notify_close(notify);
    assert_silence(listener);
}

TEST_WITH(a_manager_that_does_not_listen_holds_nobody_up, manager_setup, manager_teardown)
{
    manager *listener = *state;
    setenv("NOTIFY_SOCKET", "/nonexistent/actorq-notify", 1);
    aq_notify *notify = begin(listener);
    assert_non_null(notify);
    aq_notify_stopping(notify);
    end(listener, notify);
}

TEST_WITH(what_is_no_address_is_refused, manager_setup, manager_teardown)
{
    manager *listener = *state;
    static const char *const bad[] = {"relative", "@", "/"};
    char too_long[256];
    aq_error error = {0};
    aq_notify *notify = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        assert_int_equal(aq_notify_create(&listener->loop, &notify, &error), AQ_E_INVALID);
        assert_non_null(strstr(error.text, "NOTIFY_SOCKET"));
    }
    memset(too_long, 'a', sizeof(too_long));
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    setenv("NOTIFY_SOCKET", too_long, 1);
    assert_int_equal(aq_notify_create(&listener->loop, &notify, &error), AQ_E_INVALID);
}

TEST_WITH(it_can_be_out_of_memory, manager_setup, manager_teardown)
{
    manager *listener = *state;
    aq_error error = {0};
    aq_notify *notify = NULL;
    aq_memory_fail_at(1, 0);
    assert_int_equal(aq_notify_create(&listener->loop, &notify, &error), AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_silence(listener);
}
