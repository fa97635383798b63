/*
 * Closing NNG's sockets without waiting for ever: NNG 1.5 sometimes takes seconds. Any thread.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_NNG_CLOSE_H
#define AQ_COMMON_NET_NNG_MEND_NNG_CLOSE_H

#include <nng/nng.h>
#include <stdbool.h>

/* Closes the socket, whose operations have been stopped. False when NNG takes seconds for it: then
 * nothing that the socket's callbacks touch may be freed, and it is closed in the background. */
bool aq_nng_close(nng_socket socket);

/* Sockets whose closing nobody waits for any more, as NNG takes seconds, and that are not closed
 * yet. Any thread. */
unsigned aq_net_unclosed(void);

/* True when there are some, and for half a minute none of them was closed. What is connected goes
 * on, but no lost connection is made anew: a daemon says so, ends and is started again. Any thread.
 */
bool aq_net_is_stuck(void);

#endif
