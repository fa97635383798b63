/*
 * Kept replies: what was answered lately, by request id, so that a request that NNG sends again
 * after a lost connection is answered again and not carried out again.
 *
 * Bounded by bytes and by count; the one least recently kept or used goes first. A single reply of
 * more than a quarter of the bytes is not kept, since it would push out everybody else's; where
 * larger ones must be, four of them are, beside the others. Private to rpc; loop thread only.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_REPEATS_H
#define AQ_COMMON_NET_RPC_RPC_REPEATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_rpc_repeats aq_rpc_repeats;

/* `bytes_max` 0: nothing is kept. */
int aq_rpc_repeats_create(size_t bytes_max, aq_rpc_repeats **ret_repeats) AQ_MUST_USE;
void aq_rpc_repeats_destroy(aq_rpc_repeats *repeats); /* NULL is fine */

/* Replies of up to so many bytes are kept from now on, four of those that otherwise would not. */
void aq_rpc_repeats_allow(aq_rpc_repeats *repeats, size_t reply_bytes);

/* Keeps a copy of the reply to the request whose frame has this crc. It may be too large, or memory
 * may be short: then a repeat of the request is carried out again. The id is not kept already. */
void aq_rpc_repeats_keep(aq_rpc_repeats *repeats, uint64_t id, uint32_t request_crc,
                         const uint8_t *reply, size_t size);

/* AQ_E_NOT_FOUND; AQ_E_INVALID when the id was another request's. The reply stays valid until the
 * next aq_rpc_repeats_keep. */
int aq_rpc_repeats_find(aq_rpc_repeats *repeats, uint64_t id, uint32_t request_crc,
                        const uint8_t **ret_reply, size_t *ret_size) AQ_MUST_USE;

#endif
