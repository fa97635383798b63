/*
 * Layer figures: see layer_figures.h.
 */
#include "cli/policy/layer_figures.h"

#include <inttypes.h>
#include <math.h>

#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/assert.h"
#include "common/base/memory.h"

enum { INPUT_LEVEL_MAX = 255 };

static aq_value_range range_of(const float *values, size_t count)
{
    aq_value_range range = {.count = count};
    double squares = 0.0;
    size_t zeros = 0;
    if (count == 0) {
        return range;
    }
    range.min = range.max = (double)values[0];
    for (size_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        range.min = value < range.min ? value : range.min;
        range.max = value > range.max ? value : range.max;
        squares += value * value;
        zeros += value == 0.0;
    }
    range.rms = sqrt(squares / (double)count);
    range.zero_share = (double)zeros / (double)count;
    return range;
}

int aq_layer_figures_of_snapshot(const aq_snapshot *snapshot, uint32_t layer,
                                 aq_layer_figures *ret_figures)
{
    AQ_ASSERT(layer < snapshot->spec.layer_count);
    const aq_layer_spec *spec = &snapshot->spec.layers[layer];
    const aq_snapshot_layer *tensors = &snapshot->layers[layer];
    const aq_layer_matrix_shape matrix = aq_layer_matrix(spec);
    const size_t weights = (size_t)matrix.rows * matrix.columns;
    const aq_tensor_sizes *sizes = &tensors->sizes;
    const bool is_sparse = tensors->format == AQ_FORMAT_INT8_SPARSE;

    const bool is_exact = tensors->format == AQ_FORMAT_F32;
    float *room = is_exact ? NULL : aq_alloc(weights, sizeof(*room));
    if (room == NULL && !is_exact) {
        return AQ_E_NOMEM;
    }
    if (!is_exact) {
        aq_snapshot_layer_weights(snapshot, layer, room);
    }
    *ret_figures = (aq_layer_figures){
        .spec = *spec,
        .matrix = matrix,
        .format = tensors->format,
        .bytes = sizes->weights_bytes + sizes->scales * sizeof(*tensors->scale) +
                 sizes->sums * sizeof(*tensors->sum) + sizes->mask_bytes +
                 matrix.rows * sizeof(*tensors->bias),
        .bytes_fp32 = aq_layer_parameters(spec) * sizeof(float),
        .weights = range_of(is_exact ? tensors->weights : room, weights),
        .bias = range_of(tensors->bias, matrix.rows),
        .scale = range_of(tensors->scale, sizes->scales),
        .blocks = is_sparse ? sizes->weights_bytes / AQ_BLOCK_BYTES : 0,
        .blocks_all = is_sparse ? (size_t)aq_block_row_count(matrix.rows) *
                                      aq_block_column_count(matrix.columns)
                                : 0,
        .weight_zero = tensors->weight_zero,
        .input_scale = tensors->input_scale,
        .input_zero = tensors->input_zero,
    };
    aq_free(room);
    return 0;
}

void aq_layer_figures_of_block(const aq_net_spec *spec, const float *block, uint32_t layer,
                               aq_layer_figures *ret_figures)
{
    AQ_ASSERT(layer < spec->layer_count);
    const float *at = block + aq_net_spec_array_values(spec);
    for (uint32_t i = 0; i < layer; i++) {
        at += aq_layer_parameters(&spec->layers[i]);
    }
    const aq_layer_spec *own = &spec->layers[layer];
    const aq_layer_matrix_shape matrix = aq_layer_matrix(own);
    const size_t weights = (size_t)matrix.rows * matrix.columns;
    *ret_figures = (aq_layer_figures){
        .spec = *own,
        .matrix = matrix,
        .format = AQ_FORMAT_F32,
        .bytes = aq_layer_parameters(own) * sizeof(float),
        .bytes_fp32 = aq_layer_parameters(own) * sizeof(float),
        .weights = range_of(at, weights),
        .bias = range_of(at + weights, matrix.rows),
    };
}

/* ---- for programs --------------------------------------------------------------------------- */

/* null for no values. */
static json_t *range_json(const aq_value_range *range)
{
    if (range->count == 0) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "min", aq_json_number(range->min), "max",
                     aq_json_number(range->max), "rms", aq_json_number(range->rms), "zero_share",
                     aq_json_number(range->zero_share));
}

/* null for a layer that takes floats. */
static json_t *input_json(const aq_layer_figures *figures)
{
    if (!aq_format_is_integer(figures->format)) {
        return json_null();
    }
    if (figures->input_scale == 0.0f) {
        return json_pack("{s:s}", "activations", "dynamic");
    }
    const double scale = (double)figures->input_scale;
    return json_pack("{s:s, s:o, s:i, s:o, s:o}", "activations", "static", "scale",
                     aq_json_number(scale), "zero_point", (int)figures->input_zero, "low",
                     aq_json_number(scale * (0 - figures->input_zero)), "high",
                     aq_json_number(scale * (INPUT_LEVEL_MAX - figures->input_zero)));
}

