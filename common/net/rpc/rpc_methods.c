/*
 * Methods by name: see rpc_methods.h.
 */
#include "common/net/rpc/rpc_methods.h"

#include <stdio.h>
#include <string.h>

#include "common/base/nearest.h"

const ProtobufCMethodDescriptor *
aq_rpc_methods_find(const aq_rpc_methods *methods, const char *name, ProtobufCService **ret_service)
{
    const char *slash = strrchr(name, '/');

    for (size_t i = 0; slash != NULL && i < methods->service_count; i++) {
        ProtobufCService *service = methods->services[i];
        const char *service_name = service->descriptor->name;
        size_t length = (size_t)(slash - name);

        if (strlen(service_name) == length && memcmp(service_name, name, length) == 0) {
            *ret_service = service;
            return protobuf_c_service_descriptor_get_method_by_name(service->descriptor, slash + 1);
        }
    }
    return NULL;
}

bool aq_rpc_methods_nearest(const aq_rpc_methods *methods, const char *name,
                            char ret_nearest[AQ_RPC_METHOD_MAX])
{
    char offered[AQ_RPC_METHOD_MAX];
    aq_nearest nearest;

    aq_nearest_init(&nearest, name);
    for (size_t i = 0; i < methods->service_count; i++) {
        const ProtobufCServiceDescriptor *service = methods->services[i]->descriptor;

        for (unsigned k = 0; k < service->n_methods; k++) {
            snprintf(offered, sizeof(offered), "%s/%s", service->name, service->methods[k].name);
            if (aq_nearest_offer(&nearest, offered)) {
                memcpy(ret_nearest, offered, sizeof(offered));
            }
        }
    }
    return aq_nearest_name(&nearest) != NULL;
}
