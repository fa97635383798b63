/*
 * The hash table of ids: chains, and as many buckets as it may hold nodes, so it never grows.
 */
#include "common/net/rpc/id_map.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"

int aq_id_map_init(aq_id_map *map, size_t count_max)
{
    size_t bucket_count = 16;

    AQ_ASSERT(count_max > 0);
    while (bucket_count < count_max && bucket_count < SIZE_MAX / 2) {
        bucket_count *= 2;
    }
    *map = (aq_id_map){.buckets = aq_alloc(bucket_count, sizeof(aq_id_node *)),
                       .bucket_count = bucket_count,
                       .count_max = count_max,
                       .seed = aq_rng_system_seed()};
    return map->buckets == NULL ? AQ_E_NOMEM : 0;
}

void aq_id_map_fini(aq_id_map *map)
{
    aq_free(map->buckets);
    *map = (aq_id_map){0};
}

/* The finalizer of splitmix64 (Steele, Lea and Flood, 2014). */
static aq_id_node **bucket_of(const aq_id_map *map, uint64_t id)
{
    uint64_t mixed = id ^ map->seed;

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
    mixed ^= mixed >> 31;
    return &map->buckets[mixed & (map->bucket_count - 1)];
}

aq_id_node *aq_id_map_find(const aq_id_map *map, uint64_t id)
{
    for (aq_id_node *node = *bucket_of(map, id); node != NULL; node = node->next) {
        if (node->id == id) {
            return node;
        }
    }
    return NULL;
}

void aq_id_map_insert(aq_id_map *map, aq_id_node *node)
{
    aq_id_node **bucket = bucket_of(map, node->id);

    AQ_ASSERT(map->count < map->count_max);
    node->next = *bucket;
    *bucket = node;
    map->count++;
}

void aq_id_map_remove(aq_id_map *map, aq_id_node *node)
{
    aq_id_node **link = bucket_of(map, node->id);

    while (*link != node) {
        AQ_ASSERT(*link != NULL);
        link = &(*link)->next;
    }
    *link = node->next;
    node->next = NULL;
    map->count--;
}
