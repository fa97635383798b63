/*
 * The engine: a list of layers, and the buffers that their values lie in (net_graph.h).
 *
 * A forward pass takes AQ_ENGINE_BLOCK rows through all layers before the next ones, and images of
 * them one by one, so that what a layer writes is in the cache when the next one reads it, and
 * scratch does not grow with the number of rows. Of a value that only layers of images take there
 * is one row at a time. Rows of scratch start on cache lines, and a line of slack keeps the rows of
 * a power-of-two width from falling into the same sets of the cache.
 */
#include "quantizer/engine/engine.h"

#include <math.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/experience/finite.h"
#include "common/policy/net_graph.h"
#include "quantizer/engine/engine_layer.h"

struct aq_engine {
    aq_snapshot *snapshot;
    aq_engine_tables tables;
    size_t rows_max;
    uint32_t layer_count;
    uint32_t image_layers; /* the first ones, which see images */
    aq_engine_layer layers[AQ_NET_LAYERS_MAX];
    aq_layer_sources sources[AQ_NET_LAYERS_MAX];
    bool acting[AQ_NET_LAYERS_MAX]; /* layers that run where there is no noise */
    bool meets_floats;              /* see aq_snapshot_meets_floats */

    aq_engine_scratch scratch;
    float *y[AQ_NET_LAYERS_MAX];         /* (block, y_stride): what a layer gives, while needed */
    size_t y_stride[AQ_NET_LAYERS_MAX];  /* floats */
    bool has_one_row[AQ_NET_LAYERS_MAX]; /* in place of a block */
    float *outputs;                      /* (rows_max, outputs) */
    float *finite;        /* of engines that meet floats: (block, inputs), or one image */
    uint32_t state_width; /* of what the policy keeps from step to step; 0: nothing */
    float *state;         /* (block, state_width): of who keeps none */
    uint32_t noise_width;
    const float *noise; /* (rows, noise_width) of the next calls; NULL: none */
    void *arrays;       /* the block of all */
};

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What all layers need. */
static aq_engine_need whole_need(const aq_engine *engine, size_t rows)
{
    aq_engine_need whole = {0};
    for (uint32_t i = 0; i < engine->layer_count; i++) {
        const aq_engine_need need = aq_engine_layer_need(&engine->layers[i], rows);
        whole.q_row_bytes = max_size(whole.q_row_bytes, need.q_row_bytes);
        whole.q_rows = max_size(whole.q_rows, need.q_rows);
        whole.room_bytes = max_size(whole.room_bytes, need.room_bytes);
    }
    return whole;
}

/* Whether only layers of images take what the layer gives. */
static bool is_of_images(const aq_engine *engine, uint32_t layer)
{
    bool are_images = layer < engine->image_layers;
    for (uint32_t i = engine->image_layers; i < engine->layer_count; i++) {
        are_images = are_images && aq_net_takes(&engine->snapshot->spec, i, 1 + layer) == 0;
    }
    return are_images;
}

/* Values of one row have buffers of their own: while they pass, all rows of others wait. */
static void lay_out_values(aq_engine *engine, aq_arrays *at, size_t rows)
{
    const aq_net_buffers buffers = aq_net_inner_buffers(&engine->snapshot->spec);
    const size_t line = AQ_ALIGNMENT_BYTES / sizeof(float);
    size_t strides[2][AQ_NET_VALUES_MAX] = {0}; /* the widest of each buffer */
    float *buffer[2][AQ_NET_VALUES_MAX];
    for (uint32_t i = 0; i + 1 < engine->layer_count; i++) {
        engine->has_one_row[i] = is_of_images(engine, i);
        engine->y_stride[i] = aq_round_up(engine->layers[i].spec->outputs, line) + line;
        size_t *widest = &strides[engine->has_one_row[i]][buffers.of[1 + i]];
        *widest = max_size(*widest, engine->y_stride[i]);
    }
    for (uint32_t i = 0; i < buffers.count; i++) {
        buffer[false][i] = aq_arrays_place(at, rows, strides[false][i] * sizeof(float));
        buffer[true][i] = aq_arrays_place(at, 1, strides[true][i] * sizeof(float));
    }
    for (uint32_t i = 0; i + 1 < engine->layer_count; i++) {
        engine->y[i] = buffer[engine->has_one_row[i]][buffers.of[1 + i]];
    }
}

