/*
 * Security: see security.h.
 */
#include "common/net/security/security.h"

#include <limits.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/address/url.h"
#include "common/net/security/secret_file.h"
#include "common/net/security/security_tls.h"
#include "common/sys/file.h"

#define TOKEN_VARIABLE "ACTORQ_TOKEN"

enum { TOKEN_FILE_MAX = AQ_TOKEN_TEXT_MAX + 16 };

struct aq_security {
    aq_tls tls; /* NULLs: none */
    aq_token *token;
};

/* The token's text, and where it is from. AQ_E_NOT_FOUND when there is none. */
static int find_token(const aq_daemon_options *options, enum aq_access_role own,
                      aq_secret *ret_secret, char ret_place[PATH_MAX], aq_error *error)
{
    /* Out of a daemon's environment even where a file is named: what it starts would see it. */
    int rc = aq_secret_from_environment(TOKEN_VARIABLE, own != AQ_ACCESS_NONE, ret_secret, error);

    if (options->token_file != NULL) {
        if (rc == 0) {
            aq_secret_wipe(ret_secret);
        }
        rc = aq_text_set(ret_place, PATH_MAX, options->token_file);
        return rc < 0 ? aq_fail(error, rc, "the name of the token's file is too long")
                      : aq_secret_read(ret_place, TOKEN_FILE_MAX, ret_secret, error);
    }
    if (rc != AQ_E_NOT_FOUND || options->certs_dir == NULL) {
        memcpy(ret_place, TOKEN_VARIABLE, sizeof(TOKEN_VARIABLE));
        return rc;
    }
    rc = aq_text_format(ret_place, PATH_MAX, "%s/token", options->certs_dir);
    if (rc < 0) {
        return aq_fail(error, rc, "the name of the folder of certificates is too long");
    }
    if (!aq_path_exists(ret_place)) {
        return AQ_E_NOT_FOUND;
    }
    rc = aq_secret_read(ret_place, TOKEN_FILE_MAX, ret_secret, error);
    /* A link to nothing: a token is meant to be there, so nobody goes on without. */
    return rc == AQ_E_NOT_FOUND ? AQ_E_INVALID : rc;
}

/* Whether the daemon of role `own` can be that with the token from `place`. */
static int check_token(const aq_token *token, enum aq_access_role own, const char *place,
                       aq_error *error)
{
    const enum aq_access_role holds = aq_token_role(token);

    if (own != AQ_ACCESS_NONE && holds != own && holds != AQ_ACCESS_SHARED) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s is the token of the role %s; this daemon needs that of the role %s",
                       place, aq_access_role_name(holds), aq_access_role_name(own));
    }
    if (aq_access_role_listens(own) && !aq_token_is_for_listening(token)) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s names no role that may call this daemon, as those of 'actorq certs' do",
                       place);
    }
    return 0;
}

/* 0, also when there is none. */
static int load_token(const aq_daemon_options *options, enum aq_access_role own,
                      aq_token **ret_token, aq_error *error)
{
    char place[PATH_MAX];
    aq_secret secret = {0};
    aq_error why = {0};
    int rc = find_token(options, own, &secret, place, error);

    if (rc == AQ_E_NOT_FOUND && options->token_file == NULL) {
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    rc = aq_token_parse(secret.text, secret.size, ret_token, &why);
    aq_secret_wipe(&secret);
    return rc < 0 ? aq_fail(error, rc, "%s: %s", place, why.text)
                  : check_token(*ret_token, own, place, error);
}

int aq_security_load(const aq_daemon_options *options, enum aq_access_role own,
                     aq_security **ret_security, aq_error *error)
{
    aq_security *security = aq_alloc(1, sizeof(*security));

    if (security == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    int rc = load_token(options, own, &security->token, error);
    if (rc == 0 && options->certs_dir != NULL) {
        rc = aq_tls_load(options->certs_dir, aq_access_role_listens(own), &security->tls, error);
    }
    if (rc < 0) {
        aq_security_destroy(security);
        return rc;
    }
    if (security->token == NULL && security->tls.client == NULL) {
        aq_security_destroy(security);
        security = NULL;
    }
    *ret_security = security;
    return 0;
}

int aq_security_from_environment(aq_security **ret_security, aq_error *error)
{
    aq_daemon_options options = {0};
    int rc = aq_daemon_read_environment(&options, error);

    return rc < 0 ? rc : aq_security_load(&options, AQ_ACCESS_NONE, ret_security, error);
}

void aq_security_destroy(aq_security *security)
{
    if (security != NULL) {
        aq_tls_fini(&security->tls);
        aq_token_destroy(security->token);
        aq_free(security);
    }
}

bool aq_security_has_tls(const aq_security *security)
{
    return security != NULL && security->tls.client != NULL;
}

const aq_tls *aq_security_tls(const aq_security *security)
{
    return aq_security_has_tls(security) ? &security->tls : NULL;
}

const aq_token *aq_security_token(const aq_security *security)
{
    return security == NULL ? NULL : security->token;
}

int64_t aq_security_expires_s(const aq_security *security)
{
    return aq_security_has_tls(security) ? security->tls.expires_s : 0;
}

const char *aq_security_text(const aq_security *security)
{
    if (!aq_security_has_tls(security)) {
        return aq_security_token(security) != NULL ? "token" : "none";
    }
    return aq_security_token(security) != NULL ? "tls+token" : "tls";
}

int aq_security_may_listen(const aq_security *security, const char *url, bool insecure,
                           aq_error *error)
{
    if (security != NULL || insecure || aq_url_is_local(url)) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "other hosts could reach %s, and whoever does could read, fill and stop the "
                   "run. Give --certs DIR ('actorq certs' makes one) or --token-file FILE; listen "
                   "at tcp://127.0.0.1:PORT; or say --insecure where the network itself keeps "
                   "strangers out",
                   url);
}
