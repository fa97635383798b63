/*
 * The segments of a store, ascending, each with the places of its frames, ascending too: a few
 * hundred segments of a few thousand frames, searched by halves.
 *
 * A segment that still grows is mapped over the size that it is expected to reach, so that one
 * mapping does; the kernel lets the pages past the end be read once the file has grown over them.
 */
#include "replay/disk/segment_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"
#include "replay/disk/segment_format.h"
#include "replay/disk/segment_mapping.h"

enum segment_state { LIVE, DROPPED, EMPTIED, NOTED };

/* Frames of one segment; as many as a segment of the largest size could have of the smallest. */
#define PLACES_MAX ((size_t)1 << 32)

typedef struct place {
    uint64_t number;
    uint64_t offset; /* 0: not written yet */
} place;

typedef struct segment_entry {
    uint64_t segment;
    uint64_t size, size_expected;
    enum segment_state state;
    bool distrusted;
    place *places;
    size_t place_count, place_capacity;
    aq_lease *mapping; /* or NULL */
} segment_entry;

struct aq_segment_map {
    const aq_segment_folder *folder;
    pthread_mutex_t mutex;
    segment_entry *entries;
    size_t count, capacity;
    uint64_t bytes, kept_bytes; /* of all files, and of those that are LIVE */
};

int aq_segment_map_create(const aq_segment_folder *folder, aq_segment_map **ret_map)
{
    aq_segment_map *map = aq_alloc(1, sizeof(*map));
    if (map == NULL) {
        return AQ_E_NOMEM;
    }
    if (pthread_mutex_init(&map->mutex, NULL) != 0) {
        aq_free(map);
        return AQ_E_NOMEM;
    }
    map->folder = folder;
    *ret_map = map;
    return 0;
}

static void give_back(segment_entry *entry)
{
    aq_lease_unref(entry->mapping);
    aq_free(entry->places);
    entry->mapping = NULL;
    entry->places = NULL;
    entry->place_count = 0;
    entry->place_capacity = 0;
}

void aq_segment_map_destroy(aq_segment_map *map)
{
    if (map == NULL) {
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        give_back(&map->entries[i]);
    }
    aq_free(map->entries);
    pthread_mutex_destroy(&map->mutex);
    aq_free(map);
}

/* ---- segments ------------------------------------------------------------------------------- */

static segment_entry *find(const aq_segment_map *map, uint64_t segment)
{
    return map->count == 0 ? NULL
                           : bsearch(&segment, map->entries, map->count, sizeof(*map->entries),
                                     aq_segment_compare);
}

int aq_segment_map_add(aq_segment_map *map, uint64_t segment, uint64_t size_expected)
{
    aq_mutex_lock(&map->mutex);
    AQ_ASSERT(map->count == 0 || map->entries[map->count - 1].segment < segment);
    int rc =
        aq_grow(&map->entries, &map->capacity, map->count, sizeof(*map->entries), AQ_SEGMENTS_MAX);
    if (rc == 0) {
        map->entries[map->count++] =
            (segment_entry){.segment = segment, .size_expected = size_expected};
    }
    aq_mutex_unlock(&map->mutex);
    return rc;
}

size_t aq_segment_map_count(aq_segment_map *map)
{
    aq_mutex_lock(&map->mutex);
    const size_t count = map->count;
    aq_mutex_unlock(&map->mutex);
    return count;
}

void aq_segment_map_size(aq_segment_map *map, uint64_t segment, uint64_t size)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    if (entry != NULL) {
        map->kept_bytes += entry->state == LIVE ? size - entry->size : 0;
        map->bytes += size - entry->size;
        entry->size = size;
    }
    aq_mutex_unlock(&map->mutex);
}

void aq_segment_map_adopt(aq_segment_map *map, uint64_t segment, aq_lease *mapping)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL && entry->mapping == NULL);
    entry->mapping = aq_lease_ref(mapping);
    aq_mutex_unlock(&map->mutex);
}

