/*
 * A daemon's credentials: see daemon_security.h.
 */
#include "common/net/daemon/daemon_security.h"

#include <inttypes.h>

#include "common/base/clock.h"
#include "common/net/address/url.h"

enum { DAY_S = 24 * 3600, WARN_DAYS = 30 };

int aq_daemon_security_open(aq_daemon_security *own, const aq_daemon_options *options,
                            enum aq_access_role role, const char *listen_url, aq_error *error)
{
    *own = (aq_daemon_security){0};
    int rc = aq_security_load(options, role, &own->security, error);
    if (rc == 0 && listen_url != NULL) {
        rc = aq_security_may_listen(own->security, listen_url, options->insecure, error);
    }
    return rc;
}

static void on_refused(void *user, const char *peer, enum aq_access_role role, const char *method,
                       const char *why)
{
    aq_daemon_security *own = user;
    char quoted_method[AQ_RPC_METHOD_MAX + 64];

    aq_log_limited(&own->refused_limit, aq_clock_monotonic_ns(), AQ_LOG_WARN, "call_refused",
                   "nothing was carried out", "peer=%s caller=%s method=%s reason=%s", peer,
                   aq_access_role_name(role),
                   aq_log_quote(quoted_method, sizeof(quoted_method), method), AQ_LOG_QUOTED(why));
}

void aq_daemon_security_watch(aq_daemon_security *own, aq_rpc_dispatcher *dispatcher)
{
    aq_rpc_dispatcher_on_refused(dispatcher, on_refused, own);
}

static void say_end(const aq_daemon_security *own)
{
    int64_t expires_s = aq_security_expires_s(own->security);
    int64_t left_s = expires_s - aq_clock_wall_ns() / AQ_NS_PER_S;

    if (expires_s != 0 && left_s < (int64_t)WARN_DAYS * DAY_S) {
        aq_log(AQ_LOG_WARN, "certificate_ends",
               "no connection can be made after that; see 'actorq certs DIR --renew'",
               "days=%" PRId64, left_s / DAY_S);
    }
}

void aq_daemon_security_say(const aq_daemon_security *own, const char *url)
{
    const aq_token *token = aq_security_token(own->security);

    if (own->security != NULL) {
        aq_log(AQ_LOG_INFO, "secured", "", "by=%s holder=%s", aq_security_text(own->security),
               aq_access_role_name(token == NULL ? AQ_ACCESS_NONE : aq_token_role(token)));
    } else if (url != NULL && !aq_url_is_local(url)) {
        aq_log(AQ_LOG_WARN, "listening_unprotected",
               "anybody who reaches this address can read, fill or stop the run; keep it inside a "
               "trusted network, or see 'actorq certs'",
               "url=%s", url);
    }
    say_end(own);
}

void aq_daemon_security_close(aq_daemon_security *own)
{
    aq_security_destroy(own->security);
    own->security = NULL;
}
