/*
 * Sharing credit on demand (aq_credit_supply.is_paced): `headroom` is what requests that wait are
 * missing, and is shared out at once, as evenly as whole steps of all environments go: no more is
 * made than was asked for. A chunk need not fill there, and an actor without credit sends what it
 * has, so one that holds a step of all its environments can bring it. Why nothing stands still:
 * nobody is counted on for longer than AQ_DEMAND_LATE_NS_MAX. Who has brought nothing for longer
 * than it usually takes is late, and so is who takes longer than that in all while somebody else
 * has nothing to do. What it holds does not count until it has brought all of it; others are
 * granted it. Who has never brought anything is granted one step, and counted on for it only where
 * nobody else is there: words are worth nothing, steps that came are what makes an actor be counted
 * on. So as long as one actor works, what is missing comes, whatever the others say. What those who
 * are late bring after all is used, or dropped when it is too old; one that has nothing left is
 * granted a step, which nobody counts on, to be counted on again. Where all are late, all are
 * granted one now and then.
 *
 * The part of replay_credit.c that knows of this; nobody else calls it.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_DEMAND_H
#define AQ_REPLAY_SHARD_REPLAY_DEMAND_H

#include "replay/shard/replay_credit.h"

/* An actor is late after so many times its usual time, or AQ_CREDIT_PATIENCE_NS where that is
 * longer; after AQ_DEMAND_LATE_NS_MAX at most. */
enum { AQ_DEMAND_LATE_TIMES = 4 };
#define AQ_DEMAND_LATE_NS_MAX (10 * AQ_NS_PER_S)

/* Of an actor that had `before` outstanding `fresh` transitions came, and are counted. */
void aq_replay_demand_received(const aq_replay_credit *credit, aq_replay_actor *actor,
                               int64_t now_ns, uint64_t fresh, uint64_t before);

/* Grants what requests are missing, as aq_replay_credit_share. */
void aq_replay_demand_share(aq_replay_credit *credit, uint64_t missing, aq_replay_roster *roster,
                            int64_t now_ns);

#endif
