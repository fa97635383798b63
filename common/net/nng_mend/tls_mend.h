/*
 * What stands in for functions of mbedTLS: those that NNG's threads call at the same time and may
 * not, and the handshake, of which NNG keeps to itself why it failed. See docs/decisions/0017.
 * Private to net.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_TLS_MEND_H
#define AQ_COMMON_NET_NNG_MEND_TLS_MEND_H

/* Before TLS is used; again is fine. Any thread. */
void aq_tls_mend(void);

/* Why the last handshake of this process with somebody whom it called failed, in words for people;
 * NULL: none has, or the last one succeeded. Any thread. */
const char *aq_tls_refusal(void);

#endif
