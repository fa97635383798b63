/*
 * Listening: the port that was bound, addresses in use, and what a dead process left behind.
 */
#include <netinet/in.h>
#include <nng/nng.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/base/parse.h"
#include "common/net/security/nng_error.h"
#include "common/net/sockets/endpoint.h"
#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

static int try_to_listen(const char *url, nng_socket *ret_socket, char *ret_url, aq_error *error)
{
    nng_listener listener;
    assert_int_equal(nng_rep0_open(ret_socket), 0);
    int rc = aq_endpoint_listen(*ret_socket, url, &net_kit_limits, 4, &listener, ret_url, error);
    if (rc < 0) {
        nng_close(*ret_socket);
    }
    return rc;
}

TEST(port_zero_becomes_the_port_that_was_bound)
{
    static const char *const urls[] = {"tcp://127.0.0.1:0", "tcp://0.0.0.0:0", "tcp://127.1:0",
                                       "tcp://[::]:0"};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        char url[AQ_URL_MAX] = "";
        nng_socket socket;
        assert_int_equal(try_to_listen(urls[i], &socket, url, NULL), 0);
        assert_memory_equal(url, urls[i], strlen(urls[i]) - 1);
        assert_in_range(atoi(strrchr(url, ':') + 1), 1024, 65535);
        assert_int_equal(aq_url_validate(url, NULL), 0);
        nng_close(socket);
    }
}

/* Whether this host can be called at ::1: some containers have no IPv6. */
static bool has_ip6(void)
{
    const struct sockaddr_in6 here = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const int descriptor = socket(AF_INET6, SOCK_STREAM, 0);
    const bool can = bind(descriptor, (const struct sockaddr *)&here, sizeof(here)) == 0;
    close(descriptor);
    return can;
}

/* Who listens everywhere is called at either family, and knows its callers by what they are called
 * themselves. */
TEST(everywhere_is_every_address_of_both_families)
{
    static const char *const wildcards[] = {"tcp://*:0", "tcp://[::]:0"};
    static const char *const hosts[] = {"tcp://127.0.0.1:", "tcp://[::1]:"};
    const size_t families = has_ip6() ? 2 : 1;
    for (size_t i = 0; i < families; i++) {
        net_pair *pair = net_pair_serve(NULL, NULL, NET_KIT_PATIENCE_MS);
        net_pair_stop_server(pair);
        (void)snprintf(pair->url, sizeof(pair->url), "%s", wildcards[i]);
        net_pair_restart_server(pair);
        assert_says(pair->url, aq_url_everywhere()); /* what was bound is told */
        for (size_t j = 0; j < families; j++) {
            char url[AQ_URL_MAX];
            (void)snprintf(url, sizeof(url), "%s%s", hosts[j], strrchr(pair->url, ':') + 1);
            net_pair_dial(pair, url);
            assert_true(net_pair_wait(pair, net_pair_stop(pair, "x"))->ok);
            assert_memory_equal(pair->kit.peer, hosts[j], strlen(hosts[j]));
        }
        net_pair_close(pair);
    }
}

TEST(an_address_in_use_is_named)
{
    static const char *const transports[] = {"tcp", "ipc", "inproc"};
    for (size_t i = 0; i < 3; i++) {
        char url[AQ_URL_MAX], bound[AQ_URL_MAX], other[AQ_URL_MAX];
        nng_socket first, second;
        net_kit_url(transports[i], url);
        assert_int_equal(try_to_listen(url, &first, bound, NULL), 0);
        assert_refused(try_to_listen(bound, &second, other, &refusal), AQ_E_IN_USE, bound);
        nng_close(first);
        assert_int_equal(try_to_listen(bound, &second, other, NULL), 0);
        assert_string_equal(other, bound);
        nng_close(second);
    }
}

/* As a process leaves it that was killed: bound, and nobody listens. */
static void leave_socket_file(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(aq_text_set(address.sun_path, sizeof(address.sun_path), path), 0);
    assert_int_equal(bind(descriptor, (struct sockaddr *)&address, sizeof(address)), 0);
    close(descriptor);
}

TEST(the_socket_file_of_a_dead_process_is_no_obstacle)
{
    char url[AQ_URL_MAX], bound[AQ_URL_MAX];
    nng_socket socket;
    struct stat info;
    net_kit_url("ipc", url);
    leave_socket_file(url + strlen("ipc://"));
    assert_int_equal(try_to_listen(url, &socket, bound, NULL), 0);
    nng_close(socket);
    assert_int_equal(stat(url + strlen("ipc://"), &info), -1); /* and none is left behind */
}

TEST(a_file_that_is_no_socket_is_not_removed)
{
    char url[AQ_URL_MAX], bound[AQ_URL_MAX];
    const char *path = url + strlen("ipc://");
    nng_socket socket;
    struct stat info;
    net_kit_url("ipc", url);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("precious", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_refused(try_to_listen(url, &socket, bound, &refusal), AQ_E_EXISTS, url);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 8);
    assert_int_equal(unlink(path), 0);
}