static void lay_out(void *made, aq_arrays *at)
{
    aq_engine *engine = made;
    const size_t line = AQ_ALIGNMENT_BYTES;
    const size_t rows = min_size(engine->rows_max, AQ_ENGINE_BLOCK);
    const aq_engine_need need = whole_need(engine, rows);
    const size_t outputs = aq_net_spec_outputs(&engine->snapshot->spec);
    const size_t inputs = engine->layers[0].spec->inputs;
    const size_t finite_rows = engine->image_layers > 0 ? 1 : rows;

    engine->scratch.q_stride = aq_round_up(need.q_row_bytes, AQ_QKERNEL_Q_PADDING) + line;
    lay_out_values(engine, at, rows);
    engine->scratch.quant = aq_arrays_place(at, AQ_ENGINE_BLOCK, sizeof(aq_row_quant));
    engine->scratch.q = aq_arrays_place(at, need.q_rows, engine->scratch.q_stride);
    engine->scratch.room = aq_arrays_place(at, need.room_bytes, 1);
    engine->state = aq_arrays_place(at, rows, engine->state_width * sizeof(float));
    engine->outputs = aq_arrays_place(at, engine->rows_max, outputs * sizeof(float));
    engine->finite =
        aq_arrays_place(at, engine->meets_floats ? finite_rows : 0, inputs * sizeof(float));
}

static int init_layers(aq_engine *engine, aq_error *error)
{
    const aq_snapshot *snapshot = engine->snapshot;
    while (engine->layer_count < snapshot->spec.layer_count) {
        const uint32_t i = engine->layer_count;
        int rc = aq_engine_layer_init(&engine->tables, &snapshot->spec.layers[i],
                                      &snapshot->layers[i], &engine->layers[i]);
        if (rc != 0) {
            return aq_fail(error, rc, "engine: layer %u: %s", i, aq_error_text(rc));
        }
        engine->sources[i] = aq_net_sources(&snapshot->spec, i);
        engine->layer_count++;
    }
    return 0;
}

int aq_engine_create(aq_snapshot *snapshot, size_t rows_max, uint32_t cpu_flags,
                     aq_engine **ret_engine, aq_error *error)
{
    if (rows_max == 0 || rows_max > AQ_ENGINE_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID, "engine: %zu rows at once; 1 to %u are possible",
                       rows_max, AQ_ENGINE_ROWS_MAX);
    }
    int rc = aq_snapshot_validate(snapshot, error);
    if (rc != 0) {
        return rc;
    }
    aq_engine *engine = aq_alloc(1, sizeof(*engine));
    if (engine == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "engine: %s", aq_error_text(AQ_E_NOMEM));
    }
    engine->snapshot = aq_snapshot_ref(snapshot);
    engine->tables.kernels = aq_qkernels_select(cpu_flags);
    engine->tables.passes = aq_float_passes_select(cpu_flags);
    engine->rows_max = rows_max;
    engine->state_width = aq_net_spec_state(&snapshot->spec);
    engine->image_layers = aq_net_image_layers(&snapshot->spec);
    engine->meets_floats = aq_snapshot_meets_floats(snapshot);
    engine->noise_width = aq_net_spec_noise(&snapshot->spec);
    aq_net_find_acting(&snapshot->spec, engine->acting);
    rc = init_layers(engine, error);
    if (rc == 0) {
        engine->arrays = aq_arrays_make(lay_out, engine);
        rc = engine->arrays != NULL
                 ? 0
                 : aq_fail(error, AQ_E_NOMEM, "engine for %zu rows: out of memory", rows_max);
    }
    if (rc != 0) {
        aq_engine_destroy(engine);
        return rc;
    }
    *ret_engine = engine;
    return 0;
}

