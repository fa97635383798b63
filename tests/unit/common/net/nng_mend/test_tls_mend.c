/*
 * What handshakes are held to, that NNG has no setting for.
 */
#include <mbedtls/ssl.h>

#include "common/net/nng_mend/tls_mend.h"
#include "tests/support/test.h"

TEST(no_cipher_is_offered_or_taken_that_is_not_authenticated)
{
    static const int ends[] = {MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_IS_SERVER};
    EACH_ROW(i, ends) {
        mbedtls_ssl_config config;
        size_t count = 0;
        mbedtls_ssl_config_init(&config);
        assert_int_equal(mbedtls_ssl_config_defaults(&config, ends[i], MBEDTLS_SSL_TRANSPORT_STREAM,
                                                     MBEDTLS_SSL_PRESET_DEFAULT),
                         0);
        for (const int *id = config.ciphersuite_list[MBEDTLS_SSL_MINOR_VERSION_3]; *id != 0; id++) {
            const char *name = mbedtls_ssl_get_ciphersuite_name(*id);
            assert_says(name, "TLS-ECDHE-");
            assert_true(strstr(name, "GCM") != NULL || strstr(name, "POLY1305") != NULL);
            count++;
        }
        assert_int_equal(count, 6);
        mbedtls_ssl_config_free(&config);
    }
}
