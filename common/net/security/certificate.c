/*
 * Certificates: see certificate.h. mbedTLS 2.28 writes all of them but two extensions, the name
 * that a server is made out to and what the key is for, which are a few fixed bytes.
 */
#define _GNU_SOURCE /* timegm */

#include "common/net/security/certificate.h"

#include <mbedtls/bignum.h>
#include <mbedtls/oid.h>
#include <mbedtls/pk.h>
#include <mbedtls/x509_crt.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/net/security/security.h"

enum {
    SERIAL_BYTES = 16,
    TIME_TEXT_BYTES = 16,
    SUBJECT_BYTES = AQ_CERTIFICATE_NAME_MAX + 32,
    ENTROPY_MAX = 256, /* that the system gives at once */
};

/* subjectAltName, the DNS name AQ_TLS_SERVER_NAME. */
static const uint8_t server_name[] = {0x30, 0x08, 0x82, 0x06, 'a', 'c', 't', 'o', 'r', 'q'};

_Static_assert(sizeof(AQ_TLS_SERVER_NAME) - 1 == 6, "the name that is written above");

/* extKeyUsage: clientAuth; clientAuth and serverAuth. */
static const uint8_t for_clients[] = {0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06,
                                      0x01, 0x05, 0x05, 0x07, 0x03, 0x02};
static const uint8_t for_servers[] = {0x30, 0x14, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05,
                                      0x05, 0x07, 0x03, 0x02, 0x06, 0x08, 0x2b, 0x06,
                                      0x01, 0x05, 0x05, 0x07, 0x03, 0x01};

static int get_random(void *user, unsigned char *bytes, size_t size)
{
    (void)user;
    while (size > 0) {
        size_t part = size < ENTROPY_MAX ? size : ENTROPY_MAX;

        if (getentropy(bytes, part) != 0) {
            return -1;
        }
        bytes += part;
        size -= part;
    }
    return 0;
}

/* Everything that is open while one certificate is made. */
typedef struct workshop {
    mbedtls_pk_context key;
    mbedtls_pk_context issuer_key;
    mbedtls_x509_crt issuer_cert;
    mbedtls_x509write_cert writer;
    mbedtls_mpi serial;
} workshop;

static void open_workshop(workshop *shop)
{
    mbedtls_pk_init(&shop->key);
    mbedtls_pk_init(&shop->issuer_key);
    mbedtls_x509_crt_init(&shop->issuer_cert);
    mbedtls_x509write_crt_init(&shop->writer);
    mbedtls_mpi_init(&shop->serial);
}

static void close_workshop(workshop *shop)
{
    mbedtls_mpi_free(&shop->serial);
    mbedtls_x509write_crt_free(&shop->writer);
    mbedtls_x509_crt_free(&shop->issuer_cert);
    mbedtls_pk_free(&shop->issuer_key);
    mbedtls_pk_free(&shop->key);
}

static int make_key(mbedtls_pk_context *key)
{
    int rc = mbedtls_pk_setup(key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECKEY));

    if (rc == 0) {
        rc = mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(*key), get_random, NULL);
    }
    return rc;
}

static int set_serial(workshop *shop)
{
    uint8_t bytes[SERIAL_BYTES];
    int rc = get_random(NULL, bytes, sizeof(bytes));

    bytes[0] &= 0x7f; /* a positive number */
    bytes[0] |= 0x40; /* of this many bytes */
    if (rc == 0) {
        rc = mbedtls_mpi_read_binary(&shop->serial, bytes, sizeof(bytes));
    }
    if (rc == 0) {
        rc = mbedtls_x509write_crt_set_serial(&shop->writer, &shop->serial);
    }
    return rc;
}

static int set_validity(workshop *shop, const aq_certificate_spec *spec)
{
    time_t from_s = (time_t)spec->from_s;
    time_t until_s = (time_t)spec->until_s;
    char from[TIME_TEXT_BYTES];
    char until[TIME_TEXT_BYTES];
    struct tm parts;

    if (strftime(from, sizeof(from), "%Y%m%d%H%M%S", gmtime_r(&from_s, &parts)) == 0 ||
        strftime(until, sizeof(until), "%Y%m%d%H%M%S", gmtime_r(&until_s, &parts)) == 0) {
        return -1;
    }
    return mbedtls_x509write_crt_set_validity(&shop->writer, from, until);
}

static int set_names(workshop *shop, const aq_certificate_spec *spec, bool is_authority)
{
    char issuer[SUBJECT_BYTES * 2];
    char subject[SUBJECT_BYTES];
    int rc = aq_text_format(subject, sizeof(subject), "O=ActorQ,CN=%s", spec->name);

    AQ_ASSERT(rc == 0);
    rc = mbedtls_x509write_crt_set_subject_name(&shop->writer, subject);
    if (rc == 0 && !is_authority &&
        mbedtls_x509_dn_gets(issuer, sizeof(issuer), &shop->issuer_cert.subject) < 0) {
        rc = -1;
    }
    return rc != 0 ? rc
                   : mbedtls_x509write_crt_set_issuer_name(&shop->writer,
                                                           is_authority ? subject : issuer);
}

