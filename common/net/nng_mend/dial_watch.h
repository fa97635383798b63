/*
 * Dial watch: whether the dialers of a socket have given up.
 *
 * NNG 1.5 dials again after every failure but one: when a connection has come about, and there is
 * no memory for what NNG keeps of it, the dialer rests for good and says nothing. So who dials
 * looks now and then. NNG counts how each try of a dialer ended, and its connections: where there
 * is none, and for a minute more than the longest pause no try has ended, nobody dials any more.
 * A look-up that takes longer is taken for the same, so being told so must do no harm. Private to
 * net.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_DIAL_WATCH_H
#define AQ_COMMON_NET_NNG_MEND_DIAL_WATCH_H

#include <nng/nng.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised, one for a socket; one thread at a time. */
typedef struct aq_dial_watch {
    int64_t looked_ns;
    int64_t since_ns; /* as it is now: so many tries have ended, or a connection is there */
    uint64_t ended;
} aq_dial_watch;

/* True once for each time of quiet: the socket should have another dialer. Looks once a second at
 * most, however often it is called. `pause_ms`: the longest between two tries. */
bool aq_dial_watch_gave_up(aq_dial_watch *watch, nng_socket socket, uint32_t pause_ms,
                           int64_t now_ns);

/* For tests: so long instead of a minute. Any thread. */
void aq_dial_watch_patience(int64_t patience_ms);

#endif
