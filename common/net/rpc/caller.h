/*
 * Caller: a connection to one daemon, on a loop of its own, over which calls are made one at a time
 * and waited for. For commands that ask something and end. One thread.
 */
#ifndef AQ_COMMON_NET_RPC_CALLER_H
#define AQ_COMMON_NET_RPC_CALLER_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/net/rpc/rpc.h"

/* The largest answer. The largest policies and samples are far below it. */
#define AQ_CALLER_ANSWER_BYTES_MAX ((size_t)256 << 20)

typedef struct aq_caller aq_caller;

/* Begins to connect, with the credentials that the environment names (security.h); a daemon that is
 * not there yet is no failure. AQ_E_INVALID for a bad url, and what aq_security_load says. */
int aq_caller_open(const char *url, aq_caller **ret_caller, aq_error *error) AQ_MUST_USE;
void aq_caller_close(aq_caller *caller); /* NULL is fine */

/* Of methods that learners and shards both serve, calls are signed for that role alone, and of
 * shards for that start, as aq_rpc_channel_expect has it. */
void aq_caller_expect(aq_caller *caller, enum aq_access_role role, uint64_t instance);

/* `why` is what became of connecting to `url`; "" where that is not known. */
typedef void aq_caller_slow_fn(const char *url, const char *why);

/* Calls `slow` once, when a call has waited a second for a daemon that has not been reached. */
void aq_caller_on_slow(aq_caller *caller, aq_caller_slow_fn *slow);

typedef struct aq_caller_method {
    const ProtobufCServiceDescriptor *service;
    unsigned index;
} aq_caller_method;

/* Calls and waits up to timeout_ms (1 to AQ_RPC_TIMEOUT_MS_MAX), the time to connect included.
 *
 * 0: *ret_reply is the answer; release it with protobuf_c_message_free_unpacked(reply, NULL).
 * AQ_E_TIMEOUT: nobody was reached; `error` names the url and the time waited.
 * AQ_E_PEER: it was reached and this came of it: *ret_status. `error` says it too.
 * AQ_E_NOMEM. */
int aq_caller_call(aq_caller *caller, aq_caller_method method, const ProtobufCMessage *request,
                   uint32_t timeout_ms, ProtobufCMessage **ret_reply, aq_rpc_status *ret_status,
                   aq_error *error) AQ_MUST_USE;

#endif
