/*
 * The graph: which arrays each layer reads and writes. What the layers do is train_layers.h.
 */
#include "learner/nn/net_train.h"

#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/draw_source.h"
#include "common/policy/net_graph.h"
#include "learner/nn/passes.h"
#include "learner/nn/train_layers.h"

struct aq_net_train {
    aq_net_spec spec;
    const aq_net_split *split; /* NULL: it is whole */
    aq_fake_quant quant;
    bool is_quantized;
    bool gives_input_parts; /* the one layer that takes the input gives parts of its gradient */
    uint32_t rows_max, backward_rows_max;
    uint32_t rows; /* of the last forward */
    aq_layer_sources sources[AQ_NET_LAYERS_MAX];
    aq_train_layer layers[AQ_NET_LAYERS_MAX]; /* of the last forward */
    float *quant_weight[AQ_NET_LAYERS_MAX];   /* NULL: never quantized */
    float *quant_input[AQ_NET_LAYERS_MAX];    /* (rows_max, width of the first source) */
    float *uncounted;                         /* sums that nobody wants, of the widest layer */
    float *no_bias;                           /* zeros, as wide; NULL: nobody shares it */
    float *noise;                             /* of all layers that take some */
    float *d[AQ_NET_VALUES_MAX]; /* dX of each value, while it is needed, backward_rows_max rows */
    aq_products *products;       /* NULL: those of fp32 */
    float *more[AQ_LAYER_SOURCES_MAX]; /* what is then added to it; NULL in a chain */
    void *arrays;                      /* the block of all */
};

/* As many as layers may add at once: none where each value has one gradient alone. */
static uint32_t count_more(const aq_net_spec *spec)
{
    uint32_t most = 0;
    bool is_chain = true;
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        const uint32_t sources = aq_net_sources(spec, l).count;
        most = sources > most ? sources : most;
        is_chain &= aq_net_is_chained(spec, l);
    }
    return is_chain ? 0 : most;
}

/* Of the layer that needs most; one at a time uses it. */
static size_t scratch_bytes(const aq_net_spec *spec)
{
    size_t most = 0;
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        const aq_train_kind *kind = aq_train_kind_of(&spec->layers[l]);
        const size_t bytes =
            kind->scratch_bytes != NULL ? kind->scratch_bytes(&spec->layers[l]) : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void lay_out_layer(aq_net_train *train, uint32_t l, void *scratch, aq_arrays *at)
{
    const aq_layer_spec *spec = &train->spec.layers[l];
    const aq_train_kind *kind = aq_train_kind_of(spec);
    aq_train_layer *layer = &train->layers[l];
    *layer = (aq_train_layer){.spec = spec, .scratch = scratch};
    layer->out = aq_arrays_place(at, train->rows_max, spec->outputs * sizeof(float));
    if (kind->kept_bytes != NULL) {
        layer->kept = aq_arrays_place(at, train->rows_max, kind->kept_bytes(spec));
    }
    if (aq_fake_quant_covers(&train->quant, &train->spec, l)) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
        const uint32_t width = aq_net_value_width(&train->spec, train->sources[l].values[0]);
        train->quant_weight[l] = aq_arrays_place(at, matrix.rows, matrix.columns * sizeof(float));
        train->quant_input[l] = aq_arrays_place(at, train->rows_max, width * sizeof(float));
    }
}

