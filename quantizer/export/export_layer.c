/*
 * The table of the kinds of layers, and what they share: matrices, quantized inputs, activations.
 */
#include "quantizer/export/export_layer.h"

#include "common/base/assert.h"

#define DECLARE(number, NAME, name) extern const aq_export_kind aq_export_##name;
AQ_LAYER_KINDS(DECLARE)
#undef DECLARE

const aq_export_kind *aq_export_kind_of(const aq_layer_spec *spec, uint32_t format)
{
#define ROW(number, NAME, name) [number] = &aq_export_##name,
    static const aq_export_kind *const kinds[] = {AQ_LAYER_KINDS(ROW)};
#undef ROW
    AQ_ASSERT(spec->kind < AQ_LAYER_KINDS_END);
    const aq_export_kind *kind = kinds[spec->kind];
    if (!aq_layer_is_quantizable(spec) || format == AQ_FORMAT_INT8_CHANNEL ||
        format == AQ_FORMAT_INT8_TENSOR) {
        return kind;
    }
    return kind->in_floats != NULL ? kind->in_floats[format] : NULL;
}

bool aq_export_layer_is_quantized(const aq_export_layer *layer)
{
    return aq_layer_is_quantizable(layer->spec) && aq_format_is_integer(layer->stored->format);
}

/* Whether the activation is a call of its own. */
static bool is_activated_apart(const aq_export_layer *layer)
{
    const uint32_t activation = layer->spec->activation;
    return activation != AQ_ACTIVATION_NONE &&
           !(activation == AQ_ACTIVATION_RELU && layer->kind->has_relu);
}

uint32_t aq_export_layer_pieces(const aq_export_layer *layer)
{
    static const uint32_t activations[] = {
        [AQ_ACTIVATION_RELU] = AQ_PIECE(RELU),
        [AQ_ACTIVATION_TANH] = AQ_PIECE(TANH),
        [AQ_ACTIVATION_ELU] = AQ_PIECE(ELU),
    };
    uint32_t pieces = layer->kind->needs;
    if (aq_export_layer_is_quantized(layer)) {
        pieces |= layer->stored->input_scale > 0.0f ? AQ_PIECE(LEVELS_FIXED) : AQ_PIECE(LEVELS);
    }
    return is_activated_apart(layer) ? pieces | activations[layer->spec->activation] : pieces;
}

static void put_matrix(const aq_export_layer *layer, aq_export_text *to)
{
    const aq_snapshot_layer *stored = layer->stored;
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer->spec);
    const uint32_t index = layer->index;
    const bool has_relu = layer->spec->activation == AQ_ACTIVATION_RELU;
    aq_export_int8(to, "weights", index, stored->weights, stored->weights_bytes);
    aq_export_floats(to, "scale", index, stored->scale, stored->sizes.scales);
    aq_export_floats(to, "bias", index, stored->bias, matrix.rows);
    to->constants_bytes += 8 * AQ_EXPORT_WORD_BYTES;
    aq_export_print(
        to,
        "\nstatic const @_matrix @_layer%u = {\n    %u, %u, @_weights%u, %d, @_scale%u, "
        "%d, @_bias%u, %d,\n};\n",
        index, matrix.rows, matrix.columns, index, stored->weight_zero, index,
        stored->sizes.scales > 1, index, has_relu && layer->kind->has_relu);
}

void aq_export_layer_put_constants(const aq_export_layer *layer, aq_export_text *to)
{
    if (aq_export_layer_is_quantized(layer)) {
        put_matrix(layer, to);
    }
    if (layer->kind->put_constants != NULL && to->rc == 0) {
        to->rc = layer->kind->put_constants(to, layer);
    }
}

static void put_levels(const aq_export_layer *layer, aq_export_text *to)
{
    char scale[32];
    if (layer->stored->input_scale > 0.0f) {
        aq_export_float_text(layer->stored->input_scale, scale);
        aq_export_print(to, "    scale = @_levels_fixed(%s, %u, %s, %d, levels);\n", layer->x[0],
                        layer->width, scale, layer->stored->input_zero);
    } else {
        aq_export_print(to, "    scale = @_levels(%s, %u, levels);\n", layer->x[0], layer->width);
    }
}

void aq_export_layer_put_call(const aq_export_layer *layer, aq_export_text *to)
{
    if (aq_export_layer_is_quantized(layer)) {
        put_levels(layer, to);
    }
    layer->kind->call(to, layer);
    if (is_activated_apart(layer)) {
        aq_export_print(to, "    @_%s(%s, %u);\n", aq_activation_name(layer->spec->activation),
                        layer->y, layer->spec->outputs);
    }
}
