/*
 * The head of an HTTP request: what is read, what is waited for, what is refused.
 */
#include "common/net/http/http_request.h"
#include "tests/support/test.h"

/* From a block of exactly that size, so that the sanitizer sees a byte too many being read. */
static int read_sized(const char *text, size_t size, aq_http_request *ret_request)
{
    char *bytes = malloc(size > 0 ? size : 1);
    assert_non_null(bytes);
    memcpy(bytes, text, size);
    int rc = aq_http_request_read(bytes, size, ret_request);
    if (rc == 0) { /* the view moves to where the text stays */
        ret_request->path = text + (ret_request->path - bytes);
    }
    free(bytes);
    return rc;
}

static int read_text(const char *text, aq_http_request *ret_request)
{
    return read_sized(text, strlen(text), ret_request);
}

static aq_http_request taken(const char *text)
{
    aq_http_request request;
    assert_int_equal(read_text(text, &request), 0);
    return request;
}

static void assert_path(const char *text, const char *path)
{
    const aq_http_request request = taken(text);
    assert_int_equal(request.path_size, strlen(path));
    assert_memory_equal(request.path, path, strlen(path));
}

TEST(a_scrape_is_read_whole)
{
    static const char text[] = "GET /metrics HTTP/1.1\r\nHost: learner:9400\r\n"
                               "User-Agent: Prometheus/2.42.0\r\nAccept: text/plain;q=0.5\r\n\r\n";
    const aq_http_request request = taken(text);
    assert_int_equal(request.method, AQ_HTTP_GET);
    assert_true(request.keep_alive);
    assert_false(request.has_body);
    assert_int_equal(request.size, strlen(text));
    assert_path(text, "/metrics");
}

TEST(every_beginning_of_a_request_is_waited_for)
{
    static const char text[] = "HEAD http://learner:9400/healthz?x=1 HTTP/1.1\r\nHost: x\r\n\r\n";
    aq_http_request request;
    for (size_t size = 0; size < strlen(text); size++) {
        assert_int_equal(read_sized(text, size, &request), AQ_E_AGAIN);
    }
    assert_int_equal(taken(text).method, AQ_HTTP_HEAD);
}

TEST(the_query_and_the_host_are_no_part_of_the_path)
{
    assert_path("GET /a?b=/c HTTP/1.0\r\n\r\n", "/a");
    assert_path("GET http://learner:9400/metrics?x HTTP/1.0\r\n\r\n", "/metrics");
    assert_path("GET HTTP://x/ HTTP/1.0\r\n\r\n", "/");
}

TEST(other_methods_are_told_apart)
{
    static const char *const texts[] = {
        "POST /metrics HTTP/1.0\r\n\r\n",
        "OPTIONS * HTTP/1.0\r\n\r\n",
        "GETT / HTTP/1.0\r\n\r\n",
        "DELETE / HTTP/1.0\r\n\r\n",
    };
    EACH_ROW(i, texts) {
        assert_int_equal(taken(texts[i]).method, AQ_HTTP_OTHER);
    }
}

TEST(the_peer_decides_whether_the_connection_stays)
{
    assert_false(taken("GET / HTTP/1.0\r\n\r\n").keep_alive);
    assert_false(taken("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").keep_alive);
    assert_false(taken("GET / HTTP/1.1\r\nHost: x\r\nconnection:a ,CLOSE\t, b\r\n\r\n").keep_alive);
    assert_true(taken("GET / HTTP/1.1\r\nHost: x\r\nConnection: closer\r\n\r\n").keep_alive);
}

TEST(an_announced_body_is_seen)
{
    assert_true(taken("POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello").has_body);
    assert_false(taken("GET / HTTP/1.0\r\nContent-Length: 00\r\n\r\n").has_body);
    assert_true(taken("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").has_body);
}

TEST(what_is_no_request_is_refused)
{
    static const char *const texts[] = {
        "\x16\x03\x01\x02",                             /* TLS */
        "hello\r\n",                                    /* no method */
        " GET / HTTP/1.1\r\n",                          /* a blank before it */
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",                   /* longer than any method */
        "GET\r\n",                                      /* nothing else */
        "GET /\r\n",                                    /* HTTP/0.9 */
        "GET  HTTP/1.1\r\n",                            /* no path */
        "GET / x HTTP/1.1\r\n",                         /* too many words */
        "GET metrics HTTP/1.1\r\n",                     /* a path without a slash */
        "GET * HTTP/1.1\r\n",                           /* all of it, of a GET */
        "GET http://x HTTP/1.1\r\n",                    /* no path after a host */
        "GET / HTTP/1\r\n",                             /* half a version */
        "GET / HTTX/1.1\r\n",                           /* another protocol */
        "GET / HTTP/1.1\n",                             /* LF alone */
        "GET / HTTP/1.1\rX",                            /* CR alone */
        "GET /\x01 HTTP/1.1\r\n",                       /* a control character */
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", /* two hosts */
        "GET / HTTP/1.1\r\n\r\n",                       /* none */
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",  /* none, and it ends */
        "GET / HTTP/1.1\r\nHost : a\r\n",               /* a blank before the colon */
        "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n",     /* a continued line */
        "GET / HTTP/1.1\r\nHost\r\n",                   /* no colon */
        "GET / HTTP/1.1\r\n: a\r\n",                    /* no name */
        "GET / HTTP/1.0\r\nContent-Length: 5x\r\n",     /* no number */
        "GET / HTTP/1.0\r\nContent-Length:\r\n",        /* nothing */
        "GET / HTTP/1.0\r\nContent-Length: -1\r\n",     /* less than nothing */
    };
    aq_http_request request;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(read_text(texts[i], &request), AQ_E_FOREIGN);
    }
    assert_int_equal(read_sized("GET /\0 HTTP/1.1\r\n", 17, &request), AQ_E_FOREIGN);
}

TEST(another_version_is_told)
{
    aq_http_request request;
    assert_int_equal(read_text("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &request), AQ_E_VERSION);
    assert_int_equal(read_text("GET / HTTP/3.0\r\n\r\n", &request), AQ_E_VERSION);
}

/* A stranger's name that has been made to mean this host is not one of ours. */
TEST(a_page_is_given_at_names_that_are_known)
{
    static const struct {
        const char *host, *names;
        bool known;
    } rows[] = {
        {"127.0.0.1:8080", NULL, true},     {"[::1]:8080", NULL, true},
        {"localhost:8080", NULL, true},     {"learner", NULL, true},
        {"evil.example", NULL, false},      {"1.2.3.4.evil.example:80", NULL, false},
        {"127.0.0.1.nip.io", NULL, false},  {"a.example:80", "b.example,A.example", true},
        {"a.example", "xa.example", false}, {"a.example", "a.exampl", false},
        {"a.example", "*", true},           {"a.example", "b.example, a.example", true},
    };
    EACH_ROW(i, rows) {
        assert_int_equal(aq_http_host_is_known(rows[i].host, strlen(rows[i].host), rows[i].names),
                         rows[i].known);
    }
}
