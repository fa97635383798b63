/*
 * Mistakes of NNG 1.5 that take a whole process with them, mended from outside: by functions
 * that stand in for NNG's and the C library's (see nng_mend.c). Private to net.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_NNG_MEND_H
#define AQ_COMMON_NET_NNG_MEND_NNG_MEND_H

/* Makes sure that the stand-ins are what NNG calls; an assertion when they are not. Called before
 * any connection can be made. Any thread. */
void aq_nng_mend(void);

#endif
