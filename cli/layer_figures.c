/*
 * Layer figures: see layer_figures.h.
 */
#include "cli/layer_figures.h"

#include <inttypes.h>
#include <math.h>

#include "cli/command.h"
#include "cli/figure_text.h"
#include "cli/text_table.h"
#include "common/base/assert.h"

/* A range that grows value by value. */
typedef struct range_sum {
    double min, max, squares;
    size_t count;
} range_sum;

static void add_value(range_sum *sum, double value)
{
    sum->min = sum->count == 0 || value < sum->min ? value : sum->min;
    sum->max = sum->count == 0 || value > sum->max ? value : sum->max;
    sum->squares += value * value;
    sum->count++;
}

static aq_value_range range_of(const range_sum *sum)
{
    AQ_ASSERT(sum->count > 0);
    return (aq_value_range){
        .min = sum->min, .max = sum->max, .rms = sqrt(sum->squares / (double)sum->count)};
}

static aq_value_range range_of_floats(const float *values, size_t count)
{
    range_sum sum = {0};
    for (size_t i = 0; i < count; i++) {
        add_value(&sum, (double)values[i]);
    }
    return range_of(&sum);
}

/* w ~ scale[o] * q */
static aq_value_range range_of_int8(const aq_layer_spec *spec, const int8_t *weights,
                                    const float *scale)
{
    range_sum sum = {0};
    for (size_t o = 0; o < spec->outputs; o++) {
        for (size_t i = 0; i < spec->inputs; i++) {
            add_value(&sum, (double)scale[o] * weights[o * spec->inputs + i]);
        }
    }
    return range_of(&sum);
}

static size_t bytes_fp32(const aq_layer_spec *spec)
{
    return ((size_t)spec->inputs + 1) * spec->outputs * sizeof(float);
}

void aq_layer_figures_of_snapshot(const aq_snapshot *snapshot, uint32_t layer,
                                  aq_layer_figures *ret_figures)
{
    AQ_ASSERT(layer < snapshot->spec.layer_count);
    const aq_layer_spec *spec = &snapshot->spec.layers[layer];
    const aq_snapshot_layer *tensors = &snapshot->layers[layer];
    size_t weights = (size_t)spec->inputs * spec->outputs;
    *ret_figures = (aq_layer_figures){
        .spec = *spec,
        .format = tensors->format,
        .bytes = tensors->weights_bytes + spec->outputs * sizeof(*tensors->bias),
        .bytes_fp32 = bytes_fp32(spec),
        .bias = range_of_floats(tensors->bias, spec->outputs),
    };
    if (tensors->format == AQ_FORMAT_INT8_CHANNEL) {
        ret_figures->bytes += spec->outputs * (sizeof(*tensors->scale) + sizeof(*tensors->sum));
        ret_figures->weights = range_of_int8(spec, tensors->weights, tensors->scale);
        ret_figures->scale = range_of_floats(tensors->scale, spec->outputs);
    } else {
        ret_figures->weights = range_of_floats(tensors->weights, weights);
    }
}

void aq_layer_figures_of_block(const aq_net_spec *spec, const float *block, uint32_t layer,
                               aq_layer_figures *ret_figures)
{
    AQ_ASSERT(layer < spec->layer_count);
    const float *at = block;
    for (uint32_t i = 0; i < layer; i++) {
        at += ((size_t)spec->layers[i].inputs + 1) * spec->layers[i].outputs;
    }
    const aq_layer_spec *own = &spec->layers[layer];
    size_t weights = (size_t)own->inputs * own->outputs;
    *ret_figures = (aq_layer_figures){
        .spec = *own,
        .format = AQ_FORMAT_F32,
        .bytes = bytes_fp32(own),
        .bytes_fp32 = bytes_fp32(own),
        .weights = range_of_floats(at, weights),
        .bias = range_of_floats(at + weights, own->outputs),
    };
}

/* ---- shown ---------------------------------------------------------------------------------- */

static json_t *range_json(const aq_value_range *range)
{
    return json_pack("{s:o, s:o, s:o}", "min", aq_json_number(range->min), "max",
                     aq_json_number(range->max), "rms", aq_json_number(range->rms));
}

static json_t *layer_json(const aq_layer_figures *figures)
{
    bool is_int8 = figures->format == AQ_FORMAT_INT8_CHANNEL;
    return json_pack(
        "{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "inputs",
        aq_json_count(figures->spec.inputs), "outputs", aq_json_count(figures->spec.outputs),
        "activation", aq_activation_name(figures->spec.activation), "format",
        aq_format_name(figures->format), "bytes", aq_json_count(figures->bytes), "bytes_fp32",
        aq_json_count(figures->bytes_fp32), "weights", range_json(&figures->weights), "bias",
        range_json(&figures->bias), "scale", is_int8 ? range_json(&figures->scale) : json_null());
}

json_t *aq_layer_figures_json(const aq_layer_figures *figures, size_t count)
{
    json_t *layers = json_array();
    for (size_t i = 0; i < count; i++) {
        if (json_array_append_new(layers, layer_json(&figures[i]))) {
            json_decref(layers);
            return NULL;
        }
    }
    return layers;
}

static void add_range(aq_text_table *table, const aq_value_range *range)
{
    aq_figure min, max;
    aq_text_table_cell(table, "%s to %s", aq_figure_number(&min, range->min),
                       aq_figure_number(&max, range->max));
}

int aq_layer_figures_print(FILE *out, const aq_layer_figures *figures, size_t count)
{
    static const aq_table_column columns[] = {
        {"layer", AQ_TABLE_RIGHT},  {"inputs", AQ_TABLE_RIGHT},     {"outputs", AQ_TABLE_RIGHT},
        {"then", AQ_TABLE_LEFT},    {"format", AQ_TABLE_LEFT},      {"size", AQ_TABLE_RIGHT},
        {"weights", AQ_TABLE_LEFT}, {"weights rms", AQ_TABLE_LEFT}, {"biases", AQ_TABLE_LEFT},
        {"scales", AQ_TABLE_LEFT},
    };
    aq_text_table *table;
    aq_figure room;
    int rc = aq_text_table_create(columns, sizeof(columns) / sizeof(columns[0]), count, &table);
    if (rc) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        const aq_layer_figures *layer = &figures[i];
        aq_text_table_row(table);
        aq_text_table_cell(table, "%zu", i);
        aq_text_table_cell(table, "%" PRIu32, layer->spec.inputs);
        aq_text_table_cell(table, "%" PRIu32, layer->spec.outputs);
        aq_text_table_cell(table, "%s", aq_activation_name(layer->spec.activation));
        aq_text_table_cell(table, "%s", aq_format_name(layer->format));
        aq_text_table_cell(table, "%s", aq_figure_bytes(&room, (double)layer->bytes));
        add_range(table, &layer->weights);
        aq_text_table_cell(table, "%s", aq_figure_number(&room, layer->weights.rms));
        add_range(table, &layer->bias);
        if (layer->format == AQ_FORMAT_INT8_CHANNEL) {
            add_range(table, &layer->scale);
        }
    }
    aq_text_table_print(table, out);
    aq_text_table_destroy(table);
    return 0;
}
