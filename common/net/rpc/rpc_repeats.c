/*
 * Kept replies: a hash table by request id, and a list from the newest to the oldest.
 */
#include "common/net/rpc/rpc_repeats.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/net/rpc/id_map.h"

enum { COUNT_MIN = 16, COUNT_MAX = 65536, BYTES_PER_REPLY_MIN = 512, SHARE_MAX = 4 };

typedef struct kept {
    aq_id_node node; /* first: the table hands it back */
    struct kept *newer;
    struct kept *older;
    size_t size;
    uint32_t request_crc;
    uint8_t reply[];
} kept;

struct aq_rpc_repeats {
    aq_id_map map;
    kept *newest;
    kept *oldest;
    size_t bytes; /* of all replies, with what their bookkeeping takes */
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
    repeats->reply_max =
        bytes_max / SHARE_MAX > sizeof(kept) ? bytes_max / SHARE_MAX - sizeof(kept) : 0;
    if (aq_id_map_init(&repeats->map, count_max) < 0) {
        aq_free(repeats);
        return AQ_E_NOMEM;
    }
    *ret_repeats = repeats;
    return 0;
}

static void list_remove(aq_rpc_repeats *repeats, kept *entry)
{
    *(entry->newer == NULL ? &repeats->newest : &entry->newer->older) = entry->older;
    *(entry->older == NULL ? &repeats->oldest : &entry->older->newer) = entry->newer;
}

static void list_put_first(aq_rpc_repeats *repeats, kept *entry)
{
    entry->newer = NULL;
    entry->older = repeats->newest;
    *(entry->older == NULL ? &repeats->oldest : &entry->older->newer) = entry;
    repeats->newest = entry;
}

static void forget_oldest(aq_rpc_repeats *repeats)
{
    kept *entry = repeats->oldest;

    AQ_ASSERT(entry != NULL);
    list_remove(repeats, entry);
    aq_id_map_remove(&repeats->map, &entry->node);
    repeats->bytes -= sizeof(*entry) + entry->size;
    aq_free(entry);
}

void aq_rpc_repeats_destroy(aq_rpc_repeats *repeats)
{
    if (repeats == NULL) {
        return;
    }
    while (repeats->oldest != NULL) {
        forget_oldest(repeats);
    }
    AQ_ASSERT(repeats->bytes == 0);
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
    kept *entry;

    if (repeats->bytes_max == 0 || size > repeats->reply_max) {
        return;
    }
    const size_t four = SHARE_MAX * (sizeof(*entry) + size);
    const size_t bytes_max = four > repeats->bytes_max ? four : repeats->bytes_max;
    while (repeats->map.count == repeats->map.count_max ||
           repeats->bytes + sizeof(*entry) + size > bytes_max) {
        forget_oldest(repeats);
    }
    entry = aq_alloc_unset(1, sizeof(*entry) + size);
    if (entry == NULL) {
        return;
    }
    entry->node.id = id;
    entry->request_crc = request_crc;
    entry->size = size;
    memcpy(entry->reply, reply, size);
    repeats->bytes += sizeof(*entry) + size;
    aq_id_map_insert(&repeats->map, &entry->node);
    list_put_first(repeats, entry);
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
    list_remove(repeats, entry);
    list_put_first(repeats, entry);
    *ret_reply = entry->reply;
    *ret_size = entry->size;
    return 0;
}