static void lay_out(void *made, aq_arrays *at)
{
    aq_net_train *train = made;
    const aq_net_spec *spec = &train->spec;
    const aq_net_buffers buffers = aq_net_all_buffers(spec);
    const size_t row_bytes = aq_net_spec_width_max(spec) * sizeof(float);
    float *buffer[AQ_NET_VALUES_MAX];
    void *scratch = aq_arrays_place(at, scratch_bytes(spec), 1);
    train->uncounted = aq_arrays_place(at, 2, row_bytes);
    if (train->split != NULL && train->split->ranks != NULL) {
        train->no_bias = aq_arrays_place(at, 1, row_bytes);
    }
    train->noise = aq_arrays_place(at, aq_net_spec_noise(spec), sizeof(float));
    for (uint32_t l = 0, first = 0; l < spec->layer_count; l++) {
        lay_out_layer(train, l, scratch, at);
        train->layers[l].noise = train->noise != NULL ? train->noise + first : NULL;
        first += aq_layer_noise_count(&spec->layers[l]);
    }
    for (uint32_t i = 0; i < buffers.count; i++) {
        buffer[i] = aq_arrays_place(at, train->backward_rows_max, row_bytes);
    }
    for (uint32_t value = 0; value <= spec->layer_count; value++) {
        train->d[value] = buffer[buffers.of[value]];
    }
    for (uint32_t k = 0; k < count_more(spec); k++) {
        train->more[k] = aq_arrays_place(at, train->backward_rows_max, row_bytes);
    }
}

/* For bf16, the memory and threads of all layers' products. */
static int make_products(const aq_net_train_config *config, aq_net_train *train, aq_error *error)
{
    aq_products_room room = {0};
    if (config->bf16_threads == 0) {
        return 0;
    }
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        const aq_train_kind *kind = aq_train_kind_of(&train->spec.layers[l]);
        if (kind->add_room != NULL) {
            kind->add_room(&train->spec.layers[l], config->rows_max, config->backward_rows_max,
                           &room);
        }
    }
    int rc = aq_products_create(room, config->bf16_threads, &train->products);
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        train->layers[l].products = train->products;
    }
    return rc == 0 ? 0
                   : aq_fail(error, rc, "no memory or threads for products in bf16 on %u threads",
                             config->bf16_threads);
}

int aq_net_train_create(const aq_net_train_config *config, aq_net_train **ret_train,
                        aq_error *error)
{
    AQ_ASSERT(config->backward_rows_max > 0);
    AQ_ASSERT(config->backward_rows_max <= config->rows_max);
    aq_net_train *train = aq_alloc(1, sizeof(*train));
    if (train == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for training a network");
    }
    train->spec = *config->spec;
    train->split = config->split;
    train->quant = config->quant;
    train->rows_max = config->rows_max;
    train->backward_rows_max = config->backward_rows_max;
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        train->sources[l] = aq_net_sources(&train->spec, l);
    }
    train->gives_input_parts = aq_net_reader_count(&train->spec, 0) == 1 &&
                               aq_train_kind_of(&train->spec.layers[0])->gives_parts;
    train->arrays = aq_arrays_make(lay_out, train);
    int rc = train->arrays != NULL
                 ? make_products(config, train, error)
                 : aq_fail(error, AQ_E_NOMEM, "no memory for training a network of %zu parameters",
                           aq_net_spec_parameters(config->spec));
    if (rc != 0) {
        aq_net_train_destroy(train);
        return rc;
    }
    *ret_train = train;
    return 0;
}

void aq_net_train_destroy(aq_net_train *train)
{
    if (train != NULL) {
        aq_products_destroy(train->products);
        aq_free(train->arrays);
        aq_free(train);
    }
}

aq_thread_pool *aq_net_train_pool(const aq_net_train *train)
{
    return train != NULL ? aq_products_pool(train->products) : NULL;
}

void aq_net_train_quantize(aq_net_train *train, bool is_quantized)
{
    AQ_ASSERT(!is_quantized || train->quant.bits != 0);
    train->is_quantized = is_quantized;
}

void aq_net_train_draw(aq_net_train *train, uint64_t key, uint32_t whose, uint64_t draw)
{
    const aq_draw_at at = {.key = key, .draw = draw, .lane = whose, .octaves = 1};
    aq_draw_layer_noise(&at, aq_net_spec_noise(&train->spec), train->noise);
}

/* ---- forward -------------------------------------------------------------------------------- */

/* Puts what the levels stand for in place of weights and input. */
static void quantize_layer(aq_net_train *train, uint32_t l, uint32_t rows)
{
    aq_train_layer *layer = &train->layers[l];
    const uint32_t width = aq_net_value_width(&train->spec, train->sources[l].values[0]);
    aq_fake_quant_weights(&train->quant, layer->spec, layer->weight, train->quant_weight[l]);
    aq_fake_quant_input(layer->x[0], rows, width, train->quant_input[l]);
    layer->weight = train->quant_weight[l];
    layer->x[0] = train->quant_input[l];
}

