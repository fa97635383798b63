/*
 * Operation: see operation.h.
 */
#include "cli/operate/operation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/operate/live_endpoint.h"
#include "cli/operate/rpc_catalog.h"
#include "common/base/clock.h"
#include "proto/operations.pb-c.h"

static void tell_slow(const char *url, const char *why)
{
    (void)fprintf(stderr, "waiting for %s%s%s\n", url, why[0] != '\0' ? ": " : "", why);
}

/* Where no token is in force nothing is signed for a shard alone, so it is asked who it is. Leaves
 * of the timeout what the call after it has. */
static int require_shard(aq_caller *caller, const char *url, uint64_t instance,
                         uint32_t *timeout_ms, aq_rpc_status *ret_status, aq_error *error)
{
    const int64_t begun_ns = aq_clock_monotonic_ns();
    Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    ProtobufCMessage *reply = NULL;
    aq_caller_method status;
    int rc = aq_rpc_catalog_find("Operations/Status", &status, error);
    if (rc == 0) {
        rc = aq_caller_call(caller, status, &request.base, *timeout_ms, &reply, ret_status, error);
    }
    const Actorq__V1__StatusReply *said = (const Actorq__V1__StatusReply *)reply;
    if (rc == 0 && strcmp(said->role, "replay") != 0) {
        rc = aq_fail(error, AQ_E_INVALID, "--shard: what is at %s is no replay shard", url);
    } else if (rc == 0 && said->incarnation != instance) {
        rc = aq_fail(error, AQ_E_INVALID, "--shard: at %s is another shard, %" PRIu64, url,
                     said->incarnation);
    }
    if (reply != NULL) {
        protobuf_c_message_free_unpacked(reply, NULL);
    }
    const int64_t spent_ms = (aq_clock_monotonic_ns() - begun_ns) / AQ_NS_PER_MS;
    *timeout_ms = spent_ms < *timeout_ms ? *timeout_ms - (uint32_t)spent_ms : 1;
    return rc;
}

int aq_operation_ask(const char *endpoint, enum aq_access_role role, uint64_t instance,
                     aq_caller_method method, const ProtobufCMessage *request, uint32_t timeout_ms,
                     ProtobufCMessage **ret_reply, aq_rpc_status *ret_status, aq_error *error)
{
    char url[AQ_URL_MAX];
    aq_caller *caller = NULL;
    int rc = aq_live_endpoint_url(endpoint, url, error);
    if (rc == 0 && role == AQ_ACCESS_REPLAY && strcmp(endpoint, url) != 0) {
        rc = aq_fail(error, AQ_E_INVALID, "--shard is for the URL of a shard; %s is a folder",
                     endpoint);
    }
    if (rc == 0) {
        rc = aq_caller_open(url, &caller, error);
    }
    if (rc == 0) {
        aq_caller_expect(caller, role, instance);
        aq_caller_on_slow(caller, tell_slow);
        rc = role == AQ_ACCESS_REPLAY
                 ? require_shard(caller, url, instance, &timeout_ms, ret_status, error)
                 : 0;
    }
    if (rc == 0) {
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
