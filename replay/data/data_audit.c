/*
 * A lane remembers where its next transition belongs. What begins in the middle of an episode is no
 * gap, as older steps are dropped; what begins again behind a hole is one.
 */
#include "replay/data/data_audit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base/memory.h"

typedef struct lane_state {
    bool begun;
    bool is_whole; /* the episode, so far */
    bool ended;    /* the next transition begins an episode */
    uint64_t episode;
    uint64_t next;
    double sum;
} lane_state;

struct aq_data_audit {
    aq_data_lanes *lanes;
    aq_data_lanes *actors;
    aq_data_summary summary;
    bool passes_holes;
    double mean, squares, steps; /* of returns: Welford's */
};

int aq_data_audit_create(aq_data_audit **ret_audit)
{
    aq_data_audit *audit = aq_alloc(1, sizeof(*audit));
    if (audit == NULL) {
        return AQ_E_NOMEM;
    }
    int rc = aq_data_lanes_create(sizeof(lane_state), &audit->lanes);
    if (rc == 0) {
        rc = aq_data_lanes_create(sizeof(aq_data_actor), &audit->actors);
    }
    if (rc != 0) {
        aq_data_audit_destroy(audit);
        return rc;
    }
    audit->summary.version_min = UINT32_MAX;
    audit->summary.return_min = INFINITY;
    audit->summary.return_max = -INFINITY;
    *ret_audit = audit;
    return 0;
}

void aq_data_audit_destroy(aq_data_audit *audit)
{
    if (audit != NULL) {
        aq_data_lanes_destroy(audit->lanes);
        aq_data_lanes_destroy(audit->actors);
        aq_free(audit);
    }
}

void aq_data_audit_pass_over_holes(aq_data_audit *audit)
{
    audit->passes_holes = true;
}

static void tell(aq_data_audit *audit, const char *what, const aq_data_set_block *block)
{
    aq_data_summary *summary = &audit->summary;
    if (summary->first_fault[0] == '\0') {
        (void)snprintf(summary->first_fault, sizeof(summary->first_fault),
                       "actor %" PRIu64 " (%016" PRIx64 ") lane %u episode %" PRIu64
                       " transition %u: %s",
                       block->actor, block->incarnation, block->view.lane, block->view.episode,
                       block->view.first + block->view.overlap, what);
    }
}

static void count_return(aq_data_audit *audit, double sum, uint64_t length)
{
    aq_data_summary *summary = &audit->summary;
    const double count = (double)++summary->whole_episodes;
    const double difference = sum - audit->mean;
    audit->mean += difference / count;
    audit->squares += difference * (sum - audit->mean);
    audit->steps += (double)length;
    summary->return_min = fmin(summary->return_min, sum);
    summary->return_max = fmax(summary->return_max, sum);
}

/* Where the block stands to what its lane had: notes gaps, returns the first row that is new. */
static uint32_t place(aq_data_audit *audit, lane_state *state, const aq_data_set_block *block)
{
    const aq_chunk_view *view = &block->view;
    const uint64_t from = (uint64_t)view->first + view->overlap;
    const uint64_t to = (uint64_t)view->first + view->length;
    uint64_t due_episode = state->ended ? state->episode + 1 : state->episode;
    uint64_t due = state->ended ? 0 : state->next;
    if (!state->begun || view->episode > due_episode ||
        (view->episode == due_episode && from > due)) {
        if (state->begun) {
            audit->summary.gaps++;
            tell(audit, "what was before it is missing", block);
        }
    } else if (view->episode < due_episode || from < due) {
        const uint64_t known = view->episode < due_episode || due > to ? to : due;
        audit->summary.doubles += known - from;
        tell(audit, "it was there before", block);
        return (uint32_t)(known - view->first);
    }
    if (!state->begun || view->episode != state->episode || from != state->next) {
        state->is_whole = from == 0;
        state->sum = 0.0;
    }
    state->begun = true;
    state->ended = false;
    state->episode = view->episode;
    return view->overlap;
}

