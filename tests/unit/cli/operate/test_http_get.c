/*
 * What a daemon's HTTP server answers is told from what is no HTTP, nobody at all, and silence.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/operate/http_get.h"
#include "tests/support/test.h"

enum { PATIENT_MS = 10000, SHORT_MS = 20 };

/* Answers one connection with a fixed text; NULL: not at all, until the caller goes. */
typedef struct server {
    int fd;
    const char *answer;
    char listen[32];
    char request[512];
    pthread_t thread;
} server;

static void *serve(void *user)
{
    server *one = user;
    int fd = accept(one->fd, NULL, NULL);
    ssize_t got = recv(fd, one->request, sizeof(one->request) - 1, 0);
    one->request[got > 0 ? got : 0] = '\0';
    if (one->answer) {
        (void)send(fd, one->answer, strlen(one->answer), MSG_NOSIGNAL);
    } else {
        (void)recv(fd, one->request, sizeof(one->request), 0);
    }
    (void)close(fd);
    return NULL;
}

static void server_listen(server *one, const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    one->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(one->fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(one->fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(one->listen, sizeof(one->listen), "%s:%u", host,
                   (unsigned)ntohs(address.sin_port));
}

/* The code of asking a server that answers so. */
static int ask(server *one, const char *host, uint32_t timeout_ms, unsigned *ret_status, char *body,
               size_t size, aq_error *error)
{
    server_listen(one, host);
    assert_int_equal(listen(one->fd, 1), 0);
    assert_int_equal(pthread_create(&one->thread, NULL, serve, one), 0);
    int rc = aq_http_get(one->listen, "/healthz", timeout_ms, ret_status, body, size, error);
    assert_int_equal(pthread_join(one->thread, NULL), 0);
    (void)close(one->fd);
    return rc;
}

TEST(an_answer_is_its_status_and_its_body)
{
    server one = {.answer = "HTTP/1.1 503 Service Unavailable\r\nA: b\r\n\r\nno learner\n"};
    unsigned status = 0;
    char body[64];
    aq_error error = {0};
    assert_int_equal(ask(&one, "127.0.0.1", PATIENT_MS, &status, body, sizeof(body), &error), 0);
    assert_int_equal(status, 503);
    assert_string_equal(body, "no learner\n");
    assert_ptr_equal(strstr(one.request, "GET /healthz HTTP/1.1\r\n"), one.request);
}

TEST(a_server_that_listens_everywhere_is_asked_here)
{
    static const char *const everywhere[] = {"0.0.0.0", "*", "[::]"};
    for (size_t i = 0; i < 3; i++) { /* it listens at 127.0.0.1, and not at ::1 */
        server one = {.answer = "HTTP/1.1 200 OK\r\n\r\nok\n"};
        unsigned status = 0;
        char body[64];
        aq_error error = {0};
        assert_int_equal(ask(&one, everywhere[i], PATIENT_MS, &status, body, sizeof(body), &error),
                         0);
        assert_int_equal(status, 200);
    }
}

TEST(a_long_body_is_cut)
{
    server one = {.answer = "HTTP/1.0 200 OK\r\n\r\n0123456789"};
    unsigned status = 0;
    char body[5];
    aq_error error = {0};
    assert_int_equal(ask(&one, "127.0.0.1", PATIENT_MS, &status, body, sizeof(body), &error), 0);
    assert_string_equal(body, "0123");
}

TEST(what_is_not_http_is_refused)
{
    static const char *const bad[] = {"", "SP\1\2", "HTTP/1.1 200 OK\r\nno end of the head",
                                      "HTTP/1.1 twohundred\r\n\r\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        server one = {.answer = bad[i]};
        unsigned status = 7;
        char body[64] = "untouched";
        aq_error error = {0};
        assert_int_equal(ask(&one, "127.0.0.1", PATIENT_MS, &status, body, sizeof(body), &error),
                         AQ_E_FOREIGN);
        assert_int_equal(status, 7);
        assert_string_equal(body, "untouched");
    }
}

TEST(silence_ends_at_the_deadline)
{
    server one = {.answer = NULL};
    unsigned status = 0;
    char body[64];
    aq_error error = {0};
    assert_refused(ask(&one, "127.0.0.1", SHORT_MS, &status, body, sizeof(body), &error),
                   AQ_E_TIMEOUT, &error, one.listen);
}

TEST(nobody_there_is_named)
{
    server one = {.answer = NULL};
    unsigned status = 0;
    char body[64];
    aq_error error = {0};
    server_listen(&one, "127.0.0.1"); /* bound, so that it is nobody else's, and closed to all */
    int rc = aq_http_get(one.listen, "/healthz", PATIENT_MS, &status, body, sizeof(body), &error);
    assert_refused(rc, AQ_E_IO, &error, one.listen);
    assert_says(error.text, ": refused");
    char everywhere[32];
    (void)snprintf(everywhere, sizeof(everywhere), "*%s", strrchr(one.listen, ':'));
    rc = aq_http_get(everywhere, "/healthz", PATIENT_MS, &status, body, sizeof(body), &error);
    assert_refused(rc, AQ_E_IO, &error, "; 127.0.0.1: refused");
    (void)close(one.fd);
}

TEST(an_address_that_is_none_is_refused)
{
    unsigned status = 0;
    char body[64];
    aq_error error = {0};
    assert_int_equal(
        aq_http_get("nonsense", "/healthz", PATIENT_MS, &status, body, sizeof(body), &error),
        AQ_E_INVALID);
}
