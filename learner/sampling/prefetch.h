/*
 * Prefetch: keeps sampled batches ready for the trainer. Runs on the loop's thread over RPC
 * channels that its owner opens; asks every live shard for its share of the requests, in proportion
 * to the mass that it told last (shard_turns.h), a bounded number at a time.
 *
 * A group is what one Sample call brings: batches_per_request batches in one aq_batch. Groups are
 * made once and go round: empty -> asked for -> ready (owner's callback) -> given back. Each keeps
 * which start of which shard it came from; where the table uses priorities, those that training
 * wrote into a group that is given back go there (priority_return.h).
 *
 * Paced, so that rows are of the newest V versions (versions_max), a group is asked for when fewer
 * than V others are ahead of it: asked for, ready, in training, or trained with a version to come
 * of it. By the time that it is trained on, so many versions have come at most, and it asks for
 * steps that are new enough then. With V = 1 nothing is made before the newest version is out.
 *
 * What trains needs no more of a source of groups than `ready`, tick and give_back: experience that
 * comes from elsewhere than replay shards, such as a file, offers these three.
 */
#ifndef AQ_LEARNER_SAMPLING_PREFETCH_H
#define AQ_LEARNER_SAMPLING_PREFETCH_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/config/table_spec.h"
#include "common/experience/batch.h"
#include "common/net/rpc/rpc.h"
#include "learner/sampling/priority_return.h"
#include "learner/sampling/shard_board.h"

typedef struct aq_prefetch aq_prefetch;

typedef struct aq_prefetch_owner {
    void *user;
    /* A group is full; it is the owner's until aq_prefetch_give_back. Each row's weight is what its
     * loss counts. */
    void (*ready)(void *user, aq_batch *group);
    /* How many fresh transitions that shard's store has taken in, in all its lives. */
    void (*progress)(void *user, uint64_t shard_incarnation, uint64_t inserted);
    /* A call failed with something other than the limiter's "not yet", or brought something else
     * than was asked for. After a Sample the shard is left alone for a moment. */
    void (*trouble)(void *user, const char *shard, const char *reason);
    /* By the clock of aq_prefetch_tick: when an answer came, and when a group was given back. */
    int64_t (*now_ns)(void *user);
} aq_prefetch_owner;

typedef struct aq_prefetch_config {
    uint64_t run_id;
    aq_table_spec table;        /* that batches are drawn from; a name of "" is the main one */
    double importance_exponent; /* of a prioritized table; see importance.h */
    uint32_t batch_rows;
    uint32_t batch_count;  /* batches a group */
    uint32_t steps;        /* that a group is of; 0: of batch_rows * batch_count rows */
    uint32_t versions_max; /* of which a row may be; 0: not paced */
    uint32_t in_flight;    /* requests at a time; there are as many groups again to train on */
    float discount;
    uint32_t wait_ms; /* how long a shard may hold an answer back; more than 10 s counts as 10 s */
    uint32_t timeout_ms; /* after which a call counts as lost; > wait_ms */
} aq_prefetch_config;

/* Since the start. */
typedef struct aq_prefetch_counts {
    uint64_t answers;   /* that brought a group */
    int64_t answers_ns; /* what they took, together */
    uint64_t not_yet;   /* answers that the limiter held back for as long as was allowed */
    uint64_t failures;
    uint64_t unusable_in_row;           /* AQ_E_CORRUPT, such as a number that is not finite */
    int64_t waited_ns[AQ_SAMPLE_WAITS]; /* no group was ready or in training; what was waited for an
                                           answer counts when that has come */
    aq_priority_counts priorities;
} aq_prefetch_counts;

int aq_prefetch_create(const aq_prefetch_config *config, const aq_layout *layout,
                       const aq_prefetch_owner *owner, aq_prefetch **ret_prefetch) AQ_MUST_USE;

/* No call may be in flight (close the channels first) and every group given back or still in the
 * owner's queues: their memory goes here. NULL is fine. */
void aq_prefetch_destroy(aq_prefetch *prefetch);

/* Calls that can be out to one shard at a time with so many requests in flight, priorities that go
 * back included: what its channel must have room for. */
uint32_t aq_prefetch_calls_max(uint32_t in_flight);

/* `name` is for people. At most AQ_SHARDS_MAX; AQ_E_FULL beyond. An incarnation that was removed
 * may be added again, also with calls of its former channel still out. */
int aq_prefetch_add_shard(aq_prefetch *prefetch, uint64_t incarnation, const char *name,
                          aq_rpc_channel *channel) AQ_MUST_USE;

/* The shard is asked no more; answers still under way are dropped when they come. The channel must
 * be closed afterwards, not before. */
void aq_prefetch_remove_shard(aq_prefetch *prefetch, uint64_t incarnation);

/* What the shard has told of its table by another way than an answer. One that is rarely asked,
 * since it held little, may hold much by now. An unknown shard and a mass that can't be are passed
 * over. */
void aq_prefetch_tell_mass(aq_prefetch *prefetch, uint64_t incarnation, double mass);

/* Asks for what is due: call it after adding a shard, after giving back, and every few ms (it tries
 * shards again that had nothing or could not be reached, and counts what was waited for). */
void aq_prefetch_tick(aq_prefetch *prefetch, int64_t now_ns);

/* Of use when paced: the newest version that is out, 0 for none, and how many will come of groups
 * that were given back. */
void aq_prefetch_tell_versions(aq_prefetch *prefetch, uint64_t newest, uint64_t coming);

/* Once for each group that was ready; its content is forgotten. */
void aq_prefetch_give_back(aq_prefetch *prefetch, aq_batch *group);

aq_prefetch_counts aq_prefetch_counts_of(const aq_prefetch *prefetch);

#endif
