/*
 * A list of messages, oldest first. Messages come in the order of their numbers and are moved out
 * of memory in that order too, so those in files are a prefix of the list but for the few that were
 * passed over, and the first one still in memory is remembered.
 *
 * Segments come in order as well: a short array of (segment, messages that lie in it and are held).
 */
#include "replay/table/message_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "replay/disk/segment_folder.h"

typedef struct segment_use {
    uint64_t segment;
    uint64_t messages;
} segment_use;

struct aq_message_store {
    uint64_t memory_bytes;
    aq_stored_message *oldest, *newest;
    aq_stored_message *demote_next; /* the oldest that is not mapped; NULL: none is */
    aq_stored_message *spare;       /* for the next one, or NULL */
    aq_stored_message *cursor;      /* where the last search ended; NULL: nowhere */
    aq_message_store_counts counts;
    segment_use *segments; /* by number, those that were not told to be dead */
    size_t segment_count;
    size_t segment_capacity;
    size_t unused_count; /* of them, how many hold nothing */
};

int aq_message_store_create(uint64_t memory_bytes, aq_message_store **ret_store)
{
    aq_message_store *store = aq_alloc(1, sizeof(*store));
    if (store == NULL) {
        return AQ_E_NOMEM;
    }
    store->memory_bytes = memory_bytes;
    *ret_store = store;
    return 0;
}

/* ---- segments ------------------------------------------------------------------------------ */

static segment_use *find_segment(const aq_message_store *store, uint64_t segment)
{
    AQ_ASSERT(store->segment_count > 0);
    segment_use *use = bsearch(&segment, store->segments, store->segment_count,
                               sizeof(*store->segments), aq_segment_compare);
    AQ_ASSERT(use != NULL);
    return use;
}

/* The log opens no segment too many, so room for one more than it has is never in use. */
int aq_message_store_reserve(aq_message_store *store)
{
    if (store->spare == NULL) {
        store->spare = aq_alloc(1, sizeof(*store->spare));
    }
    return store->spare == NULL
               ? AQ_E_NOMEM
               : aq_grow(&store->segments, &store->segment_capacity, store->segment_count,
                         sizeof(*store->segments), AQ_SEGMENTS_MAX + 1);
}

void aq_message_store_open_segment(aq_message_store *store, uint64_t segment)
{
    AQ_ASSERT(segment > 0);
    if (store->segment_count > 0) {
        uint64_t newest = store->segments[store->segment_count - 1].segment;
        AQ_ASSERT(segment >= newest);
        if (segment == newest) {
            return;
        }
    }
    AQ_ASSERT(store->segment_count < store->segment_capacity);
    store->segments[store->segment_count++] = (segment_use){.segment = segment};
    store->unused_count++;
}

static void use_segment(aq_message_store *store, uint64_t segment)
{
    if (segment != 0) {
        segment_use *use = find_segment(store, segment);
        store->unused_count -= use->messages == 0;
        use->messages++;
    }
}

static void leave_segment(aq_message_store *store, uint64_t segment)
{
    if (segment != 0) {
        segment_use *use = find_segment(store, segment);
        AQ_ASSERT(use->messages > 0);
        use->messages--;
        store->unused_count += use->messages == 0;
    }
}

bool aq_message_store_dead_segment(aq_message_store *store, uint64_t current, uint64_t *ret_segment)
{
    for (size_t i = 0; store->unused_count > 0 && i < store->segment_count; i++) {
        segment_use *use = &store->segments[i];
        if (use->segment >= current) {
            break;
        }
        if (use->messages == 0) {
            *ret_segment = use->segment;
            store->segment_count--;
            store->unused_count--;
            memmove(use, use + 1, (store->segment_count - i) * sizeof(*use));
            return true;
        }
    }
    return false;
}

/* ---- messages ------------------------------------------------------------------------------ */

static void count(aq_message_store *store, const aq_stored_message *message, int64_t sign)
{
    uint64_t bytes = aq_arrival_bytes(message->arrival);
    uint64_t mapped = message->mapped ? message->arrival->frame->size : 0;
    AQ_ASSERT(mapped <= bytes);
    store->counts.messages += (uint64_t)sign;
    store->counts.mapped_bytes += (uint64_t)sign * mapped;
    store->counts.resident_bytes += (uint64_t)sign * (bytes - mapped);
}

