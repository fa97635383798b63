/*
 * URLs: which are taken, what the others are told, and the urls that are made of them.
 */
#include "common/net/address/url.h"
#include "tests/support/test.h"

TEST(good_urls_are_taken)
{
    static const char *const urls[] = {
        "tcp://127.0.0.1:5550",
        "tcp://learner:0",
        "tcp://*:65535",
        "tcp://[::1]:5550",
        "tcp://[fd00::2]:1",
        "tcp://[fe8::1]:1",
        "tcp://[fec0::1]:1",
        "tcp://[::]:1",
        "tcp://learner-0.actorq.svc.cluster.local:5550",
        "ipc:///tmp/learner",
        "ipc:///run/actorq/a.b",
        "inproc://name",
        "inproc://a/b",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        assert_int_equal(aq_url_validate(urls[i], NULL), 0);
    }
}

TEST(bad_urls_are_named_and_told_what_is_allowed)
{
    static const struct {
        const char *url;
        const char *word;
    } rows[] = {
        {"", "allowed are"},
        {"127.0.0.1:5550", "allowed are"},
        {"http://learner:80", "allowed are"},
        {"tcp4://127.0.0.1:1", "allowed are"},
        {"TCP://learner:80", "allowed are"},
        {"tcp://learner", "no port"},
        {"tcp://[::1]", "no port"},
        {"tcp://", "no port"},
        {"tcp://learner:", "0 to 65535"},
        {"tcp://learner:65536", "0 to 65535"},
        {"tcp://learner:-1", "0 to 65535"},
        {"tcp://learner:1x", "0 to 65535"},
        {"tcp://learner:80/", "0 to 65535"},
        {"tcp://:5550", "host"},
        {"tcp://::1:5550", "host"},
        {"tcp://a/b:1", "host"},
        {"tcp://user@host:1", "host"},
        {"tcp://1.2.3.4;5.6.7.8:1", "host"},
        {"tcp://[xyz]:1", "host"},
        {"tcp://[]:1", "host"},
        {"tcp://[1:2]:5", "host"},
        {"tcp://[1.2.3.4]:5", "host"},
        {"tcp://[fe80::1]:1", "link-local"},
        {"tcp://[FEBF::1]:1", "link-local"},
        {"tcp://[fe80::1%eth0]:1", "fd00::/8"},
        {"tcp://[fe80::1%25eth0]:1", "link-local"},
        {"tcp://[fe8::1%2]:1", "link-local"},
        {"tcp://lear ner:1", "blanks"},
        {"tcp://lear\nner:1", "blanks"},
        {"ipc://relative", "absolute"},
        {"ipc://", "absolute"},
        {"inproc://", "no name"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_refused(aq_url_validate(rows[i].url, &refusal), AQ_E_INVALID, rows[i].url);
        assert_says(refusal.text, rows[i].word);
    }
}

TEST(what_can_only_be_listened_at_is_not_called)
{
    static const struct {
        const char *url;
        int as_advertised, as_callable;
    } rows[] = {
        {"tcp://127.0.0.1:5550", 0, 0},
        {"ipc:///tmp/learner:0", 0, 0},
        {"tcp://learner:0", 0, AQ_E_INVALID},
        {"tcp://[::1]:00", 0, AQ_E_INVALID},
        {"tcp://*:5550", AQ_E_INVALID, AQ_E_INVALID},
        {"nonsense", AQ_E_INVALID, AQ_E_INVALID},
    };
    EACH_ROW(i, rows) {
        const char *url;
        assert_int_equal(aq_url_take_advertised(&url, rows[i].url, NULL), rows[i].as_advertised);
        assert_int_equal(aq_url_take_callable(&url, rows[i].url, NULL), rows[i].as_callable);
    }
}

/* "ipc://" and a path of `length` bytes. */
static const char *ipc_url(char *url, size_t length)
{
    memset(url, 'p', 300);
    memcpy(url, "ipc:///", 7);
    url[6 + length] = '\0';
    return url;
}

TEST(an_ipc_path_must_fit_a_socket_address)
{
    char url[300];
    assert_int_equal(aq_url_validate(ipc_url(url, 107), NULL), 0);
    assert_refused(aq_url_validate(ipc_url(url, 108), &refusal), AQ_E_INVALID, "107 bytes");
    assert_refused(aq_url_validate(ipc_url(url, 260), &refusal), AQ_E_INVALID, "255 bytes");
}

static void expect_sibling(const char *url, const char *suffix, const char *expected)
{
    char text[AQ_URL_MAX] = "";
    assert_int_equal(aq_url_sibling(url, suffix, text, sizeof(text)), 0);
    assert_string_equal(text, expected);
}

TEST(a_sibling_is_the_next_port_or_a_longer_path)
{
    expect_sibling("tcp://host:5550", "push", "tcp://host:5551");
    expect_sibling("tcp://[::1]:5550", "push", "tcp://[::1]:5551");
    expect_sibling("tcp://*:0", "push", "tcp://*:0");
    expect_sibling("ipc:///tmp/shard", "push", "ipc:///tmp/shard.push");
    expect_sibling("inproc://shard", "push", "inproc://shard.push");
}

TEST(a_sibling_that_cannot_be_is_refused)
{
    char text[AQ_URL_MAX] = "untouched";
    char url[300];
    assert_int_equal(aq_url_sibling("tcp://host:65535", "x", text, sizeof(text)), AQ_E_INVALID);
    assert_int_equal(aq_url_sibling("nonsense", "x", text, sizeof(text)), AQ_E_INVALID);
    assert_int_equal(aq_url_sibling(ipc_url(url, 107), "x", text, sizeof(text)), AQ_E_TOO_BIG);
    assert_int_equal(aq_url_sibling("tcp://host:5550", "x", text, 15), AQ_E_TOO_BIG);
    assert_string_equal(text, "untouched");
    assert_int_equal(aq_url_sibling("tcp://host:5550", "x", text, 16), 0);
}

static void expect_reachable(const char *url, const char *seen_from, const char *expected)
{
    char text[AQ_URL_MAX] = "";
    assert_int_equal(aq_url_reachable(url, seen_from, text, sizeof(text)), 0);
    assert_string_equal(text, expected);
}

TEST(a_wildcard_is_replaced_by_where_its_owner_was_seen)
{
    expect_reachable("tcp://*:5551", "tcp://10.0.0.3:41234", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://0.0.0.0:5551", "tcp://10.0.0.3:41234", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://[::]:5551", "tcp://[fd00::1]:41234", "tcp://[fd00::1]:5551");
    expect_reachable("tcp://0:5551", "tcp://10.0.0.3:41234", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://[0::0]:5551", "tcp://[fd00::1]:41234", "tcp://[fd00::1]:5551");
    expect_reachable("tcp://[::ffff:0.0.0.0]:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://*:5551", "10.0.0.3:41234", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://*:5551", "learner", "tcp://learner:5551");
    expect_reachable("tcp://*:5551", "tcp://127.0.0.1:9", "tcp://127.0.0.1:5551");
}

TEST(a_loopback_address_is_replaced_when_its_owner_is_elsewhere)
{
    expect_reachable("tcp://127.0.0.1:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://localhost:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://LocalHost:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://127.1:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://[0::1]:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://[::1]:5551", "tcp://10.0.0.3:9", "tcp://10.0.0.3:5551");
    expect_reachable("tcp://127.0.0.1:5551", "tcp://127.0.0.1:9", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://127.0.0.2:5551", "tcp://[::1]:9", "tcp://127.0.0.2:5551");
    expect_reachable("tcp://[::]:5551", "tcp://[::1]:9", "tcp://[::1]:5551");
}

TEST(an_owner_on_this_host_is_reached_by_loopback)
{
    expect_reachable("tcp://0.0.0.0:5551", "tcp://[::1]:9", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://0.0.0.0:5551", "tcp://localhost:9", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://*:5551", "ipc", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://*:5551", "inproc", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://*:5551", "ipc:///tmp/x", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://*:5551", "", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://*:5551", "?", "tcp://127.0.0.1:5551");
    expect_reachable("tcp://*:5551", "tcp://*:1", "tcp://127.0.0.1:5551");
}

TEST(an_owner_that_was_seen_on_one_link_alone_is_not_reached_from_others)
{
    char text[AQ_URL_MAX] = "untouched";
    static const char *const from[] = {"tcp://[fe80::1]:41234", "[fe80::1]:41234"};
    EACH_ROW(i, from) {
        assert_int_equal(aq_url_reachable("tcp://*:5551", from[i], text, sizeof(text)),
                         AQ_E_INVALID);
        assert_int_equal(aq_url_reachable("tcp://127.0.0.1:5551", from[i], text, sizeof(text)),
                         AQ_E_INVALID);
        assert_string_equal(text, "untouched");
        expect_reachable("tcp://shard-1:5551", from[i], "tcp://shard-1:5551");
    }
}

TEST(other_urls_are_copied)
{
    char text[AQ_URL_MAX] = "untouched";
    expect_reachable("tcp://shard-1:5551", "tcp://10.0.0.3:9", "tcp://shard-1:5551");
    expect_reachable("tcp://127.evil.example:1", "tcp://10.0.0.3:9", "tcp://127.evil.example:1");
    expect_reachable("ipc:///tmp/x", "tcp://10.0.0.3:9", "ipc:///tmp/x");
    expect_reachable("inproc://x", "tcp://10.0.0.3:9", "inproc://x");
    assert_int_equal(aq_url_reachable("nonsense", "ipc", text, sizeof(text)), AQ_E_INVALID);
    assert_int_equal(aq_url_reachable("tcp://*:1", "tcp://10.0.0.3:9", text, 16), AQ_E_TOO_BIG);
    assert_string_equal(text, "untouched");
}

TEST(local_and_wildcard_urls_are_told)
{
    assert_true(aq_url_is_local("ipc:///tmp/x"));
    assert_true(aq_url_is_local("inproc://x"));
    assert_true(aq_url_is_local("tcp://127.0.0.1:5550"));
    assert_true(aq_url_is_local("tcp://localhost:5550"));
    assert_true(aq_url_is_local("tcp://[::1]:5550"));
    assert_false(aq_url_is_local("tcp://*:5550"));
    assert_false(aq_url_is_local("tcp://10.0.0.3:5550"));
    assert_false(aq_url_is_local("nonsense"));
    assert_true(aq_url_is_wildcard("tcp://*:5550"));
    assert_true(aq_url_is_wildcard("tcp://0.0.0.0:5550"));
    assert_true(aq_url_is_wildcard("tcp://[::]:5550"));
    assert_false(aq_url_is_wildcard("tcp://127.0.0.1:5550"));
    assert_false(aq_url_is_wildcard("ipc:///tmp/*"));
}

TEST(who_is_seen_from_an_address_has_neighbours)
{
    struct in6_addr a, b;
    assert_true(aq_url_network("tcp://10.0.0.3:9", &a));
    assert_true(aq_url_network("10.0.0.3:7", &b));
    assert_true(IN6_ARE_ADDR_EQUAL(&a, &b));
    assert_true(aq_url_network("tcp://10.0.0.4:9", &b));
    assert_false(IN6_ARE_ADDR_EQUAL(&a, &b));
    assert_true(aq_url_network("tcp://[2001:db8:0:7::1]:9", &a));
    assert_true(aq_url_network("tcp://[2001:db8:0:7:9::2]:7", &b));
    assert_true(IN6_ARE_ADDR_EQUAL(&a, &b));
    static const char *const nobodys[] = {"ipc", "inproc", "", "?", "tcp://shard-1:5551"};
    EACH_ROW(i, nobodys) {
        assert_false(aq_url_network(nobodys[i], &b));
    }
    assert_true(IN6_ARE_ADDR_EQUAL(&a, &b)); /* untouched */
}
