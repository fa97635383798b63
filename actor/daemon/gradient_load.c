/*
 * Gradient load: see gradient_load.h.
 */
#include "actor/daemon/gradient_load.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include "common/sys/process.h"

int aq_gradient_load(char **argv, aq_gradient_maker_open_fn *ret_open, aq_error *error)
{
    char path[PATH_MAX];
    static const char *const folders[] = {AQ_MODULE_FOLDER, "gradients"}; /* installed, built */
    int rc = AQ_E_NOT_FOUND;
    for (size_t i = 0; rc != 0 && i < sizeof(folders) / sizeof(folders[0]); i++) {
        rc = aq_process_find_module("actorq-gradients.so", folders[i], path, sizeof(path), error);
    }
    if (rc != 0) {
        return rc;
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle != NULL ? dlsym(handle, AQ_GRADIENT_MAKER_SYMBOL) : NULL;
    void *settling = symbol != NULL ? dlsym(handle, AQ_GRADIENT_SETTLE_SYMBOL) : NULL;
    aq_gradient_settle_fn settle;
    if (settling == NULL) {
        const char *reason = dlerror();
        return aq_fail(error, AQ_E_UNSUPPORTED, "--gradients: %s", reason != NULL ? reason : path);
    }
    memcpy(ret_open, &symbol, sizeof(*ret_open));
    memcpy(&settle, &settling, sizeof(settle));
    settle(argv);
    return 0;
}
