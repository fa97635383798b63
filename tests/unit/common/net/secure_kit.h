/*
 * What the tests of security share: a run's certificates, and what each role loads of them.
 */
#ifndef AQ_TESTS_UNIT_COMMON_NET_SECURE_KIT_H
#define AQ_TESTS_UNIT_COMMON_NET_SECURE_KIT_H

#include <nng/nng.h>

#include "common/net/address/url.h"
#include "common/net/security/security.h"

/* Makes a run's certificates in the folder. */
void secure_kit_certs(const char *folder);

/* What `role` loads of them until the test is over; fails it when that cannot be. */
aq_security *secure_kit_load(const char *certs, enum aq_access_role role);

/* A role's token in the run of that master secret, until the test is over. */
aq_token *secure_kit_token(const uint8_t master[AQ_TOKEN_KEY_BYTES], enum aq_access_role role);

/* A token alone, of a shared secret. */
aq_security *secure_kit_shared(const char *secret, enum aq_access_role own);

/* Writes a file with a mode. */
void secure_kit_write(const char *folder, const char *name, const char *text, unsigned mode);

/* A REP socket of somebody who has a role's certificate and software of his own to listen with. */
void secure_kit_listen_as(const char *certs, const char *role, nng_socket *ret_socket,
                          char ret_url[AQ_URL_MAX]);

/* A REQ socket that calls with an actor's certificate of one run where it trusts the authority of
 * another, and who is made out to that name. */
void secure_kit_dial_as(const char *certs, const char *trusted, const char *server_name,
                        const char *url, nng_socket *ret_socket);

#endif