int aq_data_audit_block(aq_data_audit *audit, const aq_data_set_block *block)
{
    const aq_chunk_view *view = &block->view;
    aq_data_summary *summary = &audit->summary;
    aq_data_lane *lane, *actor;
    int rc = aq_data_lanes_find(audit->lanes, block->actor, block->incarnation, view->lane, &lane);
    if (rc == 0) {
        rc = aq_data_lanes_find(audit->actors, block->actor, block->incarnation, AQ_DATA_LANE_ALL,
                                &actor);
    }
    if (rc != 0) {
        return rc;
    }
    lane_state *state = lane->memory;
    const uint32_t row = place(audit, state, block);
    summary->blocks++;
    summary->transitions += view->length - row;
    ((aq_data_actor *)actor->memory)->transitions += view->length - row;
    for (uint32_t i = row; i < view->length; i++) {
        const uint32_t version = aq_chunk_view_version(view, i);
        summary->version_min = version < summary->version_min ? version : summary->version_min;
        summary->version_max = version > summary->version_max ? version : summary->version_max;
        summary->random_transitions += version == 0;
        state->sum += (double)aq_chunk_view_reward(view, i);
    }
    if (row == view->length) {
        return 0;
    }
    state->next = (uint64_t)view->first + view->length;
    if (view->terminated || view->truncated) {
        summary->episodes++;
        if (state->is_whole) {
            count_return(audit, state->sum, state->next);
        }
        state->ended = true;
    }
    return 0;
}

int aq_data_audit_message(aq_data_audit *audit, uint64_t actor, uint64_t incarnation, uint64_t seq)
{
    aq_data_summary *summary = &audit->summary;
    aq_data_lane *lane;
    int rc = aq_data_lanes_find(audit->actors, actor, incarnation, AQ_DATA_LANE_ALL, &lane);
    if (rc != 0) {
        return rc;
    }
    aq_data_actor *sender = lane->memory;
    const char *what = NULL;
    const uint64_t before =
        sender->acknowledged > sender->last_seq ? sender->acknowledged : sender->last_seq;
    sender->messages++;
    if (sender->last_seq == 0) {
        sender->first_seq = seq;
    } else if (seq <= sender->last_seq) {
        summary->seq_doubles++;
        what = "was there before";
    } else if (seq > before + 1 && !audit->passes_holes) {
        summary->seq_holes += seq - before - 1;
        what = "comes after others that are missing";
    }
    if (what != NULL && summary->first_fault[0] == '\0') {
        (void)snprintf(summary->first_fault, sizeof(summary->first_fault),
                       "message %" PRIu64 " of actor %" PRIu64 " (%016" PRIx64 ") %s", seq, actor,
                       incarnation, what);
    }
    sender->last_seq = seq > sender->last_seq ? seq : sender->last_seq;
    return 0;
}

int aq_data_audit_mark(aq_data_audit *audit, uint64_t actor, uint64_t incarnation,
                       uint64_t acknowledged)
{
    aq_data_lane *lane;
    int rc = aq_data_lanes_find(audit->actors, actor, incarnation, AQ_DATA_LANE_ALL, &lane);
    if (rc == 0) {
        ((aq_data_actor *)lane->memory)->acknowledged = acknowledged;
    }
    return rc;
}

aq_data_summary aq_data_audit_summary(const aq_data_audit *audit)
{
    aq_data_summary summary = audit->summary;
    const double count = (double)summary.whole_episodes;
    summary.lanes = aq_data_lanes_count(audit->lanes);
    if (summary.transitions == 0) {
        summary.version_min = 0;
    }
    if (summary.whole_episodes == 0) {
        summary.return_mean = summary.return_std = summary.length_mean = NAN;
        summary.return_min = summary.return_max = NAN;
    } else {
        summary.return_mean = audit->mean;
        summary.return_std = sqrt(audit->squares / count);
        summary.length_mean = audit->steps / count;
    }
    return summary;
}

const aq_data_lanes *aq_data_audit_actors(const aq_data_audit *audit)
{
    return audit->actors;
}
