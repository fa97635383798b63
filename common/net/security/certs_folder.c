/*
 * The folder of certificates: see certs_folder.h.
 */
#include "common/net/security/certs_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "common/net/security/certificate.h"
#include "common/net/security/secret_file.h"
#include "common/net/security/token.h"
#include "common/sys/file.h"

enum {
    SKEW_S = 24 * 3600, /* of clocks between hosts, in the past of a certificate */
    DAY_S = 24 * 3600,
};

/* ---- files --------------------------------------------------------------------------------- */

static int join(char path[PATH_MAX], const char *folder, const char *part, const char *name,
                aq_error *error)
{
    int rc =
        aq_text_format(path, PATH_MAX, "%s/%s%s%s", folder, part, name[0] != '\0' ? "/" : "", name);

    return rc < 0 ? aq_fail(error, rc, "%s: the folder's name is too long", folder) : 0;
}

static int fail_at(const char *what, const char *path, aq_error *error)
{
    return aq_fail(error, aq_error_from_errno(errno), "cannot %s %s: %s", what, path,
                   strerror(errno));
}

static int make_folder(const char *path, aq_error *error)
{
    return mkdir(path, 0700) == 0 ? 0 : fail_at("make", path, error);
}

static int write_file(const char *folder, const char *part, const char *name, const char *text,
                      size_t size, aq_error *error)
{
    char path[PATH_MAX];
    int rc = join(path, folder, part, name, error);

    return rc < 0 ? rc : aq_file_write_private(path, text, size, error);
}

static int is_empty(const char *path, bool *ret_empty, aq_error *error)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool empty = true;

    if (folder == NULL && errno == ENOENT) {
        *ret_empty = true;
        return 0;
    }
    if (folder == NULL) {
        return fail_at("read", path, error);
    }
    while (empty && (entry = readdir(folder)) != NULL) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    closedir(folder);
    *ret_empty = empty;
    return 0;
}

/* ---- making -------------------------------------------------------------------------------- */

static int make_role(const char *path, enum aq_access_role role, const aq_certificate *authority,
                     int64_t now_s, unsigned days, aq_error *error)
{
    const char *name = aq_access_role_name(role);
    const aq_certificate_spec spec = {.name = name,
                                      .listens = aq_access_role_listens(role),
                                      .from_s = now_s - SKEW_S,
                                      .until_s = now_s + (int64_t)days * DAY_S};
    aq_certificate made = {0};
    int rc = aq_certificate_make(&spec, authority, &made, error);

    if (rc == 0) {
        rc = write_file(path, name, "ca.pem", authority->cert, strlen(authority->cert), error);
    }
    if (rc == 0) {
        rc = write_file(path, name, "key.pem", made.key, strlen(made.key), error);
    }
    if (rc == 0) {
        rc = write_file(path, name, "cert.pem", made.cert, strlen(made.cert), error);
    }
    aq_wipe(&made, sizeof(made));
    return rc;
}

static int make_token(const char *path, enum aq_access_role role,
                      const uint8_t master[AQ_TOKEN_KEY_BYTES], aq_error *error)
{
    aq_buffer text;

    aq_buffer_init(&text, AQ_TOKEN_TEXT_MAX);
    int rc = aq_token_write_role(master, role, &text);
    if (rc < 0) {
        rc = aq_fail(error, rc, "%s", aq_error_text(rc));
    } else {
        rc = write_file(path, aq_access_role_name(role), "token", (const char *)text.data,
                        text.size, error);
    }
    if (text.data != NULL) {
        aq_wipe(text.data, text.capacity);
    }
    aq_buffer_fini(&text);
    return rc;
}

static int make_authority(const char *path, int64_t now_s, unsigned days,
                          aq_certificate *ret_authority, aq_error *error)
{
    unsigned lasts = days < AQ_AUTHORITY_DAYS_MIN ? AQ_AUTHORITY_DAYS_MIN : days;
    char name[AQ_CERTIFICATE_NAME_MAX];
    const aq_certificate_spec spec = {
        .name = name, .from_s = now_s - SKEW_S, .until_s = now_s + (int64_t)lasts * DAY_S};
    uint32_t number;
    int rc = getentropy(&number, sizeof(number));

    AQ_ASSERT(rc == 0);
    snprintf(name, sizeof(name), "run authority %08x", (unsigned)number);
    rc = aq_certificate_make(&spec, NULL, ret_authority, error);
    if (rc == 0) {
        rc = write_file(path, "authority", "ca.pem", ret_authority->cert,
                        strlen(ret_authority->cert), error);
    }
    if (rc == 0) {
        rc = write_file(path, "authority", "ca-key.pem", ret_authority->key,
                        strlen(ret_authority->key), error);
    }
    return rc;
}

/* The root of all tokens. It is kept for roles that come later, or have lost theirs. */
static int make_master(const char *path, uint8_t ret_master[AQ_TOKEN_KEY_BYTES], aq_error *error)
{
    char text[2 * AQ_TOKEN_KEY_BYTES + 2];
    int rc = getentropy(ret_master, AQ_TOKEN_KEY_BYTES);

    AQ_ASSERT(rc == 0);
    for (size_t i = 0; i < AQ_TOKEN_KEY_BYTES; i++) {
        snprintf(text + 2 * i, 4, "%02x\n", ret_master[i]);
    }
    rc = write_file(path, "authority", "master", text, sizeof(text) - 1, error);
    aq_wipe(text, sizeof(text));
    return rc;
}