static bool has_part(const aq_net_train *train, uint32_t l, enum aq_split_part part)
{
    return train->split != NULL && train->split->part[l] == part;
}

/* The sums over this rank's inputs become those over all; then bias and activation. */
static void forward_shared(const aq_net_train *train, const aq_train_layer *layer, uint32_t rows)
{
    aq_split_ranks *ranks = train->split->ranks;
    aq_layer_spec bare = *layer->spec;
    aq_train_layer part = *layer;
    bare.activation = AQ_ACTIVATION_NONE;
    part.spec = &bare;
    part.bias = train->no_bias;
    aq_train_kind_of(&bare)->forward(&part, rows);
    ranks->sum(ranks, layer->out, (size_t)rows * bare.outputs);
    aq_passes_best()->bias_activate(layer->out, layer->bias, rows, bare.outputs, bare.outputs,
                                    layer->spec->activation);
}

static const float *forward(aq_net_train *train, const aq_params *params, const float *input,
                            uint32_t rows)
{
    AQ_ASSERT(rows > 0);
    AQ_ASSERT(rows <= train->rows_max);
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        aq_train_layer *layer = &train->layers[l];
        layer->weight = params->weight[l];
        layer->bias = params->bias[l];
        for (uint32_t k = 0; k < train->sources[l].count; k++) {
            const uint32_t value = train->sources[l].values[k];
            layer->x[k] = value > 0 ? train->layers[value - 1].out : input;
        }
        if (train->is_quantized && train->quant_weight[l] != NULL) {
            quantize_layer(train, l, rows);
        }
        if (has_part(train, l, AQ_SPLIT_INPUTS)) {
            forward_shared(train, layer, rows);
        } else {
            aq_train_kind_of(layer->spec)->forward(layer, rows);
        }
    }
    train->rows = rows;
    return train->layers[train->spec.layer_count - 1].out;
}

const float *aq_net_forward(aq_net_train *train, const aq_params *params, const float *input,
                            uint32_t rows)
{
    AQ_ASSERT(aq_net_spec_state(&train->spec) == 0);
    return forward(train, params, input, rows);
}

const float *aq_net_forward_through(aq_net_train *train, const aq_params *params,
                                    const float *input, const aq_net_sequences *sequences)
{
    const float *state = sequences->state;
    uint32_t rows = 0;
    for (uint32_t step = 0; step < sequences->steps; step++) {
        AQ_ASSERT(sequences->active[step] > 0);
        AQ_ASSERT(step == 0 || sequences->active[step] <= sequences->active[step - 1]);
        rows += sequences->active[step];
    }
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        train->layers[l].sequences = sequences;
        train->layers[l].state = state;
        train->layers[l].state_stride = aq_net_spec_state(&train->spec);
        state += aq_layer_state(&train->spec.layers[l]);
    }
    return forward(train, params, input, rows);
}

void aq_net_states_behind(const aq_net_train *train, float *ret_state)
{
    const aq_net_sequences *sequences = train->layers[0].sequences;
    const uint32_t stride = aq_net_spec_state(&train->spec);
    for (uint32_t l = 0; l < train->spec.layer_count; l++) {
        const uint32_t width = aq_layer_state(&train->spec.layers[l]);
        uint32_t first = 0; /* row of the step */
        for (uint32_t step = 0; width > 0 && step < sequences->steps; step++) {
            const uint32_t go_on = step + 1 < sequences->steps ? sequences->active[step + 1] : 0;
            for (uint32_t i = go_on; i < sequences->active[step]; i++) {
                memcpy(ret_state + (size_t)i * stride,
                       train->layers[l].out + (size_t)(first + i) * width, width * sizeof(float));
            }
            first += sequences->active[step];
        }
        ret_state += width;
    }
}

/* ---- backward ------------------------------------------------------------------------------- */

