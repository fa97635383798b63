/*
 * Policy shelf: the newest version for those who ask for it, and the recent ones, so that the
 * version which an evaluation was about can still be kept when its result arrives. At most 256
 * versions and 64 MiB, but always the last 4, and one for each evaluator. Loop thread only.
 */
#ifndef AQ_LEARNER_PUBLISH_POLICY_SHELF_H
#define AQ_LEARNER_PUBLISH_POLICY_SHELF_H

#include <stdint.h>

#include "common/base/error.h"
#include "common/wire/wire_checkpoint.h"
#include "learner/publish/publication.h"

typedef struct aq_policy_shelf aq_policy_shelf;

int aq_policy_shelf_create(aq_policy_shelf **ret_shelf) AQ_MUST_USE;
void aq_policy_shelf_destroy(aq_policy_shelf *shelf); /* NULL is fine */

/* Takes what the publication holds; it is empty afterwards. Only the newest keeps its frame. */
void aq_policy_shelf_put(aq_policy_shelf *shelf, aq_publication *publication);

/* The newest publication, or NULL before the first. Valid until the next put. */
const aq_publication *aq_policy_shelf_newest(const aq_policy_shelf *shelf);

/* That version, or NULL when it has left the shelf. Valid until the next put. */
const aq_publication *aq_policy_shelf_find(const aq_policy_shelf *shelf, uint64_t version);

/* Keeps that version beyond its time, until this holder holds another one: the evaluator in that
 * slot screened it, and plays it on. There are 16 places, which further holders share. A version
 * that has left the shelf is passed over. */
void aq_policy_shelf_hold(aq_policy_shelf *shelf, uint64_t version, uint32_t holder);

/* Of everything ever put. */
aq_policy_totals aq_policy_shelf_totals(const aq_policy_shelf *shelf);
void aq_policy_shelf_restore_totals(aq_policy_shelf *shelf, const aq_policy_totals *totals);

#endif
