/*
 * Model group: see model_group.h.
 */
#include "learner/gradients/model_group.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/fnv1a.h"
#include "common/base/memory.h"
#include "learner/nn/passes.h"

/* Floats that are under way at once: few enough to stay in a processor's cache. */
enum { CHUNK = 1 << 17 };

struct aq_model_group {
    aq_split_ranks split; /* first: whoever adds up knows no more */
    aq_rank_link *link;
    float *came; /* (CHUNK + ranks): one piece of each rank's */
};

static void sum(aq_split_ranks *ranks, float *values, size_t count);

int aq_model_group_create(aq_rank_link *link, aq_model_group **ret_group)
{
    aq_model_group *group = aq_alloc(1, sizeof(*group));
    if (group == NULL) {
        return AQ_E_NOMEM;
    }
    group->came = aq_alloc(CHUNK + link->count, sizeof(float));
    if (group->came == NULL) {
        aq_free(group);
        return AQ_E_NOMEM;
    }
    group->split = (aq_split_ranks){.rank = link->rank, .count = link->count, .sum = sum};
    group->link = link;
    *ret_group = group;
    return 0;
}

void aq_model_group_destroy(aq_model_group *group)
{
    if (group != NULL) {
        aq_free(group->came);
        aq_free(group);
    }
}

uint32_t aq_model_group_rank(const aq_model_group *group)
{
    return group != NULL ? group->split.rank : 0;
}

uint32_t aq_model_group_ranks(const aq_model_group *group)
{
    return group != NULL ? group->split.count : 1;
}

aq_split_ranks *aq_model_group_split(aq_model_group *group)
{
    return group != NULL ? &group->split : NULL;
}

aq_exchange_figures aq_model_group_figures(const aq_model_group *group)
{
    return group != NULL ? aq_rank_link_figures(group->link) : (aq_exchange_figures){0};
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void sum_chunk(aq_model_group *group, float *values, size_t count)
{
    aq_rank_link *link = group->link;
    const size_t piece = (count + link->count - 1) / link->count;
    const size_t first = piece * link->rank < count ? piece * link->rank : count;
    const size_t own = count - first < piece ? count - first : piece;
    if (link->swap(link, values, count * sizeof(float), piece * sizeof(float), group->came) != 0) {
        return;
    }
    memcpy(values + first, group->came, own * sizeof(float));
    for (uint32_t rank = 1; rank < link->count; rank++) {
        aq_passes_best()->add(values + first, group->came + rank * own, own);
    }
    (void)link->join(link, values, count * sizeof(float), piece * sizeof(float));
}

static void sum(aq_split_ranks *ranks, float *values, size_t count)
{
    aq_model_group *group = (aq_model_group *)ranks;
    for (size_t at = 0; at < count; at += CHUNK) {
        sum_chunk(group, values + at, count - at < CHUNK ? count - at : CHUNK);
    }
}

/* ---- words ---------------------------------------------------------------------------------- */

bool aq_model_group_says(aq_model_group *group, bool word)
{
    uint8_t said = word;
    if (group == NULL) {
        return word;
    }
    return group->link->spread(group->link, 0, &said, sizeof(said)) == 0 && said != 0;
}

int aq_model_group_share_rows(aq_model_group *group, aq_batch *batch)
{
    uint32_t shape[2] = {batch->rows, batch->steps};
    if (group == NULL) {
        return 0;
    }
    aq_rank_link *link = group->link;
    int failed = link->spread(link, 0, shape, sizeof(shape));
    AQ_ASSERT(shape[0] <= batch->rows_max);
    batch->rows = shape[0];
    if (aq_batch_has_sequences(batch)) {
        aq_batch_fit(batch, shape[1]);
    }
    for (uint32_t c = 0; failed == 0 && c < batch->column_count; c++) {
        const aq_batch_column *column = &batch->columns[c];
        const size_t bytes = batch->rows * aq_batch_column_bytes(column);
        if (bytes > 0 && c != AQ_BATCH_PRIORITY) {
            failed = link->spread(link, 0, column->bytes, bytes);
        }
    }
    return failed == 0 ? 0 : AQ_E_PEER;
}

int aq_model_group_judge(aq_model_group *group, int rc, double *squares, size_t count)
{
    double all[AQ_RANKS_MAX * AQ_SQUARES_MAX];
    if (group == NULL || rc == AQ_E_PEER) {
        return rc;
    }
    AQ_ASSERT(count <= AQ_SQUARES_MAX);
    for (size_t i = 0; i < count; i++) {
        all[group->link->rank * count + i] = rc == 0 ? squares[i] : (double)NAN;
    }
    rc = aq_rank_link_gather(group->link, all, count * sizeof(*all));
    for (size_t i = 0; rc == 0 && i < count; i++) {
        squares[i] = 0.0;
        for (uint32_t rank = 0; rank < group->link->count; rank++) {
            squares[i] += all[rank * count + i];
        }
    }
    return rc;
}

uint64_t aq_model_group_hash(aq_model_group *group, uint64_t of_slice, uint64_t of_all)
{
    uint64_t all[AQ_RANKS_MAX];
    uint64_t hash = AQ_FNV1A_START;
    all[group->link->rank] = of_slice;
    if (aq_rank_link_gather(group->link, all, sizeof(*all)) != 0) {
        return 0;
    }
    for (uint32_t rank = 0; rank < group->link->count; rank++) {
        hash = aq_fnv1a_word(aq_fnv1a_word(hash, (uint32_t)all[rank]), (uint32_t)(all[rank] >> 32));
    }
    hash = aq_fnv1a_word(aq_fnv1a_word(hash, (uint32_t)of_all), (uint32_t)(of_all >> 32));
    return aq_fnv1a_end(hash);
}

/* ---- what is made whole --------------------------------------------------------------------- */

/* A swap of which the first rank's piece is all of it. */
static int gather_piece(aq_model_group *group, const aq_slice_piece *piece, const float *own,
                        float *whole)
{
    aq_rank_link *link = group->link;
    const size_t most = CHUNK / link->count;
    for (size_t first = 0; first < piece->count; first += most) {
        const size_t count = piece->count - first < most ? piece->count - first : most;
        const size_t bytes = count * sizeof(float);
        if (link->swap(link, own + piece->own + first, bytes, bytes, group->came) != 0) {
            return AQ_E_PEER;
        }
        for (uint32_t rank = 0; link->rank == 0 && rank < link->count; rank++) {
            aq_slice_put(piece, rank, first, count, group->came + rank * count, whole);
        }
    }
    return 0;
}

int aq_model_group_gather(aq_model_group *group, const aq_slices *slices, const float *own,
                          float *whole)
{
    aq_slice_piece pieces[AQ_SLICE_PIECES_MAX];
    const size_t count = aq_slices_pieces(slices, pieces);
    int rc = 0;
    for (size_t p = 0; rc == 0 && p < count; p++) {
        if (pieces[p].step > 0) {
            rc = gather_piece(group, &pieces[p], own, whole);
        } else if (group->link->rank == 0 && pieces[p].count > 0) {
            memcpy(whole + pieces[p].whole, own + pieces[p].own, pieces[p].count * sizeof(float));
        }
    }
    return rc;
}
