/*
 * Credit: shares what the limiter allows to be inserted among the actors, and decides when a call
 * that waits for credit or for an acknowledgement is worth its answer.
 *
 * A grant is a running total per (actor, incarnation): how many fresh transitions it may send in
 * all. What was granted and did not come yet is outstanding, and counts against the headroom until
 * it comes or its owner falls silent. So lead stays in the limiter's band; it can pass the upper
 * end by at most one chunk for each environment, plus what was granted to somebody who was given up
 * and came back.
 *
 * Small grants would cost a message for every few steps, so headroom is given out in portions: each
 * live actor aims at an equal share of it, but at least at what fills one chunk in each of its
 * environments, and is topped up when a quarter is used. Where there is too little for everybody at
 * once, actors take turns.
 *
 * Who holds credit and sends nothing keeps it from the others, so words are worth nothing here, and
 * only steps that came are: an actor is trusted with as much as it has brought, which doubles with
 * each portion at most. A newcomer has brought nothing, and is granted one chunk in each
 * environment. That counts for AQ_CREDIT_PATIENCE_NS, and where somebody works, newcomers together
 * hold a quarter of the headroom at most.
 *
 * An actor may be unable to send what it was granted: the steps can all sit in open chunks. As long
 * as the learner can sample, it makes new headroom and nothing stands still. While it can't, an
 * actor that made no progress for AQ_CREDIT_PATIENCE_NS is granted what fills a chunk in each of
 * its environments, even beyond the headroom: with that much, at least one chunk must close. One
 * that has as much and sends nothing stops counting after AQ_CREDIT_LIVE_NS. Either is a newcomer
 * again.
 *
 * With several tables and a log, why nothing can stand still for ever (aq_credit_supply):
 *   - `headroom` is the least over the tables and the log. Suppose it is below `width`. Then either
 *     a table has less room than its own limiter's width, and by replay_limiter.h it may be sampled
 *     from: its sampler makes room (a table with a proportion that nobody samples stops everybody,
 *     as it was told to, and Status names it). Or the log's backlog takes the room: it is being
 *     written, or the log is stuck, and then only the disk can help.
 *   - Else headroom >= width >= 1. If no request waits, who samples makes progress. If one does,
 *     `learner_waits` is true and the argument above holds: `width` is at most what the log's empty
 *     backlog takes, so the portion aimed at is at most the headroom, somebody is granted, and
 *     patience sees to it that a chunk closes.
 * While the log is stuck nothing is granted, patience or not. What was granted before comes, is
 * held or deferred, and is sent again; when the log goes on, so does the argument.
 *
 * On demand (aq_credit_supply.is_paced) it is shared otherwise: see replay_demand.h.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_CREDIT_H
#define AQ_REPLAY_SHARD_REPLAY_CREDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clock.h"
#include "common/config/run_settings.h"
#include "replay/shard/replay_roster.h"
#include "replay/table/replay_tables.h"

/* An actor is alive this long after its last call; calls are held for less than half of that. */
#define AQ_CREDIT_LIVE_NS     (2 * AQ_NS_PER_S)
#define AQ_CREDIT_PATIENCE_NS (200 * AQ_NS_PER_MS)

/* Totals that a peer may claim, with room for adding to them. */
#define AQ_CREDIT_COUNT_MAX (UINT64_C(1) << 62)

typedef struct aq_replay_credit {
    uint64_t lanes;       /* environments of an actor */
    uint64_t rest_steps;  /* what an actor can neither spend nor send: see aq_replay_credit_init */
    uint64_t least_steps; /* that make a grant worth an answer: a chunk, a step of all */
    uint64_t chunk_steps; /* the longest chunk */
    uint64_t lane_steps;  /* one chunk in each environment of an actor */
    size_t turn;          /* whose turn it is, a position in the roster */
    size_t live;          /* actors alive at the last sharing */
    int64_t shared_ns;    /* on demand: when it was shared the last time, */
    bool was_asked;       /* whether something was missing then, */
    int64_t unasked_ns;   /* and how long in all nothing was */
} aq_replay_credit;

/* An actor steps all its environments or none, and sends a chunk when it holds an item: it may be
 * left with less than one step's credit and with n_step - 1 transitions in each environment. With
 * no more than that outstanding, it has nothing left to spend. */
void aq_replay_credit_init(aq_replay_credit *credit, const aq_run_settings *settings);

/* A call that knows `known_granted`. When that is more than this shard granted, an earlier
 * incarnation of the shard did, and the total goes on from there. `known_granted` <=
 * AQ_CREDIT_COUNT_MAX. */
void aq_replay_credit_called(aq_replay_actor *actor, int64_t now_ns, uint64_t known_granted);

/* For both ways of sharing: what was granted and did not come yet, so much more of it, and whether
 * the actor called lately. */
uint64_t aq_replay_credit_outstanding(const aq_replay_actor *actor);
void aq_replay_credit_grant(aq_replay_actor *actor, uint64_t steps);
bool aq_replay_credit_is_live(const aq_replay_actor *actor, int64_t now_ns);

/* What an actor may at most send beyond its grant. It spreads its chunks over shards, and one that
 * closes needs a shard with credit left, not with credit for all of it: up to a chunk. What is open
 * in its environments when it ends, and the other shards are gone, comes on top. */
uint64_t aq_replay_credit_overdraft(const aq_replay_credit *credit);

/* So many of the transitions that the actor was granted have been acknowledged to it, here or by a
 * shard that it went to in between: they will not come any more, and this shard must not wait for
 * them. <= AQ_CREDIT_COUNT_MAX. */
void aq_replay_credit_acknowledged(aq_replay_actor *actor, uint64_t steps);

/* `fresh` transitions came in their turn. An actor steps its environments together, so it may end
 * up to that many steps beyond its grant; they count against the next one. */
void aq_replay_credit_received(const aq_replay_credit *credit, aq_replay_actor *actor,
                               int64_t now_ns, uint64_t fresh);

/* Grants what the supply leaves. O(actors); to be called every few milliseconds. */
void aq_replay_credit_share(aq_replay_credit *credit, const aq_credit_supply *supply,
                            aq_replay_roster *roster, int64_t now_ns);

/* Whether a call that knows these totals is worth an answer now: at once for an actor that has
 * nothing left to spend, or is new here; else only so often that all answers together stay
 * bearable (500 a second for one actor, 5,000 for all). */
bool aq_replay_credit_due(const aq_replay_credit *credit, const aq_replay_actor *actor,
                          int64_t now_ns, uint64_t known_acknowledged, uint64_t known_granted);

/* An answer goes out. */
void aq_replay_credit_answered(aq_replay_actor *actor, int64_t now_ns);

#endif
