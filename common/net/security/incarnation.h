/*
 * Incarnation: the secret that a process draws at its start and joins the run with. Where no token
 * tells members apart it is all the proof there is: whoever knows it speaks for its member. So it
 * goes to those whom the process calls and nowhere else. What is shown, logged and written down is
 * its name, which tells starts apart as well and from which nobody finds the incarnation.
 *
 * Any thread; no state.
 */
#ifndef AQ_COMMON_NET_SECURITY_INCARNATION_H
#define AQ_COMMON_NET_SECURITY_INCARNATION_H

#include <stdint.h>

uint64_t aq_incarnation_draw(void); /* not 0 */

/* The same for all times; not 0. The name of a name is itself. */
uint64_t aq_incarnation_name(uint64_t incarnation);

#endif
