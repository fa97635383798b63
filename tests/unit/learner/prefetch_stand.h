/*
 * A prefetcher with a few shards at the other ends of its channels, and an owner that trains on
 * nothing: groups that are ready wait until the test gives them back.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_PREFETCH_STAND_H
#define AQ_TESTS_UNIT_LEARNER_PREFETCH_STAND_H

#include "learner/sampling/prefetch.h"
#include "tests/unit/learner/learner_kit.h"
#include "tests/unit/learner/sample_shard.h"

enum {
    STAND_SHARDS = 4,
    STAND_IN_FLIGHT = 4,
    STAND_GROUPS = 2 * STAND_IN_FLIGHT,
    STAND_BATCH_ROWS = 4,
    STAND_BATCHES = 2,
    STAND_ROWS = STAND_BATCH_ROWS * STAND_BATCHES,
};

/* Points into itself: don't move it. */
typedef struct prefetch_stand {
    learner_kit kit;
    sample_shard shards[STAND_SHARDS]; /* incarnations 1, 2, ...; not added yet */
    aq_prefetch_config config;
    aq_prefetch *prefetch;
    int64_t now_ns;
    aq_batch *good; /* what shards answer */
    bool give_back_at_once;
    aq_batch *ready[STAND_GROUPS]; /* the oldest first, no one twice */
    size_t ready_count;
    unsigned ready_total;
    unsigned troubles;
    char trouble[256];
    uint64_t progress_incarnation, progress; /* that was told last */
    unsigned progress_total;
} prefetch_stand;

/* Of a prioritized table "main" with weights of exponent 0.5. */
void prefetch_stand_setup(prefetch_stand *stand);
void prefetch_stand_teardown(prefetch_stand *stand);

/* Another one in its place, without shards: of another table, or as stand->config says. */
void prefetch_stand_create(prefetch_stand *stand, const aq_table_spec *table,
                           double importance_exponent);
void prefetch_stand_renew(prefetch_stand *stand);

void prefetch_stand_add(prefetch_stand *stand, size_t shard);
void prefetch_stand_remove(prefetch_stand *stand, size_t shard);

/* Lets `ms` pass and ticks. */
void prefetch_stand_pass(prefetch_stand *stand, int64_t ms);

/* The shard answers its oldest request with the good batch; the group that is ready then. */
aq_batch *prefetch_stand_fill(prefetch_stand *stand, size_t shard);

/* Gives back what was ready last, or the group at a place of `ready`. */
void prefetch_stand_give_back(prefetch_stand *stand);
void prefetch_stand_give_back_at(prefetch_stand *stand, size_t place);

#endif
