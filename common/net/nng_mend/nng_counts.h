/*
 * What NNG counts of its listeners and dialers. It gathers its whole tree of statistics for that:
 * once a second is often. Any thread. Private to net.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_NNG_COUNTS_H
#define AQ_COMMON_NET_NNG_MEND_NNG_COUNTS_H

#include <stdint.h>

/* The sum of the counts `names` (NULL ends them) of everything that is called `scope`
 * ("listener", "dialer") and whose `key` ("id", "socket") is `id`; 0 when it can't be told. */
uint64_t aq_nng_counts(const char *scope, const char *key, uint64_t id, const char *const *names);

#endif
