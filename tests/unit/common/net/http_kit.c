/*
 * See http_kit.h.
 */
#include "tests/unit/common/net/http_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>

#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

enum { ANSWER_MAX = 1 << 20, LARGE_BODY = 4 << 20 };

/* ---- routes --------------------------------------------------------------------------------- */

static int say_hello(void *user, aq_http_reply *reply)
{
    http_pair *pair = user;
    pair->answered++;
    return aq_buffer_append(reply->body, "hello\n", 6);
}

static int say_not_ready(void *user, aq_http_reply *reply)
{
    (void)user;
    reply->status = 503;
    reply->content_type = "application/json";
    return aq_buffer_append(reply->body, "{}", 2);
}

static int say_half(void *user, aq_http_reply *reply)
{
    http_pair *pair = user;
    assert_int_equal(aq_buffer_append(reply->body, "half a page", 11), 0);
    return pair->get_rc;
}

static int say_much(void *user, aq_http_reply *reply)
{
    uint8_t *bytes;
    (void)user;
    return aq_buffer_extend(reply->body, LARGE_BODY, &bytes);
}

static int close_server(void *user, aq_http_reply *reply)
{
    http_pair *pair = user;
    (void)reply;
    aq_http_server_close(pair->server);
    pair->server = NULL;
    return 0;
}

void http_kit_close(http_pair *pair)
{
    if (!pair->is_closed) {
        pair->is_closed = true;
        aq_http_server_close(pair->server);
        net_kit_finish_loop(&pair->loop);
    }
}

static void end_pair(void *pair)
{
    http_kit_close(pair);
    free(pair);
}

http_pair *http_kit_open_at(const char *listen)
{
    http_pair *pair = calloc(1, sizeof(*pair));
    assert_non_null(pair);
    const aq_http_route routes[] = {
        {.path = "/hello", .get = say_hello, .user = pair},
        {.path = "/readyz", .get = say_not_ready, .user = pair, .is_vital = true},
        {.path = "/fail", .get = say_half, .user = pair},
        {.path = "/much", .get = say_much, .user = pair},
        {.path = "/close", .get = close_server, .user = pair},
    };
    pair->get_rc = AQ_E_NOMEM;
    assert_int_equal(uv_loop_init(&pair->loop), 0);
    at_end(end_pair, pair);
    assert_succeeds(aq_http_server_create(
        &pair->loop, listen, routes, sizeof(routes) / sizeof(routes[0]), &pair->server, &refusal));
    return pair;
}

http_pair *http_kit_open(void)
{
    return http_kit_open_at("127.0.0.1:0");
}

bool http_kit_is_empty(void *pair)
{
    return ((const http_pair *)pair)->server->connection_count == 0;
}

typedef struct crowd {
    const http_pair *pair;
    unsigned count;
} crowd;

static bool is_there(void *user)
{
    const crowd *wanted = user;
    return wanted->pair->server->connection_count == wanted->count;
}

void http_kit_wait_connected(http_pair *pair, unsigned count)
{
    crowd wanted = {pair, count};
    net_kit_run_until(&pair->loop, is_there, &wanted);
}

/* ---- peers ---------------------------------------------------------------------------------- */

void http_peer_end(http_peer *peer)
{
    if (peer->socket >= 0) {
        close(peer->socket);
        peer->socket = -1;
    }
}

static void end_peer(void *user)
{
    http_peer *peer = user;
    http_peer_end(peer);
    free(peer->answer);
    free(peer);
}

http_peer *http_peer_connect(const http_pair *pair)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    http_peer *peer = calloc(1, sizeof(*peer));
    assert_non_null(peer);
    peer->answer = calloc(1, ANSWER_MAX + 1);
    peer->socket = socket(AF_INET, SOCK_STREAM, 0);
    at_end(end_peer, peer);
    assert_non_null(peer->answer);
    assert_true(peer->socket >= 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons((uint16_t)atoi(strrchr(pair->server->url, ':') + 1));
    assert_int_equal(connect(peer->socket, (struct sockaddr *)&address, sizeof(address)), 0);
    return peer;
}

void http_peer_tell(http_peer *peer, const char *text)
{
    size_t size = strlen(text);
    assert_int_equal(send(peer->socket, text, size, MSG_NOSIGNAL), size);
}

void http_peer_hear(http_peer *peer)
{
    while (!peer->over && peer->size < ANSWER_MAX) {
        ssize_t size =
            recv(peer->socket, peer->answer + peer->size, ANSWER_MAX - peer->size, MSG_DONTWAIT);
        if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (size <= 0) {
            peer->over = true;
            return;
        }
        peer->size += (size_t)size;
        peer->answer[peer->size] = '\0';
    }
}

http_peer *http_kit_ask_much(http_pair *pair)
{
    const unsigned place = pair->server->connection_count;
    http_peer *peer = http_peer_connect(pair);
    http_peer_tell(peer, "GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
    while (pair->server->connections[place].state != AQ_HTTP_WRITING) {
        (void)uv_run(&pair->loop, UV_RUN_NOWAIT);
    }
    return peer;
}

static bool is_over(void *user)
{
    http_peer *peer = user;
    http_peer_hear(peer);
    return peer->over;
}

static bool has_heard(void *user)
{
    http_peer *peer = user;
    http_peer_hear(peer);
    return strstr(peer->answer, peer->awaited) != NULL;
}

void http_kit_wait_until_over(http_pair *pair, http_peer *peer)
{
    net_kit_run_until(&pair->loop, is_over, peer);
}

void http_kit_wait_to_hear(http_pair *pair, http_peer *peer, const char *awaited)
{
    peer->awaited = awaited;
    net_kit_run_until(&pair->loop, has_heard, peer);
    peer->size = 0;
    peer->answer[0] = '\0';
}

/* The whole answer, to a request after which the server closes. */
http_peer *http_kit_ask(http_pair *pair, const char *request)
{
    http_peer *peer = http_peer_connect(pair);
    http_peer_tell(peer, request);
    shutdown(peer->socket, SHUT_WR);
    http_kit_wait_until_over(pair, peer);
    return peer;
}
