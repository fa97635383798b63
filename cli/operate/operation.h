/*
 * Operation: one call of a method to a daemon that was named on the command line, for the commands
 * that ask a running system for something.
 */
#ifndef AQ_CLI_OPERATE_OPERATION_H
#define AQ_CLI_OPERATE_OPERATION_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/net/rpc/caller.h"
#include "common/net/security/token.h"
#include "common/sys/options.h"

/* How long such a call may take: on a host with more to do than it has processors a daemon may say
 * nothing for seconds. The option fills a uint64_t. */
enum { AQ_CALL_TIMEOUT_MS = 10000 };
#define AQ_CALL_TIMEOUT_OPTION_ROW(type, member)                                                   \
    {                                                                                              \
        "timeout-ms", 0, "MS",                                                                     \
            "how long to wait for a connection and the answer together, 1 to 600000 (default "     \
            "10000)",                                                                              \
            AQ_TO_NUMBER(type, member, 1, AQ_RPC_TIMEOUT_MS_MAX)                                   \
    }

/* Which replay shard is meant; fills a uint64_t, 0 where it is the learner. */
#define AQ_SHARD_OPTION_ROW(type, member)                                                          \
    {                                                                                              \
        "shard", 0, "NAME",                                                                        \
            "what is at the URL is this replay shard: its incarnation in actorq status RUN "       \
            "--json",                                                                              \
            AQ_TO_NUMBER(type, member, 1, UINT64_MAX)                                              \
    }

/* `endpoint` is a URL, or the folder of a live run; `role` and `instance` are whom alone the call
 * is signed for (rpc.h). With AQ_ACCESS_REPLAY it is the URL of what says that it is a shard, else
 * AQ_E_INVALID. *ret_reply is the method's answer, to be released with
 * protobuf_c_message_free_unpacked. What aq_live_endpoint_url and aq_caller_call say; after a
 * second without a connection stderr says what is waited for. */
int aq_operation_ask(const char *endpoint, enum aq_access_role role, uint64_t instance,
                     aq_caller_method method, const ProtobufCMessage *request, uint32_t timeout_ms,
                     ProtobufCMessage **ret_reply, aq_rpc_status *ret_status,
                     aq_error *error) AQ_MUST_USE;

/* The same of a method by its name, "Operations/Stop"; for an answer that is an error, in the
 * daemon's words, AQ_E_NOT_FOUND or else AQ_E_PEER. */
int aq_operation_call(const char *endpoint, enum aq_access_role role, uint64_t instance,
                      const char *method, const ProtobufCMessage *request, uint32_t timeout_ms,
                      ProtobufCMessage **ret_reply, aq_error *error) AQ_MUST_USE;

#endif
