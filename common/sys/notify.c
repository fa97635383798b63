/*
 * Notify: see notify.h. READY waits for a manager that is slow to read, as it is said once and what
 * depends on this process waits for it. All else would hold the loop up: a line that finds no room
 * is lost, and the next one is a third of a watchdog's time away.
 */
#include "common/sys/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

enum { US_PER_MS = 1000, BEATS_PER_WATCHDOG = 3 };

struct aq_notify {
    uv_timer_t timer;
    int fd;
    struct sockaddr_un address;
    socklen_t address_size;
    int64_t beat_ns; /* 0: nobody asks */
    int64_t told_ns;
};

static void say(const aq_notify *notify, const char *line, int flags)
{
    (void)sendto(notify->fd, line, strlen(line), MSG_NOSIGNAL | flags,
                 (const struct sockaddr *)&notify->address, notify->address_size);
}

/* A path, or after '@' a name that is in no file system. */
static int take_address(const char *text, aq_notify *notify, aq_error *error)
{
    size_t length = strlen(text);
    if ((text[0] != '/' && text[0] != '@') || length < 2 ||
        length >= sizeof(notify->address.sun_path)) {
        return aq_fail(error, AQ_E_INVALID, "NOTIFY_SOCKET is '%s', which is no address", text);
    }
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, text, length);
    if (text[0] == '@') {
        notify->address.sun_path[0] = '\0';
    }
    notify->address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return 0;
}

/* How often to say that the loop turns; 0: never, since nobody asks this process. */
static uint64_t beat_ms(void)
{
    int64_t watchdog_us = 0;
    int64_t pid = 0;
    const char *watchdog = getenv("WATCHDOG_USEC");
    const char *asked = getenv("WATCHDOG_PID");
    if (!watchdog || aq_parse_i64(watchdog, &watchdog_us) != 0 || watchdog_us <= 0) {
        return 0;
    }
    if (asked && (aq_parse_i64(asked, &pid) != 0 || pid != (int64_t)getpid())) {
        return 0;
    }
    int64_t beat = watchdog_us / BEATS_PER_WATCHDOG / US_PER_MS;
    return beat > 0 ? (uint64_t)beat : 1;
}

static void on_beat(uv_timer_t *timer)
{
    say(timer->data, "WATCHDOG=1", MSG_DONTWAIT);
}

void aq_notify_alive(aq_notify *notify)
{
    if (notify == NULL || notify->beat_ns == 0) {
        return;
    }
    const int64_t now_ns = aq_clock_monotonic_ns();
    if (now_ns - notify->told_ns >= notify->beat_ns) {
        notify->told_ns = now_ns;
        say(notify, "WATCHDOG=1", MSG_DONTWAIT);
    }
}

/* Programs that this one starts are not to speak in its name. */
static void forget_environment(void)
{
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
}

int aq_notify_create(uv_loop_t *loop, aq_notify **ret_notify, aq_error *error)
{
    const char *text = getenv("NOTIFY_SOCKET");
    if (!text || text[0] == '\0') {
        *ret_notify = NULL;
        return 0;
    }
    aq_notify *notify = aq_alloc(1, sizeof(*notify));
    if (!notify) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    int rc = take_address(text, notify, error);
    if (rc == 0) {
        notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (notify->fd < 0) {
            rc = aq_fail(error, AQ_E_IO, "no socket for the service manager: %s", strerror(errno));
        }
    }
    if (rc != 0) {
        aq_free(notify);
        return rc;
    }
    uint64_t beat = beat_ms();
    notify->beat_ns = (int64_t)beat * AQ_NS_PER_MS;
    notify->told_ns = aq_clock_monotonic_ns();
    forget_environment();
    (void)uv_timer_init(loop, &notify->timer);
    notify->timer.data = notify;
    if (beat > 0) {
        (void)uv_timer_start(&notify->timer, on_beat, beat, beat);
    }
    say(notify, "READY=1", 0);
    *ret_notify = notify;
    return 0;
}

void aq_notify_stopping(aq_notify *notify)
{
    if (notify) {
        say(notify, "STOPPING=1", MSG_DONTWAIT);
    }
}

static void on_closed(uv_handle_t *handle)
{
    aq_free(handle->data);
}

void aq_notify_close(aq_notify *notify)
{
    if (notify) {
        (void)close(notify->fd);
        uv_close((uv_handle_t *)&notify->timer, on_closed);
    }
}
