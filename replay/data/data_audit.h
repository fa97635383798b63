/*
 * Audit: what recorded experience amounts to: steps, episodes and their returns, the versions that
 * acted, who sent how much; and whether it hangs together: each sender's messages without holes and
 * doubles, each lane's transitions likewise.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DATA_DATA_AUDIT_H
#define AQ_REPLAY_DATA_DATA_AUDIT_H

#include "common/data_set/data_set_header.h"
#include "replay/data/data_lanes.h"

typedef struct aq_data_actor {
    uint64_t transitions, messages;
    uint64_t first_seq, last_seq; /* 0: not known */
    uint64_t acknowledged;        /* the mark that a store keeps; 0: none */
} aq_data_actor;

typedef struct aq_data_summary {
    uint64_t blocks, transitions, episodes;                 /* that end */
    uint64_t whole_episodes;                                /* from their first step to their end */
    double return_mean, return_std, return_min, return_max; /* of those; NaN: none */
    double length_mean;
    uint32_t version_min, version_max;
    uint64_t random_transitions; /* of version 0 */
    uint64_t lanes;
    uint64_t gaps;      /* places where a lane's next transitions are missing */
    uint64_t doubles;   /* transitions that were there before */
    uint64_t seq_holes; /* messages that are missing between others */
    uint64_t seq_doubles;
    char first_fault[256]; /* in words; "" */
} aq_data_summary;

typedef struct aq_data_audit aq_data_audit;

int aq_data_audit_create(aq_data_audit **ret_audit) AQ_MUST_USE;
void aq_data_audit_destroy(aq_data_audit *audit); /* NULL is fine */

/* From here on no message is missing between others: of what a running shard has stored, it gives
 * what its tables still hold. */
void aq_data_audit_pass_over_holes(aq_data_audit *audit);

/* AQ_E_NOMEM, AQ_E_FULL. */
int aq_data_audit_block(aq_data_audit *audit, const aq_data_set_block *block) AQ_MUST_USE;
int aq_data_audit_message(aq_data_audit *audit, uint64_t actor, uint64_t incarnation,
                          uint64_t seq) AQ_MUST_USE;
/* What a head says: up to there the sender's messages were before it. Those that are not were in
 * segments that were dropped; where they were not, the recovery says what is missing. */
int aq_data_audit_mark(aq_data_audit *audit, uint64_t actor, uint64_t incarnation,
                       uint64_t acknowledged) AQ_MUST_USE;

/* So far. */
aq_data_summary aq_data_audit_summary(const aq_data_audit *audit);
/* Of each sender an aq_data_actor as its memory; lanes are AQ_DATA_LANE_ALL. */
const aq_data_lanes *aq_data_audit_actors(const aq_data_audit *audit);

#endif
