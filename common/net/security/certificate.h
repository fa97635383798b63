/*
 * Making certificates: an elliptic key (P-256) and a certificate for it, of a run's own authority.
 * Any thread; no state.
 */
#ifndef AQ_COMMON_NET_SECURITY_CERTIFICATE_H
#define AQ_COMMON_NET_SECURITY_CERTIFICATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_CERTIFICATE_PEM_MAX = 4096, AQ_CERTIFICATE_NAME_MAX = 64 };

/* Terminated texts. The key is a secret: wipe it. */
typedef struct aq_certificate {
    char cert[AQ_CERTIFICATE_PEM_MAX];
    char key[AQ_CERTIFICATE_PEM_MAX];
} aq_certificate;

typedef struct aq_certificate_spec {
    const char *name; /* for people: letters, digits, blanks and '-' */
    bool listens;     /* may be a server, too, under AQ_TLS_SERVER_NAME */
    int64_t from_s;   /* validity, seconds since 1970 */
    int64_t until_s;
} aq_certificate_spec;

struct mbedtls_x509_time;
int64_t aq_certificate_seconds(const struct mbedtls_x509_time *when); /* since 1970 */

/* When it ends, in seconds since 1970. AQ_E_INVALID when it cannot be read. */
int aq_certificate_end(const aq_certificate *certificate, int64_t *ret_end_s,
                       aq_error *error) AQ_MUST_USE;

/* `issuer` NULL: an authority, which signs for itself and may sign others. AQ_E_INVALID when the
 * issuer cannot be read, AQ_E_NOMEM. */
int aq_certificate_make(const aq_certificate_spec *spec, const aq_certificate *issuer,
                        aq_certificate *ret_certificate, aq_error *error) AQ_MUST_USE;

#endif
