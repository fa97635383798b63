/*
 * Who is in the run.
 *
 * Members stand in one growing array without order; a run has tens to thousands of them and each is
 * heard about twice a second, so a linear search costs less than a table would to understand. A
 * call must stay at a few: a thousand members may join within a second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/growing.h"
#include "common/config/table_spec.h"
#include "learner/run/coordinator_priv.h"

/* Numbers are given out one by one, so a larger one was never given out. */
#define MEMBER_NUMBER_MAX (UINT64_C(1) << 48)

static aq_member_record *find(const aq_coordinator *coordinator, uint64_t incarnation)
{
    for (size_t i = 0; i < coordinator->count; i++) {
        if (coordinator->members[i].incarnation == incarnation) {
            return &coordinator->members[i];
        }
    }
    return NULL;
}

static aq_member_record *find_number(const aq_coordinator *coordinator, uint64_t member)
{
    for (size_t i = 0; i < coordinator->count; i++) {
        if (coordinator->members[i].member == member) {
            return &coordinator->members[i];
        }
    }
    return NULL;
}

static aq_member_record *find_member(const aq_coordinator *coordinator, uint64_t member,
                                     uint64_t incarnation)
{
    aq_member_record *record = find(coordinator, incarnation);
    return record && record->member == member ? record : NULL;
}

/* Of a shard: its store's. Else `wanted` if nobody of that role has it, or the lowest that is
 * free. */
static uint32_t choose_slot(aq_coordinator *coordinator, const aq_member_record *member,
                            uint32_t wanted)
{
    if (member->role == AQ_ROLE_REPLAY) {
        return aq_store_ledger_arrive(&coordinator->stores, member->incarnation, member->store,
                                      member->rpc_url, wanted);
    }
    bool taken[AQ_MEMBERS_MAX] = {false};
    for (size_t i = 0; i < coordinator->count; i++) {
        const aq_member_record *record = &coordinator->members[i];
        if (record->role == member->role) {
            taken[record->slot] = true;
        }
    }
    if (wanted < AQ_MEMBERS_MAX && !taken[wanted]) {
        return wanted;
    }
    uint32_t slot = 0;
    while (taken[slot]) {
        slot++;
        AQ_ASSERT(slot < AQ_MEMBERS_MAX); /* there is a place for one more member */
    }
    return slot;
}

static void remove_at(aq_coordinator *coordinator, size_t index)
{
    if (coordinator->members[index].role == AQ_ROLE_REPLAY) {
        coordinator->shards_changed++;
        aq_store_ledger_depart(&coordinator->stores, coordinator->members[index].incarnation);
    }
    coordinator->count--;
    coordinator->members[index] = coordinator->members[coordinator->count];
}

/* Whether the one who wants to join has the store, or serves the address, of this shard. */
static bool stands_for(const aq_member_record *wanted, const aq_member_record *shard)
{
    return wanted->role == AQ_ROLE_REPLAY && shard->role == AQ_ROLE_REPLAY &&
           (shard->store == wanted->store || strcmp(shard->rpc_url, wanted->rpc_url) == 0);
}

static int check_lives(const aq_coordinator *coordinator, const aq_member_record *wanted,
                       aq_error *error)
{
    for (size_t i = 0; i < coordinator->count; i++) {
        const aq_member_record *record = &coordinator->members[i];
        if (stands_for(wanted, record) && record->is_reached &&
            record->incarnation != wanted->incarnation) {
            return record->store == wanted->store
                       ? aq_fail(error, AQ_E_AGAIN,
                                 "the shard at %s has this store, %016" PRIx64
                                 ", and answers: one folder is a copy of the other, stop one of "
                                 "the two",
                                 record->rpc_url, record->store)
                       : aq_fail(error, AQ_E_AGAIN, "another shard answers at %s", record->rpc_url);
        }
    }
    return 0;
}

/* A shard that was restarted has the same store, or serves the same address, mostly under a new
 * incarnation: the record of its earlier life would only send actors to a dead process until it
 * times out. It may be two: its own, and that of another shard whose address it has taken over. */
