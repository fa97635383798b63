/*
 * Chunks of one sender wait until those of another come, or a message is full.
 */
#include "replay/data/data_packer.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/wire/wire_experience.h"
#include "replay/data/data_lanes.h"

enum { CHUNKS_MAX = 64 };

typedef struct sender_state {
    uint64_t seq, transitions;
} sender_state;

struct aq_data_packer {
    aq_data_packer_config config;
    aq_data_lanes *senders;
    uint64_t actor, incarnation;
    aq_chunk *chunks[CHUNKS_MAX];
    uint32_t count;
    aq_buffer frame;
};

int aq_data_packer_create(const aq_data_packer_config *config, aq_data_packer **ret_packer)
{
    aq_data_packer *packer = aq_alloc(1, sizeof(*packer));
    if (packer == NULL) {
        return AQ_E_NOMEM;
    }
    packer->config = *config;
    aq_buffer_init(&packer->frame, (size_t)config->message_bytes);
    int rc = aq_data_lanes_create(sizeof(sender_state), &packer->senders);
    if (rc != 0) {
        aq_free(packer);
        return rc;
    }
    *ret_packer = packer;
    return 0;
}

static void drop_chunks(aq_data_packer *packer)
{
    for (uint32_t i = 0; i < packer->count; i++) {
        aq_chunk_unref(packer->chunks[i]);
    }
    packer->count = 0;
}

void aq_data_packer_destroy(aq_data_packer *packer)
{
    if (packer != NULL) {
        drop_chunks(packer);
        aq_buffer_fini(&packer->frame);
        aq_data_lanes_destroy(packer->senders);
        aq_free(packer);
    }
}

static int pack(aq_data_packer *packer, uint64_t seq, aq_lease **ret_frame, aq_error *error)
{
    const aq_experience message = {
        .run_id = packer->config.run_id,
        .actor = packer->actor,
        .incarnation = packer->incarnation,
        .seq = seq,
        .store = packer->config.store,
        .chunk_count = packer->count,
        .chunks = packer->chunks,
    };
    uint8_t *bytes;
    aq_buffer_clear(&packer->frame);
    int rc = aq_wire_experience_pack(&message, &packer->config.layout, &packer->frame);
    if (rc == 0) {
        rc = aq_lease_create(packer->frame.size, &bytes, ret_frame);
    }
    if (rc != 0) {
        return aq_fail(error, rc, "a message of experience: %s", aq_error_text(rc));
    }
    memcpy(bytes, packer->frame.data, packer->frame.size);
    return 0;
}

int aq_data_packer_flush(aq_data_packer *packer, aq_error *error)
{
    aq_data_lane *sender;
    if (packer->count == 0) {
        return 0;
    }
    aq_data_message message = {.actor = packer->actor, .incarnation = packer->incarnation};
    int rc = aq_data_lanes_find(packer->senders, packer->actor, packer->incarnation,
                                AQ_DATA_LANE_ALL, &sender);
    if (rc != 0) {
        return aq_fail(error, rc, "the senders of a data set: %s", aq_error_text(rc));
    }
    sender_state *state = sender->memory;
    for (uint32_t i = 0; i < packer->count; i++) {
        message.transitions += aq_chunk_view_fresh(&packer->chunks[i]->view);
    }
    message.seq = ++state->seq;
    state->transitions += message.transitions;
    message.transitions_total = state->transitions;
    rc = pack(packer, message.seq, &message.frame, error);
    drop_chunks(packer);
    if (rc == 0) {
        rc = packer->config.send(packer->config.user, &message, error);
        aq_lease_unref(message.frame);
    }
    return rc;
}

/* With this chunk. */
static size_t bytes_max(const aq_data_packer *packer)
{
    return aq_wire_experience_bytes_max(&packer->config.layout,
                                        (const aq_chunk *const *)packer->chunks, packer->count);
}

int aq_data_packer_chunk(aq_data_packer *packer, uint64_t actor, uint64_t incarnation,
                         aq_chunk *chunk, aq_error *error)
{
    int rc = 0;
    if (packer->count > 0 && (packer->actor != actor || packer->incarnation != incarnation ||
                              packer->count == CHUNKS_MAX)) {
        rc = aq_data_packer_flush(packer, error);
    }
    if (rc != 0) {
        aq_chunk_unref(chunk);
        return rc;
    }
    packer->actor = actor;
    packer->incarnation = incarnation;
    packer->chunks[packer->count++] = chunk;
    if (packer->count == 1 || bytes_max(packer) <= packer->config.message_bytes) {
        return 0;
    }
    packer->count--;
    rc = aq_data_packer_flush(packer, error);
    packer->chunks[packer->count++] = chunk;
    return rc;
}
