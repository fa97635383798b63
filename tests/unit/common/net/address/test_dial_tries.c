/*
 * What a name stands for, and what came of each address, is said in words.
 */
#include "common/net/address/dial_tries.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "tests/support/test.h"

typedef struct found {
    struct addrinfo node;
    aq_ip_address address;
} found;

static void set_found(found *one, const char *host, uint16_t port)
{
    *one = (found){.node = {.ai_family = strchr(host, ':') != NULL ? AF_INET6 : AF_INET}};
    one->address.any.sa_family = (sa_family_t)one->node.ai_family;
    one->node.ai_addr = &one->address.any;
    if (one->node.ai_family == AF_INET6) {
        one->node.ai_addrlen = sizeof(one->address.v6);
        one->address.v6.sin6_port = htons(port);
        assert_int_equal(inet_pton(AF_INET6, host, &one->address.v6.sin6_addr), 1);
    } else {
        one->node.ai_addrlen = sizeof(one->address.v4);
        one->address.v4.sin_port = htons(port);
        assert_int_equal(inet_pton(AF_INET, host, &one->address.v4.sin_addr), 1);
    }
}

TEST(words_name_each_address_and_what_came_of_it)
{
    static const struct {
        const char *place, *hosts[2];
        int lookup, outcomes[2];
        const char *words;
    } rows[] = {
        {"localhost:5550",
         {"::1", "127.0.0.1"},
         0,
         {ECONNREFUSED, ECONNREFUSED},
         "localhost is ::1, 127.0.0.1; ::1: refused; 127.0.0.1: refused"},
        {"head:1",
         {"fd00::2", "10.0.0.2"},
         0,
         {EADDRNOTAVAIL, EINPROGRESS},
         "head is fd00::2, 10.0.0.2; fd00::2: this host has no address of that kind; 10.0.0.2: no "
         "answer yet"},
        {"head:1", {"10.0.0.2"}, 0, {ETIMEDOUT}, "head is 10.0.0.2: no answer"},
        {"10.0.0.2:1", {"10.0.0.2"}, 0, {EHOSTUNREACH}, "no route to it"},
        {"[::1]:1", {"::1"}, 0, {EACCES}, "Permission denied"},
        {"head:1", {"::1"}, 0, {AQ_DIAL_ANSWERED}, "head is ::1: answered until now"},
        {"head:1", {"::1"}, 0, {AQ_DIAL_NOT_TRIED}, "head is ::1: not tried yet"},
        {"head:1", {NULL}, 0, {0}, "head: the name has no address"},
        {"head:1", {NULL}, AQ_DIAL_LOOKING_UP, {0}, "head: the name is being looked up"},
        {"head:1", {NULL}, EAI_NONAME, {0}, "head: Name or service not known"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[AQ_DIAL_WORDS_MAX];
        found list[2] = {0};
        aq_dial_tries tries;

        for (size_t j = 0; j < 2 && rows[i].hosts[j] != NULL; j++) {
            set_found(&list[j], rows[i].hosts[j], 1);
            list[0].node.ai_next = j == 1 ? &list[1].node : NULL;
        }
        aq_dial_tries_set(&tries, rows[i].place, rows[i].lookup,
                          rows[i].hosts[0] != NULL ? &list[0].node : NULL);
        for (size_t j = 0; j < tries.count; j++) {
            tries.tries[j].outcome = rows[i].outcomes[j];
        }
        aq_dial_tries_write(&tries, text, sizeof(text));
        assert_string_equal(text, rows[i].words);
    }
}

TEST(too_many_addresses_are_left_out_and_long_words_cut)
{
    char text[AQ_DIAL_WORDS_MAX];
    found list[AQ_DIAL_TRIES_MAX + 2];
    aq_dial_tries tries;

    for (size_t i = 0; i < AQ_DIAL_TRIES_MAX + 2; i++) {
        set_found(&list[i], "2001:db8:1111:2222:3333:4444:5555:6666", 1);
        list[i].node.ai_next = i > 0 ? &list[i - 1].node : NULL;
    }
    aq_dial_tries_set(&tries, "head:1", 0, &list[AQ_DIAL_TRIES_MAX + 1].node);
    assert_int_equal(tries.count, AQ_DIAL_TRIES_MAX);
    aq_dial_tries_write(&tries, text, sizeof(text));
    assert_int_equal(strlen(text), sizeof(text) - 1);
}

TEST(addresses_are_equal_with_their_port)
{
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.2", "::1", "fd00::2"};

    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            found one, other, elsewhere;

            set_found(&one, hosts[i], 5550);
            set_found(&other, hosts[j], 5550);
            set_found(&elsewhere, hosts[j], 5551);
            assert_int_equal(aq_ip_address_equal(&one.address, &other.address.any), i == j);
            assert_false(aq_ip_address_equal(&one.address, &elsewhere.address.any));
        }
    }
}
