/*
 * Open chunks, one per lane. Values are written into the chunk itself, so nothing is copied twice
 * but the overlap, and what a chunk holds when it grows.
 */
#include "actor/core/chunker.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

/* A chunk begins with room for so many new transitions, and doubles it when it is full. Most close
 * before they are as long as they may be, and each counts with all of its memory. */
enum { FRESH_ROOM = 32 };

typedef struct chunk_lane {
    bool in_episode;
    uint32_t room;                 /* transitions that fit into `open` yet */
    aq_chunk *open;                /* NULL between a close and the next reserve */
    uint8_t *next[AQ_COLUMNS_MAX]; /* where the next value of each column goes in `open` */
    aq_chunk *last; /* while `open` is NULL and the episode goes on: the chunk that was closed */
    uint64_t episode;
    int64_t since_ns; /* of the oldest new transition in `open` */
} chunk_lane;

struct aq_chunker {
    aq_layout layout;
    uint32_t lane_count;
    int64_t oldest_ns; /* see aq_chunker_oldest_ns */
    chunk_lane *lanes;
    uint8_t *first; /* (lanes, first_bytes): what the episode began with, until a chunk has it */
};

int aq_chunker_create(const aq_layout *layout, uint32_t lanes, aq_chunker **ret_chunker)
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
    chunker->first = aq_alloc(lanes, layout->first_bytes);
    if (chunker->lanes == NULL || chunker->first == NULL) {
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
    aq_free(chunker->first);
    aq_free(chunker);
}

/* What the lane's episode began with, as a chunk without transitions. */
static aq_chunk_view first_of(const aq_chunker *chunker, uint32_t lane)
{
    aq_chunk_view view = {.length = 0};
    aq_chunk_view_lay(&view, &chunker->layout, chunker->first + lane * chunker->layout.first_bytes);
    return view;
}

/* The first value of a chunk, and what a further one adds. */
static inline void put_first(const aq_column *column, uint8_t *to, const uint8_t *value)
{
    if (column->frames.count > 0) {
        aq_frames_split(&column->frames, value, to);
    } else {
        aq_column_copy(column, to, value);
    }
}

static inline void put_next(const aq_column *column, uint8_t *to, const uint8_t *value)
{
    if (column->frames.count > 0) {
        aq_frames_newest(&column->frames, value, to);
    } else {
        aq_column_copy(column, to, value);
    }
}

void aq_chunker_begin(aq_chunker *chunker, uint32_t lane, const aq_step_values *values)
{
    AQ_ASSERT(lane < chunker->lane_count);
    chunk_lane *at = &chunker->lanes[lane];
    const aq_layout *layout = &chunker->layout;
    const aq_chunk_view first = first_of(chunker, lane);
    AQ_ASSERT(!at->in_episode);
    at->in_episode = true;
    at->episode++;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        if (layout->columns[i].per == AQ_PER_BOUNDARY) {
            uint8_t *to = chunker->first + lane * layout->first_bytes + first.at[i];
            put_first(&layout->columns[i], to, values->of[i]);
        }
    }
}

uint32_t aq_chunker_abandon(aq_chunker *chunker, uint32_t lane)
{
    AQ_ASSERT(lane < chunker->lane_count);
    chunk_lane *at = &chunker->lanes[lane];
    if (!at->in_episode) {
        return 0;
    }
    uint32_t forgotten = at->open != NULL ? aq_chunk_view_fresh(&at->open->view) : 0;
    aq_chunk_unref(at->open);
    aq_chunk_unref(at->last);
    at->room = 0;
    at->open = NULL;
    at->last = NULL;
    at->in_episode = false;
    return forgotten;
}

/* The last n - 1 transitions of `last` become the first of `chunk`. */
static void repeat_last(const aq_layout *layout, const aq_chunk *last, aq_chunk *chunk)
{
    const uint32_t overlap = layout->n_step - 1;
    AQ_ASSERT(last->view.length > overlap);
    const uint32_t row = last->view.length - overlap;
    chunk->view.first = last->view.first + row;
    chunk->view.overlap = (uint16_t)overlap;
    aq_chunk_append(chunk, layout, &last->view, row, overlap);
}