static int make_folders(const char *path, aq_error *error)
{
    char part[PATH_MAX];
    bool empty = false;
    int rc = is_empty(path, &empty, error);

    if (rc < 0) {
        return rc;
    }
    if (!empty) {
        return aq_fail(error, AQ_E_EXISTS,
                       "%s is not empty, and nothing in it is written over; name another folder, "
                       "or give --renew for new certificates of the same authority",
                       path);
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return fail_at("make", path, error);
    }
    rc = join(part, path, "authority", "", error);
    if (rc == 0) {
        rc = make_folder(part, error);
    }
    for (int role = AQ_ACCESS_LEARNER; rc == 0 && role < AQ_ACCESS_ROLE_COUNT; role++) {
        rc = join(part, path, aq_access_role_name((enum aq_access_role)role), "", error);
        if (rc == 0) {
            rc = make_folder(part, error);
        }
    }
    return rc;
}

int aq_certs_folder_make(const char *path, int64_t now_s, unsigned days, aq_error *error)
{
    uint8_t master[AQ_TOKEN_KEY_BYTES] = {0};
    aq_certificate authority = {0};
    int rc = make_folders(path, error);

    if (rc == 0) {
        rc = make_authority(path, now_s, days, &authority, error);
    }
    if (rc == 0) {
        rc = make_master(path, master, error);
    }
    for (int role = AQ_ACCESS_LEARNER; rc == 0 && role < AQ_ACCESS_ROLE_COUNT; role++) {
        rc = make_role(path, (enum aq_access_role)role, &authority, now_s, days, error);
        if (rc == 0) {
            rc = make_token(path, (enum aq_access_role)role, master, error);
        }
    }
    aq_wipe(master, sizeof(master));
    aq_wipe(&authority, sizeof(authority));
    return rc;
}

/* ---- renewing ------------------------------------------------------------------------------ */

static int read_authority(const char *path, aq_certificate *ret_authority, aq_error *error)
{
    char file[PATH_MAX];
    aq_secret secret = {0};
    aq_buffer text;
    int rc = join(file, path, "authority", "ca.pem", error);

    aq_buffer_init(&text, AQ_CERTIFICATE_PEM_MAX - 1);
    if (rc == 0) {
        rc = aq_file_read(file, &text, error);
    }
    if (rc == 0) {
        memcpy(ret_authority->cert, text.data, text.size);
        rc = join(file, path, "authority", "ca-key.pem", error);
    }
    if (rc == 0) {
        rc = aq_secret_read(file, AQ_CERTIFICATE_PEM_MAX - 1, &secret, error);
    }
    if (rc == 0) {
        memcpy(ret_authority->key, secret.text, secret.size);
    }
    aq_secret_wipe(&secret);
    aq_buffer_fini(&text);
    return rc;
}

/* Nothing that it signs is believed after its end. */
static int check_authority(const char *path, const aq_certificate *authority, int64_t now_s,
                           unsigned days, aq_error *error)
{
    int64_t end_s = 0;
    int rc = aq_certificate_end(authority, &end_s, error);
    const int64_t left = (end_s - now_s) / DAY_S;

    if (rc == 0 && left < 1) {
        return aq_fail(error, AQ_E_INVALID,
                       "the authority of %s has come to its end: make a new folder with "
                       "`actorq certs`, and give it to everybody",
                       path);
    }
    if (rc == 0 && left < days) {
        return aq_fail(error, AQ_E_INVALID,
                       "the authority of %s is valid for %lld more days: give --days so many at "
                       "most, or make a new folder",
                       path, (long long)left);
    }
    return rc;
}

/* Without one a role's certificate would have all rights. */
static int keep_token(const char *path, enum aq_access_role role, aq_error *error)
{
    uint8_t master[AQ_TOKEN_KEY_BYTES] = {0};
    char file[PATH_MAX];
    aq_secret secret = {0};
    int rc = join(file, path, aq_access_role_name(role), "token", error);

    if (rc < 0 || access(file, F_OK) == 0) {
        return rc;
    }
    rc = join(file, path, "authority", "master", error);
    if (rc == 0) {
        rc = aq_secret_read(file, 2 * AQ_TOKEN_KEY_BYTES + 1, &secret, error);
    }
    if (rc == 0) {
        secret.text[strcspn(secret.text, "\n")] = '\0';
        rc = aq_token_read_key(secret.text, master)
                 ? make_token(path, role, master, error)
                 : aq_fail(error, AQ_E_INVALID, "%s: no key that tokens are made of", file);
    }
    aq_secret_wipe(&secret);
    aq_wipe(master, sizeof(master));
    return rc;
}

int aq_certs_folder_renew(const char *path, int64_t now_s, unsigned days, aq_error *error)
{
    aq_certificate authority = {0};
    int rc = read_authority(path, &authority, error);

    if (rc == 0) {
        rc = check_authority(path, &authority, now_s, days, error);
    }
    for (int role = AQ_ACCESS_LEARNER; rc == 0 && role < AQ_ACCESS_ROLE_COUNT; role++) {
        rc = keep_token(path, (enum aq_access_role)role, error);
        if (rc == 0) {
            rc = make_role(path, (enum aq_access_role)role, &authority, now_s, days, error);
        }
    }
    aq_wipe(&authority, sizeof(authority));
    return rc;
}
