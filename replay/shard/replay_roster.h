/*
 * Roster: what a shard knows of each actor that it has heard from, by (actor, incarnation).
 *
 * Bounded: when it is full, those who were silent for AQ_ROSTER_IDLE_NS make room. Forgetting an
 * actor is safe, since its next message or call tells where it stands (seq_tracker.h); only a
 * message that was stored, but whose acknowledgement did not reach the actor in all that time,
 * would be stored again. That takes more than AQ_ROSTER_ACTORS_MAX starts of actors.
 *
 * One owner, no locking. Sized at the start, allocates nothing later.
 */
#ifndef AQ_REPLAY_SHARD_REPLAY_ROSTER_H
#define AQ_REPLAY_SHARD_REPLAY_ROSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clock.h"
#include "common/base/error.h"
#include "replay/shard/seq_tracker.h"

enum { AQ_ROSTER_ACTORS_MAX = 8192 };
#define AQ_ROSTER_IDLE_NS (60 * AQ_NS_PER_S)

typedef struct aq_replay_actor {
    uint64_t actor;
    uint64_t incarnation;
    aq_seq_tracker sequence;
    uint64_t transitions; /* stored, in all */
    uint64_t granted;     /* fresh transitions that it may send in all */
    uint64_t received;    /* of them, how many came; see replay_credit.h */
    uint64_t brought;     /* steps that came since it was last given up; no word of its own */
    uint64_t told_gaps;   /* sequence.gaps as of the last answer */
    int64_t met_ns;       /* its first message or call */
    int64_t heard_ns;     /* its last one */
    int64_t polled_ns;    /* its last call */
    int64_t progress_ns;  /* when it last sent something new or was granted something; on demand by
                             a clock that stands still while nothing is missing */
    int64_t pace_ns;      /* what it lately took at most from there to its next; 0: not known */
    int64_t owing_ns;     /* when it had last brought all that it owed, by the same clock */
    uint64_t owed;        /* its grant then */
    int64_t answered_ns;  /* its last answer */
    bool is_late;         /* it has not brought what it held in time, nor all of it since */
    bool polled;          /* it has called at all */
    bool answered;        /* it has had an answer */
} aq_replay_actor;

typedef struct aq_replay_roster aq_replay_roster;

/* At most `capacity` actors, 1 to AQ_ROSTER_ACTORS_MAX. */
int aq_replay_roster_create(size_t capacity, aq_replay_roster **ret_roster) AQ_MUST_USE;
void aq_replay_roster_destroy(aq_replay_roster *roster); /* NULL is fine */

/* NULL when it is not known. Valid until the next meet. */
aq_replay_actor *aq_replay_roster_find(const aq_replay_roster *roster, uint64_t actor,
                                       uint64_t incarnation);

/* Finds the actor or adds it, its tracker starting at `acknowledged`; notes that it was heard.
 * AQ_E_FULL when there is no room and nobody is idle. */
int aq_replay_roster_meet(aq_replay_roster *roster, int64_t now_ns, uint64_t actor,
                          uint64_t incarnation, uint64_t acknowledged,
                          aq_replay_actor **ret_actor) AQ_MUST_USE;

/* Forgets everybody who was last heard before `heard_ns`. */
void aq_replay_roster_forget(aq_replay_roster *roster, int64_t heard_ns);

/* When who was silent for longest was last heard. There is somebody. */
int64_t aq_replay_roster_oldest_ns(const aq_replay_roster *roster);

/* Whether it was ever full: who is not known may have been forgotten since. */
bool aq_replay_roster_was_full(const aq_replay_roster *roster);

size_t aq_replay_roster_count(const aq_replay_roster *roster);
aq_replay_actor *aq_replay_roster_at(const aq_replay_roster *roster, size_t index);

#endif
