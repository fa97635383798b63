/*
 * Prefetch: keeps sampled batches ready for the trainer. Runs on the loop's thread over RPC
 * channels that its owner opens; asks every live shard in turn, a bounded number of requests at a
 * time, of which a slow shard holds no more than its share.
 *
 * A group is what one Sample call brings: batches_per_request batches in one aq_batch. Groups are
 * made once and go round: empty -> asked for -> ready (owner's callback) -> given back.
 */
#ifndef AQ_LEARNER_PREFETCH_H
#define AQ_LEARNER_PREFETCH_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/net/rpc.h"
#include "common/rl/batch.h"

typedef struct aq_prefetch aq_prefetch;

typedef struct aq_prefetch_owner {
    void *user;
    /* A group is full; it is the owner's until aq_prefetch_give_back. */
    void (*ready)(void *user, aq_batch *group);
    /* How many fresh transitions that shard has taken in. */
    void (*progress)(void *user, uint64_t shard_incarnation, uint64_t inserted);
    /* A call failed with something other than the limiter's "not yet", or brought something else
     * than was asked for. The shard is left alone for a moment. */
    void (*trouble)(void *user, const char *shard, const char *reason);
} aq_prefetch_owner;

typedef struct aq_prefetch_config {
    uint64_t run_id;
    uint64_t schema_hash;
    uint32_t batch_rows;
    uint32_t batch_count; /* batches a group */
    uint32_t in_flight;   /* requests at a time; there are as many groups again to train on */
    float discount;
    uint32_t wait_ms; /* how long a shard may hold an answer back; more than 10 s counts as 10 s */
    uint32_t timeout_ms; /* after which a call counts as lost; > wait_ms */
} aq_prefetch_config;

int aq_prefetch_create(const aq_prefetch_config *config, const aq_chunk_layout *layout,
                       const aq_prefetch_owner *owner, aq_prefetch **ret_prefetch) AQ_MUST_USE;

/* No call may be in flight (close the channels first) and every group given back or still in the
 * owner's queues: their memory goes here. NULL is fine. */
void aq_prefetch_destroy(aq_prefetch *prefetch);

/* `name` is for people. At most AQ_SHARDS_MAX; AQ_E_FULL beyond. An incarnation that was removed
 * may be added again, also with calls of its former channel still out. */
int aq_prefetch_add_shard(aq_prefetch *prefetch, uint64_t incarnation, const char *name,
                          aq_rpc_channel *channel) AQ_MUST_USE;

/* The shard is asked no more; answers still under way are dropped when they come. The channel must
 * be closed afterwards, not before. */
void aq_prefetch_remove_shard(aq_prefetch *prefetch, uint64_t incarnation);

/* Asks for what is due, each shard in its turn: call it after adding a shard, after giving back,
 * and every few ms (it tries shards again that had nothing or could not be reached). */
void aq_prefetch_tick(aq_prefetch *prefetch, int64_t now_ns);

/* Once for each group that was ready; its content is forgotten. */
void aq_prefetch_give_back(aq_prefetch *prefetch, aq_batch *group);

#endif
