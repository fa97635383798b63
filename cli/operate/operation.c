/*
 * Operation: see operation.h.
 */
#include "cli/operate/operation.h"

#include <stdio.h>

#include "cli/operate/live_endpoint.h"
#include "cli/operate/rpc_catalog.h"

static void tell_slow(const char *url, const char *why)
{
    (void)fprintf(stderr, "waiting for %s%s%s\n", url, why[0] != '\0' ? ": " : "", why);
}

int aq_operation_ask(const char *endpoint, enum aq_access_role role, uint64_t instance,
                     aq_caller_method method, const ProtobufCMessage *request, uint32_t timeout_ms,
                     ProtobufCMessage **ret_reply, aq_rpc_status *ret_status, aq_error *error)
{
    char url[AQ_URL_MAX];
    aq_caller *caller = NULL;
    int rc = aq_live_endpoint_url(endpoint, url, error);
    if (rc == 0) {
        rc = aq_caller_open(url, &caller, error);
    }
    if (rc == 0) {
        aq_caller_expect(caller, role, instance);
        aq_caller_on_slow(caller, tell_slow);
        rc = aq_caller_call(caller, method, request, timeout_ms, ret_reply, ret_status, error);
    }
    aq_caller_close(caller);
    return rc;
}

int aq_operation_call(const char *endpoint, enum aq_access_role role, uint64_t instance,
                      const char *method, const ProtobufCMessage *request, uint32_t timeout_ms,
                      ProtobufCMessage **ret_reply, aq_error *error)
{
    aq_rpc_status answer = {0};
    aq_caller_method found;
    int rc = aq_rpc_catalog_find(method, &found, error);
    if (rc == 0) {
        rc = aq_operation_ask(endpoint, role, instance, found, request, timeout_ms, ret_reply,
                              &answer, error);
    }
    if (rc != AQ_E_PEER) {
        return rc;
    }
    rc = answer.code == AQ_RPC_NOT_FOUND ? AQ_E_NOT_FOUND : rc;
    return aq_fail(error, rc, "%s", answer.message);
}