static json_t *blocks_json(const aq_layer_figures *figures)
{
    if (figures->blocks_all == 0) {
        return json_null();
    }
    return json_pack("{s:o, s:o}", "stored", aq_json_count(figures->blocks), "all",
                     aq_json_count(figures->blocks_all));
}

static json_t *layer_json(const aq_layer_figures *figures)
{
    return json_pack(
        "{s:s, s:o, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "kind",
        aq_layer_kind_name(figures->spec.kind), "inputs", aq_json_count(figures->spec.inputs),
        "outputs", aq_json_count(figures->spec.outputs), "activation",
        aq_activation_name(figures->spec.activation), "rows", aq_json_count(figures->matrix.rows),
        "columns", aq_json_count(figures->matrix.columns), "format",
        aq_format_name(figures->format), "bytes", aq_json_count(figures->bytes), "bytes_fp32",
        aq_json_count(figures->bytes_fp32), "weights", range_json(&figures->weights), "bias",
        range_json(&figures->bias), "scale", range_json(&figures->scale), "input",
        input_json(figures), "blocks", blocks_json(figures), "weight_zero",
        (int)figures->weight_zero);
}

json_t *aq_layer_figures_json(const aq_layer_figures *figures, size_t count)
{
    json_t *layers = json_array();
    for (size_t i = 0; i < count; i++) {
        aq_json_add(&layers, layer_json(&figures[i]));
    }
    return layers;
}

/* ---- for people ----------------------------------------------------------------------------- */

static void add_range(aq_text_table *table, const aq_value_range *range)
{
    aq_figure min, max;
    if (range->count == 0) {
        aq_text_table_cell(table, "-");
        return;
    }
    aq_text_table_cell(table, "%s to %s", aq_figure_number(&min, range->min),
                       aq_figure_number(&max, range->max));
}

static void add_zero_share(aq_text_table *table, const aq_layer_figures *layer)
{
    aq_figure share;
    const double none = (double)NAN;
    aq_text_table_cell(
        table, "%s",
        aq_figure_share(&share, layer->weights.count > 0 ? layer->weights.zero_share : none));
}

/* The range that a static scale covers, or how else the input is taken. */
static void add_input(aq_text_table *table, const aq_layer_figures *layer)
{
    aq_figure low, high;
    const double scale = (double)layer->input_scale;
    if (!aq_format_is_integer(layer->format)) {
        aq_text_table_cell(table, "-");
    } else if (scale == 0.0) {
        aq_text_table_cell(table, "dynamic");
    } else {
        aq_text_table_cell(table, "%s to %s",
                           aq_figure_number(&low, scale * (0 - layer->input_zero)),
                           aq_figure_number(&high, scale * (INPUT_LEVEL_MAX - layer->input_zero)));
    }
}

static void add_layer(aq_text_table *table, size_t index, const aq_layer_figures *layer)
{
    aq_figure room;
    aq_text_table_row(table);
    aq_text_table_cell(table, "%zu", index);
    aq_text_table_cell(table, "%s", aq_layer_kind_name(layer->spec.kind));
    aq_text_table_cell(table, "%" PRIu32, layer->spec.inputs);
    aq_text_table_cell(table, "%" PRIu32, layer->spec.outputs);
    aq_text_table_cell(table, "%s", aq_activation_name(layer->spec.activation));
    aq_text_table_cell(table, "%s", aq_format_name(layer->format));
    aq_text_table_cell(table, "%s", aq_figure_bytes(&room, (double)layer->bytes));
    add_range(table, &layer->weights);
    aq_text_table_cell(
        table, "%s",
        aq_figure_number(&room, layer->weights.count > 0 ? layer->weights.rms : (double)NAN));
    add_zero_share(table, layer);
    add_range(table, &layer->bias);
    add_range(table, &layer->scale);
    add_input(table, layer);
}

int aq_layer_figures_print(FILE *out, const aq_layer_figures *figures, size_t count)
{
    static const aq_table_column columns[] = {
        {"layer", AQ_TABLE_RIGHT},      {"kind", AQ_TABLE_LEFT},
        {"inputs", AQ_TABLE_RIGHT},     {"outputs", AQ_TABLE_RIGHT},
        {"then", AQ_TABLE_LEFT},        {"format", AQ_TABLE_LEFT},
        {"size", AQ_TABLE_RIGHT},       {"weights", AQ_TABLE_LEFT},
        {"weights rms", AQ_TABLE_LEFT}, {"zeros", AQ_TABLE_RIGHT},
        {"biases", AQ_TABLE_LEFT},      {"scales", AQ_TABLE_LEFT},
        {"input range", AQ_TABLE_LEFT}, {NULL},
    };
    aq_text_table table;
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < count; i++) {
        add_layer(&table, i, &figures[i]);
    }
    return aq_text_table_end(&table, out);
}
