/*
 * What a daemon's HTTP server answers is told from what is no HTTP, nobody at all, and silence.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "cli/operate/http_get.h"
#include "tests/support/test.h"

enum { PATIENT_MS = 120000, SHORT_MS = 20 };

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

/* What asking came to. */
typedef struct outcome {
    int rc;
    unsigned status;
    char body[64];
} outcome;

static outcome get(const char *listen, uint32_t timeout_ms)
{
    outcome out = {.status = 7, .body = "untouched"};
    out.rc = aq_http_get(listen, "/healthz", timeout_ms, &out.status, out.body, sizeof(out.body),
                         &refusal);
    return out;
}

/* Of a server that answers so. */
static outcome ask(server *one, const char *host, uint32_t timeout_ms)
{
    server_listen(one, host);
    assert_int_equal(listen(one->fd, 1), 0);
    assert_int_equal(pthread_create(&one->thread, NULL, serve, one), 0);
    const outcome out = get(one->listen, timeout_ms);
    assert_int_equal(pthread_join(one->thread, NULL), 0);
    (void)close(one->fd);
    return out;
}

TEST(an_answer_is_its_status_and_its_body)
{
    server one = {.answer = "HTTP/1.1 503 Service Unavailable\r\nA: b\r\n\r\nno learner\n"};
    const outcome out = ask(&one, "127.0.0.1", PATIENT_MS);
    assert_int_equal(out.rc, 0);
    assert_int_equal(out.status, 503);
    assert_string_equal(out.body, "no learner\n");
    assert_ptr_equal(strstr(one.request, "GET /healthz HTTP/1.1\r\n"), one.request);
}

TEST(a_server_that_listens_everywhere_is_asked_here)
{
    static const char *const everywhere[] = {"0.0.0.0", "*", "[::]"};
    EACH_ROW(i, everywhere) { /* it listens at 127.0.0.1, and not at ::1 */
        server one = {.answer = "HTTP/1.1 200 OK\r\n\r\nok\n"};
        const outcome out = ask(&one, everywhere[i], PATIENT_MS);
        assert_int_equal(out.rc, 0);
        assert_int_equal(out.status, 200);
    }
}

TEST(a_long_body_is_cut)
{
    server one = {.answer = "HTTP/1.0 200 OK\r\n\r\n"
                            "0123456789012345678901234567890123456789012345678901234567890123456"};
    const outcome out = ask(&one, "127.0.0.1", PATIENT_MS);
    assert_int_equal(out.rc, 0);
    assert_string_equal(out.body,
                        "012345678901234567890123456789012345678901234567890123456789012");
}

TEST(what_is_not_http_is_refused)
{
    static const char *const bad[] = {"", "SP\1\2", "HTTP/1.1 200 OK\r\nno end of the head",
                                      "HTTP/1.1 twohundred\r\n\r\n"};
    EACH_ROW(i, bad) {
        server one = {.answer = bad[i]};
        const outcome out = ask(&one, "127.0.0.1", PATIENT_MS);
        assert_int_equal(out.rc, AQ_E_FOREIGN);
        assert_int_equal(out.status, 7);
        assert_string_equal(out.body, "untouched");
    }
}

TEST(silence_ends_at_the_deadline)
{
    server one = {.answer = NULL};
    const outcome out = ask(&one, "127.0.0.1", SHORT_MS);
    assert_refused(out.rc, AQ_E_TIMEOUT, one.listen);
}

TEST(nobody_there_is_named)
{
    server one = {.answer = NULL};
    char everywhere[32];
    server_listen(&one, "127.0.0.1"); /* bound, so that it is nobody else's, and closed to all */
    outcome out = get(one.listen, PATIENT_MS);
    assert_refused(out.rc, AQ_E_IO, one.listen);
    assert_says(refusal.text, ": refused");
    (void)snprintf(everywhere, sizeof(everywhere), "*%s", strrchr(one.listen, ':'));
    out = get(everywhere, PATIENT_MS);
    assert_refused(out.rc, AQ_E_IO, "; 127.0.0.1: refused");
    (void)close(one.fd);
}

TEST(an_address_that_is_none_is_refused)
{
    assert_int_equal(get("nonsense", PATIENT_MS).rc, AQ_E_INVALID);
}
