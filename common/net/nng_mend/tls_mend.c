/*
 * One signature at a time, the reason of a handshake that failed, and what peers say over TLS,
 * which the door (tcp_door.h) follows as it does over TCP.
 *
 * NNG keeps one private key and one authority for all handshakes of a socket, and its threads
 * shake hands at the same time. mbedTLS 2.28 writes to an elliptic key that it signs or verifies
 * with: the first use makes a table that later ones read. Two first uses at once, as when a run's
 * actors all connect, free each other's table while a third reads it. RSA keys have a lock of their
 * own, these have none; so the functions through which handshakes reach keys take turns here, in
 * the whole process. A signature takes about a millisecond.
 *
 * The linker prefers a program's own function over a shared library's of the same name, also for
 * calls from within other libraries, as in nng_mend.c.
 */
#define _GNU_SOURCE /* PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP */

#include "common/net/nng_mend/tls_mend.h"

#include <mbedtls/pk.h>
#include <mbedtls/ssl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "common/base/assert.h"
#include "common/base/mutex.h"
#include "common/net/nng_mend/stand_in.h"
#include "common/net/nng_mend/tcp_door.h"

typedef int (*rng_fn)(void *, unsigned char *, size_t);
typedef int (*sign_fn)(mbedtls_pk_context *key, mbedtls_md_type_t hash, const unsigned char *digest,
                       size_t digest_size, unsigned char *signature, size_t *signature_size,
                       rng_fn rng, void *rng_user);
typedef int (*sign_restartable_fn)(mbedtls_pk_context *key, mbedtls_md_type_t hash,
                                   const unsigned char *digest, size_t digest_size,
                                   unsigned char *signature, size_t *signature_size, rng_fn rng,
                                   void *rng_user, mbedtls_pk_restart_ctx *restart);
typedef int (*verify_ext_fn)(mbedtls_pk_type_t type, const void *options, mbedtls_pk_context *key,
                             mbedtls_md_type_t hash, const unsigned char *digest,
                             size_t digest_size, const unsigned char *signature,
                             size_t signature_size);
typedef int (*handshake_fn)(mbedtls_ssl_context *ssl);
typedef int (*defaults_fn)(mbedtls_ssl_config *config, int endpoint, int transport, int preset);
typedef int (*read_fn)(mbedtls_ssl_context *ssl, unsigned char *bytes, size_t size_max);

/* Process-wide. Recursive, since each of them may be made of another. */
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sign_fn real_sign;
static sign_restartable_fn real_sign_restartable;
static verify_ext_fn real_verify_ext;
static handshake_fn real_handshake;
static defaults_fn real_defaults;
static read_fn real_read;
static _Atomic(const char *) refusal; /* see aq_tls_refusal */

/* The function that the library has by this name, behind ours. */
static void find(const char *name, void *ret_function)
{
    aq_find_theirs(name, ret_function);
    AQ_ASSERT(aq_stands_in(name));
}

static void find_real(void)
{
    find("mbedtls_pk_sign", &real_sign);
    find("mbedtls_pk_sign_restartable", &real_sign_restartable);
    find("mbedtls_pk_verify_ext", &real_verify_ext);
    find("mbedtls_ssl_handshake", &real_handshake);
    find("mbedtls_ssl_config_defaults", &real_defaults);
    find("mbedtls_ssl_read", &real_read);
}

void aq_tls_mend(void)
{
    int rc = pthread_once(&once, find_real);

    AQ_ASSERT(rc == 0);
}

static void take_turn(void)
{
    aq_tls_mend();
    aq_mutex_lock(&turn);
}

AQ_STAND_IN int mbedtls_pk_sign(mbedtls_pk_context *key, mbedtls_md_type_t hash,
                                const unsigned char *digest, size_t digest_size,
                                unsigned char *signature, size_t *signature_size, rng_fn rng,
                                void *rng_user)
{
    take_turn();
    int rc = real_sign(key, hash, digest, digest_size, signature, signature_size, rng, rng_user);
    aq_mutex_unlock(&turn);
    return rc;
}

AQ_STAND_IN int mbedtls_pk_sign_restartable(mbedtls_pk_context *key, mbedtls_md_type_t hash,
                                            const unsigned char *digest, size_t digest_size,
                                            unsigned char *signature, size_t *signature_size,
                                            rng_fn rng, void *rng_user,
                                            mbedtls_pk_restart_ctx *restart)
{
    take_turn();
    int rc = real_sign_restartable(key, hash, digest, digest_size, signature, signature_size, rng,
                                   rng_user, restart);
    aq_mutex_unlock(&turn);
    return rc;
}

AQ_STAND_IN int mbedtls_pk_verify_ext(mbedtls_pk_type_t type, const void *options,
                                      mbedtls_pk_context *key, mbedtls_md_type_t hash,
                                      const unsigned char *digest, size_t digest_size,
                                      const unsigned char *signature, size_t signature_size)
{
    take_turn();
    int rc =
        real_verify_ext(type, options, key, hash, digest, digest_size, signature, signature_size);
    aq_mutex_unlock(&turn);
    return rc;
}

