/*
 * Functions of ours that stand in for a library's of the same name, and that library's behind them.
 * Private to nng_mend; nothing here needs NNG, as programs without it have some of them, too.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_STAND_IN_H
#define AQ_COMMON_NET_NNG_MEND_STAND_IN_H

#include <stdbool.h>

/* Before such a function: libraries see it. */
#define AQ_STAND_IN __attribute__((visibility("default")))

/* In such a function: whether NNG has called it. Others do, too: we ourselves, and whatever is
 * loaded, as MPI and the code of environments. They get the library's function as it is. */
#define AQ_NNG_CALLS() aq_mends_for(__builtin_return_address(0))

/* From now on NNG is the library that has a function by this name. */
void aq_mend_for(const char *name);

/* Whether this code is NNG's; none is before aq_mend_for. Any thread. */
bool aq_mends_for(const void *code);

/* For tests, which call stand-ins themselves: everybody is taken for NNG. */
void aq_mend_for_all(bool for_all);

/* Writes a pointer to the function that a library has by this name, behind ours; an assertion when
 * there is none. Any thread. */
void aq_find_theirs(const char *name, void *ret_function);

/* Whether libraries that call this name call ours. Any thread. */
bool aq_stands_in(const char *name);

#endif
