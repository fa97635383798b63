/*
 * The TLS half of security, for sockets. Private to net.
 */
#ifndef AQ_COMMON_NET_SECURITY_SECURITY_TLS_H
#define AQ_COMMON_NET_SECURITY_SECURITY_TLS_H

#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_tls {
    nng_tls_config *server;
    nng_tls_config *client;
    int64_t expires_s;
} aq_tls;

/* Reads ca.pem, cert.pem and key.pem of a folder; checks that they fit each other. */
int aq_tls_load(const char *folder, bool listens, aq_tls *ret_tls, aq_error *error) AQ_MUST_USE;
void aq_tls_fini(aq_tls *tls);

struct aq_security;

/* NULL: plain. */
const aq_tls *aq_security_tls(const struct aq_security *security);

#endif
