/*
 * What a name stands for, and what came of each address, is said in words.
 */
#include "common/net/address/dial_tries.h"

#include <errno.h>

#include "tests/support/test.h"
#include "tests/unit/common/net/net_kit.h"

/* The list with this address before it. */
static struct addrinfo *prepend(struct addrinfo *list, const char *host)
{
    struct addrinfo *first = net_kit_address(host, 1);
    first->ai_next = list;
    return first;
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
    EACH_ROW(i, rows) {
        char text[AQ_DIAL_WORDS_MAX];
        struct addrinfo *list = NULL;
        aq_dial_tries tries;
        for (size_t j = 2; j-- > 0;) {
            list = rows[i].hosts[j] != NULL ? prepend(list, rows[i].hosts[j]) : list;
        }
        aq_dial_tries_set(&tries, rows[i].place, rows[i].lookup, list);
        freeaddrinfo(list);
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
    struct addrinfo *list = NULL;
    aq_dial_tries tries;
    for (size_t i = 0; i < AQ_DIAL_TRIES_MAX + 2; i++) {
        list = prepend(list, "2001:db8:1111:2222:3333:4444:5555:6666");
    }
    aq_dial_tries_set(&tries, "head:1", 0, list);
    freeaddrinfo(list);
    assert_int_equal(tries.count, AQ_DIAL_TRIES_MAX);
    aq_dial_tries_write(&tries, text, sizeof(text));
    assert_int_equal(strlen(text), sizeof(text) - 1);
}

TEST(addresses_are_equal_with_their_port)
{
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.2", "::1", "fd00::2"};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            struct addrinfo *one = net_kit_address(hosts[i], 5550);
            struct addrinfo *other = net_kit_address(hosts[j], 5550);
            struct addrinfo *elsewhere = net_kit_address(hosts[j], 5551);
            const aq_ip_address *address = (const void *)one->ai_addr;
            assert_int_equal(aq_ip_address_equal(address, other->ai_addr), i == j);
            assert_false(aq_ip_address_equal(address, elsewhere->ai_addr));
            freeaddrinfo(one);
            freeaddrinfo(other);
            freeaddrinfo(elsewhere);
        }
    }
}
