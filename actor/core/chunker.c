/*
 * Open chunks, one per lane. Observations are written into the chunk itself, so nothing is copied
 * twice but the overlap.
 */
#include "actor/core/chunker.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

typedef struct chunk_lane {
    bool in_episode;
    aq_chunk *open; /* NULL between a close and the next reserve */
    aq_chunk *last; /* while `open` is NULL and the episode goes on: the chunk that was closed */
    uint64_t episode;
    int64_t since_ns; /* of the oldest new transition in `open` */
} chunk_lane;

struct aq_chunker {
    aq_chunk_layout layout;
    uint32_t lane_count;
    uint32_t closed_count; /* lanes in an episode whose `open` is NULL */
    int64_t oldest_ns;     /* see aq_chunker_oldest_ns */
    chunk_lane *lanes;
    uint8_t *first_obs; /* (lanes) rows: what the episode began with, until a chunk has it */
};

int aq_chunker_create(const aq_chunk_layout *layout, uint32_t lanes, aq_chunker **ret_chunker)
{
    AQ_ASSERT(lanes >= 1);
    aq_chunker *chunker = aq_alloc(1, sizeof(*chunker));
    if (chunker == NULL) {
        return AQ_E_NOMEM;
    }
    chunker->layout = *layout;
    chunker->lane_count = lanes;
    chunker->oldest_ns = INT64_MAX;
    chunker->lanes = aq_alloc(lanes, sizeof(*chunker->lanes));
    chunker->first_obs = aq_alloc(lanes, layout->obs_bytes);
    if (chunker->lanes == NULL || chunker->first_obs == NULL) {
        aq_chunker_destroy(chunker);
        return AQ_E_NOMEM;
    }
    *ret_chunker = chunker;
    return 0;
}

void aq_chunker_destroy(aq_chunker *chunker)
{
    if (chunker == NULL) {
        return;
    }
    for (uint32_t i = 0; chunker->lanes != NULL && i < chunker->lane_count; i++) {
        aq_chunk_unref(chunker->lanes[i].open);
        aq_chunk_unref(chunker->lanes[i].last);
    }
    aq_free(chunker->lanes);
    aq_free(chunker->first_obs);
    aq_free(chunker);
}

void aq_chunker_begin(aq_chunker *chunker, uint32_t lane, const void *obs)
{
    AQ_ASSERT(lane < chunker->lane_count);
    chunk_lane *at = &chunker->lanes[lane];
    const size_t row = chunker->layout.obs_bytes;
    AQ_ASSERT(!at->in_episode);
    at->in_episode = true;
    at->episode++;
    chunker->closed_count++;
    memcpy(chunker->first_obs + lane * row, obs, row);
}

uint32_t aq_chunker_abandon(aq_chunker *chunker, uint32_t lane)
{
    AQ_ASSERT(lane < chunker->lane_count);
    chunk_lane *at = &chunker->lanes[lane];
    if (!at->in_episode) {
        return 0;
    }
    uint32_t forgotten = at->open != NULL ? aq_chunk_fresh(at->open) : 0;
    chunker->closed_count -= at->open == NULL;
    aq_chunk_unref(at->open);
    aq_chunk_unref(at->last);
    at->open = NULL;
    at->last = NULL;
    at->in_episode = false;
    return forgotten;
}

/* The last n - 1 transitions of `last` become the first of `chunk`. */
static void copy_overlap(const aq_chunk_layout *layout, const aq_chunk *last, aq_chunk *chunk)
{
    const size_t obs_bytes = layout->obs_bytes;
    const size_t action_bytes = layout->action_bytes;
    const uint32_t overlap = layout->n_step - 1;
    AQ_ASSERT(last->length > overlap);
    const uint32_t row = last->length - overlap;
    chunk->first = last->first + row;
    chunk->overlap = overlap;
    chunk->length = overlap;
    memcpy(chunk->obs, last->obs + row * obs_bytes, (overlap + 1) * obs_bytes);
    memcpy(chunk->action, last->action + row * action_bytes, overlap * action_bytes);
    memcpy(chunk->reward, last->reward + row, overlap * sizeof(*chunk->reward));
    memcpy(chunk->version, last->version + row, overlap * sizeof(*chunk->version));
}

