/*
 * NNG's errors in our words. Private to net.
 */
#ifndef AQ_COMMON_NET_SECURITY_NNG_ERROR_H
#define AQ_COMMON_NET_SECURITY_NNG_ERROR_H

/* The code of ours that fits one of NNG's; 0 stays 0. */
int aq_error_from_nng(int nng_code);

#endif
