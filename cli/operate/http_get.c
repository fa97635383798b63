/*
 * HTTP get: see http_get.h. The whole answer is read, until the server closes or the buffer is
 * full; a status line and an empty line are all that is understood of it.
 */
#include "cli/operate/http_get.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/net/address/dial_tries.h"
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
    if (errno_value == ETIMEDOUT) {
        return aq_fail(visit->error, AQ_E_TIMEOUT, "%s: no answer in time", visit->listen);
    }
    return aq_fail(visit->error, AQ_E_IO, "%s: %s", visit->listen, strerror(errno_value));
}

/* What is done with the socket from now on ends at that time: EAGAIN, or of connect EINPROGRESS. */
static void allow_until(int fd, int64_t end_ns)
{
    const int64_t left_ns = end_ns - aq_clock_monotonic_ns();
    const int64_t left_us = left_ns > 0 ? left_ns / 1000 + 1 : 1; /* 0 would be for ever */
    const struct timeval left = {.tv_sec = left_us / 1000000, .tv_usec = left_us % 1000000};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &left, sizeof(left));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof(left));
}

/* 0 or an errno. */
static int connect_until(int fd, const struct addrinfo *at, int64_t end_ns)
{
    allow_until(fd, end_ns);
    const int problem = connect(fd, at->ai_addr, at->ai_addrlen) == 0 ? 0 : errno;
    return problem == EINPROGRESS ? ETIMEDOUT : problem;
}

/* One address after the other; each has its share of the time that is left. */
static int dial(http_visit *visit, const struct addrinfo *found)
{
    aq_dial_tries tries;
    char words[AQ_DIAL_WORDS_MAX];
    int code = AQ_E_IO;
    aq_dial_tries_set(&tries, visit->listen, 0, found);
    for (size_t i = 0; i < tries.count; i++, found = found->ai_next) {
        int64_t now_ns = aq_clock_monotonic_ns();
        int64_t share_ns = (visit->end_ns - now_ns) / (int64_t)(tries.count - i);
        int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int problem = fd < 0 ? errno : connect_until(fd, found, now_ns + share_ns);
        if (problem == 0) {
            visit->fd = fd;
            return 0;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
        tries.tries[i].outcome = problem;
        code = problem == ETIMEDOUT ? AQ_E_TIMEOUT : code;
    }
    aq_dial_tries_write(&tries, words, sizeof(words));
    return aq_fail(visit->error, code, "%s: %s", visit->listen, words);
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
        if (aq_clock_monotonic_ns() >= visit->end_ns) { /* however much still comes */
            return failed(visit, ETIMEDOUT);
        }
        allow_until(visit->fd, visit->end_ns);
        ssize_t got = recv(visit->fd, answer + size, ANSWER_MAX - 1 - size, 0);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            size += (size_t)got;
        } else if (errno != EINTR) {
            return failed(visit, errno == EAGAIN ? ETIMEDOUT : errno);
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
    if (!end || aq_parse_u64(digits, &status) != 0) {
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
    struct addrinfo *found = NULL;
    http_visit visit = {
        .listen = listen,
        .fd = -1,
        .end_ns = aq_clock_monotonic_ns() + timeout_ms * AQ_NS_PER_MS,
        .error = error,
    };
    int rc = aq_http_address_to_call(listen, &found, error);
    if (rc == 0) {
        rc = dial(&visit, found);
        freeaddrinfo(found);
    }
    if (rc == 0) {
        rc = ask(&visit, path);
    }
    if (rc == 0) {
        rc = read_answer(&visit, answer);
    }
    if (rc == 0) {
        rc = take_apart(&visit, answer, ret_status, ret_body, size);
    }
    if (visit.fd >= 0) {
        (void)close(visit.fd);
    }
    return rc;
}
