/*
 * A lane's open chunk takes row after row; when it is full, the next one begins with its last
 * n_step - 1 transitions, as an actor does it.
 */
#include "replay/data/data_recut.h"

#include "common/base/memory.h"
#include "replay/data/data_lanes.h"

typedef struct lane_state {
    aq_chunk *open; /* NULL: none */
} lane_state;

struct aq_data_recut {
    aq_layout layout;
    aq_data_recut_fn emit;
    void *user;
    aq_data_lanes *lanes;
    uint64_t left_out;
};

int aq_data_recut_create(const aq_layout *layout, aq_data_recut_fn emit, void *user,
                         aq_data_recut **ret_recut)
{
    aq_data_recut *recut = aq_alloc(1, sizeof(*recut));
    if (recut == NULL) {
        return AQ_E_NOMEM;
    }
    recut->layout = *layout;
    recut->emit = emit;
    recut->user = user;
    int rc = aq_data_lanes_create(sizeof(lane_state), &recut->lanes);
    if (rc != 0) {
        aq_free(recut);
        return rc;
    }
    *ret_recut = recut;
    return 0;
}

void aq_data_recut_destroy(aq_data_recut *recut)
{
    if (recut == NULL) {
        return;
    }
    for (size_t i = 0; i < aq_data_lanes_count(recut->lanes); i++) {
        lane_state *state = aq_data_lanes_at(recut->lanes, i)->memory;
        aq_chunk_unref(state->open);
    }
    aq_data_lanes_destroy(recut->lanes);
    aq_free(recut);
}

/* Gives the open chunk away, if it holds anything that is new. */
static int close_chunk(aq_data_recut *recut, aq_data_lane *lane, aq_error *error)
{
    lane_state *state = lane->memory;
    aq_chunk *chunk = state->open;
    state->open = NULL;
    if (chunk == NULL) {
        return 0;
    }
    const uint32_t fresh = aq_chunk_view_fresh(&chunk->view);
    if (fresh == 0 || aq_chunk_view_items(&chunk->view, &recut->layout) == 0) {
        recut->left_out += fresh;
        aq_chunk_unref(chunk);
        return 0;
    }
    return recut->emit(recut->user, lane->actor, lane->incarnation, chunk, error);
}

static int open_chunk(aq_data_recut *recut, lane_state *state, uint64_t episode, uint32_t first,
                      uint32_t overlap, uint32_t lane, aq_error *error)
{
    int rc = aq_chunk_create(&recut->layout, recut->layout.length_max, &state->open);
    if (rc != 0) {
        return aq_fail(error, rc, "a chunk: %s", aq_error_text(rc));
    }
    state->open->view.episode = episode;
    state->open->view.first = first;
    state->open->view.overlap = (uint16_t)overlap;
    state->open->view.lane = lane;
    return 0;
}

/* A full chunk goes, and its last transitions begin the next one. */
static int roll(aq_data_recut *recut, aq_data_lane *lane, aq_error *error)
{
    lane_state *state = lane->memory;
    aq_chunk *full = aq_chunk_ref(state->open);
    const uint32_t overlap = recut->layout.n_step - 1;
    const uint32_t from = full->view.length - overlap;
    int rc = close_chunk(recut, lane, error);
    if (rc == 0) {
        rc = open_chunk(recut, state, full->view.episode, full->view.first + from, overlap,
                        lane->lane, error);
    }
    if (rc == 0) {
        aq_chunk_append(state->open, &recut->layout, &full->view, from, overlap);
    }
    aq_chunk_unref(full);
    return rc;
}

/* Whether the block goes on where the open chunk ends; *ret_row is its first row that is new. */
static bool goes_on(const lane_state *state, const aq_chunk_view *view, uint32_t *ret_row)
{
    if (state->open == NULL || state->open->view.episode != view->episode) {
        return false;
    }
    const uint64_t next = (uint64_t)state->open->view.first + state->open->view.length;
    if (next < view->first || next > (uint64_t)view->first + view->length) {
        return false;
    }
    *ret_row = (uint32_t)(next - view->first);
    return *ret_row >= view->overlap;
}

int aq_data_recut_block(aq_data_recut *recut, const aq_data_set_block *block, aq_error *error)
{
    const aq_chunk_view *view = &block->view;
    const uint32_t overlap_max = recut->layout.n_step - 1;
    aq_data_lane *lane;
    uint32_t row = 0;
    int rc = aq_data_lanes_find(recut->lanes, block->actor, block->incarnation, view->lane, &lane);
    if (rc != 0) {
        return aq_fail(error, rc, "lanes of experience: %s", aq_error_text(rc));
    }
    lane_state *state = lane->memory;
    if (!goes_on(state, view, &row)) {
        const uint32_t overlap = view->overlap < overlap_max ? view->overlap : overlap_max;
        row = view->overlap - overlap;
        rc = close_chunk(recut, lane, error);
        if (rc == 0) {
            rc = open_chunk(recut, state, view->episode, view->first + row, overlap, view->lane,
                            error);
        }
    }
    for (; rc == 0 && row < view->length; row++) {
        if (state->open->view.length == recut->layout.length_max) {
            rc = roll(recut, lane, error);
        }
        if (rc == 0) {
            aq_chunk_append(state->open, &recut->layout, view, row, 1);
        }
    }
    if (rc == 0 && (view->terminated || view->truncated)) {
        state->open->view.terminated = view->terminated;
        state->open->view.truncated = view->truncated;
        rc = close_chunk(recut, lane, error);
    }
    return rc;
}

int aq_data_recut_end(aq_data_recut *recut, aq_error *error)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < aq_data_lanes_count(recut->lanes); i++) {
        rc = close_chunk(recut, aq_data_lanes_at(recut->lanes, i), error);
    }
    return rc;
}

uint64_t aq_data_recut_left_out(const aq_data_recut *recut)
{
    return recut->left_out;
}