static int set_uses(workshop *shop, const aq_certificate_spec *spec, bool is_authority)
{
    mbedtls_x509write_cert *writer = &shop->writer;
    const uint8_t *uses = spec->listens ? for_servers : for_clients;
    size_t uses_size = spec->listens ? sizeof(for_servers) : sizeof(for_clients);
    int rc = mbedtls_x509write_crt_set_basic_constraints(writer, is_authority, 0);

    if (rc == 0) {
        rc = mbedtls_x509write_crt_set_key_usage(writer, is_authority
                                                             ? MBEDTLS_X509_KU_KEY_CERT_SIGN
                                                             : MBEDTLS_X509_KU_DIGITAL_SIGNATURE);
    }
    if (rc == 0 && !is_authority) {
        rc = mbedtls_x509write_crt_set_extension(writer, MBEDTLS_OID_EXTENDED_KEY_USAGE,
                                                 MBEDTLS_OID_SIZE(MBEDTLS_OID_EXTENDED_KEY_USAGE),
                                                 0, uses, uses_size);
    }
    if (rc == 0 && spec->listens) {
        rc = mbedtls_x509write_crt_set_extension(writer, MBEDTLS_OID_SUBJECT_ALT_NAME,
                                                 MBEDTLS_OID_SIZE(MBEDTLS_OID_SUBJECT_ALT_NAME), 0,
                                                 server_name, sizeof(server_name));
    }
    return rc;
}

static int write_texts(workshop *shop, aq_certificate *made)
{
    int rc = mbedtls_x509write_crt_pem(&shop->writer, (uint8_t *)made->cert, sizeof(made->cert),
                                       get_random, NULL);

    return rc != 0 ? rc
                   : mbedtls_pk_write_key_pem(&shop->key, (uint8_t *)made->key, sizeof(made->key));
}

int64_t aq_certificate_seconds(const mbedtls_x509_time *when)
{
    struct tm parts = {.tm_year = when->year - 1900,
                       .tm_mon = when->mon - 1,
                       .tm_mday = when->day,
                       .tm_hour = when->hour,
                       .tm_min = when->min,
                       .tm_sec = when->sec};

    return (int64_t)timegm(&parts);
}

int aq_certificate_end(const aq_certificate *certificate, int64_t *ret_end_s, aq_error *error)
{
    mbedtls_x509_crt cert;
    int rc = 0;

    mbedtls_x509_crt_init(&cert);
    if (mbedtls_x509_crt_parse(&cert, (const uint8_t *)certificate->cert,
                               strlen(certificate->cert) + 1) != 0) {
        rc = aq_fail(error, AQ_E_INVALID, "the certificate cannot be read");
    } else {
        *ret_end_s = aq_certificate_seconds(&cert.valid_to);
    }
    mbedtls_x509_crt_free(&cert);
    return rc;
}

static int read_issuer(workshop *shop, const aq_certificate *issuer, aq_error *error)
{
    if (mbedtls_x509_crt_parse(&shop->issuer_cert, (const uint8_t *)issuer->cert,
                               strlen(issuer->cert) + 1) != 0 ||
        mbedtls_pk_parse_key(&shop->issuer_key, (const uint8_t *)issuer->key,
                             strlen(issuer->key) + 1, NULL, 0) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the authority's certificate or key cannot be read");
    }
    if (mbedtls_pk_check_pair(&shop->issuer_cert.pk, &shop->issuer_key) != 0) {
        return aq_fail(error, AQ_E_INVALID, "the authority's key is not that of its certificate");
    }
    return 0;
}

int aq_certificate_make(const aq_certificate_spec *spec, const aq_certificate *issuer,
                        aq_certificate *ret_certificate, aq_error *error)
{
    bool is_authority = issuer == NULL;
    workshop shop;
    int rc = 0;

    AQ_ASSERT(strlen(spec->name) <= AQ_CERTIFICATE_NAME_MAX);
    AQ_ASSERT(!is_authority || !spec->listens);
    open_workshop(&shop);
    if (!is_authority) {
        rc = read_issuer(&shop, issuer, error);
    }
    if (rc == 0) {
        rc = make_key(&shop.key);
        mbedtls_x509write_crt_set_version(&shop.writer, MBEDTLS_X509_CRT_VERSION_3);
        mbedtls_x509write_crt_set_md_alg(&shop.writer, MBEDTLS_MD_SHA256);
        mbedtls_x509write_crt_set_subject_key(&shop.writer, &shop.key);
        mbedtls_x509write_crt_set_issuer_key(&shop.writer,
                                             is_authority ? &shop.key : &shop.issuer_key);
        rc = rc != 0 ? rc : set_serial(&shop);
        rc = rc != 0 ? rc : set_validity(&shop, spec);
        rc = rc != 0 ? rc : set_names(&shop, spec, is_authority);
        rc = rc != 0 ? rc : set_uses(&shop, spec, is_authority);
        rc = rc != 0 ? rc : write_texts(&shop, ret_certificate);
        if (rc != 0) {
            rc = aq_fail(error, AQ_E_NOMEM, "a certificate cannot be made (mbedTLS: -0x%04x)",
                         (unsigned)-rc);
        }
    }
    close_workshop(&shop);
    return rc;
}
