/*
 * Coordinator: see coordinator.h.
 *
 * Members stand in one growing array without order; a run has tens to thousands of them and each is
 * heard about twice a second, so a linear search costs less than a table would to understand. A
 * call must stay at a few: a thousand members may join within a second.
 */
#include "learner/run/coordinator.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/config/solved.h"

/* Numbers are given out one by one, so a larger one was never given out. */
#define MEMBER_NUMBER_MAX (UINT64_C(1) << 48)

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
    aq_evaluation_result leading; /* the latest screening that did; likewise */
    uint64_t evaluations;
    uint64_t learner_steps; /* as of the last word */
};

int aq_coordinator_create(const aq_coordinator_config *config, int64_t now_ns,
                          aq_coordinator **ret_coordinator)
{
    AQ_ASSERT(config->member_timeout_ns > 0);

    aq_coordinator *coordinator = aq_alloc(1, sizeof(*coordinator));
    if (!coordinator) {
        return AQ_E_NOMEM;
    }
    coordinator->config = *config;
    coordinator->started_ns = now_ns;
    coordinator->state = AQ_RUN_RUNNING;
    coordinator->next_member = 1;
    *ret_coordinator = coordinator;
    return 0;
}

void aq_coordinator_destroy(aq_coordinator *coordinator)
{
    if (!coordinator) {
        return;
    }
    aq_free(coordinator->members);
    aq_free(coordinator);
}

void aq_coordinator_configure(aq_coordinator *coordinator, const aq_coordinator_config *config)
{
    AQ_ASSERT(config->member_timeout_ns > 0);
    coordinator->config = *config;
}

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

/* A shard that was restarted has the same store, or serves the same address, mostly under a new
 * incarnation: the record of its earlier life would only send actors to a dead process until it
 * times out. It may be two: its own, and that of another shard whose address it has taken over. */
