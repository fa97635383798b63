/*
 * A list, and a hash table of positions in it that is at most half full.
 */
#include "replay/data/data_lanes.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/memory.h"

enum { SLOTS_MIN = 64 };

struct aq_data_lanes {
    size_t memory_bytes;
    aq_data_lane **list;
    size_t count;
    uint32_t *slots; /* position + 1; 0: free */
    size_t slot_count;
};

static size_t slot_of(const aq_data_lanes *lanes, uint64_t actor, uint64_t incarnation,
                      uint32_t lane)
{
    uint64_t hash = actor * UINT64_C(0x9e3779b97f4a7c15) ^ incarnation;
    hash = (hash ^ lane) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 29;
    return (size_t)hash & (lanes->slot_count - 1);
}

static int resize(aq_data_lanes *lanes, size_t slot_count)
{
    uint32_t *slots = aq_alloc(slot_count, sizeof(*slots));
    aq_data_lane **list = aq_alloc(slot_count / 2, sizeof(aq_data_lane *));
    if (slots == NULL || list == NULL) {
        aq_free(slots);
        aq_free(list);
        return AQ_E_NOMEM;
    }
    if (lanes->count > 0) {
        memcpy(list, lanes->list, lanes->count * sizeof(aq_data_lane *));
    }
    aq_free(lanes->list);
    aq_free(lanes->slots);
    lanes->list = list;
    lanes->slots = slots;
    lanes->slot_count = slot_count;
    for (size_t i = 0; i < lanes->count; i++) {
        size_t at = slot_of(lanes, list[i]->actor, list[i]->incarnation, list[i]->lane);
        while (slots[at] != 0) {
            at = (at + 1) & (slot_count - 1);
        }
        slots[at] = (uint32_t)i + 1;
    }
    return 0;
}

int aq_data_lanes_create(size_t memory_bytes, aq_data_lanes **ret_lanes)
{
    aq_data_lanes *lanes = aq_alloc(1, sizeof(*lanes));
    if (lanes == NULL) {
        return AQ_E_NOMEM;
    }
    lanes->memory_bytes = memory_bytes;
    int rc = resize(lanes, SLOTS_MIN);
    if (rc != 0) {
        aq_free(lanes);
        return rc;
    }
    *ret_lanes = lanes;
    return 0;
}

void aq_data_lanes_destroy(aq_data_lanes *lanes)
{
    if (lanes == NULL) {
        return;
    }
    for (size_t i = 0; i < lanes->count; i++) {
        aq_free(lanes->list[i]->memory);
        aq_free(lanes->list[i]);
    }
    aq_free(lanes->list);
    aq_free(lanes->slots);
    aq_free(lanes);
}

static int add(aq_data_lanes *lanes, const aq_data_lane *key, size_t slot, aq_data_lane **ret_lane)
{
    aq_data_lane *lane = aq_alloc(1, sizeof(*lane));
    void *memory = aq_alloc(1, lanes->memory_bytes);
    if (lane == NULL || memory == NULL) {
        aq_free(lane);
        aq_free(memory);
        return AQ_E_NOMEM;
    }
    *lane = *key;
    lane->memory = memory;
    lanes->list[lanes->count++] = lane;
    lanes->slots[slot] = (uint32_t)lanes->count;
    *ret_lane = lane;
    return 0;
}

int aq_data_lanes_find(aq_data_lanes *lanes, uint64_t actor, uint64_t incarnation, uint32_t lane,
                       aq_data_lane **ret_lane)
{
    const aq_data_lane key = {.actor = actor, .incarnation = incarnation, .lane = lane};
    for (bool resized = false;; resized = true) {
        size_t at = slot_of(lanes, actor, incarnation, lane);
        for (; lanes->slots[at] != 0; at = (at + 1) & (lanes->slot_count - 1)) {
            aq_data_lane *found = lanes->list[lanes->slots[at] - 1];
            if (found->actor == actor && found->incarnation == incarnation && found->lane == lane) {
                *ret_lane = found;
                return 0;
            }
        }
        if (lanes->count == AQ_DATA_LANES_MAX) {
            return AQ_E_FULL;
        }
        if (resized || lanes->count < lanes->slot_count / 2) {
            return add(lanes, &key, at, ret_lane);
        }
        int rc = resize(lanes, 2 * lanes->slot_count);
        if (rc != 0) {
            return rc;
        }
    }
}

size_t aq_data_lanes_count(const aq_data_lanes *lanes)
{
    return lanes->count;
}

aq_data_lane *aq_data_lanes_at(const aq_data_lanes *lanes, size_t index)
{
    return lanes->list[index];
}
