/*
 * See experience_read.h.
 */
#include "tests/unit/common/wire/experience_read.h"

#include "common/base/memory.h"
#include "common/wire/wire_experience.h"

static int copy_chunk(const aq_chunk_view *view, const aq_layout *layout, aq_chunk **ret_chunk)
{
    aq_chunk *chunk;
    int rc = aq_chunk_create(layout, view->length, &chunk);
    if (rc != 0) {
        return rc;
    }
    chunk->view.episode = view->episode;
    chunk->view.first = view->first;
    chunk->view.lane = view->lane;
    chunk->view.overlap = view->overlap;
    chunk->view.terminated = view->terminated;
    chunk->view.truncated = view->truncated;
    aq_chunk_append(chunk, layout, view, 0, view->length);
    *ret_chunk = chunk;
    return 0;
}

static int copy_arrival(const aq_arrival *arrival, const aq_layout *layout,
                        aq_experience *ret_experience)
{
    aq_experience experience = {
        .run_id = arrival->run_id,
        .actor = arrival->actor,
        .incarnation = arrival->incarnation,
        .seq = arrival->seq,
        .acknowledged = arrival->acknowledged,
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
        experience_fini(&experience);
        return rc;
    }
    *ret_experience = experience;
    return 0;
}

int experience_read(const uint8_t *bytes, size_t size, uint64_t run_id, const aq_layout *layout,
                    aq_experience *ret_experience, aq_error *error)
{
    aq_lease *frame;
    aq_arrival *arrival;
    int rc = aq_lease_copy(bytes, size, &frame);
    if (rc != 0) {
        return aq_fail(error, rc, "%s", aq_error_text(rc));
    }
    rc = aq_wire_experience_arrive(frame, false, run_id, layout, &arrival, error);
    aq_lease_unref(frame);
    if (rc != 0) {
        return rc;
    }
    rc = copy_arrival(arrival, layout, ret_experience);
    aq_arrival_unref(arrival);
    return rc != 0 ? aq_fail(error, rc, "%s", aq_error_text(rc)) : 0;
}