/* All of `full` becomes the beginning of `chunk`. */
static void go_on_from(const aq_layout *layout, const aq_chunk *full, aq_chunk *chunk)
{
    chunk->view.first = full->view.first;
    chunk->view.overlap = full->view.overlap;
    aq_chunk_append(chunk, layout, &full->view, 0, full->view.length);
}

static uint32_t room_of(const aq_layout *layout, const chunk_lane *at)
{
    const uint32_t overlap = at->last != NULL ? layout->n_step - 1 : 0;
    const uint32_t room = at->open != NULL ? 2 * at->open->view.length : overlap + FRESH_ROOM;
    return room < layout->length_max ? room : layout->length_max;
}

/* Opens the lane's next chunk, or puts a larger one in the place of the open one. */
static int make_room(aq_chunker *chunker, uint32_t lane)
{
    const aq_layout *layout = &chunker->layout;
    chunk_lane *at = &chunker->lanes[lane];
    const uint32_t room = room_of(layout, at);
    aq_chunk *chunk;
    AQ_ASSERT(at->episode > 0);
    int rc = aq_chunk_create(layout, room, &chunk);
    if (rc != 0) {
        return rc;
    }
    chunk->view.episode = at->episode;
    chunk->view.lane = lane;
    if (at->open != NULL) {
        go_on_from(layout, at->open, chunk);
        aq_chunk_unref(at->open);
    } else if (at->last != NULL) {
        repeat_last(layout, at->last, chunk);
        aq_chunk_unref(at->last);
        at->last = NULL;
    } else {
        const aq_chunk_view first = first_of(chunker, lane);
        aq_chunk_append(chunk, layout, &first, 0, 0);
    }
    for (uint32_t i = 0; i < layout->column_count; i++) {
        at->next[i] = (uint8_t *)aq_chunk_column(chunk, i) +
                      aq_column_bytes(&layout->columns[i], chunk->view.length);
    }
    at->open = chunk;
    at->room = room - chunk->view.length;
    return 0;
}

int aq_chunker_reserve(aq_chunker *chunker)
{
    for (uint32_t lane = 0; lane < chunker->lane_count; lane++) {
        if (chunker->lanes[lane].in_episode && chunker->lanes[lane].room == 0) {
            int rc = make_room(chunker, lane);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static void close_chunk(const aq_chunker *chunker, chunk_lane *at, aq_closed_chunk *ret_closed)
{
    aq_chunk *chunk = at->open;
    AQ_ASSERT(aq_chunk_view_fresh(&chunk->view) > 0);
    AQ_ASSERT(aq_chunk_view_items(&chunk->view, &chunker->layout) > 0);
    at->room = 0;
    at->open = NULL;
    if (chunk->view.terminated || chunk->view.truncated) {
        at->in_episode = false;
    } else {
        at->last = aq_chunk_ref(chunk);
    }
    *ret_closed = (aq_closed_chunk){.chunk = chunk, .since_ns = at->since_ns};
}

static bool may_close(const aq_chunker *chunker, const chunk_lane *at)
{
    return at->open != NULL && aq_chunk_view_fresh(&at->open->view) > 0 &&
           aq_chunk_view_items(&at->open->view, &chunker->layout) > 0;
}

static void note_age(aq_chunker *chunker, const chunk_lane *at)
{
    if (at->since_ns < chunker->oldest_ns && may_close(chunker, at)) {
        chunker->oldest_ns = at->since_ns;
    }
}

bool aq_chunker_append(aq_chunker *chunker, uint32_t lane, int64_t now_ns,
                       const aq_step_values *values, aq_closed_chunk *ret_closed)
{
    AQ_ASSERT(lane < chunker->lane_count);
    const aq_layout *layout = &chunker->layout;
    chunk_lane *at = &chunker->lanes[lane];
    aq_chunk *chunk = at->open;
    AQ_ASSERT(at->room > 0);
    at->room--;
    if (aq_chunk_view_fresh(&chunk->view) == 0) {
        at->since_ns = now_ns;
    }
    chunk->view.length++;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        put_next(column, at->next[i], values->of[i]);
        at->next[i] += aq_column_stride(column);
    }
    chunk->view.terminated = values->terminated;
    chunk->view.truncated = values->truncated;
    if (values->terminated || values->truncated || chunk->view.length == layout->length_max) {
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