TEST(what_cannot_be_listened_at_is_said_in_words)
{
    static const struct {
        const char *url;
        int code;
    } rows[] = {
        {"ipc:///tmp/no-such-folder-of-ours/x", AQ_E_NOT_FOUND},
        {"tcp://192.0.2.1:0", AQ_E_INVALID}, /* not an address of this host */
        {"udp://127.0.0.1:0", AQ_E_INVALID},
        {"tcp://host.invalid:0", AQ_E_INVALID},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bound[AQ_URL_MAX] = "untouched";
        nng_socket socket;
        assert_refused(try_to_listen(rows[i].url, &socket, bound, &refusal), rows[i].code,
                       rows[i].url);
        assert_string_equal(bound, "untouched");
    }
}

TEST(dialling_a_name_that_does_not_resolve_goes_on_trying)
{
    nng_socket socket;
    nng_dialer dialer;
    assert_int_equal(nng_req0_open(&socket), 0);
    assert_int_equal(
        aq_endpoint_dial(socket, "tcp://host.invalid:5550", &net_kit_limits, 4, &dialer, NULL), 0);
    nng_close(socket);
}

TEST(dialling_a_bad_url_is_refused)
{
    nng_socket socket;
    nng_dialer dialer;
    assert_int_equal(nng_req0_open(&socket), 0);
    assert_refused(aq_endpoint_dial(socket, "tcp://learner", &net_kit_limits, 4, &dialer, &refusal),
                   AQ_E_INVALID, "no port");
    nng_close(socket);
}

static int longest_pause_ms(nng_dialer dialer)
{
    nng_duration pause_ms = -1;
    assert_int_equal(nng_dialer_get_ms(dialer, NNG_OPT_RECONNMAXT, &pause_ms), 0);
    return pause_ms;
}

TEST(only_who_dials_this_host_can_be_eager)
{
    const aq_net_limits limits = {
        .message_bytes_max = 1000, .reconnect_min_ms = 50, .reconnect_max_ms = 2000};
    static const struct {
        const char *url;
        int eager_ms, patient_ms;
    } rows[] = {{"ipc:///tmp/nobody", 40, 1000}, {"tcp://host.invalid:5550", 2000, 2000}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        nng_socket socket;
        nng_dialer dialer;
        assert_int_equal(nng_req0_open(&socket), 0);
        assert_succeeds(aq_endpoint_dial(socket, rows[i].url, &limits, 4, &dialer, &refusal));
        assert_int_equal(longest_pause_ms(dialer), rows[i].patient_ms);
        aq_endpoint_set_eager(dialer, rows[i].url, &limits, true);
        assert_int_equal(longest_pause_ms(dialer), rows[i].eager_ms);
        aq_endpoint_set_eager(dialer, rows[i].url, &limits, false);
        assert_int_equal(longest_pause_ms(dialer), rows[i].patient_ms);
        nng_close(socket);
    }
}

TEST(errors_of_nng_become_ours)
{
    assert_int_equal(aq_error_from_nng(0), 0);
    assert_int_equal(aq_error_from_nng(NNG_EADDRINUSE), AQ_E_IN_USE);
    assert_int_equal(aq_error_from_nng(NNG_ETIMEDOUT), AQ_E_TIMEOUT);
    assert_int_equal(aq_error_from_nng(NNG_ECLOSED), AQ_E_CLOSED);
    assert_int_equal(aq_error_from_nng(NNG_EMSGSIZE), AQ_E_TOO_BIG);
    for (int code = 1; code < 64; code++) {
        assert_true(aq_error_from_nng(code) < 0);
    }
}

TEST(a_pipe_that_is_gone_has_no_address)
{
    const nng_pipe gone = {.id = 0x7ffffff0};
    char text[AQ_PEER_TEXT_MAX] = "untouched";
    assert_int_equal(aq_endpoint_peer(gone, text), AQ_E_CLOSED);
    assert_string_equal(text, "untouched");
}

TEST(who_is_on_this_host_is_dialled_sooner_and_never_every_moment)
{
    const aq_net_limits far = {.reconnect_min_ms = 50, .reconnect_max_ms = 2000};
    const aq_net_limits quick = {.reconnect_min_ms = 5, .reconnect_max_ms = 8};
    static const char *const here[] = {"ipc:///tmp/x", "tcp://127.0.0.1:9", "inproc://x"};
    for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++) {
        aq_net_limits near = aq_endpoint_near(here[i], &far);
        assert_int_equal(near.reconnect_min_ms, 10);
        assert_int_equal(near.reconnect_max_ms, 1000);
        near = aq_endpoint_near(here[i], &quick);
        assert_int_equal(near.reconnect_min_ms, 5);
        assert_int_equal(near.reconnect_max_ms, 8);
    }
    const aq_net_limits same = aq_endpoint_near("tcp://10.0.0.1:9", &far);
    assert_int_equal(same.reconnect_min_ms, 50);
    assert_int_equal(same.reconnect_max_ms, 2000);
}
