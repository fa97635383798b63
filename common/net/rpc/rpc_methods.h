/*
 * The methods that a daemon offers, by name. Private to rpc; loop thread only.
 */
#ifndef AQ_COMMON_NET_RPC_RPC_METHODS_H
#define AQ_COMMON_NET_RPC_RPC_METHODS_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include "common/net/rpc/rpc.h"

enum { AQ_RPC_SERVICES_MAX = 16 };

typedef struct aq_rpc_methods {
    ProtobufCService *services[AQ_RPC_SERVICES_MAX];
    size_t service_count;
} aq_rpc_methods;

/* "package.Service/Method" to a service and one of its methods; NULL when there is none. */
const ProtobufCMethodDescriptor *aq_rpc_methods_find(const aq_rpc_methods *methods,
                                                     const char *name,
                                                     ProtobufCService **ret_service);

/* The name of a method that is offered and reads like `name`; false when none does. */
bool aq_rpc_methods_nearest(const aq_rpc_methods *methods, const char *name,
                            char ret_nearest[AQ_RPC_METHOD_MAX]);

#endif
