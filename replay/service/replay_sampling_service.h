/*
 * Sampling: answers the learner's Sample calls, for each table in the order in which they came, and
 * takes its priorities. Each table has a batch, which is refilled for each answer and packed before
 * the next. Private to the replay service.
 */
#ifndef AQ_REPLAY_SERVICE_REPLAY_SAMPLING_SERVICE_H
#define AQ_REPLAY_SERVICE_REPLAY_SAMPLING_SERVICE_H

#include "common/experience/batch.h"
#include "proto/sampling.pb-c.h"
#include "replay/shard/replay_host.h"

enum { AQ_SAMPLE_BATCHES_MAX = 256, AQ_PRIORITIZE_ITEMS_MAX = 65536 };

typedef struct aq_held_sample {
    size_t table;
    uint32_t rows;  /* at most, where steps are wanted */
    uint32_t steps; /* 0: so many rows */
    uint32_t version_min;
    float discount;
    int64_t since_ns, until_ns;
    Actorq__V1__SampleReply_Closure closure;
    void *closure_data;
} aq_held_sample;

typedef struct aq_sampling_service {
    Actorq__V1__Sampling_Service base; /* first: protobuf-c hands it back */
    const aq_replay_host *host;
    void (*wanting)(void *user); /* a request was held for whose rows steps may have to be made */
    void *user;
    aq_batch *batches[AQ_TABLES_MAX]; /* NULL while the shard is in no run */
    aq_held_sample *held;             /* the oldest first */
    size_t held_count;
} aq_sampling_service;

/* `wanting` may not bring a request. */
int aq_sampling_service_init(aq_sampling_service *sampling, const aq_replay_host *host,
                             void (*wanting)(void *user), void *user) AQ_MUST_USE;
void aq_sampling_service_fini(aq_sampling_service *sampling); /* nothing may be held */

/* A run begins: makes the batches. AQ_E_TOO_BIG, in words, when a reply would have more than
 * `reply_bytes_max`. On failure there are none. */
int aq_sampling_service_begin(aq_sampling_service *sampling, const aq_replay_core *core,
                              size_t reply_bytes_max, aq_error *error) AQ_MUST_USE;

/* Answers what the limiters allow now. */
void aq_sampling_service_serve(aq_sampling_service *sampling);

/* The same, and those whose time is over. */
void aq_sampling_service_tick(aq_sampling_service *sampling);

/* Answers all with UNAVAILABLE and drops the batches. */
void aq_sampling_service_release(aq_sampling_service *sampling, const char *reason);

#endif
