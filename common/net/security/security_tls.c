/*
 * Certificates: read, checked against each other while somebody looks, and put into NNG's
 * configurations, one for all listening and one for all dialling sockets of the process.
 *
 * NNG would find the same faults, but at each handshake, and says none of them.
 */
#include "common/net/security/security_tls.h"

#include <limits.h>
#include <mbedtls/oid.h>
#include <mbedtls/x509_crt.h>

#include "common/base/buffer.h"
#include "common/base/parse.h"
#include "common/net/nng_mend/tls_mend.h"
#include "common/net/security/certificate.h"
#include "common/net/security/nng_error.h"
#include "common/net/security/secret_file.h"
#include "common/net/security/security.h"
#include "common/sys/file.h"

enum { PEM_MAX = 64 * 1024 };

/* The three files, terminated, and what they mean. */
typedef struct credentials {
    const char *folder;
    aq_buffer ca_text;
    aq_buffer cert_text;
    aq_secret key_text;
    mbedtls_x509_crt ca;
    mbedtls_x509_crt cert;
    mbedtls_pk_context key;
} credentials;

static int file_path(const char *folder, const char *name, char *ret_path, aq_error *error)
{
    int rc = aq_text_format(ret_path, PATH_MAX, "%s/%s", folder, name);

    return rc < 0 ? aq_fail(error, rc, "the name of the folder of certificates is too long") : 0;
}

static int read_certificates(const char *folder, const char *name, aq_buffer *text,
                             mbedtls_x509_crt *certificates, aq_error *error)
{
    char path[PATH_MAX];
    int rc = file_path(folder, name, path, error);

    if (rc == 0) {
        rc = aq_file_read(path, text, error);
    }
    if (rc == 0 && aq_buffer_append(text, "", 1) < 0) {
        rc = aq_fail(error, AQ_E_TOO_BIG, "%s is too long for certificates", path);
    }
    if (rc == 0 && mbedtls_x509_crt_parse(certificates, text->data, text->size) != 0) {
        rc = aq_fail(error, AQ_E_INVALID, "%s holds no certificate in PEM, or a damaged one", path);
    }
    return rc;
}

static int read_key(credentials *own, aq_error *error)
{
    char path[PATH_MAX];
    int rc = file_path(own->folder, "key.pem", path, error);

    if (rc == 0) {
        rc = aq_secret_read(path, PEM_MAX, &own->key_text, error);
    }
    if (rc == 0 && mbedtls_pk_parse_key(&own->key, (const uint8_t *)own->key_text.text,
                                        own->key_text.size + 1, NULL, 0) != 0) {
        rc = aq_fail(error, AQ_E_INVALID, "%s holds no unencrypted private key in PEM", path);
    }
    return rc;
}

/* ---- checks -------------------------------------------------------------------------------- */

static const char *fault_text(uint32_t flags)
{
    if ((flags & MBEDTLS_X509_BADCERT_EXPIRED) != 0) {
        return "has expired; make new certificates with 'actorq certs DIR --renew'";
    }
    if ((flags & MBEDTLS_X509_BADCERT_FUTURE) != 0) {
        return "is not valid yet; is this host's clock right?";
    }
    if ((flags & MBEDTLS_X509_BADCERT_NOT_TRUSTED) != 0) {
        return "is not signed by the authority of ca.pem beside it";
    }
    if ((flags & MBEDTLS_X509_BADCERT_CN_MISMATCH) != 0) {
        return "is not made out to the name '" AQ_TLS_SERVER_NAME
               "', which a daemon that listens needs";
    }
    return "cannot be verified";
}

static int check_certificate(credentials *own, bool listens, aq_error *error)
{
    uint32_t flags = 0;

    if (mbedtls_x509_crt_verify(&own->cert, &own->ca, NULL, listens ? AQ_TLS_SERVER_NAME : NULL,
                                &flags, NULL, NULL) != 0) {
        return aq_fail(error, AQ_E_INVALID, "%s/cert.pem %s", own->folder, fault_text(flags));
    }
    if (mbedtls_x509_crt_check_extended_key_usage(&own->cert, MBEDTLS_OID_CLIENT_AUTH,
                                                  MBEDTLS_OID_SIZE(MBEDTLS_OID_CLIENT_AUTH)) != 0 ||
        (listens && mbedtls_x509_crt_check_extended_key_usage(
                        &own->cert, MBEDTLS_OID_SERVER_AUTH,
                        MBEDTLS_OID_SIZE(MBEDTLS_OID_SERVER_AUTH)) != 0)) {
        return aq_fail(error, AQ_E_INVALID, "%s/cert.pem is not made for %s", own->folder,
                       listens ? "a daemon that listens" : "connecting to daemons");
    }
    if (mbedtls_pk_check_pair(&own->cert.pk, &own->key) != 0) {
        return aq_fail(error, AQ_E_INVALID, "%s/key.pem is not the key of cert.pem beside it",
                       own->folder);
    }
    return 0;
}

