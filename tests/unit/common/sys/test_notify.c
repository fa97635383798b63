/*
 * What a service manager hears, and what is heard when there is none.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "common/sys/notify.h"
#include "tests/support/test.h"

/* The service manager: a socket of datagrams. */
typedef struct manager {
    int fd;
    char name[64];
    uv_loop_t loop;
} manager;

static manager *open_manager(void)
{
    static manager listener;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = 120};
    listener.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    (void)snprintf(listener.name, sizeof(listener.name), "@actorq-notify-%d", (int)getpid());
    size_t length = strlen(listener.name);
    memcpy(address.sun_path + 1, listener.name + 1, length - 1);
    assert_true(listener.fd >= 0);
    assert_int_equal(setsockopt(listener.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)),
                     0);
    assert_int_equal(bind(listener.fd, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
                     0);
    assert_int_equal(uv_loop_init(&listener.loop), 0);
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
    assert_int_equal(setenv("NOTIFY_SOCKET", listener.name, 1), 0);
    return &listener;
}

static void close_manager(manager *listener)
{
    (void)close(listener->fd);
    assert_int_equal(uv_loop_close(&listener->loop), 0);
}

#define TEST_OF_MANAGER(name) TEST_OF(name, manager *listener, open_manager(), close_manager)

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
    aq_notify *notify = NULL;
    assert_succeeds(aq_notify_create(&listener->loop, &notify, &refusal));
    return notify;
}

static void end(manager *listener, aq_notify *notify)
{
    aq_notify_close(notify);
    assert_int_equal(uv_run(&listener->loop, UV_RUN_DEFAULT), 0);
}

TEST_OF_MANAGER(a_process_says_that_it_is_ready_and_that_it_stops)
{
    aq_notify *notify = begin(listener);
    assert_non_null(notify);
    assert_heard(listener, "READY=1");
    aq_notify_stopping(notify);
    assert_heard(listener, "STOPPING=1");
    end(listener, notify);
    assert_silence(listener);
}

/* Reads up to READY; NULL: that does not come. */
static void *read_late(void *user)
{
    const manager *listener = user;
    char line[128] = "";
    while (strcmp(line, "READY=1") != 0) {
        ssize_t length = recv(listener->fd, line, sizeof(line) - 1, 0);
        if (length <= 0) {
            return NULL;
        }
        line[length] = '\0';
    }
    return user;
}

TEST_OF_MANAGER(a_manager_with_much_to_read_hears_of_readiness)
{
    pthread_t reader;
    void *heard = NULL;
    aq_notify *other = begin(listener);
    assert_heard(listener, "READY=1");
    for (int i = 0; i < 10000; i++) { /* far more than there is room for */
        aq_notify_stopping(other);
    }
    setenv("NOTIFY_SOCKET", listener->name, 1);
    assert_int_equal(pthread_create(&reader, NULL, read_late, listener), 0);
    aq_notify *notify = begin(listener);
    assert_int_equal(pthread_join(reader, &heard), 0);
    assert_non_null(heard);
    end(listener, other);
    end(listener, notify);
}

TEST_OF_MANAGER(a_watchdog_hears_that_the_loop_turns)
{
    setenv("WATCHDOG_USEC", "6000", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    for (int i = 0; i < 3; i++) {
        (void)uv_run(&listener->loop, UV_RUN_ONCE);
        assert_heard(listener, "WATCHDOG=1");
    }
    end(listener, notify);
}

TEST_OF_MANAGER(a_loop_that_does_not_turn_is_silent)
{
    setenv("WATCHDOG_USEC", "3000", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    uv_sleep(5);
    assert_silence(listener);
    end(listener, notify);
}

/* As often as was asked for, however often it is called. */
TEST_OF_MANAGER(what_holds_the_loop_up_says_that_it_is_at_work)
{
    setenv("WATCHDOG_USEC", "3000", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    for (int i = 0; i < 3; i++) {
        uv_sleep(5);
        aq_notify_alive(notify);
        assert_heard(listener, "WATCHDOG=1");
    }
    end(listener, notify);

    setenv("NOTIFY_SOCKET", listener->name, 1);
    setenv("WATCHDOG_USEC", "3000000000", 1);
    notify = begin(listener);
    assert_heard(listener, "READY=1");
    aq_notify_alive(notify);
    assert_silence(listener);
    end(listener, notify);
}

TEST_OF_MANAGER(a_watchdog_of_another_process_hears_nothing)
{
    setenv("WATCHDOG_USEC", "3000", 1);
    setenv("WATCHDOG_PID", "1", 1);
    aq_notify *notify = begin(listener);
    assert_heard(listener, "READY=1");
    uv_sleep(5);
    (void)uv_run(&listener->loop, UV_RUN_NOWAIT);
    assert_silence(listener);
    end(listener, notify);
}

TEST_OF_MANAGER(children_do_not_speak_in_its_name)
{
    setenv("WATCHDOG_USEC", "3000000", 1);
    aq_notify *notify = begin(listener);
    assert_null(getenv("NOTIFY_SOCKET"));
    assert_null(getenv("WATCHDOG_USEC"));
    end(listener, notify);
}

TEST_OF_MANAGER(without_a_manager_nothing_is_said)
{
    unsetenv("NOTIFY_SOCKET");
    aq_notify *notify = begin(listener);
    assert_null(notify);
    aq_notify_stopping(notify);
    aq_notify_close(notify);
    assert_silence(listener);
}

TEST_OF_MANAGER(a_manager_that_does_not_listen_holds_nobody_up)
{
    setenv("NOTIFY_SOCKET", "/nonexistent/actorq-notify", 1);
    aq_notify *notify = begin(listener);
    assert_non_null(notify);
    aq_notify_stopping(notify);
    end(listener, notify);
}

TEST_OF_MANAGER(what_is_no_address_is_refused)
{
    static const char *const bad[] = {"relative", "@", "/"};
    char too_long[256];
    aq_notify *notify = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("NOTIFY_SOCKET", bad[i], 1);
        assert_refused(aq_notify_create(&listener->loop, &notify, &refusal), AQ_E_INVALID,
                       "NOTIFY_SOCKET");
    }
    memset(too_long, 'a', sizeof(too_long));
    too_long[0] = '/';
    too_long[sizeof(too_long) - 1] = '\0';
    setenv("NOTIFY_SOCKET", too_long, 1);
    assert_int_equal(aq_notify_create(&listener->loop, &notify, &refusal), AQ_E_INVALID);
}

TEST_OF_MANAGER(it_can_be_out_of_memory)
{
    aq_notify *notify = NULL;
    assert_fails_without_memory(aq_notify_create(&listener->loop, &notify, &refusal));
    assert_silence(listener);
}
