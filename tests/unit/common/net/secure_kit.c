/*
 * See secure_kit.h.
 */
#include "tests/unit/common/net/secure_kit.h"

#include <arpa/inet.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/tls/tls.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base/parse.h"
#include "common/net/security/certs_folder.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

void secure_kit_certs(const char *folder)
{
    assert_succeeds(aq_certs_folder_make(folder, (int64_t)time(NULL), 7, &refusal));
}

TEST_ENDING(destroy, aq_security_destroy);

static aq_security *load(const aq_daemon_options *options, enum aq_access_role own)
{
    aq_security *security = NULL;
    assert_succeeds(aq_security_load(options, own, &security, &refusal));
    assert_non_null(security);
    at_end(destroy, security);
    return security;
}

aq_security *secure_kit_load(const char *certs, enum aq_access_role role)
{
    return load(&(aq_daemon_options){.certs_dir = file_in(certs, aq_access_role_name(role))},
                role == AQ_ACCESS_OPERATOR ? AQ_ACCESS_NONE : role);
}

TEST_ENDING(destroy_token, aq_token_destroy);

aq_token *secure_kit_token(const uint8_t master[AQ_TOKEN_KEY_BYTES], enum aq_access_role role)
{
    aq_token *token = NULL;
    aq_buffer *text = buffer_up_to(AQ_TOKEN_TEXT_MAX);
    assert_int_equal(aq_token_write_role(master, role, text), 0);
    assert_succeeds(aq_token_parse((const char *)text->data, text->size, &token, &refusal));
    at_end(destroy_token, token);
    return token;
}

aq_security *secure_kit_shared(const char *secret, enum aq_access_role own)
{
    const char *folder = file_folder();
    secure_kit_write(folder, "secret", secret, 0600);
    return load(&(aq_daemon_options){.token_file = file_in(folder, "secret")}, own);
}

void secure_kit_write(const char *folder, const char *name, const char *text, unsigned mode)
{
    const char *path = file_in(folder, name);
    (void)unlink(path);
    file_put_text(path, text);
    assert_int_equal(chmod(path, mode), 0);
}

static const char *pem_of(const char *certs, const char *role, const char *name)
{
    return file_text(file_in(file_in(certs, role), name));
}

void secure_kit_dial_as(const char *certs, const char *trusted, const char *server_name,
                        const char *url, nng_socket *ret_socket)
{
    char tls_url[AQ_URL_MAX + sizeof("tls+")];
    nng_tls_config *config;
    nng_dialer dialer;
    const char *ca = pem_of(trusted, "actor", "ca.pem");
    const char *cert = pem_of(certs, "actor", "cert.pem");
    const char *key = pem_of(certs, "actor", "key.pem");
    assert_int_equal(nng_tls_config_alloc(&config, NNG_TLS_MODE_CLIENT), 0);
    assert_int_equal(nng_tls_config_ca_chain(config, ca, NULL), 0);
    assert_int_equal(nng_tls_config_own_cert(config, cert, key, NULL), 0);
    assert_int_equal(nng_tls_config_server_name(config, server_name), 0);
    (void)snprintf(tls_url, sizeof(tls_url), "tls+%s", url);
    assert_int_equal(nng_req0_open(ret_socket), 0);
    assert_int_equal(nng_dialer_create(&dialer, *ret_socket, tls_url), 0);
    assert_int_equal(nng_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config), 0);
    assert_int_equal(nng_dialer_start(dialer, NNG_FLAG_NONBLOCK), 0);
    nng_tls_config_free(config);
}

void secure_kit_listen_as(const char *certs, const char *role, nng_socket *ret_socket,
                          char ret_url[AQ_URL_MAX])
{
    nng_tls_config *config;
    nng_listener listener;
    nng_sockaddr address;
    const char *cert = pem_of(certs, role, "cert.pem");
    const char *key = pem_of(certs, role, "key.pem");
    assert_int_equal(nng_tls_config_alloc(&config, NNG_TLS_MODE_SERVER), 0);
    assert_int_equal(nng_tls_config_own_cert(config, cert, key, NULL), 0);
    assert_int_equal(nng_rep0_open(ret_socket), 0);
    assert_int_equal(nng_listener_create(&listener, *ret_socket, "tls+tcp://127.0.0.1:0"), 0);
    assert_int_equal(nng_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, config), 0);
    assert_int_equal(nng_listener_start(listener, 0), 0);
    assert_int_equal(nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &address), 0);
    assert_int_equal(
        aq_text_format(ret_url, AQ_URL_MAX, "tcp://127.0.0.1:%u", ntohs(address.s_in.sa_port)), 0);
    nng_tls_config_free(config);
}
