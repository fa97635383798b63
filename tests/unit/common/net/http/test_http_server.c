/*
 * The HTTP server, as its peers see it: what is answered, how it begins and how it ends.
 */
#include <sys/socket.h>

#include "common/net/http/http_server_priv.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/http_kit.h"
#include "tests/unit/common/net/net_kit.h"

static void assert_answer_begins(http_pair *pair, const char *request, const char *beginning)
{
    http_peer *peer = http_kit_ask(pair, request);
    assert_true(peer->size >= strlen(beginning));
    assert_memory_equal(peer->answer, beginning, strlen(beginning));
}

/* ---- answers -------------------------------------------------------------------------------- */

TEST(a_page_is_answered)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_kit_ask(pair, "GET /hello HTTP/1.0\r\n\r\n");
    assert_says(peer->answer, "HTTP/1.1 200 OK\r\n");
    assert_non_null(strstr(peer->answer, "\r\nContent-Type: text/plain; charset=utf-8\r\n"));
    assert_says(peer->answer, "\r\nContent-Length: 6\r\n");
    assert_says(peer->answer, "\r\nConnection: close\r\n");
    assert_string_equal(strstr(peer->answer, "\r\n\r\n"), "\r\n\r\nhello\n");
    assert_int_equal(aq_http_server_counters(pair->server).requests, 1);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 0);
}

TEST(a_connection_serves_many_requests)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    for (unsigned i = 0; i < 100; i++) {
        http_peer_tell(peer, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
        http_kit_wait_to_hear(pair, peer, "hello\n");
    }
    assert_int_equal(pair->answered, 100);
    assert_int_equal(pair->server->connection_count, 1);
    http_peer_end(peer);
    net_kit_run_until(&pair->loop, http_kit_is_empty, pair);
}

TEST(requests_sent_at_once_are_answered_in_turn)
{
    http_pair *pair = http_kit_open();
    const http_peer *peer = http_kit_ask(
        pair, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
              "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_says(peer->answer, "hello\n");
    assert_true(strstr(peer->answer, "hello\n") < strstr(peer->answer, " 503 "));
    assert_true(strstr(peer->answer, " 503 ") < strstr(peer->answer, " 404 "));
    assert_says(peer->answer, " 404 ");
}

TEST(a_request_may_come_byte_by_byte)
{
    static const char request[] = "GET /hello HTTP/1.0\r\nUser-Agent: slow\r\n\r\n";
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    for (size_t i = 0; i < strlen(request); i++) {
        const char letter[] = {request[i], '\0'};
        http_peer_tell(peer, letter);
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    http_kit_wait_until_over(pair, peer);
    assert_says(peer->answer, "hello\n");
}

TEST(head_is_the_same_without_the_page)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_kit_ask(pair, "HEAD /hello HTTP/1.0\r\n\r\n");
    assert_says(peer->answer, " 200 OK\r\n");
    assert_says(peer->answer, "\r\nContent-Length: 6\r\n");
    assert_string_equal(strstr(peer->answer, "\r\n\r\n"), "\r\n\r\n");
}

TEST(other_requests_are_answered_with_a_status)
{
    http_pair *pair = http_kit_open();
    assert_answer_begins(pair, "GET /nowhere HTTP/1.0\r\n\r\n", "HTTP/1.1 404 Not Found\r\n");
    assert_answer_begins(pair, "GET /hello/ HTTP/1.0\r\n\r\n", "HTTP/1.1 404 ");
    assert_answer_begins(pair, "POST /hello HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi",
                         "HTTP/1.1 405 Method Not Allowed\r\n");
    assert_answer_begins(pair, "OPTIONS * HTTP/1.0\r\n\r\n", "HTTP/1.1 404 ");
    assert_answer_begins(pair, "GET /fail HTTP/1.0\r\n\r\n",
                         "HTTP/1.1 500 Internal Server Error\r\n");
    assert_answer_begins(pair, "GET /readyz HTTP/1.0\r\n\r\n",
                         "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n");
    assert_int_equal(pair->answered, 0);
    assert_int_equal(aq_http_server_counters(pair->server).requests, 6);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 0);
}

TEST(half_a_page_is_not_served)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_kit_ask(pair, "GET /fail HTTP/1.0\r\n\r\n");
    assert_null(strstr(peer->answer, "half"));
}

TEST(what_is_no_request_is_refused_and_counted)
{
    http_pair *pair = http_kit_open();
    assert_answer_begins(pair, "\x16\x03\x01\x02 hello", "HTTP/1.1 400 Bad Request\r\n");
    assert_answer_begins(pair, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505 ");
    assert_answer_begins(pair, "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ");
    assert_int_equal(aq_http_server_counters(pair->server).requests, 0);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 3);
}

TEST(huge_headers_are_refused)
{
    char line[1024];
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    http_peer_tell(peer, "GET /hello HTTP/1.1\r\nHost: x\r\nCookie: ");
    for (unsigned i = 0; i < 32; i++) {
        http_peer_tell(peer, line);
    }
    http_kit_wait_until_over(pair, peer);
    assert_says(peer->answer, "HTTP/1.1 431 ");
    assert_int_equal(pair->answered, 0);
    assert_int_equal(aq_http_server_counters(pair->server).refused, 1);
}