void aq_segment_map_distrust(aq_segment_map *map, uint64_t segment)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL);
    entry->distrusted = true;
    aq_mutex_unlock(&map->mutex);
}

void aq_segment_map_bytes(aq_segment_map *map, uint64_t *ret_bytes, uint64_t *ret_kept_bytes)
{
    aq_mutex_lock(&map->mutex);
    *ret_bytes = map->bytes;
    *ret_kept_bytes = map->kept_bytes;
    aq_mutex_unlock(&map->mutex);
}

int aq_segment_map_live(aq_segment_map *map, uint64_t before, uint64_t **ret_segments,
                        uint64_t *ret_count)
{
    aq_mutex_lock(&map->mutex);
    uint64_t *segments = aq_alloc(map->count, sizeof(*segments));
    uint64_t count = 0;
    for (size_t i = 0; segments != NULL && i < map->count; i++) {
        const segment_entry *entry = &map->entries[i];
        if (entry->segment < before && entry->state != NOTED) {
            segments[count++] = entry->segment;
        }
    }
    aq_mutex_unlock(&map->mutex);
    if (segments == NULL) {
        return AQ_E_NOMEM;
    }
    *ret_segments = segments;
    *ret_count = count;
    return 0;
}

/* ---- dropping ------------------------------------------------------------------------------- */

void aq_segment_map_drop(aq_segment_map *map, uint64_t segment)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    if (entry != NULL && entry->state == LIVE) {
        entry->state = DROPPED;
        map->kept_bytes -= entry->size;
    }
    aq_mutex_unlock(&map->mutex);
}

size_t aq_segment_map_to_note(aq_segment_map *map, uint64_t headed, uint64_t *ret_segments,
                              size_t count_max)
{
    size_t count = 0;
    aq_mutex_lock(&map->mutex);
    for (size_t i = 0; i < map->count && count < count_max; i++) {
        const segment_entry *entry = &map->entries[i];
        if ((entry->state == DROPPED || entry->state == EMPTIED) && entry->segment < headed) {
            ret_segments[count++] = entry->segment;
        }
    }
    aq_mutex_unlock(&map->mutex);
    return count;
}

void aq_segment_map_noted(aq_segment_map *map, uint64_t segment)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL);
    entry->state = NOTED;
    aq_mutex_unlock(&map->mutex);
}

static bool first_in(aq_segment_map *map, enum segment_state state, uint64_t headed,
                     uint64_t *ret_segment)
{
    bool found = false;
    aq_mutex_lock(&map->mutex);
    for (size_t i = 0; !found && i < map->count && map->entries[i].segment < headed; i++) {
        if (map->entries[i].state == state) {
            *ret_segment = map->entries[i].segment;
            found = true;
        }
    }
    aq_mutex_unlock(&map->mutex);
    return found;
}

bool aq_segment_map_to_delete(aq_segment_map *map, uint64_t headed, uint64_t *ret_segment)
{
    return first_in(map, NOTED, headed, ret_segment);
}

bool aq_segment_map_to_empty(aq_segment_map *map, uint64_t headed, uint64_t *ret_segment)
{
    return first_in(map, DROPPED, headed, ret_segment);
}

void aq_segment_map_emptied(aq_segment_map *map, uint64_t segment)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL);
    map->bytes -= entry->size;
    entry->size = 0;
    entry->state = EMPTIED;
    give_back(entry);
    aq_mutex_unlock(&map->mutex);
}

void aq_segment_map_forget(aq_segment_map *map, uint64_t segment)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL);
    map->kept_bytes -= entry->state == LIVE ? entry->size : 0;
    map->bytes -= entry->size;
    give_back(entry);
    const size_t after = map->count - 1 - (size_t)(entry - map->entries);
    memmove(entry, entry + 1, after * sizeof(*entry));
    map->count--;
    aq_mutex_unlock(&map->mutex);
}

/* ---- frames --------------------------------------------------------------------------------- */

