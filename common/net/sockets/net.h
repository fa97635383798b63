/*
 * What every socket shares: its limits. With certificates tcp:// is spoken over TLS, by all sockets
 * of a process.
 */
#ifndef AQ_COMMON_NET_SOCKETS_NET_H
#define AQ_COMMON_NET_SOCKETS_NET_H

#include <stddef.h>
#include <stdint.h>

struct aq_security;

typedef struct aq_net_limits {
    size_t message_bytes_max; /* RECVMAXSZ; a larger one drops its connection */
    uint32_t reconnect_min_ms;
    uint32_t reconnect_max_ms;
    const struct aq_security *security; /* outlives the socket; NULL: plain, and no token */
} aq_net_limits;

#endif
