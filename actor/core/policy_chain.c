/*
 * The waiting ones are few, so each step looks through all of them.
 */
#include "actor/core/policy_chain.h"

#include <string.h>

#include "common/base/assert.h"

static void drop_waiting(aq_policy_chain *chain, size_t index)
{
    AQ_ASSERT(index < chain->waiting_count);
    chain->waiting_bytes -= aq_wire_delta_head(chain->waiting[index])->bytes;
    aq_wire_delta_close(chain->waiting[index]);
    chain->waiting_count--;
    memmove(&chain->waiting[index], &chain->waiting[index + 1],
            (chain->waiting_count - index) * sizeof(chain->waiting[0]));
}

static void wait_for_base(aq_policy_chain *chain, aq_wire_delta *delta)
{
    const size_t bytes = aq_wire_delta_head(delta)->bytes;
    while (chain->waiting_count == AQ_POLICY_CHAIN_WAITING ||
           (chain->waiting_count > 0 && chain->waiting_bytes + bytes > AQ_POLICY_CHAIN_BYTES)) {
        drop_waiting(chain, 0);
    }
    chain->waiting[chain->waiting_count++] = delta;
    chain->waiting_bytes += bytes;
}

void aq_policy_chain_forget(aq_policy_chain *chain)
{
    aq_snapshot_unref(chain->newest);
    chain->newest = NULL;
}

void aq_policy_chain_fini(aq_policy_chain *chain)
{
    aq_policy_chain_forget(chain);
    while (chain->waiting_count > 0) {
        drop_waiting(chain, chain->waiting_count - 1);
    }
}

static int step(aq_policy_chain *chain, const aq_wire_delta *delta, aq_error *error)
{
    aq_snapshot *next;
    int rc = aq_wire_delta_apply(delta, chain->newest, &next, error);
    if (rc == 0) {
        aq_snapshot_unref(chain->newest);
        chain->newest = next;
    }
    return rc;
}

/* Forgets what is no newer than the newest, and takes the next one that changes it. */
static int follow_one(aq_policy_chain *chain, bool *ret_followed, aq_error *error)
{
    size_t i = 0;
    int rc = 0;
    bool followed = false;
    while (rc == 0 && !followed && i < chain->waiting_count) {
        const aq_delta_head *head = aq_wire_delta_head(chain->waiting[i]);
        followed = head->base_version == chain->newest->version;
        if (followed) {
            rc = step(chain, chain->waiting[i], error);
        }
        if (followed || head->version <= chain->newest->version) {
            drop_waiting(chain, i);
        } else {
            i++;
        }
    }
    *ret_followed = followed;
    return rc;
}

static int follow(aq_policy_chain *chain, aq_error *error)
{
    int rc = 0;
    bool followed = true;
    while (rc == 0 && followed) {
        rc = follow_one(chain, &followed, error);
    }
    return rc;
}

int aq_policy_chain_add(aq_policy_chain *chain, aq_snapshot *snapshot, aq_error *error)
{
    if (chain->newest != NULL && snapshot->version <= chain->newest->version) {
        aq_snapshot_unref(snapshot);
        return AQ_E_EXISTS;
    }
    aq_snapshot_unref(chain->newest);
    chain->newest = snapshot;
    return follow(chain, error);
}

int aq_policy_chain_add_delta(aq_policy_chain *chain, aq_wire_delta *delta, aq_error *error)
{
    const aq_delta_head *head = aq_wire_delta_head(delta);
    const uint64_t newest = chain->newest != NULL ? chain->newest->version : 0;
    if (head->version <= newest) {
        aq_wire_delta_close(delta);
        return AQ_E_EXISTS;
    }
    if (head->base_version > newest) {
        wait_for_base(chain, delta);
        return AQ_E_AGAIN;
    }
    int rc = head->base_version == newest ? step(chain, delta, error) : AQ_E_AGAIN;
    aq_wire_delta_close(delta);
    return rc != 0 ? rc : follow(chain, error);
}
