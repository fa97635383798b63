/*
 * Kept replies: a hash table by request id, and two lists from the newest to the oldest. Large ones
 * have a list of their own, so that neither they nor small ones push the others out.
 */
#include "common/net/rpc/rpc_repeats.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc/id_map.h"

enum { COUNT_MIN = 16, COUNT_MAX = 65536, BYTES_PER_REPLY_MIN = 512, SHARES = 4 };

typedef struct kept {
    aq_id_node node; /* first: the table hands it back */
    struct kept *newer;
    struct kept *older;
    size_t size;
    uint32_t request_crc;
    uint8_t reply[];
} kept;

typedef struct kept_list {
    kept *newest;
    kept *oldest;
    size_t count;
    size_t bytes; /* of all replies, with what their bookkeeping takes */
} kept_list;

struct aq_rpc_repeats {
    aq_id_map map;
    kept_list small; /* up to bytes_max */
    kept_list large; /* of more than a share of that, so many as there are shares */
    size_t bytes_max;
    size_t reply_max; /* a larger one is not kept */
};

int aq_rpc_repeats_create(size_t bytes_max, aq_rpc_repeats **ret_repeats)
{
    size_t count_max = bytes_max / BYTES_PER_REPLY_MIN;
    aq_rpc_repeats *repeats = aq_alloc(1, sizeof(*repeats));

    if (repeats == NULL) {
        return AQ_E_NOMEM;
    }
    count_max = count_max < COUNT_MIN ? COUNT_MIN : count_max;
    count_max = count_max > COUNT_MAX ? COUNT_MAX : count_max;
    repeats->bytes_max = bytes_max;
    repeats->reply_max = bytes_max / SHARES > sizeof(kept) ? bytes_max / SHARES - sizeof(kept) : 0;
    if (aq_id_map_init(&repeats->map, count_max) < 0) {
        aq_free(repeats);
        return AQ_E_NOMEM;
    }
    *ret_repeats = repeats;
    return 0;
}

static size_t bytes_of(size_t reply_size)
{
    return sizeof(kept) + reply_size;
}

static kept_list *list_of(aq_rpc_repeats *repeats, size_t size)
{
    return SHARES * bytes_of(size) > repeats->bytes_max ? &repeats->large : &repeats->small;
}

static void list_remove(kept_list *list, kept *entry)
{
    *(entry->newer == NULL ? &list->newest : &entry->newer->older) = entry->older;
    *(entry->older == NULL ? &list->oldest : &entry->older->newer) = entry->newer;
    list->count--;
    list->bytes -= bytes_of(entry->size);
}

static void list_put_first(kept_list *list, kept *entry)
{
    entry->newer = NULL;
    entry->older = list->newest;
    *(entry->older == NULL ? &list->oldest : &entry->older->newer) = entry;
    list->newest = entry;
    list->count++;
    list->bytes += bytes_of(entry->size);
}

static void forget_oldest(aq_rpc_repeats *repeats, kept_list *list)
{
    kept *entry = list->oldest;

    AQ_ASSERT(entry != NULL);
    list_remove(list, entry);
    aq_id_map_remove(&repeats->map, &entry->node);
    aq_free(entry);
}

static void forget_all(aq_rpc_repeats *repeats, kept_list *list)
{
    while (list->oldest != NULL) {
        forget_oldest(repeats, list);
    }
    AQ_ASSERT(list->count == 0 && list->bytes == 0);
}

void aq_rpc_repeats_destroy(aq_rpc_repeats *repeats)
{
    if (repeats == NULL) {
        return;
    }
    forget_all(repeats, &repeats->small);
    forget_all(repeats, &repeats->large);
    aq_id_map_fini(&repeats->map);
    aq_free(repeats);
}

void aq_rpc_repeats_allow(aq_rpc_repeats *repeats, size_t reply_bytes)
{
    if (reply_bytes > repeats->reply_max) {
        repeats->reply_max = reply_bytes;
    }
}

void aq_rpc_repeats_keep(aq_rpc_repeats *repeats, uint64_t id, uint32_t request_crc,
                         const uint8_t *reply, size_t size)
{
    if (repeats->bytes_max == 0 || size > repeats->reply_max) {
        return;
    }
    kept_list *list = list_of(repeats, size);
    while (list == &repeats->large ? list->count == SHARES
                                   : list->bytes + bytes_of(size) > repeats->bytes_max) {
        forget_oldest(repeats, list);
    }
    if (repeats->map.count == repeats->map.count_max) { /* most of which are small */
        forget_oldest(repeats, &repeats->small);
    }
    kept *entry = aq_alloc_unset(1, bytes_of(size));
    if (entry == NULL) {
        return;
    }
    entry->node.id = id;
    entry->request_crc = request_crc;
    entry->size = size;
    memcpy(entry->reply, reply, size);
    aq_id_map_insert(&repeats->map, &entry->node);
    list_put_first(list, entry);
}

int aq_rpc_repeats_find(aq_rpc_repeats *repeats, uint64_t id, uint32_t request_crc,
                        const uint8_t **ret_reply, size_t *ret_size)
{
    kept *entry = (kept *)aq_id_map_find(&repeats->map, id);

    if (entry == NULL) {
        return AQ_E_NOT_FOUND;
    }
    if (entry->request_crc != request_crc) {
        return AQ_E_INVALID;
    }
    list_remove(list_of(repeats, entry->size), entry);
    list_put_first(list_of(repeats, entry->size), entry);
    *ret_reply = entry->reply;
    *ret_size = entry->size;
    return 0;
}