void aq_engine_destroy(aq_engine *engine)
{
    if (engine == NULL) {
        return;
    }
    for (uint32_t i = 0; i < engine->layer_count; i++) {
        aq_engine_layer_fini(&engine->layers[i]);
    }
    aq_free(engine->arrays);
    aq_snapshot_unref(engine->snapshot);
    aq_free(engine);
}

/* What a layer takes, side by side, behind what it keeps or its noise, if it has either. One value
 * is where it is: a copy would cost as much as a small layer of one row. */
static const aq_const_rows *taken(const aq_layer_sources *sources, const aq_const_rows *values,
                                  const aq_const_rows *own, aq_const_rows *several)
{
    uint32_t count = 0;
    if (sources->count == 1 && own == NULL) {
        return &values[sources->values[0]];
    }
    if (own != NULL) {
        several[count++] = *own;
    }
    for (uint32_t k = 0; k < sources->count; k++) {
        several[count++] = values[sources->values[k]];
    }
    return several;
}

/* What a layer gave is its state of the next step. */
static void keep(const aq_float_rows *y, size_t width, float *state, size_t stride)
{
    for (size_t row = 0; row < y->rows; row++) {
        memcpy(state + row * stride, y->values + row * y->stride, width * sizeof(*state));
    }
}

/* A block of rows, and what becomes of it. */
typedef struct engine_pass {
    aq_const_rows obs;
    float *state;       /* of the rows */
    const float *noise; /* NULL: none */
    uint32_t layer_count;
    float *out;
} engine_pass;

/* Observations as layers are to see them: quantizing counts what is not finite as 0, so where they
 * are not quantized it is 0 before. */
static const float *finite(const aq_engine *engine, const float *obs, size_t count)
{
    if (!engine->meets_floats || aq_find_nonfinite(obs, count) == count) {
        return obs;
    }
    for (size_t i = 0; i < count; i++) {
        engine->finite[i] = isfinite(obs[i]) ? obs[i] : 0.0f;
    }
    return engine->finite;
}

/* So many rows of a block, from `first` on, through layers `from` to `to` - 1. */
static void run_layers(const aq_engine *engine, const engine_pass *pass, uint32_t from, uint32_t to,
                       size_t first, size_t rows)
{
    aq_const_rows values[AQ_NET_VALUES_MAX];
    float *state = pass->state + first * engine->state_width;
    const float *noise = pass->noise != NULL ? pass->noise + first * engine->noise_width : NULL;
    values[0] = pass->obs;
    if (pass->obs.bytes != NULL) {
        values[0].bytes += first * pass->obs.stride;
    } else {
        values[0].values += first * pass->obs.stride;
    }
    /* Behind those that take images no layer takes one. */
    if (from == 0 && pass->obs.bytes == NULL) {
        values[0].values = finite(engine, values[0].values, rows * pass->obs.stride);
    }
    for (uint32_t i = 0; i < to; i++) {
        const aq_engine_layer *layer = &engine->layers[i];
        const uint32_t keeps = aq_layer_state(layer->spec);
        if (noise == NULL && !engine->acting[i]) {
            state += keeps;
            continue;
        }
        const bool last = i + 1 == pass->layer_count;
        const size_t stride = last ? layer->spec->outputs : engine->y_stride[i];
        const size_t row = !last && engine->has_one_row[i] ? 0 : first;
        const aq_float_rows y = {.values = (last ? pass->out : engine->y[i]) + row * stride,
                                 .stride = stride,
                                 .rows = rows};
        const uint32_t noises = aq_layer_noise_count(layer->spec);
        const aq_const_rows own =
            keeps > 0 ? (aq_const_rows){.values = state, .stride = engine->state_width}
                      : (aq_const_rows){.values = noise, .stride = engine->noise_width};
        aq_const_rows several[1 + AQ_LAYER_SOURCES_MAX];
        if (i >= from) {
            layer->kind->run(
                layer, &engine->scratch,
                taken(&engine->sources[i], values, keeps + noises > 0 ? &own : NULL, several), &y);
        }
        if (i >= from && keeps > 0) {
            keep(&y, keeps, state, engine->state_width);
        }
        state += keeps;
        noise = noise != NULL ? noise + noises : NULL;
        values[1 + i] = (aq_const_rows){.values = y.values, .stride = y.stride};
    }
}

