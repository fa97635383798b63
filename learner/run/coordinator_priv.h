/*
 * The coordinator's state, for the files that it is made of.
 */
#ifndef AQ_LEARNER_RUN_COORDINATOR_PRIV_H
#define AQ_LEARNER_RUN_COORDINATOR_PRIV_H

#include "learner/run/coordinator.h"

struct aq_coordinator {
    aq_coordinator_config config;
    int64_t started_ns;
    enum aq_run_state state;

    aq_member_record *members;
    size_t count;
    size_t capacity;
    uint64_t next_member;
    uint64_t next_unique;
    uint64_t shards_changed;
    uint64_t joined_total;
    uint64_t lost_total;

    aq_store_ledger stores;

    double wall_before_s;

    aq_evaluation_result latest;
    aq_evaluation_result best;    /* of version 0: none yet */
    bool is_best_left;            /* it is a screening that nobody can play afresh any more */
    aq_evaluation_result leading; /* the greatest screening that did; likewise */
    uint64_t evaluations;
    bool evaluations_ended;
    uint64_t learner_steps; /* as of the last word */
};

#endif
