/*
 * Priority return: see priority_return.h.
 */
#include "learner/sampling/priority_return.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/config/table_spec.h"
#include "common/net/address/url.h"
#include "common/wire/wire_frame.h"
#include "proto/sampling.pb-c.h"

typedef struct return_call {
    aq_priority_return *returns;
    aq_rpc_stub stub;
    char shard[AQ_URL_MAX];
    uint32_t rows;
    bool busy;
} return_call;

struct aq_priority_return {
    uint64_t run_id;
    char table[AQ_TABLE_NAME_MAX];
    void (*trouble)(void *user, const char *shard, const char *reason);
    void *user;
    aq_priority_counts counts;
    uint32_t calls_max;
    return_call calls[];
};

int aq_priority_return_create(uint64_t run_id, const char *table, uint32_t calls_max,
                              void (*trouble)(void *user, const char *shard, const char *reason),
                              void *user, aq_priority_return **ret_return)
{
    AQ_ASSERT(calls_max > 0);
    aq_priority_return *returns =
        aq_alloc(1, sizeof(*returns) + (size_t)calls_max * sizeof(returns->calls[0]));
    if (!returns) {
        return AQ_E_NOMEM;
    }
    returns->run_id = run_id;
    returns->trouble = trouble;
    returns->user = user;
    returns->calls_max = calls_max;
    int rc = aq_text_set(returns->table, sizeof(returns->table), table);
    AQ_ASSERT(rc == 0);
    *ret_return = returns;
    return 0;
}

void aq_priority_return_destroy(aq_priority_return *returns)
{
    aq_free(returns);
}

void aq_priority_return_clear(aq_batch *group)
{
    for (uint32_t i = 0; i < group->rows; i++) {
        group->priority[i] = AQ_PRIORITY_NONE;
    }
}

/* Rows that were trained on to the front; how many they are. */
static uint32_t gather(aq_batch *group)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < group->rows; i++) {
        if (group->priority[i] >= 0 && isfinite(group->priority[i])) {
            group->item[rows] = group->item[i];
            group->priority[rows] = group->priority[i];
            rows++;
        }
    }
    return rows;
}

static void on_prioritized(const Actorq__V1__PrioritizeReply *reply, void *user)
{
    return_call *call = user;
    aq_priority_return *returns = call->returns;
    call->busy = false;
    if (reply) {
        uint32_t applied = reply->applied < call->rows ? reply->applied : call->rows;
        returns->counts.applied += applied;
        returns->counts.stale += call->rows - applied;
        return;
    }
    const aq_rpc_status *status = aq_rpc_stub_status(&call->stub);
    if (status->code == AQ_RPC_FAILED_PRECONDITION) {
        returns->counts.stale +=
            call->rows; /* the shard was restarted: its items have new numbers */
        return;
    }
    returns->counts.dropped += call->rows;
    if (status->code != AQ_RPC_CANCELLED) {
        returns->trouble(returns->user, call->shard, status->message);
    }
}

static return_call *free_call(aq_priority_return *returns)
{
    for (uint32_t i = 0; i < returns->calls_max; i++) {
        if (!returns->calls[i].busy) {
            return &returns->calls[i];
        }
    }
    return NULL;
}

void aq_priority_return_send(aq_priority_return *returns, const aq_rpc_stub *stub,
                             const char *shard, uint64_t incarnation, aq_batch *group)
{
    uint32_t rows = gather(group);
    if (rows == 0) {
        return;
    }
    returns->counts.sent += rows;
    return_call *call = stub ? free_call(returns) : NULL;
    if (!call) {
        returns->counts.dropped += rows;
        return;
    }
    *call = (return_call){.returns = returns, .stub = *stub, .rows = rows, .busy = true};
    (void)snprintf(call->shard, sizeof(call->shard), "%s", shard);

    Actorq__V1__PrioritizeRequest request = ACTORQ__V1__PRIORITIZE_REQUEST__INIT;
    request.run_id = returns->run_id;
    request.shard_incarnation = incarnation;
    request.table = returns->table;
    request.item = aq_wire_bytes(group->item, rows * sizeof(*group->item));
    request.priority = aq_wire_bytes(group->priority, rows * sizeof(*group->priority));
    actorq__v1__sampling__prioritize(&call->stub.base, &request, on_prioritized, call);
}

aq_priority_counts aq_priority_return_counts(const aq_priority_return *returns)
{
    return returns->counts;
}