static int open_chunk(aq_chunker *chunker, uint32_t lane)
{
    const aq_chunk_layout *layout = &chunker->layout;
    chunk_lane *at = &chunker->lanes[lane];
    aq_chunk *chunk;
    AQ_ASSERT(at->episode > 0);
    int rc = aq_chunk_create(layout, layout->length_max, &chunk);
    if (rc != 0) {
        return rc;
    }
    chunk->episode = at->episode;
    chunk->lane = lane;
    if (at->last != NULL) {
        copy_overlap(layout, at->last, chunk);
        aq_chunk_unref(at->last);
        at->last = NULL;
    } else {
        memcpy(chunk->obs, chunker->first_obs + lane * (size_t)layout->obs_bytes,
               layout->obs_bytes);
    }
    at->open = chunk;
    return 0;
}

int aq_chunker_reserve(aq_chunker *chunker)
{
    for (uint32_t lane = 0; chunker->closed_count > 0 && lane < chunker->lane_count; lane++) {
        if (chunker->lanes[lane].in_episode && chunker->lanes[lane].open == NULL) {
            int rc = open_chunk(chunker, lane);
            if (rc != 0) {
                return rc;
            }
            chunker->closed_count--;
        }
    }
    AQ_ASSERT(chunker->closed_count == 0);
    return 0;
}

static void close_chunk(aq_chunker *chunker, chunk_lane *at, aq_closed_chunk *ret_closed)
{
    aq_chunk *chunk = at->open;
    AQ_ASSERT(aq_chunk_fresh(chunk) > 0);
    AQ_ASSERT(aq_chunk_items(chunk, &chunker->layout) > 0);
    at->open = NULL;
    if (chunk->terminated || chunk->truncated) {
        at->in_episode = false;
    } else {
        at->last = aq_chunk_ref(chunk);
        chunker->closed_count++;
    }
    *ret_closed = (aq_closed_chunk){.chunk = chunk, .since_ns = at->since_ns};
}

static bool may_close(const aq_chunker *chunker, const chunk_lane *at)
{
    return at->open != NULL && aq_chunk_fresh(at->open) > 0 &&
           aq_chunk_items(at->open, &chunker->layout) > 0;
}

static void note_age(aq_chunker *chunker, const chunk_lane *at)
{
    if (at->since_ns < chunker->oldest_ns && may_close(chunker, at)) {
        chunker->oldest_ns = at->since_ns;
    }
}

bool aq_chunker_append(aq_chunker *chunker, uint32_t lane, int64_t now_ns,
                       const aq_transition *transition, aq_closed_chunk *ret_closed)
{
    AQ_ASSERT(lane < chunker->lane_count);
    const size_t obs_bytes = chunker->layout.obs_bytes;
    const size_t action_bytes = chunker->layout.action_bytes;
    chunk_lane *at = &chunker->lanes[lane];
    aq_chunk *chunk = at->open;
    AQ_ASSERT(chunk != NULL);
    if (aq_chunk_fresh(chunk) == 0) {
        at->since_ns = now_ns;
    }
    memcpy(chunk->action + chunk->length * action_bytes, transition->action, action_bytes);
    chunk->reward[chunk->length] = transition->reward;
    chunk->version[chunk->length] = transition->version;
    chunk->length++;
    memcpy(chunk->obs + chunk->length * obs_bytes, transition->next_obs, obs_bytes);
    chunk->terminated = transition->terminated;
    chunk->truncated = transition->truncated;
    if (transition->terminated || transition->truncated ||
        chunk->length == chunker->layout.length_max) {
        close_chunk(chunker, at, ret_closed);
        return true;
    }
    note_age(chunker, at);
    return false;
}

bool aq_chunker_flush(aq_chunker *chunker, uint32_t lane, int64_t until_ns,
                      aq_closed_chunk *ret_closed)
{
    AQ_ASSERT(lane < chunker->lane_count);
    chunk_lane *at = &chunker->lanes[lane];
    if (!may_close(chunker, at) || at->since_ns > until_ns) {
        return false;
    }
    close_chunk(chunker, at, ret_closed);
    return true;
}

int64_t aq_chunker_oldest_ns(const aq_chunker *chunker)
{
    return chunker->oldest_ns;
}

void aq_chunker_look(aq_chunker *chunker)
{
    chunker->oldest_ns = INT64_MAX;
    for (uint32_t lane = 0; lane < chunker->lane_count; lane++) {
        note_age(chunker, &chunker->lanes[lane]);
    }
}