/* Images one by one, so that what a layer makes of one is near when the next layer takes it; then
 * all rows together, for which the weights are read once. */
static void run_block(const aq_engine *engine, const engine_pass *pass, size_t rows)
{
    const uint32_t images =
        engine->image_layers < pass->layer_count ? engine->image_layers : pass->layer_count;
    for (size_t row = 0; row < rows && images > 0; row++) {
        run_layers(engine, pass, 0, images, row, 1);
    }
    if (images < pass->layer_count) {
        run_layers(engine, pass, images, pass->layer_count, 0, rows);
    }
}

/* Observations as they come; one of them is NULL. */
typedef struct engine_obs {
    const float *floats;
    const uint8_t *bytes;
} engine_obs;

/* `state` NULL: each row is a first step, and nothing is left of it. */
static void forward(aq_engine *engine, engine_obs obs, float *state, size_t rows,
                    uint32_t layer_count, float *out)
{
    AQ_ASSERT(rows <= engine->rows_max);
    AQ_ASSERT(layer_count > 0 && layer_count <= engine->layer_count);
    const size_t inputs = engine->layers[0].spec->inputs;
    const size_t outputs = engine->layers[layer_count - 1].spec->outputs;
    const size_t width = engine->state_width;
    for (size_t row = 0; row < rows; row += AQ_ENGINE_BLOCK) {
        const size_t count = min_size(rows - row, AQ_ENGINE_BLOCK);
        engine_pass pass = {
            .obs = {.values = obs.floats != NULL ? obs.floats + row * inputs : NULL,
                    .bytes = obs.bytes != NULL ? obs.bytes + row * inputs : NULL,
                    .stride = inputs},
            .state = state != NULL ? state + row * width : engine->state,
            .noise = engine->noise != NULL ? engine->noise + row * engine->noise_width : NULL,
            .layer_count = layer_count,
            .out = out + row * outputs,
        };
        if (state == NULL && width > 0) {
            memset(engine->state, 0, count * width * sizeof(*engine->state));
        }
        run_block(engine, &pass, count);
    }
}

void aq_engine_forward_until(aq_engine *engine, const float *obs, size_t rows, uint32_t layer_count,
                             float *out)
{
    forward(engine, (engine_obs){.floats = obs}, NULL, rows, layer_count, out);
}

void aq_engine_forward(aq_engine *engine, const float *obs, size_t rows, float *out)
{
    aq_engine_forward_until(engine, obs, rows, engine->layer_count, out);
}

const float *aq_engine_step(aq_engine *engine, const float *obs, float *state, size_t rows)
{
    forward(engine, (engine_obs){.floats = obs}, state, rows, engine->layer_count, engine->outputs);
    return engine->outputs;
}

void aq_engine_perturb(aq_engine *engine, const float *noise)
{
    engine->noise = engine->noise_width > 0 ? noise : NULL;
}

bool aq_engine_takes_bytes(const aq_engine *engine)
{
    for (uint32_t i = 0; i < engine->layer_count; i++) {
        const aq_engine_layer *layer = &engine->layers[i];
        if (aq_net_takes(&engine->snapshot->spec, i, 0) > 0 &&
            (layer->kind->takes_bytes == NULL || !layer->kind->takes_bytes(layer))) {
            return false;
        }
    }
    return true;
}

const float *aq_engine_step_of_bytes(aq_engine *engine, const uint8_t *obs, float *state,
                                     size_t rows)
{
    AQ_ASSERT(aq_engine_takes_bytes(engine));
    forward(engine, (engine_obs){.bytes = obs}, state, rows, engine->layer_count, engine->outputs);
    return engine->outputs;
}

const aq_snapshot *aq_engine_snapshot(const aq_engine *engine)
{
    return engine->snapshot;
}

size_t aq_engine_rows_max(const aq_engine *engine)
{
    return engine->rows_max;
}

const char *aq_engine_rung(const aq_engine *engine)
{
    return engine->tables.kernels->name;
}
