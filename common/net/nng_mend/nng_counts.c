/*
 * The tree is walked by hand: nng_stat_find_listener finds the first listener, not the one asked
 * for, in this release. See nng_counts.h.
 */
#include "common/net/nng_mend/nng_counts.h"

#include <nng/nng.h>
#include <string.h>

static uint64_t child_value(nng_stat *scope, const char *name)
{
    for (nng_stat *child = nng_stat_child(scope); child != NULL; child = nng_stat_next(child)) {
        if (strcmp(nng_stat_name(child), name) == 0) {
            return nng_stat_value(child);
        }
    }
    return 0;
}

uint64_t aq_nng_counts(const char *scope, const char *key, uint64_t id, const char *const *names)
{
    uint64_t sum = 0;
    nng_stat *root;

    if (nng_stats_get(&root) != 0) {
        return 0;
    }
    for (nng_stat *at = nng_stat_child(root); at != NULL; at = nng_stat_next(at)) {
        if (strcmp(nng_stat_name(at), scope) == 0 && child_value(at, key) == id) {
            for (const char *const *name = names; *name != NULL; name++) {
                sum += child_value(at, *name);
            }
        }
    }
    nng_stats_free(root);
    return sum;
}
