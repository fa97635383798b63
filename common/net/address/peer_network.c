/*
 * See peer_network.h.
 */
#include "common/net/address/peer_network.h"

#include <string.h>

bool aq_peer_network(const struct sockaddr *address, struct in6_addr *ret_network)
{
    struct in6_addr network = {0};
    if (address->sa_family == AF_INET6) {
        network = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        if (!IN6_IS_ADDR_V4MAPPED(&network)) {
            memset(&network.s6_addr[8], 0, 8);
        }
    } else if (address->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        memset(&network.s6_addr[10], 0xff, 2);
        memcpy(&network.s6_addr[12], &v4->sin_addr, sizeof(v4->sin_addr));
    } else {
        return false;
    }
    *ret_network = network;
    return true;
}
