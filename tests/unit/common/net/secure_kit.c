/*
 * See secure_kit.h.
 */
#define _GNU_SOURCE /* nftw */
#include "tests/unit/common/net/secure_kit.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <nng/protocol/reqrep0/rep.h>
#include <nng/protocol/reqrep0/req.h>
#include <nng/supplemental/tls/tls.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base/parse.h"
#include "common/net/security/certs_folder.h"
#include "common/sys/file.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

void secure_kit_folder(char ret_path[SECURE_KIT_PATH_MAX])
{
    strcpy(ret_path, "/tmp/aq-secure-XXXXXX");
    assert_non_null(mkdtemp(ret_path));
}

void secure_kit_certs(char ret_path[SECURE_KIT_PATH_MAX])
{
    secure_kit_folder(ret_path);
    assert_succeeds(aq_certs_folder_make(ret_path, (int64_t)time(NULL), 7, &refusal));
}

TEST_ENDING(destroy, aq_security_destroy);

static aq_security *load(const aq_daemon_options *options, enum aq_security_use use)
{
    aq_security *security = NULL;
    assert_succeeds(aq_security_load(options, use, &security, &refusal));
    assert_non_null(security);
    at_end(destroy, security);
    return security;
}

aq_security *secure_kit_load(const char *certs, const char *role, enum aq_security_use use)
{
    char path[SECURE_KIT_PATH_MAX + 32];
    snprintf(path, sizeof(path), "%s/%s", certs, role);
    return load(&(aq_daemon_options){.certs_dir = path}, use);
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

aq_security *secure_kit_shared(const char *secret, enum aq_security_use use)
{
    char folder[SECURE_KIT_PATH_MAX];
    char path[SECURE_KIT_PATH_MAX + 32];
    secure_kit_folder(folder);
    secure_kit_write(folder, "secret", secret, 0600);
    snprintf(path, sizeof(path), "%s/secret", folder);
    aq_security *security = load(&(aq_daemon_options){.token_file = path}, use);
    secure_kit_remove(folder);
    return security;
}

void secure_kit_write(const char *folder, const char *name, const char *text, unsigned mode)
{
    char path[SECURE_KIT_PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);
    file_put_text(path, text);
    assert_int_equal(chmod(path, mode), 0);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void secure_kit_remove(const char *path)
{
    assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static void read_pem(const char *certs, const char *role, const char *name, aq_buffer *text)
{
    char path[SECURE_KIT_PATH_MAX + 64];
    aq_buffer_init(text, 1 << 16);
    assert_int_equal(aq_text_format(path, sizeof(path), "%s/%s/%s", certs, role, name), 0);
    assert_int_equal(aq_file_read(path, text, NULL), 0);
    assert_int_equal(aq_buffer_append(text, "", 1), 0);
}

void secure_kit_dial_as(const char *certs, const char *trusted, const char *server_name,
                        const char *url, nng_socket *ret_socket)
{
    char tls_url[AQ_URL_MAX + sizeof("tls+")];
    nng_tls_config *config;
    nng_dialer dialer;
    aq_buffer ca, cert, key;
    read_pem(trusted, "actor", "ca.pem", &ca);
    read_pem(certs, "actor", "cert.pem", &cert);
    read_pem(certs, "actor", "key.pem", &key);
    assert_int_equal(nng_tls_config_alloc(&config, NNG_TLS_MODE_CLIENT), 0);
    assert_int_equal(nng_tls_config_ca_chain(config, (const char *)ca.data, NULL), 0);
    assert_int_equal(
        nng_tls_config_own_cert(config, (const char *)cert.data, (const char *)key.data, NULL), 0);
    assert_int_equal(nng_tls_config_server_name(config, server_name), 0);
    (void)snprintf(tls_url, sizeof(tls_url), "tls+%s", url);
    assert_int_equal(nng_req0_open(ret_socket), 0);
    assert_int_equal(nng_dialer_create(&dialer, *ret_socket, tls_url), 0);
    assert_int_equal(nng_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config), 0);
    assert_int_equal(nng_dialer_start(dialer, NNG_FLAG_NONBLOCK), 0);
    nng_tls_config_free(config);
    aq_buffer_fini(&ca);
    aq_buffer_fini(&cert);
    aq_buffer_fini(&key);
}

void secure_kit_listen_as(const char *certs, const char *role, nng_socket *ret_socket,
                          char ret_url[AQ_URL_MAX])
{
    nng_tls_config *config;
    nng_listener listener;
    nng_sockaddr address;
    aq_buffer ca, cert, key;
    read_pem(certs, role, "ca.pem", &ca);
    read_pem(certs, role, "cert.pem", &cert);
    read_pem(certs, role, "key.pem", &key);
    assert_int_equal(nng_tls_config_alloc(&config, NNG_TLS_MODE_SERVER), 0);
    assert_int_equal(
        nng_tls_config_own_cert(config, (const char *)cert.data, (const char *)key.data, NULL), 0);
    assert_int_equal(nng_rep0_open(ret_socket), 0);
    assert_int_equal(nng_listener_create(&listener, *ret_socket, "tls+tcp://127.0.0.1:0"), 0);
    assert_int_equal(nng_listener_set_ptr(listener, NNG_OPT_TLS_CONFIG, config), 0);
    assert_int_equal(nng_listener_start(listener, 0), 0);
    assert_int_equal(nng_listener_get_addr(listener, NNG_OPT_LOCADDR, &address), 0);
    assert_int_equal(
        aq_text_format(ret_url, AQ_URL_MAX, "tcp://127.0.0.1:%u", ntohs(address.s_in.sa_port)), 0);
    nng_tls_config_free(config);
    aq_buffer_fini(&ca);
    aq_buffer_fini(&cert);
    aq_buffer_fini(&key);
}
