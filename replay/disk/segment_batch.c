/*
 * Pieces for one write. Frames are written from where they lie; compressed ones from a room that
 * holds a few of them. A frame that can't be compressed, for whatever reason, is written as it is.
 */
#include "replay/disk/segment_batch.h"

#include <zstd.h>

#include "common/base/assert.h"
#include "common/base/crc32c.h"
#include "common/base/memory.h"
#include "replay/disk/segment_format.h"

/* Large enough that the calls cost nothing, small enough that what was written is told soon. */
#define BATCH_BYTES ((size_t)4 << 20)

#define HEAD_BYTES_MAX ((size_t)256 << 20)

/* zstd's fastest usual level, as everywhere (docs/decisions/0012); a frame that loses less than a
 * thirty-second is not worth unpacking. */
enum { ZSTD_LEVEL = 1, SAVED_SHARE = 32 };

struct aq_segment_batch {
    uint64_t store;
    struct ZSTD_CCtx_s *zstd; /* NULL: nothing is compressed */
    uint8_t *room;
    size_t room_size, room_used;
    aq_buffer start;
    size_t count;
    size_t bytes;
    aq_segment_piece pieces[AQ_SEGMENT_PIECES_MAX];
    uint8_t headers[AQ_SEGMENT_PIECES_MAX][AQ_RECORD_HEADER_BYTES];
};

int aq_segment_batch_create(uint64_t store, bool compressed, aq_segment_batch **ret_batch)
{
    aq_segment_batch *batch = aq_alloc(1, sizeof(*batch));
    if (batch == NULL) {
        return AQ_E_NOMEM;
    }
    aq_buffer_init(&batch->start, HEAD_BYTES_MAX);
    batch->store = store;
    if (compressed) {
        batch->room_size = ZSTD_compressBound(BATCH_BYTES);
        batch->room = aq_alloc_unset(batch->room_size, 1);
        batch->zstd = ZSTD_createCCtx();
        if (batch->room == NULL || batch->zstd == NULL) {
            aq_segment_batch_destroy(batch);
            return AQ_E_NOMEM;
        }
    }
    *ret_batch = batch;
    return 0;
}

void aq_segment_batch_destroy(aq_segment_batch *batch)
{
    if (batch != NULL) {
        (void)ZSTD_freeCCtx(batch->zstd);
        aq_free(batch->room);
        aq_buffer_fini(&batch->start);
        aq_free(batch);
    }
}

static void clear(aq_segment_batch *batch)
{
    batch->count = 0;
    batch->bytes = 0;
    batch->room_used = 0;
}

int aq_segment_batch_start(aq_segment_batch *batch, const aq_segment_item *item,
                           const uint64_t *live, uint64_t live_count)
{
    const aq_segment_head head = {.log = *item->head, .live_count = live_count, .live = live};
    uint8_t *bytes;
    clear(batch);
    aq_buffer_clear(&batch->start);
    int rc = aq_buffer_extend(&batch->start, AQ_FILE_FRONT_BYTES, &bytes);
    if (rc == 0) {
        rc = aq_segment_head_encode(&head, &batch->start);
    }
    if (rc != 0) {
        return rc;
    }
    bytes = batch->start.data;
    const uint32_t size = (uint32_t)(batch->start.size - AQ_FILE_FRONT_BYTES);
    const aq_file_header file = {
        .kind = AQ_STORE_FILE_SEGMENT,
        .store = batch->store,
        .number = item->segment,
    };
    aq_file_front_encode(&file, AQ_RECORD_HEAD, item->number, bytes + AQ_FILE_FRONT_BYTES, size,
                         bytes);
    batch->pieces[0] = (aq_segment_piece){.front = bytes, .front_size = batch->start.size};
    batch->count = 1;
    return 0;
}

static void add(aq_segment_batch *batch, uint32_t salt, const aq_record *record,
                const uint8_t *payload)
{
    AQ_ASSERT(batch->count < AQ_SEGMENT_PIECES_MAX);
    uint8_t *header = batch->headers[batch->count];
    aq_record_encode(record, salt, header);
    batch->pieces[batch->count++] = (aq_segment_piece){
        .front = header,
        .front_size = AQ_RECORD_HEADER_BYTES,
        .body = payload,
        .body_size = record->size,
    };
    batch->bytes += AQ_RECORD_HEADER_BYTES + (size_t)record->size;
}

/* Grows for a frame that is larger than a batch, which comes first in its own. */
static bool has_room(aq_segment_batch *batch, size_t bytes)
{
    uint8_t *room = NULL;
    if (bytes > batch->room_size && batch->room_used == 0) {
        room = aq_alloc_unset(bytes, 1);
    }
    if (room != NULL) {
        aq_free(batch->room);
        batch->room = room;
        batch->room_size = bytes;
    }
    return bytes <= batch->room_size - batch->room_used;
}

/* Into the room; 0 when it doesn't get smaller, or there is no room. */
static size_t compress(aq_segment_batch *batch, const aq_lease *frame)
{
    if (batch->zstd == NULL || !has_room(batch, ZSTD_compressBound(frame->size))) {
        return 0;
    }
    const size_t size = ZSTD_compressCCtx(batch->zstd, batch->room + batch->room_used,
                                          batch->room_size - batch->room_used, frame->bytes,
                                          frame->size, ZSTD_LEVEL);
    return ZSTD_isError(size) || size > frame->size - frame->size / SAVED_SHARE ? 0 : size;
}

static void add_frame(aq_segment_batch *batch, uint32_t salt, const aq_segment_item *item)
{
    const aq_lease *frame = item->frame;
    AQ_ASSERT(frame->size <= AQ_RECORD_BYTES_MAX);
    aq_record record = {
        .kind = AQ_RECORD_FRAME,
        .size = (uint32_t)frame->size,
        .unpacked_size = (uint32_t)frame->size,
        .number = item->number,
    };
    const uint8_t *payload = frame->bytes;
    const size_t compressed = compress(batch, frame);
    if (compressed > 0) {
        record.flags = AQ_RECORD_ZSTD;
        record.size = (uint32_t)compressed;
        payload = batch->room + batch->room_used;
        batch->room_used += compressed;
    }
    record.payload_crc = aq_crc32c(0, payload, record.size);
    add(batch, salt, &record, payload);
}

/* Whether this frame still belongs into the batch; the first always does. */
static bool takes(const aq_segment_batch *batch, const aq_segment_item *item)
{
    if (batch->count == AQ_SEGMENT_PIECES_MAX || item->frame == NULL) {
        return false;
    }
    const size_t room = batch->room_size - batch->room_used;
    return batch->bytes == 0 ||
           (batch->bytes + item->frame->size <= BATCH_BYTES &&
            (batch->zstd == NULL || ZSTD_compressBound(item->frame->size) <= room));
}

void aq_segment_batch_fill(aq_segment_batch *batch, uint64_t segment, const uint64_t *drops,
                           size_t drop_count, const aq_segment_item *items, size_t item_count)
{
    const uint32_t salt = aq_record_salt(batch->store, segment);
    clear(batch);
    for (size_t i = 0; i < drop_count; i++) {
        const aq_record record = {.kind = AQ_RECORD_DROP, .number = drops[i]};
        add(batch, salt, &record, NULL);
    }
    for (size_t i = 0; i < item_count && takes(batch, &items[i]); i++) {
        AQ_ASSERT(items[i].segment == segment);
        add_frame(batch, salt, &items[i]);
    }
}

const aq_segment_piece *aq_segment_batch_pieces(const aq_segment_batch *batch, size_t *ret_count)
{
    *ret_count = batch->count;
    return batch->pieces;
}
