/*
 * Sorted arrays: nearly every chunk goes to the end.
 */
#include "tests/sim/sim_source.h"
#include "tests/support/chunks.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

void sim_source_init(sim_source *source, sim_world *world, const aq_layout *layout,
                     uint64_t incarnation, bool in_order)
{
    *source = (sim_source){
        .world = world,
        .incarnation = incarnation,
        .in_order = in_order,
        .layout = *layout,
    };
}

void sim_source_fini(sim_source *source)
{
    for (size_t i = 0; i < SIM_LANES_MAX; i++) {
        aq_free(source->lanes[i].chunks);
    }
}

/* ---- two chunks of a lane ------------------------------------------------------------------- */

/* The repeated rows of `chunk` are the last ones of `last`, and the observation goes on. */
static bool overlaps(const aq_chunk *last, const aq_chunk *chunk, const aq_layout *layout)
{
    uint32_t overlap = chunk->view.overlap;
    if (last->view.length < overlap) {
        return false;
    }
    uint32_t row = last->view.length - overlap;
    return has_same_rows(layout, &last->view, row, &chunk->view, overlap);
}

static bool has_ended(const aq_chunk *chunk)
{
    return chunk->view.terminated || chunk->view.truncated;
}

/* Whether `chunk` comes right after `last`; NULL: it is the first. */
static bool follows(const aq_chunk *last, const aq_chunk *chunk, const aq_layout *layout)
{
    if (last == NULL) {
        return chunk->view.episode == 1 && chunk->view.first == 0 && chunk->view.overlap == 0;
    }
    if (has_ended(last)) {
        return chunk->view.episode == last->view.episode + 1 && chunk->view.first == 0 &&
               chunk->view.overlap == 0;
    }
    return chunk->view.episode == last->view.episode && chunk->view.overlap == layout->n_step - 1 &&
           chunk->view.first + chunk->view.overlap == last->view.first + last->view.length &&
           overlaps(last, chunk, layout);
}

/* Whether `chunk` may come after `last`, with others between them. */
static bool is_behind(const aq_chunk *last, const aq_chunk *chunk, const aq_layout *layout)
{
    if (last->view.episode != chunk->view.episode) {
        return chunk->view.episode > last->view.episode;
    }
    const uint32_t end = last->view.first + last->view.length;
    const uint32_t begin = chunk->view.first + chunk->view.overlap;
    return !has_ended(last) && (begin > end || (begin == end && follows(last, chunk, layout)));
}

static void break_at(const sim_source *source, const aq_chunk *last, const aq_chunk *chunk)
{
    sim_broken(source->world, SIM_STREAM,
               "actor %" PRIu64 " lane %u: a chunk of episode %" PRIu64
               " from step %u on (%u of its %u rows repeated) follows one of episode %" PRIu64
               " from step %u on with %u rows",
               source->actor, chunk->view.lane, chunk->view.episode, chunk->view.first,
               chunk->view.overlap, chunk->view.length, last != NULL ? last->view.episode : 0,
               last != NULL ? last->view.first : 0, last != NULL ? last->view.length : 0);
}

/* ---- the lane ------------------------------------------------------------------------------- */

static void check_versions(const sim_source *source, const aq_chunk *chunk)
{
    for (uint32_t i = 1; i < chunk->view.length; i++) {
        if (version_of(chunk)[i] < version_of(chunk)[i - 1]) {
            sim_broken(source->world, SIM_VERSIONS,
                       "actor %" PRIu64 " lane %u episode %" PRIu64
                       ": step %u was chosen by version %u, the one before by %u",
                       source->actor, chunk->view.lane, chunk->view.episode, chunk->view.first + i,
                       version_of(chunk)[i], version_of(chunk)[i - 1]);
        }
    }
}

static bool is_before(const aq_chunk *a, const aq_chunk *b)
{
    return a->view.episode < b->view.episode ||
           (a->view.episode == b->view.episode && a->view.first < b->view.first);
}

void sim_source_sends(sim_source *source, const aq_chunk *chunk)
{
    AQ_ASSERT(chunk->view.lane < SIM_LANES_MAX);
    sim_lane *lane = &source->lanes[chunk->view.lane];
    size_t at = lane->count;
    check_versions(source, chunk);
    while (at > 0 && is_before(chunk, lane->chunks[at - 1])) {
        at--;
    }
    const aq_chunk *last = at > 0 ? lane->chunks[at - 1] : NULL;
    const aq_chunk *next = at < lane->count ? lane->chunks[at] : NULL;
    if (source->in_order ? next != NULL || !follows(last, chunk, &source->layout)
                         : last != NULL && !is_behind(last, chunk, &source->layout)) {
        break_at(source, last, chunk);
    }
    if (next != NULL && !is_behind(chunk, next, &source->layout)) {
        break_at(source, chunk, next);
    }
    must_grow(&lane->chunks, &lane->capacity, lane->count, sizeof(*lane->chunks));
    memmove(lane->chunks + at + 1, lane->chunks + at, (lane->count - at) * sizeof(*lane->chunks));
    lane->chunks[at] = chunk;
    lane->count++;
}

void sim_source_check_whole(const sim_source *source)
{
    for (size_t i = 0; i < SIM_LANES_MAX; i++) {
        const sim_lane *lane = &source->lanes[i];
        const aq_chunk *last = NULL;
        for (size_t k = 0; k < lane->count; k++) {
            if (!follows(last, lane->chunks[k], &source->layout)) {
                break_at(source, last, lane->chunks[k]);
            }
            last = lane->chunks[k];
        }
    }
}

void sim_source_acts(sim_source *source, uint64_t version)
{
    if (version < source->version) {
        sim_broken(source->world, SIM_VERSIONS,
                   "actor %" PRIu64 " acts with version %" PRIu64 " after version %" PRIu64,
                   source->actor, version, source->version);
    }
    source->version = version;
}
