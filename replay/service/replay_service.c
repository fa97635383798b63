/*
 * The four services on one host, and the intake: frame and schema are checked while unpacking, the
 * rest is the core's.
 */
#include "replay/service/replay_service.h"

#include <inttypes.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/net/rpc/frame.h"
#include "common/wire/wire_experience.h"
#include "replay/service/replay_exchange_service.h"
#include "replay/service/replay_flow_service.h"
#include "replay/service/replay_operations_service.h"
#include "replay/service/replay_sampling_service.h"
#include "replay/shard/replay_recovery.h"

/* Rates are taken over at least this long. */
#define RATE_WINDOW_NS AQ_NS_PER_S

struct aq_replay_service {
    aq_replay_host host;
    aq_replay_service_owner owner;
    const aq_rpc_dispatcher *dispatcher;
    aq_flow_service flow;
    aq_sampling_service sampling;
    aq_operations_service operations;
    aq_exchange_service exchange;
    aq_replay_recovery recovery;
    struct {
        int64_t from_ns;
        uint64_t inserted, sampled;
    } window;
};

/* Actors that have nothing to do are told at once. */
static void on_wanting(void *user)
{
    aq_replay_service *service = user;
    if (aq_replay_core_is_paced(service->host.core)) {
        aq_replay_core_share(service->host.core, service->host.now_ns);
        aq_flow_service_tick(&service->flow);
    }
}

int aq_replay_service_create(const aq_replay_service_owner *owner, int64_t now_ns,
                             aq_replay_service **ret_service)
{
    AQ_ASSERT(owner->rejected != NULL);
    AQ_ASSERT(owner->damaged != NULL);
    AQ_ASSERT(owner->stop != NULL);
    aq_replay_service *service = aq_alloc(1, sizeof(*service));
    if (service == NULL) {
        return AQ_E_NOMEM;
    }
    service->owner = *owner;
    service->host.process = owner->process;
    service->host.now_ns = now_ns;
    service->host.started_ns = now_ns;
    service->host.folder = "";
    aq_operations_service_init(&service->operations, &service->host, owner);
    aq_exchange_service_init(&service->exchange, &service->host);
    int rc = aq_flow_service_init(&service->flow, &service->host);
    if (rc == 0) {
        rc = aq_sampling_service_init(&service->sampling, &service->host, on_wanting, service);
    }
    if (rc != 0) {
        aq_replay_service_destroy(service);
        return rc;
    }
    *ret_service = service;
    return 0;
}

void aq_replay_service_destroy(aq_replay_service *service)
{
    if (service == NULL) {
        return;
    }
    aq_replay_service_end(service, "this shard stops");
    aq_sampling_service_fini(&service->sampling);
    aq_flow_service_fini(&service->flow);
    aq_free(service);
}

