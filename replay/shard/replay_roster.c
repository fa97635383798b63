/*
 * An array of records without holes, for walking over all of them, and an index over it by hash
 * (open addressing, linear probing). Records leave only when room is needed, all idle ones at once;
 * then the index is built anew, so that it needs no deletion.
 */
#include "replay/shard/replay_roster.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

struct aq_replay_roster {
    size_t capacity;
    size_t count;
    aq_replay_actor *actors;
    uint32_t *index;   /* 1 + position in actors; 0: free */
    size_t index_size; /* a power of two, at least twice the capacity */
    bool was_full;
    int64_t
        next_idle_ns; /* nobody is idle before, so that a full roster is not searched each time */
};

static size_t index_start(const aq_replay_roster *roster, uint64_t actor, uint64_t incarnation)
{
    /* Multiplication by an odd constant and a fold: member numbers are small and incarnations
     * random, so little mixing is enough. */
    uint64_t hash = (actor ^ incarnation) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    return (size_t)hash & (roster->index_size - 1);
}

/* The place in the index where the actor is, or the free one where it would go. */
static size_t index_place(const aq_replay_roster *roster, uint64_t actor, uint64_t incarnation)
{
    size_t place = index_start(roster, actor, incarnation);
    while (roster->index[place] != 0) {
        const aq_replay_actor *found = &roster->actors[roster->index[place] - 1];
        if (found->actor == actor && found->incarnation == incarnation) {
            break;
        }
        place = (place + 1) & (roster->index_size - 1);
    }
    return place;
}

int aq_replay_roster_create(size_t capacity, aq_replay_roster **ret_roster)
{
    AQ_ASSERT(capacity >= 1);
    AQ_ASSERT(capacity <= AQ_ROSTER_ACTORS_MAX);
    aq_replay_roster *roster = aq_alloc(1, sizeof(*roster));
    if (roster == NULL) {
        return AQ_E_NOMEM;
    }
    roster->capacity = capacity;
    roster->index_size = 2;
    while (roster->index_size < 2 * capacity) {
        roster->index_size *= 2;
    }
    roster->actors = aq_alloc(capacity, sizeof(*roster->actors));
    roster->index = aq_alloc(roster->index_size, sizeof(*roster->index));
    if (roster->actors == NULL || roster->index == NULL) {
        aq_replay_roster_destroy(roster);
        return AQ_E_NOMEM;
    }
    *ret_roster = roster;
    return 0;
}

void aq_replay_roster_destroy(aq_replay_roster *roster)
{
    if (roster == NULL) {
        return;
    }
    aq_free(roster->actors);
    aq_free(roster->index);
    aq_free(roster);
}

aq_replay_actor *aq_replay_roster_find(const aq_replay_roster *roster, uint64_t actor,
                                       uint64_t incarnation)
{
    uint32_t found = roster->index[index_place(roster, actor, incarnation)];
    return found != 0 ? &roster->actors[found - 1] : NULL;
}

void aq_replay_roster_forget(aq_replay_roster *roster, int64_t heard_ns)
{
    size_t kept = 0;
    for (size_t i = 0; i < roster->count; i++) {
        const aq_replay_actor *actor = &roster->actors[i];
        if (actor->heard_ns >= heard_ns) {
            roster->actors[kept++] = *actor;
        }
    }
    roster->count = kept;
    for (size_t i = 0; i < roster->index_size; i++) {
        roster->index[i] = 0;
    }
    for (size_t i = 0; i < kept; i++) {
        const aq_replay_actor *actor = &roster->actors[i];
        roster->index[index_place(roster, actor->actor, actor->incarnation)] = (uint32_t)i + 1;
    }
}

int64_t aq_replay_roster_oldest_ns(const aq_replay_roster *roster)
{
    AQ_ASSERT(roster->count > 0);
    int64_t oldest_ns = roster->actors[0].heard_ns;
    for (size_t i = 1; i < roster->count; i++) {
        const int64_t heard_ns = roster->actors[i].heard_ns;
        oldest_ns = heard_ns < oldest_ns ? heard_ns : oldest_ns;
    }
    return oldest_ns;
}

static void forget_idle(aq_replay_roster *roster, int64_t now_ns)
{
    if (now_ns < roster->next_idle_ns) {
        return;
    }
    aq_replay_roster_forget(roster, now_ns - AQ_ROSTER_IDLE_NS + 1);
    const int64_t oldest_ns = roster->count > 0 ? aq_replay_roster_oldest_ns(roster) : now_ns;
    roster->next_idle_ns = oldest_ns + AQ_ROSTER_IDLE_NS;
}

int aq_replay_roster_meet(aq_replay_roster *roster, int64_t now_ns, uint64_t actor,
                          uint64_t incarnation, uint64_t acknowledged, aq_replay_actor **ret_actor)
{
    aq_replay_actor *met = aq_replay_roster_find(roster, actor, incarnation);
    if (met == NULL) {
        if (roster->count == roster->capacity) {
            forget_idle(roster, now_ns);
        }
        if (roster->count == roster->capacity) {
            return AQ_E_FULL;
        }
        size_t place = index_place(roster, actor, incarnation);
        met = &roster->actors[roster->count++];
        roster->index[place] = (uint32_t)roster->count;
        roster->was_full |= roster->count == roster->capacity;
        *met = (aq_replay_actor){
            .actor = actor,
            .incarnation = incarnation,
            .met_ns = now_ns,
            .progress_ns = now_ns,
        };
        aq_seq_tracker_init(&met->sequence, acknowledged);
    }
    met->heard_ns = now_ns;
    *ret_actor = met;
    return 0;
}

bool aq_replay_roster_was_full(const aq_replay_roster *roster)
{
    return roster->was_full;
}

size_t aq_replay_roster_count(const aq_replay_roster *roster)
{
    return roster->count;
}

aq_replay_actor *aq_replay_roster_at(const aq_replay_roster *roster, size_t index)
{
    AQ_ASSERT(index < roster->count);
    return &roster->actors[index];
}
