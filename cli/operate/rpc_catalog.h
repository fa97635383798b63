/*
 * RPC catalog: every method of the services in proto/, found by name and described from the
 * descriptors that are compiled in.
 */
#ifndef AQ_CLI_OPERATE_RPC_CATALOG_H
#define AQ_CLI_OPERATE_RPC_CATALOG_H

#include <jansson.h>

#include "common/base/error.h"
#include "common/net/rpc/caller.h"

/* "Operations/Status", "actorq.v1.Operations/Status", or a method's name alone where only one
 * service has it. AQ_E_NOT_FOUND names the nearest there is. */
int aq_rpc_catalog_find(const char *name, aq_caller_method *ret_method,
                        aq_error *error) AQ_MUST_USE;

const ProtobufCMethodDescriptor *aq_rpc_catalog_method(aq_caller_method method);

/* {"methods": [{"method": "Operations/Status", "request": {…}, "reply": {…}}, …]}; NULL when out of
 * memory. */
json_t *aq_rpc_catalog_json(void);

#endif
