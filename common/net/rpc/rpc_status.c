/*
 * The status codes of remote calls: their names, and which of them one of our error codes becomes.
 */
#include "common/net/rpc/rpc.h"

const char *aq_rpc_code_name(uint32_t code)
{
    switch (code) {
#define CODE_NAME(name, number)                                                                    \
    case AQ_RPC_##name:                                                                            \
        return #name;
        AQ_RPC_STATUS_LIST(CODE_NAME)
#undef CODE_NAME
    default:
        return "UNKNOWN";
    }
}

enum aq_rpc_code aq_rpc_code_from_error(int error_code)
{
    switch (error_code) {
    case AQ_OK:
        return AQ_RPC_OK;
    case AQ_E_INVALID:
    case AQ_E_FOREIGN:
        return AQ_RPC_INVALID_ARGUMENT;
    case AQ_E_NOT_FOUND:
        return AQ_RPC_NOT_FOUND;
    case AQ_E_EXISTS:
    case AQ_E_IN_USE:
        return AQ_RPC_ALREADY_EXISTS;
    case AQ_E_TIMEOUT:
        return AQ_RPC_DEADLINE_EXCEEDED;
    case AQ_E_CLOSED:
    case AQ_E_AGAIN:
        return AQ_RPC_UNAVAILABLE;
    case AQ_E_NOMEM:
    case AQ_E_NO_SPACE:
    case AQ_E_FULL:
    case AQ_E_TOO_BIG:
        return AQ_RPC_RESOURCE_EXHAUSTED;
    case AQ_E_CORRUPT:
        return AQ_RPC_DATA_LOSS;
    case AQ_E_VERSION:
    case AQ_E_SCHEMA:
        return AQ_RPC_FAILED_PRECONDITION;
    case AQ_E_UNSUPPORTED:
        return AQ_RPC_UNIMPLEMENTED;
    case AQ_E_PEER:
        return AQ_RPC_UNKNOWN;
    default:
        return AQ_RPC_INTERNAL;
    }
}
