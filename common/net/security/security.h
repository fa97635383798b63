/*
 * Security: what a process proves itself with, and what it asks of its peers. Made once from a
 * daemon's options, handed to every socket in aq_net_limits.
 *
 * With certificates (--certs) every tcp:// socket speaks TLS 1.2, both ends show a certificate of
 * the run's own authority, and nothing else is trusted. A listening end's certificate is made out
 * to AQ_TLS_SERVER_NAME, not to a host: members meet at addresses that are learned at run time,
 * change, and are numbers as often as names, which mbedTLS 2.28 cannot compare at all. That an
 * authority signs for one run only is what makes one name enough. ipc:// and inproc:// stay plain:
 * the file system guards them.
 *
 * With a token every call is signed (token.h), and a daemon serves what the caller's role may call.
 *
 * Immutable once made: any thread.
 */
#ifndef AQ_COMMON_NET_SECURITY_SECURITY_H
#define AQ_COMMON_NET_SECURITY_SECURITY_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/net/security/token.h"
#include "common/sys/daemon.h"

#define AQ_TLS_SERVER_NAME "actorq"

typedef struct aq_security aq_security;

/* Reads options->certs_dir (ca.pem, cert.pem, key.pem, and token where there is no other) and the
 * token: of options->token_file, else of ACTORQ_TOKEN, else of the folder. `*ret_security` is NULL
 * when there is neither. The error names the file, and never what is in it; AQ_E_INVALID for a
 * certificate that has expired, or a token of another role than `own`.
 *
 * `own` AQ_ACCESS_NONE: a command, which may be given any role's. It asks, maybe more than once,
 * and leaves ACTORQ_TOKEN where it is; daemons take it out of their environment. */
int aq_security_load(const aq_daemon_options *options, enum aq_access_role own,
                     aq_security **ret_security, aq_error *error) AQ_MUST_USE;

/* What a command calls daemons with: ACTORQ_CERTS, ACTORQ_TOKEN_FILE, ACTORQ_TOKEN. */
int aq_security_from_environment(aq_security **ret_security, aq_error *error) AQ_MUST_USE;

/* After the last socket. NULL is fine, here and below. */
void aq_security_destroy(aq_security *security);

bool aq_security_has_tls(const aq_security *security);
const aq_token *aq_security_token(const aq_security *security); /* NULL: none */

/* When the certificate, or its authority's, ends; seconds since 1970, 0 without. */
int64_t aq_security_expires_s(const aq_security *security);

/* "tls+token", "tls", "token" or "none". */
const char *aq_security_text(const aq_security *security);

/* AQ_E_INVALID, and what to do, when others than this host could reach `url` and nothing would keep
 * them out, unless `insecure`. */
int aq_security_may_listen(const aq_security *security, const char *url, bool insecure,
                           aq_error *error) AQ_MUST_USE;

#endif
