/*
 * HTTP get: see http_get.h. The whole answer is read, until the server closes or the buffer is
 * full; a status line and an empty line are all that is understood of it.
 */
#include "cli/operate/http_get.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/net/address/http_address.h"

enum { ANSWER_MAX = 16384, REQUEST_MAX = 256 };

/* "HTTP/1.1 200 OK": where the number stands. */
enum { STATUS_PLACE = 9, STATUS_DIGITS = 3 };

typedef struct http_visit {
    const char *listen;
    int fd;
    int64_t end_ns;
    aq_error *error;
} http_visit;

static int failed(const http_visit *visit, int errno_value)
{
    return aq_fail(visit->error, AQ_E_IO, "%s: %s", visit->listen, strerror(errno_value));
}

/* Where a server that listens everywhere is found on its own host. */
static socklen_t make_callable(struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
        if (IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr)) {
            six->sin6_addr = in6addr_loopback;
        }
        return sizeof(*six);
    }
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    if (four->sin_addr.s_addr == htonl(INADDR_ANY)) {
        four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    return sizeof(*four);
}

static int wait_for(const http_visit *visit, short events)
{
    for (;;) {
        int64_t left_ns = visit->end_ns - aq_clock_monotonic_ns();
        struct pollfd one = {.fd = visit->fd, .events = events};
        if (left_ns <= 0) {
            return aq_fail(visit->error, AQ_E_TIMEOUT, "%s: no answer in time", visit->listen);
        }
        int ready = poll(&one, 1, (int)(left_ns / AQ_NS_PER_MS) + 1);
        if (ready > 0) {
            return 0;
        }
        if (ready < 0 && errno != EINTR) {
            return failed(visit, errno);
        }
    }
}

static int dial(http_visit *visit, struct sockaddr_storage *address)
{
    socklen_t address_size = make_callable(address);
    int problem = 0;
    socklen_t problem_size = sizeof(problem);
    visit->fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (visit->fd < 0 || fcntl(visit->fd, F_SETFL, O_NONBLOCK) != 0) {
        return failed(visit, errno);
    }
    if (connect(visit->fd, (const struct sockaddr *)address, address_size) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS) {
        return failed(visit, errno);
    }
    int rc = wait_for(visit, POLLOUT);
    if (!rc && getsockopt(visit->fd, SOL_SOCKET, SO_ERROR, &problem, &problem_size) != 0) {
        problem = errno;
    }
    return rc || !problem ? rc : failed(visit, problem);
}

/* A request is far smaller than what a new connection takes at once. */
static int ask(const http_visit *visit, const char *path)
{
    char request[REQUEST_MAX];
    int length = snprintf(request, sizeof(request),
                          "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    ssize_t sent = send(visit->fd, request, (size_t)length, MSG_NOSIGNAL);
    return sent == length ? 0 : failed(visit, sent < 0 ? errno : EIO);
}

static int read_answer(const http_visit *visit, char *answer)
{
    size_t size = 0;
    while (size < ANSWER_MAX - 1) {
        int rc = wait_for(visit, POLLIN);
        if (rc) {
            return rc;
        }
        ssize_t got = recv(visit->fd, answer + size, ANSWER_MAX - 1 - size, 0);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            size += (size_t)got;
        } else if (errno != EAGAIN && errno != EINTR) {
            return failed(visit, errno);
        }
    }
    answer[size] = '\0';
    return 0;
}

static int take_apart(const http_visit *visit, const char *answer, unsigned *ret_status,
                      char *ret_body, size_t size)
{
    uint64_t status = 0;
    char digits[STATUS_DIGITS + 1] = "";
    const char *end = strstr(answer, "\r\n\r\n");
    if (strlen(answer) > STATUS_PLACE + STATUS_DIGITS && strncmp(answer, "HTTP/1.", 7) == 0) {
        memcpy(digits, answer + STATUS_PLACE, STATUS_DIGITS);
    }
    if (!end || aq_parse_u64(digits, &status)) {
        return aq_fail(visit->error, AQ_E_FOREIGN, "%s: what answers there is not HTTP",
                       visit->listen);
    }
    *ret_status = (unsigned)status;
    (void)snprintf(ret_body, size, "%s", end + 4);
    return 0;
}

int aq_http_get(const char *listen, const char *path, uint32_t timeout_ms, unsigned *ret_status,
                char *ret_body, size_t size, aq_error *error)
{
    char answer[ANSWER_MAX];
    aq_http_address address;
    http_visit visit = {
        .listen = listen,
        .fd = -1,
        .end_ns = aq_clock_monotonic_ns() + timeout_ms * AQ_NS_PER_MS,
        .error = error,
    };
    int rc = aq_http_address_read(listen, &address, error);
    if (!rc) {
        rc = dial(&visit, &address.address);
    }
    if (!rc) {
        rc = ask(&visit, path);
    }
    if (!rc) {
        rc = read_answer(&visit, answer);
    }
    if (!rc) {
        rc = take_apart(&visit, answer, ret_status, ret_body, size);
    }
    if (visit.fd >= 0) {
        (void)close(visit.fd);
    }
    return rc;
}
