/*
 * The folder of a run's certificates, as `actorq certs` makes it:
 *
 *   authority/   ca.pem, ca-key.pem, master: stays where it was made
 *   learner/     ca.pem, cert.pem, key.pem, token: what --certs of that role is given
 *   replay/      the same
 *   actor/       the same
 *   evaluator/   the same
 *   operator/    the same; for people who look at the run and steer it
 *
 * Folders are 0700, but an empty one that is there keeps its mode; files are 0600. One thread.
 */
#ifndef AQ_COMMON_NET_SECURITY_CERTS_FOLDER_H
#define AQ_COMMON_NET_SECURITY_CERTS_FOLDER_H

#include <stdint.h>

#include "common/base/error.h"

/* An authority is valid for at least so many days, for more where its roles' certificates are. */
enum { AQ_AUTHORITY_DAYS_MIN = 3650 };

/* Makes the folder and everything in it. AQ_E_EXISTS when there is something already. */
int aq_certs_folder_make(const char *path, int64_t now_s, unsigned days,
                         aq_error *error) AQ_MUST_USE;

/* New keys and certificates for all roles, of the same authority; tokens stay, and a role without
 * one, as when the making was cut short, gets it. AQ_E_NOT_FOUND without an authority, AQ_E_INVALID
 * when it ends before `days` are over. */
int aq_certs_folder_renew(const char *path, int64_t now_s, unsigned days,
                          aq_error *error) AQ_MUST_USE;

#endif
