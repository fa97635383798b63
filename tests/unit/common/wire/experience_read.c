/*
 * See experience_read.h.
 */
#include "tests/unit/common/wire/experience_read.h"

#include <string.h>

#include "common/base/memory.h"
#include "common/wire/wire_experience.h"

static int copy_chunk(const aq_chunk_view *view, const aq_chunk_layout *layout,
                      aq_chunk **ret_chunk)
{
    const size_t length = view->length;
    aq_chunk *chunk;
    int rc = aq_chunk_create(layout, view->length, &chunk);
    if (rc != 0) {
        return rc;
    }
    chunk->episode = view->episode;
    chunk->first = view->first;
    chunk->lane = view->lane;
    chunk->length = view->length;
    chunk->overlap = view->overlap;
    chunk->terminated = view->terminated;
    chunk->truncated = view->truncated;
    memcpy(chunk->obs, view->obs, (length + 1) * layout->obs_bytes);
    memcpy(chunk->action, view->action, length * layout->action_bytes);
    memcpy(chunk->reward, view->reward, length * sizeof(*chunk->reward));
    memcpy(chunk->version, view->version, length * sizeof(*chunk->version));
    *ret_chunk = chunk;
    return 0;
}

static int copy_arrival(const aq_arrival *arrival, const aq_chunk_layout *layout,
                        aq_experience *ret_experience)
{
    aq_experience experience = {
        .run_id = arrival->run_id,
        .actor = arrival->actor,
        .incarnation = arrival->incarnation,
        .seq = arrival->seq,
        .acknowledged = arrival->acknowledged,
        .schema_hash = arrival->schema_hash,
        .store = arrival->store,
        .chunks = aq_alloc(arrival->chunk_count, sizeof(aq_chunk *)),
    };
    int rc = experience.chunks == NULL ? AQ_E_NOMEM : 0;
    while (rc == 0 && experience.chunk_count < arrival->chunk_count) {
        const uint32_t i = experience.chunk_count;
        rc = copy_chunk(&arrival->chunks[i], layout, &experience.chunks[i]);
        experience.chunk_count += rc == 0;
    }
    if (rc != 0) {
        aq_experience_fini(&experience);
        return rc;
    }
    *ret_experience = experience;
    return 0;
}

int experience_read(const uint8_t *bytes, size_t size, uint64_t run_id, uint64_t schema_hash,
                    const aq_chunk_layout *layout, aq_experience *ret_experience, aq_error *error)
{
    uint8_t *copy;
    aq_lease *frame;
    aq_arrival *arrival;
    int rc = aq_lease_create(size, &copy, &frame);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    memcpy(copy, bytes, size);
    rc = aq_wire_experience_arrive(frame, run_id, schema_hash, layout, &arrival, error);
    aq_lease_unref(frame);
    if (rc != 0) {
        return rc;
    }
    rc = copy_arrival(arrival, layout, ret_experience);
    aq_arrival_unref(arrival);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}
