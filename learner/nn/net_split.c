/*
 * Network split: see net_split.h.
 */
#include "learner/nn/net_split.h"

#include <string.h>

#include "common/base/assert.h"
#include "learner/nn/passes.h"

/* ---- the rule ------------------------------------------------------------------------------- */

/* Each output is a row of its matrix, each input a column, and nothing else is between them. */
static bool is_linear(const aq_layer_spec *layer)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    return aq_layer_is_affine(layer) && matrix.rows == layer->outputs &&
           matrix.columns == layer->inputs;
}

static bool can_be_pair(const aq_net_spec *spec, uint32_t first, uint32_t ranks)
{
    const uint32_t width = spec->layers[first].outputs;
    return is_linear(&spec->layers[first]) && is_linear(&spec->layers[first + 1]) &&
           aq_net_is_chained(spec, first + 1) && aq_net_reader_count(spec, first + 1) == 1 &&
           width >= AQ_SPLIT_WIDTH_MIN && width % ranks == 0;
}

aq_net_split aq_net_split_of(const aq_net_spec *whole, aq_split_ranks *ranks)
{
    aq_net_split split = {.whole = *whole, .slice = *whole, .ranks = ranks};
    for (uint32_t l = 0; ranks != NULL && l + 1 < whole->layer_count; l++) {
        if (can_be_pair(whole, l, ranks->count)) {
            split.part[l] = AQ_SPLIT_OUTPUTS;
            split.slice.layers[l].outputs /= ranks->count;
            l++;
            split.part[l] = AQ_SPLIT_INPUTS;
            split.slice.layers[l].inputs /= ranks->count;
        }
    }
    return split;
}

/* ---- arrays --------------------------------------------------------------------------------- */

/* Where the next piece goes. */
typedef struct cutter {
    aq_slice_piece *pieces;
    size_t count, own, whole;
} cutter;

static aq_slice_piece *next_piece(cutter *at)
{
    AQ_ASSERT(at->count < AQ_SLICE_PIECES_MAX);
    return &at->pieces[at->count++];
}

static void add_same(cutter *at, size_t count)
{
    *next_piece(at) = (aq_slice_piece){
        .own = at->own, .whole = at->whole, .count = count, .run = count, .stride = count};
    at->own += count;
    at->whole += count;
}

/* Of each of `rows` a rank has `run` values, side by side with those of the others. */
static void add_cut(cutter *at, size_t rows, size_t run, uint32_t ranks)
{
    *next_piece(at) = (aq_slice_piece){.own = at->own,
                                       .whole = at->whole,
                                       .count = rows * run,
                                       .run = run,
                                       .stride = run * ranks,
                                       .step = run};
    at->own += rows * run;
    at->whole += rows * run * ranks;
}

static void add_layer(cutter *at, const aq_net_split *split, uint32_t l)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&split->slice.layers[l]);
    const size_t weights = (size_t)matrix.rows * matrix.columns;
    switch (split->part[l]) {
    case AQ_SPLIT_OUTPUTS:
        add_cut(at, 1, weights, split->ranks->count);
        add_cut(at, 1, matrix.rows, split->ranks->count);
        return;
    case AQ_SPLIT_INPUTS:
        add_cut(at, matrix.rows, matrix.columns, split->ranks->count);
        add_same(at, matrix.rows);
        return;
    default:
        add_same(at, weights + matrix.rows);
    }
}

size_t aq_slices_pieces(const aq_slices *slices, aq_slice_piece pieces[AQ_SLICE_PIECES_MAX])
{
    cutter at = {.pieces = pieces};
    AQ_ASSERT(slices->count <= AQ_SLICED_NETS_MAX);
    for (uint32_t n = 0; n < slices->count; n++) {
        add_same(&at, aq_net_spec_array_values(&slices->nets[n]->slice));
        for (uint32_t l = 0; l < slices->nets[n]->slice.layer_count; l++) {
            add_layer(&at, slices->nets[n], l);
        }
    }
    add_same(&at, slices->rest);
    return at.count;
}

size_t aq_slices_whole(const aq_slices *slices)
{
    size_t values = slices->rest;
    for (uint32_t n = 0; n < slices->count; n++) {
        values += aq_net_spec_parameters(&slices->nets[n]->whole);
    }
    return values;
}

void aq_slice_put(const aq_slice_piece *piece, uint32_t rank, size_t first, size_t count,
                  const float *values, float *whole)
{
    float *to = whole + piece->whole + rank * piece->step;
    AQ_ASSERT(first + count <= piece->count);
    for (size_t i = first, left = count; left > 0;) {
        const size_t at = i % piece->run;
        const size_t length = piece->run - at < left ? piece->run - at : left;
        memcpy(to + i / piece->run * piece->stride + at, values, length * sizeof(*values));
        values += length;
        i += length;
        left -= length;
    }
}

void aq_slices_take(const aq_slices *slices, uint32_t rank, const float *whole, float *own)
{
    aq_slice_piece pieces[AQ_SLICE_PIECES_MAX];
    const size_t count = aq_slices_pieces(slices, pieces);
    for (size_t p = 0; p < count; p++) {
        const aq_slice_piece *piece = &pieces[p];
        const float *from = whole + piece->whole + rank * piece->step;
        for (size_t i = 0; i < piece->count; i += piece->run, from += piece->stride) {
            memcpy(own + piece->own + i, from, piece->run * sizeof(*own));
        }
    }
}

int aq_net_split_randomize(const aq_net_split *split, aq_params *slice, aq_rng *rng)
{
    const aq_slices slices = {.count = 1, .nets = {split}};
    aq_params whole;
    if (split->ranks == NULL) {
        aq_params_randomize(&split->slice, slice, rng);
        return 0;
    }
    int rc = aq_params_init(&split->whole, &whole);
    if (rc == 0) {
        aq_params_randomize(&split->whole, &whole, rng);
        aq_slices_take(&slices, split->ranks->rank, whole.block, slice->block);
        aq_params_fini(&whole);
    }
    return rc;
}

double aq_slices_squares(const aq_slices *slices, const float *own, size_t first, size_t count)
{
    aq_slice_piece pieces[AQ_SLICE_PIECES_MAX];
    const size_t piece_count = aq_slices_pieces(slices, pieces);
    double squares = 0;
    for (size_t p = 0; p < piece_count; p++) {
        const aq_slice_piece *piece = &pieces[p];
        if (piece->step > 0 && piece->own >= first && piece->own < first + count) {
            squares += aq_passes_best()->sum_squares(own + piece->own, piece->count);
        }
    }
    return squares;
}