static size_t remove_earlier_lives(aq_coordinator *coordinator, const aq_member_record *wanted,
                                   uint64_t ret_replaced[AQ_REPLACED_MAX])
{
    size_t removed = 0;
    size_t others = 0;
    memset(ret_replaced, 0, AQ_REPLACED_MAX * sizeof(*ret_replaced));
    for (size_t i = 0; wanted->role == AQ_ROLE_REPLAY && i < coordinator->count;) {
        const aq_member_record *record = &coordinator->members[i];
        if (record->role != AQ_ROLE_REPLAY ||
            (record->store != wanted->store && strcmp(record->rpc_url, wanted->rpc_url) != 0)) {
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

/* Room for a member that is not known yet. */
static int make_room(aq_coordinator *coordinator, const aq_member_record *wanted, aq_error *error)
{
    size_t shards = 0, neighbours = 0;
    for (size_t i = 0; i < coordinator->count; i++) {
        const aq_member_record *record = &coordinator->members[i];
        shards += record->role == AQ_ROLE_REPLAY;
        neighbours += IN6_ARE_ADDR_EQUAL(&record->neighbours, &wanted->neighbours);
    }
    if (wanted->role == AQ_ROLE_REPLAY && shards == AQ_SHARDS_MAX) {
        return aq_fail(error, AQ_E_FULL,
                       "the run has %d replay shards already, the most there can be",
                       AQ_SHARDS_MAX);
    }
    if (!IN6_IS_ADDR_UNSPECIFIED(&wanted->neighbours) && neighbours >= AQ_NEIGHBOURS_MAX) {
        return aq_fail(error, AQ_E_FULL, "%zu members are at this address already, the most of one",
                       neighbours);
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
    bool had_slot = had_place || (wanted->role == AQ_ROLE_REPLAY && wanted->slot > 0);
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
    if (!known && remove_earlier_lives(coordinator, wanted, replaced) == 0) {
        int rc = make_room(coordinator, wanted, error);
        if (rc != 0) {
            return rc;
        }
    }
    if (known) {
        known->heard_ns = now_ns;
    }
    *ret_record = known ? known : add(coordinator, now_ns, wanted);
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

void aq_coordinator_progress(aq_coordinator *coordinator, uint64_t shard_incarnation,
                             uint64_t inserted)
{
    aq_store_ledger_told(&coordinator->stores, shard_incarnation, inserted);
}

static uint64_t row_steps(const aq_coordinator *coordinator)
{
    return coordinator->config.row_steps > 0 ? coordinator->config.row_steps : 1;
}

uint64_t aq_coordinator_env_steps(const aq_coordinator *coordinator)
{
    return aq_store_ledger_total(&coordinator->stores) * row_steps(coordinator);
}

uint64_t aq_coordinator_env_steps_found(const aq_coordinator *coordinator)
{
    return aq_store_ledger_found(&coordinator->stores) * row_steps(coordinator);
}

size_t aq_coordinator_shard_counts(const aq_coordinator *coordinator, aq_shard_count *counts,
                                   uint64_t *ret_base)
{
    return aq_store_ledger_counts(&coordinator->stores, counts, ret_base);
}

void aq_coordinator_restore_counts(aq_coordinator *coordinator, const aq_shard_count *counts,
                                   size_t count, uint64_t base)
{
    AQ_ASSERT(coordinator->count == 0);
    aq_store_ledger_restore(&coordinator->stores, counts, count, base);
}

void aq_coordinator_restore_wall(aq_coordinator *coordinator, double wall_before_s)
{
    coordinator->wall_before_s = wall_before_s;
}

void aq_coordinator_restore_best(aq_coordinator *coordinator, const aq_evaluation_result *best)
{
    coordinator->best = *best;
}

/* A version that is good in one form alone is good by the luck of its rounding. */
static bool lies_above(const aq_coordinator *coordinator, const aq_evaluation_result *result)
{
    const double threshold = coordinator->config.threshold;
    return aq_is_solved(result->return_mean, result->return_std, result->episodes, threshold) &&
           (!result->in_both ||
            aq_is_solved(result->fp32_mean, result->fp32_std, result->episodes, threshold));
}

bool aq_coordinator_evaluated(aq_coordinator *coordinator, const aq_evaluation_result *result,
                              bool held)
{
    if (coordinator->state != AQ_RUN_RUNNING) {
        return false;
    }
    if (!result->ranks_only) {
        coordinator->latest = *result;
        coordinator->evaluations++;
    }
    if (!held) {
        return false;
    }
    const bool solves = result->confirmed && !result->ranks_only && lies_above(coordinator, result);
    if (solves) {
        coordinator->state = AQ_RUN_SOLVED;
    }
    if (!result->confirmed && aq_ranking_leads(&coordinator->best, result)) {
        coordinator->leading = *result;
    } else if (result->version == coordinator->leading.version) {
        coordinator->leading.version = 0; /* it was played afresh */
    }
    return aq_ranking_take(&coordinator->best, result, solves);
}

uint64_t aq_coordinator_leader(const aq_coordinator *coordinator,
                               const aq_evaluation_result *result, bool held)
{
    return held && !result->confirmed && aq_ranking_leads(&coordinator->best, result)
               ? result->version
               : coordinator->best.version;
}

const aq_evaluation_result *aq_coordinator_heir(const aq_coordinator *coordinator)
{
    const aq_evaluation_result *leading = &coordinator->leading, *best = &coordinator->best;
    return coordinator->state != AQ_RUN_SOLVED && leading->version != 0 &&
                   leading->version != best->version &&
                   aq_is_solved(leading->return_mean, leading->return_std, leading->episodes,
                                best->return_mean)
               ? leading
               : NULL;
}

const aq_evaluation_result *aq_coordinator_latest(const aq_coordinator *coordinator)
{
    return coordinator->evaluations ? &coordinator->latest : NULL;
}

const aq_evaluation_result *aq_coordinator_best(const aq_coordinator *coordinator)
{
    return coordinator->best.version != 0 ? &coordinator->best : NULL;
}

uint64_t aq_coordinator_evaluations(const aq_coordinator *coordinator)
{
    return coordinator->evaluations;
}

void aq_coordinator_trained(aq_coordinator *coordinator, uint64_t learner_steps)
{
    coordinator->learner_steps = learner_steps;
}

enum aq_run_state aq_coordinator_tick(aq_coordinator *coordinator, int64_t now_ns)
{
    if (coordinator->state != AQ_RUN_RUNNING) {
        return coordinator->state;
    }
    double wall_limit_s = coordinator->config.wall_limit_s;
    bool out_of_steps =
        coordinator->config.env_steps_limit > 0 &&
        aq_coordinator_env_steps(coordinator) >= coordinator->config.env_steps_limit;
    bool out_of_training = coordinator->config.learner_steps_limit > 0 &&
                           coordinator->learner_steps >= coordinator->config.learner_steps_limit;
    bool out_of_time =
        wall_limit_s > 0 && aq_coordinator_wall_s(coordinator, now_ns) >= wall_limit_s;
    if (out_of_steps || out_of_training || out_of_time) {
        coordinator->state = AQ_RUN_BUDGET;
    }
    return coordinator->state;
}

void aq_coordinator_stop(aq_coordinator *coordinator)
{
    if (coordinator->state == AQ_RUN_RUNNING) {
        coordinator->state = AQ_RUN_STOPPED;
    }
}

void aq_coordinator_diverge(aq_coordinator *coordinator)
{
    if (coordinator->state == AQ_RUN_RUNNING) {
        coordinator->state = AQ_RUN_DIVERGED;
    }
}

enum aq_run_state aq_coordinator_state(const aq_coordinator *coordinator)
{
    return coordinator->state;
}

double aq_coordinator_wall_s(const aq_coordinator *coordinator, int64_t now_ns)
{
    return coordinator->wall_before_s + aq_ns_to_s(now_ns - coordinator->started_ns);
}

uint64_t aq_coordinator_joined_total(const aq_coordinator *coordinator)
{
    return coordinator->joined_total;
}

uint64_t aq_coordinator_lost_total(const aq_coordinator *coordinator)
{
    return coordinator->lost_total;
}
