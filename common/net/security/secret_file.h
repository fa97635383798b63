/*
 * Secrets that a program is given: in files, or in the environment, where containers put them;
 * never in arguments, which everybody on the host can read. Any thread but for the environment.
 */
#ifndef AQ_COMMON_NET_SECURITY_SECRET_FILE_H
#define AQ_COMMON_NET_SECURITY_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

typedef struct aq_secret {
    char *text; /* terminated */
    size_t size;
} aq_secret;

/* Reads a file of at most `size_max` bytes. AQ_E_INVALID when others than its owner may read it:
 * the mode has to be 0600 or less. As containers mount them, a file of root's may also be readable,
 * and no more, by its group. AQ_E_NOT_FOUND and the like name the file. */
int aq_secret_read(const char *path, size_t size_max, aq_secret *ret_secret,
                   aq_error *error) AQ_MUST_USE;

/* Copies a variable of the environment, and with `take` removes it from there: it is overwritten,
 * so that neither what this process starts nor who looks at it from the outside finds it.
 * AQ_E_NOT_FOUND when it is not set or empty. While there is one thread. */
int aq_secret_from_environment(const char *name, bool take, aq_secret *ret_secret,
                               aq_error *error) AQ_MUST_USE;

/* Overwrites and frees it. */
void aq_secret_wipe(aq_secret *secret);

#endif
