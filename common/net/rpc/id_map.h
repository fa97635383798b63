/*
 * A hash table of nodes by 64-bit number, for calls and kept replies. The nodes are its user's and
 * live in the user's own structures; the table only links them.
 *
 * The numbers come from peers, so they are mixed with a seed of the process: a peer that chooses
 * its numbers cannot choose the chain they end in. One owner, no locking.
 */
#ifndef AQ_COMMON_NET_RPC_ID_MAP_H
#define AQ_COMMON_NET_RPC_ID_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

typedef struct aq_id_node {
    struct aq_id_node *next;
    uint64_t id;
} aq_id_node;

typedef struct aq_id_map {
    aq_id_node **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
    size_t count_max;
    uint64_t seed;
} aq_id_map;

int aq_id_map_init(aq_id_map *map, size_t count_max) AQ_MUST_USE;
void aq_id_map_fini(aq_id_map *map);

/* NULL when there is none. */
aq_id_node *aq_id_map_find(const aq_id_map *map, uint64_t id);

/* node->id is set and not in the table; the table is not full. */
void aq_id_map_insert(aq_id_map *map, aq_id_node *node);
void aq_id_map_remove(aq_id_map *map, aq_id_node *node);

#endif
