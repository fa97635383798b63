/*
 * Store ledger: see store_ledger.h.
 */
#include "learner/run/store_ledger.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/config/table_spec.h"

static aq_store_entry *find_store(aq_store_ledger *ledger, uint64_t store)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->entries[i].count.store == store) {
            return &ledger->entries[i];
        }
    }
    return NULL;
}

static aq_store_entry *find_process(aq_store_ledger *ledger, uint64_t incarnation)
{
    for (size_t i = 0; incarnation != 0 && i < ledger->count; i++) {
        if (ledger->entries[i].incarnation == incarnation) {
            return &ledger->entries[i];
        }
    }
    return NULL;
}

static aq_store_entry *find_slot(aq_store_ledger *ledger, uint32_t slot)
{
    for (size_t i = 0; slot != AQ_SLOT_NONE && i < ledger->count; i++) {
        if (ledger->entries[i].count.slot == slot) {
            return &ledger->entries[i];
        }
    }
    return NULL;
}

static bool is_before(const aq_store_entry *a, const aq_store_entry *b)
{
    bool a_has_slot = a->count.slot != AQ_SLOT_NONE;
    bool b_has_slot = b->count.slot != AQ_SLOT_NONE;
    return a_has_slot != b_has_slot ? b_has_slot : a->gone_at < b->gone_at;
}

/* Of those that are gone, one without a slot unless it `has_slot`, else the one that went first. */
static aq_store_entry *least_missed(aq_store_ledger *ledger, bool has_slot)
{
    aq_store_entry *least = NULL;
    for (size_t i = 0; i < ledger->count; i++) {
        aq_store_entry *entry = &ledger->entries[i];
        if (entry->incarnation == 0 && (!has_slot || entry->count.slot != AQ_SLOT_NONE) &&
            (!least || is_before(entry, least))) {
            least = entry;
        }
    }
    AQ_ASSERT(least); /* fewer than there are slots are live */
    return least;
}

/* A place for one more store; what a gone one brought moves to the base when there is none left. */
static aq_store_entry *add(aq_store_ledger *ledger, uint64_t store)
{
    aq_store_entry *place = NULL;
    if (ledger->count < AQ_STORES_MAX) {
        place = &ledger->entries[ledger->count++];
    } else {
        place = least_missed(ledger, false);
        ledger->base += place->count.inserted;
    }
    *place = (aq_store_entry){.count = {.store = store, .slot = AQ_SLOT_NONE}};
    return place;
}

/* The gone store at that address that has a slot, or NULL. */
static const aq_store_entry *find_address(const aq_store_ledger *ledger, const char *rpc_url)
{
    for (size_t i = 0; i < ledger->count; i++) {
        const aq_store_entry *entry = &ledger->entries[i];
        if (entry->incarnation == 0 && entry->count.slot != AQ_SLOT_NONE && rpc_url[0] != '\0' &&
            strcmp(entry->rpc_url, rpc_url) == 0) {
            return entry;
        }
    }
    return NULL;
}

static uint32_t free_slot(aq_store_ledger *ledger)
{
    for (uint32_t slot = 0; slot < AQ_SHARDS_MAX; slot++) {
        if (!find_slot(ledger, slot)) {
            return slot;
        }
    }
    return least_missed(ledger, true)->count.slot;
}

/* Whether a store may have that slot: nobody has it who is live. */
static bool can_have(aq_store_ledger *ledger, uint32_t slot)
{
    const aq_store_entry *holder = find_slot(ledger, slot);
    return slot < AQ_SHARDS_MAX && (!holder || holder->incarnation == 0);
}

static uint32_t choose_slot(aq_store_ledger *ledger, const aq_store_entry *entry,
                            const char *rpc_url, uint32_t wanted)
{
    if (can_have(ledger, wanted)) {
        return wanted;
    }
    if (entry->count.slot != AQ_SLOT_NONE) {
        return entry->count.slot;
    }
    const aq_store_entry *before = find_address(ledger, rpc_url);
    return before ? before->count.slot : free_slot(ledger);
}

uint32_t aq_store_ledger_arrive(aq_store_ledger *ledger, uint64_t incarnation, uint64_t store,
                                const char *rpc_url, uint32_t slot)
{
    AQ_ASSERT(incarnation != 0 && store != 0);
    aq_store_entry *entry = find_store(ledger, store);
    if (!entry) {
        entry = add(ledger, store);
    }
    AQ_ASSERT(entry->incarnation == 0);
    uint32_t chosen = choose_slot(ledger, entry, rpc_url, slot);
    aq_store_entry *holder = find_slot(ledger, chosen);
    if (holder && holder != entry) {
        holder->count.slot = AQ_SLOT_NONE;
    }
    entry->count.slot = chosen;
    entry->incarnation = incarnation;
    (void)snprintf(entry->rpc_url, sizeof(entry->rpc_url), "%s", rpc_url);
    return chosen;
}

void aq_store_ledger_depart(aq_store_ledger *ledger, uint64_t incarnation)
{
    aq_store_entry *entry = find_process(ledger, incarnation);
    if (entry) {
        entry->incarnation = 0;
        entry->gone_at = ++ledger->departures;
    }
}

void aq_store_ledger_told(aq_store_ledger *ledger, uint64_t incarnation, uint64_t inserted)
{
    aq_store_entry *entry = find_process(ledger, incarnation);
    if (!entry || inserted > AQ_SHARD_INSERTED_MAX) {
        return;
    }
    if (inserted > entry->count.inserted) {
        ledger->found += entry->is_told ? 0 : inserted - entry->count.inserted;
        entry->count.inserted = inserted;
    }
    entry->is_told = true;
}

uint64_t aq_store_ledger_total(const aq_store_ledger *ledger)
{
    uint64_t steps = ledger->base;
    for (size_t i = 0; i < ledger->count; i++) {
        steps += ledger->entries[i].count.inserted;
    }
    return steps;
}

uint64_t aq_store_ledger_found(const aq_store_ledger *ledger)
{
    return ledger->found;
}

size_t aq_store_ledger_counts(const aq_store_ledger *ledger, aq_shard_count *counts,
                              uint64_t *ret_base)
{
    for (size_t i = 0; i < ledger->count; i++) {
        counts[i] = ledger->entries[i].count;
    }
    *ret_base = ledger->base;
    return ledger->count;
}

void aq_store_ledger_restore(aq_store_ledger *ledger, const aq_shard_count *counts, size_t count,
                             uint64_t base)
{
    AQ_ASSERT(count <= AQ_STORES_MAX);
    *ledger = (aq_store_ledger){.base = base};
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = counts[i].slot;
        if (counts[i].store == 0 || find_store(ledger, counts[i].store) ||
            (slot != AQ_SLOT_NONE && (slot >= AQ_SHARDS_MAX || find_slot(ledger, slot)))) {
            ledger->base += counts[i].inserted;
        } else {
            ledger->entries[ledger->count++] = (aq_store_entry){.count = counts[i]};
        }
    }
}