int aq_replay_service_offer(aq_replay_service *service, aq_rpc_dispatcher *dispatcher)
{
    ProtobufCService *const services[] = {
        &service->flow.base.base,
        &service->sampling.base.base,
        &service->operations.base.base,
        &service->exchange.base.base,
    };
    service->dispatcher = dispatcher;
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
        int rc = aq_rpc_dispatcher_add(dispatcher, services[i]);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

/* Rates count from here. */
static void open_window(aq_replay_service *service)
{
    aq_replay_counters counters = aq_replay_core_counters(service->host.core);
    service->host.insert_per_s = 0.0;
    service->host.sample_per_s = 0.0;
    service->window.from_ns = service->host.now_ns;
    service->window.inserted = counters.inserted;
    service->window.sampled = counters.sampled;
}

int aq_replay_service_begin(aq_replay_service *service, int64_t now_ns, const aq_shard_run *run,
                            const aq_replay_core *former, aq_error *error)
{
    AQ_ASSERT(service->host.core == NULL);
    AQ_ASSERT(service->dispatcher != NULL);
    aq_replay_core *core;
    int rc = aq_replay_core_create(run, now_ns, &core, error);
    if (rc != 0) {
        return rc;
    }
    if (former != NULL) {
        rc = aq_replay_core_inherit(core, former);
        if (rc == 0) {
            rc = aq_replay_core_attach(core, now_ns, NULL, 0, 0);
        }
        rc = rc != 0 ? aq_fail(error, rc, "the senders' marks: %s", aq_error_text(rc)) : 0;
    }
    if (rc == 0) {
        rc = aq_sampling_service_begin(&service->sampling, core,
                                       aq_rpc_dispatcher_reply_bytes_max(service->dispatcher),
                                       error);
    }
    if (rc != 0) {
        aq_replay_core_destroy(core);
        return rc;
    }
    service->host.core = core;
    service->host.now_ns = now_ns;
    service->host.folder = "";
    open_window(service);
    return 0;
}

aq_replay_log_recovery aq_replay_service_recovery(aq_replay_service *service, int64_t now_ns)
{
    AQ_ASSERT(service->host.core != NULL);
    service->recovery = (aq_replay_recovery){
        .core = service->host.core,
        .now_ns = now_ns,
        .damaged = service->owner.damaged,
        .user = service->owner.user,
        .advanced = service->owner.advanced,
    };
    return aq_replay_recovery_calls(&service->recovery);
}

int aq_replay_service_attach(aq_replay_service *service, int64_t now_ns, aq_replay_log *log,
                             uint64_t last_number, uint64_t backlog_bytes, const char *folder)
{
    AQ_ASSERT(service->host.core != NULL);
    int rc = aq_replay_core_attach(service->host.core, now_ns, log, last_number, backlog_bytes);
    if (rc == 0) {
        service->host.now_ns = now_ns;
        service->host.folder = folder;
        open_window(service);
    }
    return rc;
}

aq_replay_core *aq_replay_service_release(aq_replay_service *service, const char *reason)
{
    aq_replay_core *core = service->host.core;
    aq_flow_service_release(&service->flow, reason);
    aq_sampling_service_release(&service->sampling, reason);
    aq_operations_service_release(&service->operations, reason);
    service->host.core = NULL;
    service->host.folder = "";
    return core;
}

void aq_replay_service_end(aq_replay_service *service, const char *reason)
{
    aq_replay_core_destroy(aq_replay_service_release(service, reason));
}

const aq_replay_core *aq_replay_service_core(const aq_replay_service *service)
{
    return service->host.core;
}

/* Takes the seal off. */
static int check_seal(const aq_replay_service *service, aq_lease *message, aq_error *error)
{
    if (service->owner.seal == NULL) {
        return 0;
    }
    if (!aq_seal_is_whole(service->owner.seal, message->bytes, message->size)) {
        return aq_fail(error, AQ_E_PEER, "the message is not sealed with a token of this run");
    }
    message->size -= AQ_SEAL_BYTES;
    return 0;
}

static int take(aq_replay_service *service, aq_lease *message, aq_error *error)
{
    aq_replay_core *core = service->host.core;
    const aq_run_settings *settings = aq_replay_core_settings(core);
    aq_arrival *arrival;
    size_t size_max = settings->config.net.message_bytes + AQ_FRAME_HEADER_BYTES;
    int rc = check_seal(service, message, error);
    if (rc == 0 && message->size > size_max) {
        rc = aq_fail(error, AQ_E_TOO_BIG, "a message of %zu bytes; at most %zu are possible",
                     message->size, size_max);
    } else if (rc == 0) {
        rc = aq_wire_experience_arrive(message, service->owner.seal != NULL,
                                       aq_replay_core_run_id(core), aq_replay_core_layout(core),
                                       &arrival, error);
    }
    if (rc == 0 && service->owner.seal != NULL &&
        !aq_replay_core_is_announced(core, arrival->actor, arrival->incarnation)) {
        rc = aq_fail(error, AQ_E_AGAIN, "actor %" PRIu64 " has not called here", arrival->actor);
        aq_arrival_unref(arrival);
        aq_replay_core_pass_over(core);
        return rc;
    }
    if (rc != 0) {
        aq_replay_core_reject(core);
        return rc;
    }
    enum aq_replay_verdict verdict;
    return aq_replay_core_insert(core, service->host.now_ns, arrival, &verdict, error);
}

void aq_replay_service_experience(aq_replay_service *service, int64_t now_ns, aq_lease *message,
                                  const char *peer)
{
    service->host.now_ns = now_ns;
    if (service->host.core == NULL) {
        return; /* not acknowledged, so it will come again */
    }
    aq_error error;
    int rc = take(service, message, &error);
    if (rc != 0) {
        service->owner.rejected(service->owner.user, peer, &error);
        return;
    }
    aq_sampling_service_serve(&service->sampling);
}

static double rate_of(uint64_t now, uint64_t then, int64_t elapsed_ns)
{
    return (double)(now - then) * (double)AQ_NS_PER_S / (double)elapsed_ns;
}

static void measure_rates(aq_replay_service *service)
{
    aq_replay_host *host = &service->host;
    int64_t elapsed_ns = host->now_ns - service->window.from_ns;
    if (elapsed_ns < RATE_WINDOW_NS) {
        return;
    }
    aq_replay_counters counters = aq_replay_core_counters(host->core);
    host->insert_per_s = rate_of(counters.inserted, service->window.inserted, elapsed_ns);
    host->sample_per_s = rate_of(counters.sampled, service->window.sampled, elapsed_ns);
    service->window.from_ns = host->now_ns;
    service->window.inserted = counters.inserted;
    service->window.sampled = counters.sampled;
}

void aq_replay_service_tick(aq_replay_service *service, int64_t now_ns)
{
    service->host.now_ns = now_ns;
    if (service->host.core == NULL) {
        return;
    }
    aq_sampling_service_tick(&service->sampling);
    aq_replay_core_upkeep(service->host.core, now_ns);
    aq_replay_core_share(service->host.core, now_ns); /* after sampling, which makes headroom */
    aq_flow_service_tick(&service->flow);
    aq_operations_service_tick(&service->operations);
    measure_rates(service);
}

void aq_replay_service_statistics(const aq_replay_service *service, aq_replay_stats *ret_stats)
{
    aq_replay_stats_fill(&service->host, ret_stats);
}
