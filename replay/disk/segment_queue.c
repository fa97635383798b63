/*
 * A ring of what waits to be written. See the header.
 */
#include "replay/disk/segment_queue.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

int aq_segment_queue_init(aq_segment_queue *queue, size_t capacity, uint64_t bytes_max)
{
    AQ_ASSERT(capacity > 0);
    aq_segment_item *items = aq_alloc(capacity, sizeof(*items));
    if (items == NULL) {
        return AQ_E_NOMEM;
    }
    *queue = (aq_segment_queue){.items = items, .capacity = capacity, .bytes_max = bytes_max};
    return 0;
}

static aq_segment_item *at(const aq_segment_queue *queue, size_t index)
{
    return &queue->items[(queue->first + index) % queue->capacity];
}

void aq_segment_queue_fini(aq_segment_queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        aq_segment_item_fini(at(queue, i));
    }
    aq_free(queue->items);
    *queue = (aq_segment_queue){0};
}

int aq_segment_queue_push_frame(aq_segment_queue *queue, uint64_t segment, uint64_t number,
                                aq_lease *frame)
{
    const bool has_room =
        queue->bytes <= queue->bytes_max && frame->size <= queue->bytes_max - queue->bytes;
    if (queue->count == queue->capacity || (queue->bytes > 0 && !has_room)) {
        return AQ_E_FULL;
    }
    *at(queue, queue->count++) = (aq_segment_item){
        .segment = segment,
        .number = number,
        .frame = aq_lease_ref(frame),
    };
    queue->bytes += frame->size;
    return 0;
}

int aq_segment_queue_push_head(aq_segment_queue *queue, uint64_t segment, uint64_t number,
                               const aq_log_head *head)
{
    if (queue->count == queue->capacity) {
        return AQ_E_FULL;
    }
    const size_t marks_size = (size_t)head->mark_count * sizeof(aq_log_mark);
    aq_log_head *copy = aq_alloc(1, sizeof(*copy) + marks_size);
    if (copy == NULL) {
        return AQ_E_NOMEM;
    }
    *copy = *head;
    aq_log_mark *marks = (aq_log_mark *)(void *)(copy + 1);
    copy->marks = marks;
    if (marks_size > 0) {
        memcpy(marks, head->marks, marks_size);
    }
    *at(queue, queue->count++) = (aq_segment_item){
        .segment = segment,
        .number = number,
        .head = copy,
    };
    return 0;
}

size_t aq_segment_queue_look(const aq_segment_queue *queue, aq_segment_item *ret_items,
                             size_t count_max)
{
    const size_t count = queue->count < count_max ? queue->count : count_max;
    for (size_t i = 0; i < count; i++) {
        ret_items[i] = *at(queue, i);
    }
    return count;
}

void aq_segment_queue_remove(aq_segment_queue *queue, size_t count)
{
    AQ_ASSERT(count <= queue->count);
    for (size_t i = 0; i < count; i++) {
        const aq_segment_item *item = at(queue, i);
        queue->bytes -= item->frame != NULL ? item->frame->size : 0;
    }
    queue->first = (queue->first + count) % queue->capacity;
    queue->count -= count;
}

void aq_segment_item_fini(aq_segment_item *item)
{
    aq_lease_unref(item->frame);
    aq_free(item->head);
    *item = (aq_segment_item){0};
}