static size_t remove_earlier_lives(aq_coordinator *coordinator, const aq_member_record *wanted,
                                   uint64_t ret_replaced[AQ_REPLACED_MAX])
{
    size_t removed = 0;
    size_t others = 0;
    memset(ret_replaced, 0, AQ_REPLACED_MAX * sizeof(*ret_replaced));
    for (size_t i = 0; i < coordinator->count;) {
        const aq_member_record *record = &coordinator->members[i];
        if (!stands_for(wanted, record)) {
            i++;
            continue;
        }
        if (record->incarnation != wanted->incarnation) {
            AQ_ASSERT(others < AQ_REPLACED_MAX); /* no two have the same store or address */
            ret_replaced[others++] = record->incarnation;
            coordinator->lost_total++;
        }
        removed++;
        remove_at(coordinator, i);
    }
    return removed;
}

/* Whether a shard is somewhere else now. */
static bool has_moved(const aq_member_record *record, const aq_member_record *wanted)
{
    return record->role == AQ_ROLE_REPLAY && (strcmp(record->rpc_url, wanted->rpc_url) != 0 ||
                                              strcmp(record->push_url, wanted->push_url) != 0);
}

/* The shard that has been here for longest of those that do not answer, or NULL. */
static const aq_member_record *find_unreached(const aq_coordinator *coordinator)
{
    const aq_member_record *found = NULL;
    for (size_t i = 0; i < coordinator->count; i++) {
        const aq_member_record *record = &coordinator->members[i];
        if (record->role == AQ_ROLE_REPLAY && !record->is_reached &&
            (found == NULL || record->unique < found->unique)) {
            found = record;
        }
    }
    return found;
}

/* Room for a member that is not known yet. */
static int make_room(aq_coordinator *coordinator, const aq_member_record *wanted,
                     uint64_t ret_replaced[AQ_REPLACED_MAX], aq_error *error)
{
    size_t shards = 0, neighbours = 0;
    for (size_t i = 0; i < coordinator->count; i++) {
        const aq_member_record *record = &coordinator->members[i];
        shards += record->role == AQ_ROLE_REPLAY;
        neighbours += IN6_ARE_ADDR_EQUAL(&record->neighbours, &wanted->neighbours);
    }
    if (!IN6_IS_ADDR_UNSPECIFIED(&wanted->neighbours) && neighbours >= AQ_NEIGHBOURS_MAX) {
        return aq_fail(error, AQ_E_FULL, "%zu members are at this address already, the most of one",
                       neighbours);
    }
    if (wanted->role == AQ_ROLE_REPLAY && shards == AQ_SHARDS_MAX) {
        const aq_member_record *gone = find_unreached(coordinator);
        if (gone == NULL) {
            return aq_fail(error, AQ_E_FULL,
                           "the run has %d replay shards already, the most there can be",
                           AQ_SHARDS_MAX);
        }
        ret_replaced[0] = gone->incarnation;
        coordinator->lost_total++;
        remove_at(coordinator, (size_t)(gone - coordinator->members));
    }
    int rc = aq_grow(&coordinator->members, &coordinator->capacity, coordinator->count,
                     sizeof(*coordinator->members), AQ_MEMBERS_MAX);
    return rc != 0 ? aq_fail(error, rc, "no room for another member: %zu are in the run",
                             coordinator->count)
                   : 0;
}

static const aq_member_record *add(aq_coordinator *coordinator, int64_t now_ns,
                                   const aq_member_record *wanted)
{
    AQ_ASSERT(coordinator->count < coordinator->capacity);
    aq_member_record record = *wanted;
    /* A member that had a number and a slot under an earlier life of the learner is not moved
     * needlessly. */
    bool had_place = wanted->member != 0 && wanted->member <= MEMBER_NUMBER_MAX;
    bool had_slot = had_place || wanted->slot > 0; /* 0 of who is new: any */
    record.slot = choose_slot(coordinator, wanted, had_slot ? wanted->slot : AQ_SLOT_NONE);
    if (!had_place || find_number(coordinator, wanted->member)) {
        record.member = coordinator->next_member;
    }
    if (record.member >= coordinator->next_member) {
        coordinator->next_member = record.member + 1;
    }
    record.joined_ns = record.heard_ns = now_ns;
    record.unique = ++coordinator->next_unique;
    coordinator->members[coordinator->count] = record;
    coordinator->joined_total++;
    coordinator->shards_changed += record.role == AQ_ROLE_REPLAY;
    return &coordinator->members[coordinator->count++];
}