/* ---- ciphers -------------------------------------------------------------------------------- */

/* With forward secrecy, and authenticated as they are encrypted: no CBC, whose padding tells. NNG
 * has no setting for this. */
AQ_STAND_IN int mbedtls_ssl_config_defaults(mbedtls_ssl_config *config, int endpoint, int transport,
                                            int preset)
{
    static const int suites[] = {
        MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
        MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
        MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
        0,
    };

    aq_tls_mend();
    int rc = real_defaults(config, endpoint, transport, preset);
    mbedtls_ssl_conf_ciphersuites(config, suites);
    return rc;
}

/* ---- why a handshake failed ----------------------------------------------------------------- */

/* What we have against the certificate of whom we called. */
static const char *our_refusal(uint32_t flags)
{
    if ((flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED) != 0) {
        return "its certificate is of another authority than ours";
    }
    if ((flags & MBEDTLS_X509_BADCERT_EXPIRED) != 0) {
        return "its certificate has expired; 'actorq certs DIR --renew' makes new ones";
    }
    if ((flags & MBEDTLS_X509_BADCERT_FUTURE) != 0) {
        return "its certificate is not valid yet; are both clocks right?";
    }
    if ((flags & (MBEDTLS_X509_BADCERT_CN_MISMATCH | MBEDTLS_X509_BADCERT_EXT_KEY_USAGE)) != 0) {
        return "its certificate is not one of a learner or a shard";
    }
    return "its certificate cannot be verified";
}

/* What it has against ours, as far as it says. */
static const char *its_refusal(uint8_t alert)
{
    switch (alert) {
    case MBEDTLS_SSL_ALERT_MSG_UNKNOWN_CA:
        return "it refuses our certificate, which is of another authority than its own";
    case MBEDTLS_SSL_ALERT_MSG_CERT_EXPIRED:
        return "it refuses our certificate, which has expired; 'actorq certs DIR --renew' makes "
               "new ones";
    case MBEDTLS_SSL_ALERT_MSG_BAD_CERT:
    case MBEDTLS_SSL_ALERT_MSG_UNSUPPORTED_CERT:
    case MBEDTLS_SSL_ALERT_MSG_CERT_REVOKED:
    case MBEDTLS_SSL_ALERT_MSG_CERT_UNKNOWN:
    case MBEDTLS_SSL_ALERT_MSG_ACCESS_DENIED:
        return "it refuses our certificate";
    default:
        return "it refuses the handshake";
    }
}

const char *aq_tls_refusal(void)
{
    return atomic_load(&refusal);
}

static const char *refusal_of(const mbedtls_ssl_context *ssl, int rc)
{
    switch (rc) {
    case MBEDTLS_ERR_X509_CERT_VERIFY_FAILED:
        return our_refusal(mbedtls_ssl_get_verify_result(ssl));
    case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
        return its_refusal(ssl->in_msg[1]); /* behind the level */
    case MBEDTLS_ERR_SSL_INVALID_RECORD:
        return "it does not speak TLS: another program, or started without --certs";
    default: /* a connection that ended says less than what was said before */
        return aq_tls_refusal() != NULL
                   ? aq_tls_refusal()
                   : "it ended the handshake: another program, or started without --certs";
    }
}

/* ---- what is read --------------------------------------------------------------------------- */

/* mbedTLS fetches what it needs through NNG, which reads from the descriptor on this thread the
 * first time: so the door sees whose connection this is. The ticket is kept where a timer would be,
 * which only DTLS has. */
static uintptr_t ticket_of(const mbedtls_ssl_context *ssl)
{
    return (uintptr_t)ssl->p_timer;
}

static void keep_ticket(mbedtls_ssl_context *ssl, uintptr_t ticket)
{
    ssl->p_timer = (void *)ticket;
}

AQ_STAND_IN int mbedtls_ssl_handshake(mbedtls_ssl_context *ssl)
{
    aq_tls_mend();
    uintptr_t ticket = ticket_of(ssl);
    uintptr_t *before = aq_tcp_door_note(&ticket);
    int rc = real_handshake(ssl);
    (void)aq_tcp_door_note(before);
    keep_ticket(ssl, ticket);
    if (ssl->conf->endpoint == MBEDTLS_SSL_IS_CLIENT && rc != MBEDTLS_ERR_SSL_WANT_READ &&
        rc != MBEDTLS_ERR_SSL_WANT_WRITE) {
        atomic_store(&refusal, rc == 0 ? NULL : refusal_of(ssl, rc));
    }
    return rc;
}

AQ_STAND_IN int mbedtls_ssl_read(mbedtls_ssl_context *ssl, unsigned char *bytes, size_t size_max)
{
    aq_tls_mend();
    uintptr_t ticket = ticket_of(ssl);
    if (ticket == 0) { /* we have called */
        return real_read(ssl, bytes, size_max);
    }
    aq_tcp_door_goes_on(ticket);
    int rc = real_read(ssl, bytes, size_max);
    return rc > 0 && !aq_tcp_door_hears(ticket, bytes, (size_t)rc) ? MBEDTLS_ERR_SSL_CONN_EOF : rc;
}
