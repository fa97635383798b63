/*
 * Chunks of one sender wait until those of another come, or a message is full.
 */
#include "replay/data/data_packer.h"

#include "common/wire/wire_experience.h"
#include "replay/data/data_recut.h"

enum { CHUNKS_MAX = 64 };

typedef struct packer {
    const aq_data_packing *packing;
    uint64_t actor, incarnation;
    aq_chunk *chunks[CHUNKS_MAX];
    uint32_t count;
    aq_buffer frame;
} packer;

static void drop_chunks(packer *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        aq_chunk_unref(self->chunks[i]);
    }
    self->count = 0;
}

static int pack(packer *self, uint64_t seq, aq_lease **ret_frame, aq_error *error)
{
    const aq_experience message = {
        .run_id = self->packing->run_id,
        .actor = self->actor,
        .incarnation = self->incarnation,
        .seq = seq,
        .store = self->packing->store,
        .chunk_count = self->count,
        .chunks = self->chunks,
    };
    aq_buffer_clear(&self->frame);
    int rc = aq_wire_experience_pack(&message, &self->packing->layout, &self->frame);
    if (rc == 0) {
        rc = aq_lease_copy(self->frame.data, self->frame.size, ret_frame);
    }
    return rc != 0 ? aq_fail(error, rc, "a message of experience: %s", aq_error_text(rc)) : 0;
}

static uint64_t fresh_steps(const packer *self)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        steps += aq_chunk_view_fresh(&self->chunks[i]->view);
    }
    return steps;
}

static int flush(packer *self, aq_error *error)
{
    if (self->count == 0) {
        return 0;
    }
    aq_data_message message = {.transitions = fresh_steps(self)};
    int rc = aq_data_lanes_find(self->packing->senders, self->actor, self->incarnation,
                                AQ_DATA_LANE_ALL, &message.sender);
    if (rc != 0) {
        return aq_fail(error, rc, "the senders of a data set: %s", aq_error_text(rc));
    }
    aq_data_sender *sent = message.sender->memory;
    message.seq = sent->seq + 1;
    message.transitions_total = sent->transitions + message.transitions;
    rc = pack(self, message.seq, &message.frame, error);
    drop_chunks(self);
    if (rc == 0) {
        rc = self->packing->send(self->packing->user, &message, error);
        aq_lease_unref(message.frame);
        sent->seq = message.seq;
        sent->transitions = message.transitions_total;
    }
    return rc;
}

/* Of all chunks at hand. */
static bool is_one_message(const packer *self)
{
    const aq_data_packing *packing = self->packing;
    const size_t bytes = aq_wire_experience_bytes_max(
        &packing->layout, (const aq_chunk *const *)self->chunks, self->count);
    return self->count == 1 ||
           (bytes <= packing->message_bytes &&
            (packing->steps_max == 0 || fresh_steps(self) <= packing->steps_max));
}

static int on_chunk(void *user, uint64_t actor, uint64_t incarnation, aq_chunk *chunk,
                    aq_error *error)
{
    packer *self = user;
    int rc = 0;
    incarnation ^= self->packing->salt;
    if (self->count > 0 &&
        (self->actor != actor || self->incarnation != incarnation || self->count == CHUNKS_MAX)) {
        rc = flush(self, error);
    }
    if (rc != 0) {
        aq_chunk_unref(chunk);
        return rc;
    }
    self->actor = actor;
    self->incarnation = incarnation;
    self->chunks[self->count++] = chunk;
    if (is_one_message(self)) {
        return 0;
    }
    self->count--;
    rc = flush(self, error);
    self->chunks[self->count++] = chunk;
    return rc;
}

static int pack_blocks(packer *self, aq_data_recut *recut, aq_data_set_reader *reader,
                       const aq_data_progress *progress, aq_error *error)
{
    aq_data_set_block block;
    bool more = true;
    int rc = 0;
    while (rc == 0 && more) {
        rc = aq_data_set_reader_next(reader, &more, &block, error);
        if (rc == 0 && more) {
            rc = aq_data_recut_block(recut, &block, error);
        }
        if (rc == 0) {
            rc = aq_data_progress_tell(progress, aq_data_set_reader_done(reader), error);
        }
    }
    if (rc == 0) {
        rc = aq_data_recut_end(recut, error);
    }
    return rc == 0 ? flush(self, error) : rc;
}

int aq_data_pack(aq_data_set_reader *reader, const aq_data_packing *packing,
                 const aq_data_progress *progress, uint64_t *ret_left_out, aq_error *error)
{
    packer self = {.packing = packing};
    aq_data_recut *recut = NULL;
    aq_buffer_init(&self.frame, (size_t)packing->message_bytes);
    int rc = aq_data_recut_create(&packing->layout, on_chunk, &self, &recut);
    rc = rc != 0 ? aq_fail(error, rc, "out of memory")
                 : pack_blocks(&self, recut, reader, progress, error);
    if (rc == 0) {
        *ret_left_out = aq_data_recut_left_out(recut);
    }
    aq_data_recut_destroy(recut);
    drop_chunks(&self);
    aq_buffer_fini(&self.frame);
    return rc;
}
