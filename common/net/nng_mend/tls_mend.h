/*
 * What stands in for functions of mbedTLS that NNG's threads call at the same time and may not. See
 * docs/decisions/0017. Private to net.
 */
#ifndef AQ_COMMON_NET_NNG_MEND_TLS_MEND_H
#define AQ_COMMON_NET_NNG_MEND_TLS_MEND_H

/* Before TLS is used; again is fine. Any thread. */
void aq_tls_mend(void);

#endif