static int64_t first_end_s(const credentials *own)
{
    int64_t own_s = aq_certificate_seconds(&own->cert.valid_to);
    int64_t ca_s = aq_certificate_seconds(&own->ca.valid_to);

    return own_s < ca_s ? own_s : ca_s;
}

/* ---- NNG's configurations ------------------------------------------------------------------ */

static int make_config(const credentials *own, nng_tls_mode mode, nng_tls_config **ret_config)
{
    nng_tls_config *config;
    int rc = nng_tls_config_alloc(&config, mode);

    if (rc != 0) {
        return rc;
    }
    rc = nng_tls_config_version(config, NNG_TLS_1_2, NNG_TLS_1_3);
    if (rc == 0) {
        rc = nng_tls_config_auth_mode(config, NNG_TLS_AUTH_MODE_REQUIRED);
    }
    if (rc == 0) {
        rc = nng_tls_config_ca_chain(config, (const char *)own->ca_text.data, NULL);
    }
    if (rc == 0) {
        rc = nng_tls_config_own_cert(config, (const char *)own->cert_text.data, own->key_text.text,
                                     NULL);
    }
    if (rc == 0 && mode == NNG_TLS_MODE_CLIENT) {
        rc = nng_tls_config_server_name(config, AQ_TLS_SERVER_NAME);
    }
    if (rc != 0) {
        nng_tls_config_free(config);
        return rc;
    }
    *ret_config = config;
    return 0;
}

static int make_configs(const credentials *own, bool listens, aq_tls *tls, aq_error *error)
{
    int rc = make_config(own, NNG_TLS_MODE_CLIENT, &tls->client);

    if (rc == 0 && listens) {
        rc = make_config(own, NNG_TLS_MODE_SERVER, &tls->server);
    }
    return rc == 0 ? 0
                   : aq_fail(error, aq_error_from_nng(rc), "the certificates in %s: %s",
                             own->folder, nng_strerror(rc));
}

int aq_tls_load(const char *folder, bool listens, aq_tls *ret_tls, aq_error *error)
{
    credentials own = {.folder = folder};
    aq_tls tls = {0};

    aq_tls_mend();
    aq_buffer_init(&own.ca_text, PEM_MAX);
    aq_buffer_init(&own.cert_text, PEM_MAX);
    mbedtls_x509_crt_init(&own.ca);
    mbedtls_x509_crt_init(&own.cert);
    mbedtls_pk_init(&own.key);
    int rc = read_certificates(folder, "ca.pem", &own.ca_text, &own.ca, error);
    if (rc == 0) {
        rc = read_certificates(folder, "cert.pem", &own.cert_text, &own.cert, error);
    }
    if (rc == 0) {
        rc = read_key(&own, error);
    }
    if (rc == 0) {
        rc = check_certificate(&own, listens, error);
    }
    if (rc == 0) {
        tls.expires_s = first_end_s(&own);
        rc = make_configs(&own, listens, &tls, error);
    }
    mbedtls_pk_free(&own.key); /* which wipes it */
    mbedtls_x509_crt_free(&own.cert);
    mbedtls_x509_crt_free(&own.ca);
    aq_secret_wipe(&own.key_text);
    aq_buffer_fini(&own.cert_text);
    aq_buffer_fini(&own.ca_text);
    if (rc < 0) {
        aq_tls_fini(&tls);
        return rc;
    }
    *ret_tls = tls;
    return 0;
}

void aq_tls_fini(aq_tls *tls)
{
    if (tls->client != NULL) {
        nng_tls_config_free(tls->client);
    }
    if (tls->server != NULL) {
        nng_tls_config_free(tls->server);
    }
    *tls = (aq_tls){0};
}