aq_stored_message *aq_message_store_add(aq_message_store *store, aq_arrival *arrival,
                                        uint64_t number, uint64_t segment, bool mapped)
{
    aq_stored_message *message = store->spare;
    AQ_ASSERT(message != NULL);
    AQ_ASSERT(store->newest == NULL || store->newest->number < number);
    if (segment != 0) {
        aq_message_store_open_segment(store, segment);
    }
    store->spare = NULL;
    *message = (aq_stored_message){.arrival = arrival,
                                   .number = number,
                                   .segment = segment,
                                   .mapped = mapped,
                                   .older = store->newest};
    if (store->newest != NULL) {
        store->newest->newer = message;
    } else {
        store->oldest = message;
    }
    store->newest = message;
    if (store->demote_next == NULL && !mapped) {
        store->demote_next = message;
    }
    use_segment(store, segment);
    count(store, message, 1);
    return message;
}

static void remove_message(aq_message_store *store, aq_stored_message *message)
{
    count(store, message, -1);
    leave_segment(store, message->segment);
    if (store->demote_next == message) {
        store->demote_next = message->newer;
    }
    if (store->cursor == message) {
        store->cursor = message->newer;
    }
    if (message->older != NULL) {
        message->older->newer = message->newer;
    } else {
        store->oldest = message->newer;
    }
    if (message->newer != NULL) {
        message->newer->older = message->older;
    } else {
        store->newest = message->older;
    }
    aq_arrival_unref(message->arrival);
    aq_free(message);
}

void aq_message_store_destroy(aq_message_store *store)
{
    if (store == NULL) {
        return;
    }
    while (store->oldest != NULL) {
        AQ_ASSERT(store->oldest->holds == 0);
        remove_message(store, store->oldest);
    }
    aq_free(store->spare);
    aq_free(store->segments);
    aq_free(store);
}

void aq_message_store_hold(aq_stored_message *message)
{
    AQ_ASSERT(message->holds < UINT32_MAX);
    message->holds++;
}

void aq_message_store_release(aq_message_store *store, aq_stored_message *message)
{
    AQ_ASSERT(message->holds > 0);
    message->holds--;
    if (message->holds == 0) {
        remove_message(store, message);
    }
}

static int map_out(aq_message_store *store, aq_replay_log *log, aq_stored_message *message)
{
    aq_lease *frame;
    int rc = log->class->map(log, message->number, message->segment, &frame);
    if (rc == 0) {
        count(store, message, -1);
        aq_arrival_rehouse(message->arrival, frame);
        message->mapped = true;
        count(store, message, 1);
    }
    return rc;
}

int aq_message_store_demote(aq_message_store *store, aq_replay_log *log, uint64_t durable,
                            uint32_t count_max, aq_error *error)
{
    int failed = 0;
    if (store->memory_bytes == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < count_max && store->counts.resident_bytes > store->memory_bytes; i++) {
        aq_stored_message *message = store->demote_next;
        if (message == NULL || message->number > durable) {
            break;
        }
        if (message->segment != 0 && !message->mapped) { /* segment 0: it is in no file */
            int rc = map_out(store, log, message);
            if (rc != 0 && failed == 0) {
                failed = aq_fail(error, rc, "message %" PRIu64 " cannot be moved out of memory: %s",
                                 message->number, aq_error_text(rc));
            }
            if (rc == AQ_E_IO || rc == AQ_E_NOMEM) {
                break;
            }
        }
        store->demote_next = message->newer;
    }
    return failed;
}

const aq_stored_message *aq_message_store_after(aq_message_store *store, uint64_t number)
{
    aq_stored_message *message = store->cursor;
    if (store->newest == NULL || store->newest->number <= number) {
        return NULL;
    }
    if (message == NULL || (message->older != NULL && message->older->number > number)) {
        message = store->oldest;
    }
    while (message != NULL && message->number <= number) {
        message = message->newer;
    }
    store->cursor = message;
    return message;
}

const aq_stored_message *aq_message_store_oldest(const aq_message_store *store)
{
    return store->oldest;
}

aq_message_store_counts aq_message_store_counts_of(const aq_message_store *store)
{
    return store->counts;
}