int aq_segment_map_reserve(aq_segment_map *map, uint64_t segment, uint64_t number)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL);
    int rc = aq_grow(&entry->places, &entry->place_capacity, entry->place_count, sizeof(place),
                     PLACES_MAX);
    if (rc == 0) {
        AQ_ASSERT(entry->place_count == 0 || entry->places[entry->place_count - 1].number < number);
        entry->places[entry->place_count++] = (place){.number = number};
    }
    aq_mutex_unlock(&map->mutex);
    return rc;
}

void aq_segment_map_unreserve(aq_segment_map *map, uint64_t segment, uint64_t number)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL && entry->place_count > 0);
    AQ_ASSERT(entry->places[entry->place_count - 1].number == number);
    entry->place_count--;
    aq_mutex_unlock(&map->mutex);
}

static place *find_place(const segment_entry *entry, uint64_t number)
{
    return entry->place_count == 0 ? NULL
                                   : bsearch(&number, entry->places, entry->place_count,
                                             sizeof(*entry->places), aq_segment_compare);
}

void aq_segment_map_place(aq_segment_map *map, uint64_t segment, uint64_t number, uint64_t offset)
{
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    AQ_ASSERT(entry != NULL);
    place *at = find_place(entry, number);
    AQ_ASSERT(at != NULL);
    at->offset = offset;
    aq_mutex_unlock(&map->mutex);
}

/* A mapping over the file's first `size` bytes. */
static int map_up_to(aq_segment_map *map, segment_entry *entry, uint64_t size)
{
    char path[PATH_MAX];
    if (entry->mapping != NULL && entry->mapping->size >= size) {
        return 0;
    }
    const uint64_t wanted = size > entry->size_expected ? size : entry->size_expected;
    aq_lease *mapping;
    int rc = aq_segment_mapping_open(aq_segment_path(map->folder->path, entry->segment, path),
                                     (size_t)wanted, &mapping);
    if (rc == 0) {
        aq_lease_unref(entry->mapping);
        entry->mapping = mapping;
    }
    return rc;
}

static int lease_place(aq_segment_map *map, segment_entry *entry, const place *at,
                       aq_lease **ret_frame)
{
    aq_record record;
    if (entry->distrusted) {
        return AQ_E_UNSUPPORTED;
    }
    if (at->offset + AQ_RECORD_HEADER_BYTES > entry->size) {
        return AQ_E_CORRUPT;
    }
    int rc = map_up_to(map, entry, entry->size);
    if (rc != 0) {
        return rc;
    }
    const uint8_t *header = entry->mapping->bytes + at->offset;
    const uint32_t salt = aq_record_salt(map->folder->identity.store, entry->segment);
    if (!aq_record_decode(header, salt, &record) || record.kind != AQ_RECORD_FRAME ||
        record.number != at->number ||
        record.size > entry->size - at->offset - AQ_RECORD_HEADER_BYTES) {
        return AQ_E_CORRUPT;
    }
    if ((record.flags & AQ_RECORD_ZSTD) != 0) {
        return AQ_E_UNSUPPORTED;
    }
    if (aq_crc32c(0, header + AQ_RECORD_HEADER_BYTES, record.size) != record.payload_crc) {
        return AQ_E_CORRUPT;
    }
    return aq_segment_mapping_lease(entry->mapping, (size_t)at->offset + AQ_RECORD_HEADER_BYTES,
                                    record.size, ret_frame);
}

int aq_segment_map_lease(aq_segment_map *map, uint64_t segment, uint64_t number,
                         aq_lease **ret_frame)
{
    int rc = AQ_E_NOT_FOUND;
    aq_mutex_lock(&map->mutex);
    segment_entry *entry = find(map, segment);
    if (entry != NULL) {
        const place *at = find_place(entry, number);
        rc = at != NULL && at->offset != 0 ? lease_place(map, entry, at, ret_frame) : rc;
    }
    aq_mutex_unlock(&map->mutex);
    return rc;
}
