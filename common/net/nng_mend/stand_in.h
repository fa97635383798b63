/*
 * Functions of ours that stand in for a library's of the same name, and that library's behind them.
 * Private to nng_mend; nothing here needs NNG, as programs without it have some of them, too.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_STAND_IN_H
#define AQ_COMMON_NET_NNG_MEND_STAND_IN_H

#include <stdbool.h>

/* Before such a function: libraries see it. */
#define AQ_STAND_IN __attribute__((visibility("default")))

/* Writes a pointer to the function that a library has by this name, behind ours; an assertion when
 * there is none. Any thread. */
void aq_find_theirs(const char *name, void *ret_function);

/* Whether libraries that call this name call ours. Any thread. */
bool aq_stands_in(const char *name);

#endif
