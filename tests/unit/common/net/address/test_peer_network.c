/*
 * Whose a connection is.
 */
#include <arpa/inet.h>

#include "common/net/address/peer_network.h"
#include "tests/support/test.h"

static struct in6_addr network_of(const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct in6_addr network;
    const bool is_v4 = inet_pton(AF_INET, text, &v4.sin_addr) == 1;
    assert_true(is_v4 || inet_pton(AF_INET6, text, &v6.sin6_addr) == 1);
    assert_true(aq_peer_network(is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6, &network));
    return network;
}

TEST(one_network_is_one_neighbour)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"10.0.0.1", "10.0.0.1", true},
        {"10.0.0.1", "10.0.0.2", false},
        {"10.0.0.1", "::ffff:10.0.0.1", true},
        {"::ffff:10.0.0.1", "::ffff:10.0.0.2", false},
        {"2001:db8:0:7::1", "2001:db8:0:7:9::2", true},
        {"2001:db8:0:7::1", "2001:db8:0:8::1", false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct in6_addr a = network_of(rows[i].a), b = network_of(rows[i].b);
        assert_int_equal(memcmp(&a, &b, sizeof(a)) == 0, rows[i].same);
    }
}

TEST(a_socket_of_this_host_is_nobodys)
{
    const struct sockaddr local = {.sa_family = AF_UNIX};
    struct in6_addr network;
    assert_false(aq_peer_network(&local, &network));
}
