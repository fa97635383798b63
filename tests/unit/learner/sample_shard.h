/*
 * A replay shard at the other end of a channel: it keeps every Sample call until the test answers
 * it, in any order and in any way.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_SAMPLE_SHARD_H
#define AQ_TESTS_UNIT_LEARNER_SAMPLE_SHARD_H

#include "common/config/table_spec.h"
#include "common/experience/batch.h"
#include "common/net/rpc/rpc.h"
#include "proto/sampling.pb-c.h"

enum { SHARD_CALLS_MAX = 64, SHARD_ROWS_MAX = 64 };

typedef struct sample_call {
    aq_rpc_answer_fn answer; /* of the caller's side */
    void *answer_user;
    void *call; /* of the dispatcher's side */
    Actorq__V1__SampleReply_Closure closure;
    uint32_t batch_rows, batch_count, wait_ms, timeout_ms, steps;
    uint64_t version_min;
    uint64_t run_id, schema_hash;
    float discount;
    char table[AQ_TABLE_NAME_MAX];
    uint8_t *reply; /* while it is answered */
    size_t reply_size;

    /* Of a Prioritize call. */
    Actorq__V1__PrioritizeReply_Closure applied;
    uint64_t incarnation;
    uint32_t rows; /* at most SHARD_ROWS_MAX */
    uint64_t items[SHARD_ROWS_MAX];
    float priorities[SHARD_ROWS_MAX];
} sample_call;

/* Points into itself: don't move it. */
typedef struct sample_shard {
    aq_rpc_channel channel; /* first */
    Actorq__V1__Sampling_Service service;
    aq_rpc_dispatcher *dispatcher;
    uint64_t incarnation;                /* as it says in its answers, and so are these */
    double mass;                         /* 100 at first */
    uint32_t held_us;                    /* likewise: by its limiter */
    sample_call *calls[SHARD_CALLS_MAX]; /* that wait for an answer, the oldest first */
    size_t count;
    sample_call *updates[SHARD_CALLS_MAX]; /* Prioritize calls, alike */
    size_t update_count;
    sample_call *incoming;
    unsigned asked;
    int send_failure; /* what the next calls are refused with; 0: they are taken */
} sample_shard;

void sample_shard_init(sample_shard *shard);

/* Closes the channel: what waits is answered AQ_E_CLOSED, as an RPC client does. */
void sample_shard_close(sample_shard *shard);

/* The oldest Prioritize call, with so many items that were still there, or refused. */
void sample_shard_apply(sample_shard *shard, uint32_t applied);
void sample_shard_refuse_update(sample_shard *shard, enum aq_rpc_code code);

/* The batch's rows, as a shard that has taken in `inserted` sends them. */
void sample_shard_answer(sample_shard *shard, size_t index, const aq_batch *batch,
                         uint64_t inserted);
void sample_shard_reply(sample_shard *shard, size_t index, const Actorq__V1__SampleReply *reply);
void sample_shard_refuse(sample_shard *shard, size_t index, enum aq_rpc_code code);

/* The transport's own failures, AQ_E_TIMEOUT and the like, and bytes that are no reply. */
void sample_shard_break(sample_shard *shard, size_t index, int error);
void sample_shard_garble(sample_shard *shard, size_t index);

#endif