int aq_coordinator_join(aq_coordinator *coordinator, int64_t now_ns, const aq_member_record *wanted,
                        const aq_member_record **ret_record, uint64_t ret_replaced[AQ_REPLACED_MAX],
                        aq_error *error)
{
    AQ_ASSERT(wanted->incarnation != 0);
    AQ_ASSERT(wanted->role != AQ_ROLE_REPLAY || wanted->store != 0);
    aq_member_record *known = find(coordinator, wanted->incarnation);
    if (known && known->role != wanted->role) {
        return aq_fail(error, AQ_E_EXISTS, "this process joined in another role before");
    }
    if (known && known->role == AQ_ROLE_REPLAY && known->store != wanted->store) {
        return aq_fail(error, AQ_E_INVALID, "this process joined with another store before");
    }
    if (known && has_moved(known, wanted)) {
        known = NULL; /* that record is of an earlier life, in a way */
    }
    uint64_t replaced[AQ_REPLACED_MAX] = {0};
    if (known) {
        known->heard_ns = now_ns;
        memcpy(known->address, wanted->address, sizeof(known->address));
        known->neighbours = wanted->neighbours;
        *ret_record = known;
    } else {
        int rc = check_lives(coordinator, wanted, error);
        if (rc == 0 && remove_earlier_lives(coordinator, wanted, replaced) == 0) {
            rc = make_room(coordinator, wanted, replaced, error);
        }
        if (rc != 0) {
            return rc;
        }
        *ret_record = add(coordinator, now_ns, wanted);
    }
    memcpy(ret_replaced, replaced, sizeof(replaced));
    return 0;
}

const aq_member_record *aq_coordinator_find(const aq_coordinator *coordinator, uint64_t member,
                                            uint64_t incarnation)
{
    return find_member(coordinator, member, incarnation);
}

const aq_member_record *aq_coordinator_heartbeat(aq_coordinator *coordinator, int64_t now_ns,
                                                 uint64_t member, uint64_t incarnation)
{
    aq_member_record *record = find_member(coordinator, member, incarnation);
    if (record) {
        record->heard_ns = now_ns;
    }
    return record;
}

bool aq_coordinator_leave(aq_coordinator *coordinator, uint64_t member, uint64_t incarnation)
{
    const aq_member_record *record = find_member(coordinator, member, incarnation);
    if (record) {
        remove_at(coordinator, (size_t)(record - coordinator->members));
    }
    return record != NULL;
}

void aq_coordinator_seen(aq_coordinator *coordinator, uint64_t incarnation, const char *address)
{
    aq_member_record *record = find(coordinator, incarnation);
    if (record) {
        (void)snprintf(record->address, sizeof(record->address), "%s", address);
        record->neighbours = in6addr_any;
        (void)aq_url_network(address, &record->neighbours);
    }
}

void aq_coordinator_reached(aq_coordinator *coordinator, uint64_t shard_incarnation,
                            bool is_reached)
{
    aq_member_record *record = find(coordinator, shard_incarnation);
    if (record && record->role == AQ_ROLE_REPLAY) {
        record->is_reached = is_reached;
    }
}

const aq_member_record *aq_coordinator_drain(aq_coordinator *coordinator, uint64_t member)
{
    aq_member_record *record = find_number(coordinator, member);
    if (record) {
        record->leaving = true;
    }
    return record;
}

void aq_coordinator_was_deaf(aq_coordinator *coordinator, int64_t now_ns, int64_t deaf_ns)
{
    for (size_t i = 0; i < coordinator->count; i++) {
        aq_member_record *record = &coordinator->members[i];
        record->heard_ns =
            now_ns - record->heard_ns > deaf_ns ? record->heard_ns + deaf_ns : now_ns;
    }
}

bool aq_coordinator_expire(aq_coordinator *coordinator, int64_t now_ns,
                           aq_member_record *ret_record)
{
    for (size_t i = 0; i < coordinator->count; i++) {
        if (now_ns - coordinator->members[i].heard_ns > coordinator->config.member_timeout_ns) {
            *ret_record = coordinator->members[i];
            coordinator->lost_total++;
            remove_at(coordinator, i);
            return true;
        }
    }
    return false;
}

size_t aq_coordinator_member_count(const aq_coordinator *coordinator)
{
    return coordinator->count;
}

const aq_member_record *aq_coordinator_member_at(const aq_coordinator *coordinator, size_t index)
{
    AQ_ASSERT(index < coordinator->count);
    return &coordinator->members[index];
}

uint64_t aq_coordinator_shards_changed(const aq_coordinator *coordinator)
{
    return coordinator->shards_changed;
}
