/*
 * Secrets: see secret_file.h.
 */
#include "common/net/security/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/memory.h"
#include "common/net/security/token.h"

/* What nobody but the owner may do, and what root's files may allow their group. */
enum { OTHERS_MODE = 077, ROOT_GROUP_MODE = 040 };

static int check_mode(const char *path, const struct stat *info, aq_error *error)
{
    unsigned open_to = info->st_mode & OTHERS_MODE;

    if (!S_ISREG(info->st_mode)) {
        return aq_fail(error, AQ_E_INVALID, "%s is not a file", path);
    }
    if (open_to != 0 && !(info->st_uid == 0 && open_to == ROOT_GROUP_MODE)) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s holds a secret, and its mode %04o lets others at it: chmod 600 %s", path,
                       info->st_mode & 07777, path);
    }
    return 0;
}

static int read_all(int descriptor, char *text, size_t size_max, size_t *ret_size)
{
    size_t size = 0;

    for (;;) {
        ssize_t got = read(descriptor, text + size, size_max + 1 - size);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return aq_error_from_errno(errno);
        }
        if (got == 0) {
            *ret_size = size;
            return 0;
        }
        size += (size_t)got;
        if (size > size_max) {
            return AQ_E_TOO_BIG;
        }
    }
}

int aq_secret_read(const char *path, size_t size_max, aq_secret *ret_secret, aq_error *error)
{
    aq_secret secret = {0};
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    int rc;

    if (descriptor < 0) {
        return aq_fail(error, aq_error_from_errno(errno), "cannot read %s: %s", path,
                       strerror(errno));
    }
    if (fstat(descriptor, &info) != 0) {
        rc =
            aq_fail(error, aq_error_from_errno(errno), "cannot read %s: %s", path, strerror(errno));
        goto out;
    }
    rc = check_mode(path, &info, error);
    if (rc < 0) {
        goto out;
    }
    secret.text = aq_alloc(1, size_max + 2);
    if (secret.text == NULL) {
        rc = aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
        goto out;
    }
    secret.size = size_max + 1; /* for wiping, until it is known */
    rc = read_all(descriptor, secret.text, size_max, &secret.size);
    if (rc < 0) {
        aq_secret_wipe(&secret);
        rc = aq_fail(error, rc, "cannot read %s: %s", path, aq_error_text(rc));
        goto out;
    }
    *ret_secret = secret;

out:
    close(descriptor);
    return rc;
}

int aq_secret_from_environment(const char *name, bool take, aq_secret *ret_secret, aq_error *error)
{
    char *value = getenv(name);
    aq_secret secret;

    if (value == NULL || value[0] == '\0') {
        return AQ_E_NOT_FOUND;
    }
    secret.size = strlen(value);
    secret.text = aq_alloc(1, secret.size + 1);
    if (secret.text == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s", aq_error_text(AQ_E_NOMEM));
    }
    memcpy(secret.text, value, secret.size);
    if (take) {
        aq_wipe(value, secret.size);
        (void)unsetenv(name);
    }
    *ret_secret = secret;
    return 0;
}

void aq_secret_wipe(aq_secret *secret)
{
    if (secret->text != NULL) {
        aq_wipe(secret->text, secret->size);
        aq_free(secret->text);
        *secret = (aq_secret){0};
    }
}
