/*
 * NNG makes a socket, connects it, and once that has succeeded, or when it has accepted one, says
 * whether TCP is to keep the connection alive; which all of ours ask for (endpoint.c). So there are
 * two moments, and two functions that stand in for those of the C library. What cannot be set is
 * no reason to refuse a connection: it is only given up later then.
 */
#define _DEFAULT_SOURCE /* syscall */

#include "common/net/nng_mend/tcp_patience.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/net/nng_mend/name_turns.h"
#include "common/net/nng_mend/stand_in.h"

/* A connection on which nothing comes is asked after so long, and then again and again; whether it
 * is given up is said by AQ_TCP_SILENCE_MS. */
enum { IDLE_S = 4, AGAIN_S = 2 };

void aq_tcp_patience(void)
{
}

static void set_number(int descriptor, int option, int value)
{
    (void)syscall(SYS_setsockopt, descriptor, IPPROTO_TCP, option, &value, sizeof(value));
}

static bool is_tcp(int descriptor, const struct sockaddr *address)
{
    int type = 0;
    socklen_t size = sizeof(type);

    return (address->sa_family == AF_INET || address->sa_family == AF_INET6) &&
           getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

AQ_STAND_IN int connect(int descriptor, const struct sockaddr *address, socklen_t size)
{
    if (!AQ_NNG_CALLS() || address == NULL || !is_tcp(descriptor, address)) {
        return (int)syscall(SYS_connect, descriptor, address, size);
    }
    bool others_wait = aq_name_turns_begin(descriptor, address);
    set_number(descriptor, TCP_USER_TIMEOUT, others_wait ? AQ_TCP_DIAL_MS / 2 : AQ_TCP_DIAL_MS);
    int rc = (int)syscall(SYS_connect, descriptor, address, size);
    aq_name_turns_end(descriptor, rc == 0 ? 0 : errno);
    return rc;
}

AQ_STAND_IN int setsockopt(int descriptor, int level, int option, const void *value, socklen_t size)
{
    int rc = (int)syscall(SYS_setsockopt, descriptor, level, option, value, size);

    if (rc == 0 && level == SOL_SOCKET && option == SO_KEEPALIVE && *(const int *)value != 0 &&
        AQ_NNG_CALLS()) {
        set_number(descriptor, TCP_KEEPIDLE, IDLE_S);
        set_number(descriptor, TCP_KEEPINTVL, AGAIN_S);
        set_number(descriptor, TCP_USER_TIMEOUT, AQ_TCP_SILENCE_MS);
    }
    return rc;
}
