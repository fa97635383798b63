/*
 * Base64 (RFC 4648), for bytes fields in JSON. Any thread; no state.
 */
#ifndef AQ_COMMON_NET_SECURITY_BASE64_H
#define AQ_COMMON_NET_SECURITY_BASE64_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

/* With padding and a terminating zero; NULL when out of memory. Release with aq_free. */
char *aq_base64_encode(const uint8_t *bytes, size_t size) AQ_MUST_USE;

/* Either alphabet ("+/" or "-_"), padding complete or absent; AQ_E_INVALID for anything else, bits
 * left over included. Release `*ret_bytes` with aq_free; it is a block even when empty. */
int aq_base64_decode(const char *text, size_t length, uint8_t **ret_bytes,
                     size_t *ret_size) AQ_MUST_USE;

#endif