void aq_net_backward(aq_net_train *train, float *d_out, uint32_t rows, aq_params *gradient)
{
    aq_net_backward_as(
        train, &(aq_net_backward_plan){
                   .d_out = d_out, .rows = rows, .counted_rows = rows, .gradient = gradient});
}

/* Whether the gradient of the input goes where the plan wants it, and not past d[0]. */
static bool is_direct(const aq_net_train *train, const aq_net_backward_plan *plan)
{
    return plan->d_input != NULL && train->gives_input_parts;
}

/* From this rank's outputs, the gradient of what the layer took becomes that from all. */
static void sum_input_gradient(const aq_net_train *train, const aq_train_layer *layer,
                               const aq_train_gradient *at, uint32_t rows)
{
    aq_split_ranks *ranks = train->split->ranks;
    if (at->wants_d_x[0]) {
        ranks->sum(ranks, at->d_x[0],
                   (size_t)(rows - at->first_row) * (layer->spec->inputs - at->first_column));
    }
}

/* One layer: from d of what it gave to d of what it took, where others may have been before. */
static void backward_layer(const aq_net_train *train, const aq_net_backward_plan *plan, uint32_t l,
                           float **d)
{
    const aq_train_layer *layer = &train->layers[l];
    const aq_layer_sources *sources = &train->sources[l];
    bool is_added[AQ_LAYER_SOURCES_MAX];
    aq_train_gradient at = {.d = d[1 + l],
                            .weight = plan->gradient->weight[l],
                            .bias = plan->gradient->bias[l],
                            .counted_rows = plan->counted_rows,
                            .uncounted = train->uncounted};
    for (uint32_t k = 0; k < sources->count; k++) {
        const uint32_t value = sources->values[k];
        is_added[k] = d[value] != NULL;
        at.wants_d_x[k] = value > 0 || plan->d_input != NULL;
        at.d_x[k] = is_added[k] ? train->more[k] : train->d[value];
        d[value] = is_added[k] ? d[value] : at.d_x[k];
    }
    if (sources->values[0] == 0 && is_direct(train, plan)) {
        at.d_x[0] = plan->d_input;
        at.first_row = plan->input_first_row;
        at.first_column = plan->input_first_column;
    }
    aq_train_kind_of(layer->spec)->backward(layer, &at, plan->rows);
    if (has_part(train, l, AQ_SPLIT_OUTPUTS)) {
        sum_input_gradient(train, layer, &at, plan->rows);
    }
    for (uint32_t k = 0; k < sources->count; k++) {
        const uint32_t value = sources->values[k];
        if (is_added[k] && at.wants_d_x[k]) {
            aq_passes_best()->add(d[value], train->more[k],
                                  (size_t)plan->rows * aq_net_value_width(&train->spec, value));
        }
    }
}

/* The wanted part of the input's gradient, which is there as a whole. */
static void copy_input_part(const aq_net_train *train, const aq_net_backward_plan *plan,
                            const float *d)
{
    const uint32_t inputs = aq_net_spec_inputs(&train->spec);
    const uint32_t first = plan->input_first_column;
    float *to = plan->d_input;
    for (uint32_t row = plan->input_first_row; row < plan->rows; row++, to += inputs - first) {
        memcpy(to, d + (size_t)row * inputs + first, (inputs - first) * sizeof(*to));
    }
}

void aq_net_backward_as(aq_net_train *train, const aq_net_backward_plan *plan)
{
    float *d[AQ_NET_VALUES_MAX] = {NULL}; /* of each value, as soon as something flows back to it */
    AQ_ASSERT(plan->counted_rows > 0);
    AQ_ASSERT(plan->counted_rows <= plan->rows);
    AQ_ASSERT(plan->rows <= train->rows);
    AQ_ASSERT(plan->rows <= train->backward_rows_max);
    d[train->spec.layer_count] = plan->d_out;
    for (uint32_t l = train->spec.layer_count; l-- > 0;) {
        backward_layer(train, plan, l, d);
    }
    if (plan->d_input != NULL && !is_direct(train, plan)) {
        copy_input_part(train, plan, d[0]);
    }
}
