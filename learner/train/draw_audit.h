/*
 * Draw audit: whether actors drew with the probabilities that they say. For a share of the rows,
 * the version that chose the action is run again on the observation, and the log-probability of
 * what was drawn has to come out with the same bits (head.h). One that differs was drawn by another
 * version than it says, on a processor that computes otherwise, or was damaged on its way.
 *
 * Versions are handed in by one thread, rows by another. Rows of a version that is not kept any
 * more cannot be audited.
 */
#ifndef AQ_LEARNER_TRAIN_DRAW_AUDIT_H
#define AQ_LEARNER_TRAIN_DRAW_AUDIT_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "common/policy/snapshot.h"

typedef struct aq_draw_audit aq_draw_audit;

typedef struct aq_audit_counts {
    uint64_t audited;
    uint64_t different; /* of them */
} aq_audit_counts;

static inline void aq_audit_add(aq_audit_counts *to, const aq_audit_counts *counts)
{
    to->audited += counts->audited;
    to->different += counts->different;
}

/* Of a `share` of the rows, 0 to 1, in a run of this layout. *ret_audit is NULL where nothing is to
 * be audited: no share, or no column log_prob. AQ_E_NOMEM. */
int aq_draw_audit_create(double share, const aq_schema *schema, const aq_layout *layout,
                         aq_draw_audit **ret_audit) AQ_MUST_USE;
void aq_draw_audit_destroy(aq_draw_audit *audit); /* NULL is fine */

/* A version is out; it is kept for a while. Any thread; NULL is fine. */
void aq_draw_audit_published(aq_draw_audit *audit, aq_snapshot *snapshot);

/* Audits some of the group's rows, so that over time it is the share. What came of them is added to
 * `counts`. One thread; NULL is fine. */
void aq_draw_audit_look(aq_draw_audit *audit, const aq_batch *group, aq_audit_counts *counts);

#endif
