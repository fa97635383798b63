/*
 * See secure_kit.h.
 */
#define _GNU_SOURCE /* nftw */

#include "tests/unit/net/secure_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/net/certs_folder.h"

void secure_kit_folder(char ret_path[SECURE_KIT_PATH_MAX])
{
    strcpy(ret_path, "/tmp/aq-secure-XXXXXX");
    assert_non_null(mkdtemp(ret_path));
}

void secure_kit_certs(char ret_path[SECURE_KIT_PATH_MAX])
{
    aq_error error = {0};

    secure_kit_folder(ret_path);
    if (aq_certs_folder_make(ret_path, (int64_t)time(NULL), 7, &error) < 0) {
        fail_msg("%s", error.text);
    }
}

static aq_security *load(const aq_daemon_options *options, enum aq_security_use use)
{
    aq_security *security = NULL;
    aq_error error = {0};

    if (aq_security_load(options, use, &security, &error) < 0) {
        fail_msg("%s", error.text);
    }
    assert_non_null(security);
    return security;
}

aq_security *secure_kit_load(const char *certs, const char *role, enum aq_security_use use)
{
    char path[SECURE_KIT_PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/%s", certs, role);
    return load(&(aq_daemon_options){.certs_dir = path}, use);
}

aq_security *secure_kit_shared(const char *secret, enum aq_security_use use)
{
    char folder[SECURE_KIT_PATH_MAX];
    char path[SECURE_KIT_PATH_MAX + 32];
    aq_security *security;

    secure_kit_folder(folder);
    secure_kit_write(folder, "secret", secret, 0600);
    snprintf(path, sizeof(path), "%s/secret", folder);
    security = load(&(aq_daemon_options){.token_file = path}, use);
    secure_kit_remove(folder);
    return security;
}

void secure_kit_write(const char *folder, const char *name, const char *text, unsigned mode)
{
    char path[SECURE_KIT_PATH_MAX + 64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
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
