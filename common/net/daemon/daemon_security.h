/*
 * What every daemon does with its credentials, in one place: loads them, refuses to listen in the
 * open without any, says what it is protected by, and logs who was turned away. Part of the
 * programs rather than of the library: it logs. Loop thread only.
 */
#ifndef AQ_COMMON_NET_DAEMON_DAEMON_SECURITY_H
#define AQ_COMMON_NET_DAEMON_DAEMON_SECURITY_H

#include "common/net/rpc/rpc.h"
#include "common/net/security/security.h"
#include "common/sys/log.h"

typedef struct aq_daemon_security {
    aq_security *security; /* for aq_net_limits; NULL: none */
    aq_log_limit refused_limit;
} aq_daemon_security;

/* `listen_url` NULL: this daemon listens nowhere. AQ_E_INVALID when it would listen in the open, or
 * has the token of another role. */
int aq_daemon_security_open(aq_daemon_security *own, const aq_daemon_options *options,
                            enum aq_access_role role, const char *listen_url,
                            aq_error *error) AQ_MUST_USE;

/* Logs who is turned away (call_refused), a line a second at most. */
void aq_daemon_security_watch(aq_daemon_security *own, aq_rpc_dispatcher *dispatcher);

/* Says what there is to know before `url` is served: secured, listening_unprotected,
 * certificate_ends. `url` may be NULL. */
void aq_daemon_security_say(const aq_daemon_security *own, const char *url);

/* After the last socket. */
void aq_daemon_security_close(aq_daemon_security *own);

#endif