TEST(a_body_that_nobody_wants_does_not_cost_the_answer)
{
    char body[16384];
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    memset(body, 'x', sizeof(body) - 1);
    body[sizeof(body) - 1] = '\0';
    http_peer_tell(peer, "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 65535\r\n\r\n");
    for (unsigned i = 0; i < 3; i++) {
        http_peer_tell(peer, body);
    }
    http_kit_wait_to_hear(pair, peer, "Method Not Allowed\n");
}

TEST(a_flood_after_the_answer_is_cut_off)
{
    char body[16384];
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    size_t flooded = 0;
    memset(body, 'x', sizeof(body));
    http_peer_tell(peer, "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
    http_kit_wait_to_hear(pair, peer, "Method Not Allowed\n");
    while (pair->server->connections[0].state != AQ_HTTP_LINGERING) {
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    pair->server->connections[0].deadline_ns = INT64_MAX; /* what ends it is bytes, and not time */
    while (!http_kit_is_empty(pair)) {
        const ssize_t sent = send(peer->socket, body, sizeof(body), MSG_DONTWAIT | MSG_NOSIGNAL);
        flooded += sent > 0 ? (size_t)sent : 0;
        assert_true(flooded < (size_t)64 << 20);
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    assert_true(flooded > 0);
}

/* ---- the end, and the beginning ------------------------------------------------------------- */

TEST(closing_ends_what_is_under_way)
{
    http_pair *pair = http_kit_open();
    (void)http_kit_ask_much(pair);
    (void)http_peer_connect(pair); /* and is silent */
    http_peer_tell(http_peer_connect(pair), "GET /hello HT");
    http_kit_wait_connected(pair, 3);
    http_kit_close(pair); /* fails unless every handle is closed */
}

TEST(a_page_may_close_the_server)
{
    http_pair *pair = http_kit_open();
    http_peer *peer = http_peer_connect(pair);
    http_peer_tell(peer, "GET /close HTTP/1.0\r\n\r\n");
    http_kit_wait_until_over(pair, peer);
    assert_null(pair->server);
}

TEST(the_address_is_told)
{
    const struct {
        const char *listen;
        const char *host;
        bool is_local;
    } rows[] = {
        {"127.0.0.1:0", "127.0.0.1", true},
        {"0.0.0.0:0", "0.0.0.0", false},
        {"*:0", aq_url_everywhere(), false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        http_pair *pair = http_kit_open_at(rows[i].listen);
        assert_says(aq_http_server_url(pair->server), rows[i].host);
        assert_in_range(atoi(strrchr(aq_http_server_url(pair->server), ':') + 1), 1024, 65535);
        assert_int_equal(aq_http_server_is_local(pair->server), rows[i].is_local);
        http_kit_close(pair);
    }
}

static void assert_cannot_listen(const char *listen, int code)
{
    aq_http_server *server = NULL;
    assert_refused(aq_http_server_create(net_kit_loop(), listen, NULL, 0, &server, &refusal), code,
                   listen);
    assert_null(server);
}

TEST(an_address_that_cannot_be_used_is_named)
{
    http_pair *pair = http_kit_open();
    assert_cannot_listen(strrchr(pair->server->url, '/') + 1, AQ_E_IN_USE);
    assert_cannot_listen("9400", AQ_E_INVALID);
    assert_cannot_listen("127.0.0.1:65536", AQ_E_INVALID);
    assert_cannot_listen("127.0.0.1:http", AQ_E_INVALID);
    assert_cannot_listen("http://127.0.0.1:9400", AQ_E_INVALID);
    assert_cannot_listen("no-such-host.invalid:0", AQ_E_NOT_FOUND);
    assert_cannot_listen("192.0.2.1:0", AQ_E_IO); /* nobody's */
}

static int say_little(void *user, aq_http_reply *reply)
{
    (void)user;
    return aq_buffer_append(reply->body, "x", 1);
}

TEST(without_memory_it_fails_or_serves)
{
    for (uint64_t nth = 1; nth < 8; nth++) {
        const aq_http_route route = {.path = "/", .get = say_little};
        aq_http_server *server = NULL;
        uv_loop_t *loop = net_kit_loop();
        aq_memory_fail_at(nth, 0);
        int rc = aq_http_server_create(loop, "127.0.0.1:0", &route, 1, &server, NULL);
        if (rc == 0) {
            http_pair pair = {.server = server};
            http_peer *peer = http_peer_connect(&pair);
            http_peer_tell(peer, "GET / HTTP/1.0\r\n\r\n");
            while (!peer->over) { /* the kit needs memory itself */
                (void)uv_run(loop, UV_RUN_NOWAIT);
                http_peer_hear(peer);
            }
            aq_http_server_close(server);
        } else {
            assert_int_equal(rc, AQ_E_NOMEM);
        }
        aq_memory_fail_at(0, 0);
    }
}
