/*
 * How long TCP waits for a host that has gone silent: the line is cut, the machine is off, the
 * address is another's. Private to net.
 *
 * By itself TCP tries for a quarter of an hour, pauses for up to two minutes between two tries, and
 * never finds out where there is nothing to send. Here every connection of NNG's is given up after
 * AQ_TCP_SILENCE_MS, and every attempt to make one after AQ_TCP_DIAL_MS, so that whoever dials
 * again finds a line that has healed within seconds. A peer whose buffers stay full counts as
 * silent, too.
 *
 * NNG 1.5 has no such options, so this stands in for the functions of the C library with which it
 * makes connections, as nng_mend.c does.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_TCP_PATIENCE_H
#define AQ_COMMON_NET_NNG_MEND_TCP_PATIENCE_H

/* Between two of its own tries TCP waits twice as long each time: at most 6 s for a line that is
 * cut as short as this. */
enum { AQ_TCP_SILENCE_MS = 8000 };

/* Linux asks after 0, 1 and 3 s, newer ones every second. Of a name with several addresses each has
 * half of it, as the right one may be the next. */
enum { AQ_TCP_DIAL_MS = 4000 };

/* Does nothing: without a reference the linker would leave out the functions that stand in. */
void aq_tcp_patience(void);

#endif
