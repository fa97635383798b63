/*
 * The table of the kinds of layers, and what they share: matrices, quantized inputs, activations.
 */
#include "quantizer/export/export_layer.h"

#include "common/base/assert.h"

#define DECLARE(number, NAME, name) extern const aq_export_kind aq_export_##name;
AQ_LAYER_KINDS(DECLARE)
#undef DECLARE

const aq_export_kind *aq_export_kind_of(uint32_t kind)
{
#define ROW(number, NAME, name) [number] = &aq_export_##name,
    static const aq_export_kind *const kinds[] = {AQ_LAYER_KINDS(ROW)};
#undef ROW
    AQ_ASSERT(kind < AQ_LAYER_KINDS_END);
    return kinds[kind];
}

/* Whether the activation is a call of its own. */
static bool is_activated_apart(const aq_layer_spec *layer)
{
    return layer->activation != AQ_ACTIVATION_NONE &&
           !(layer->activation == AQ_ACTIVATION_RELU && aq_export_kind_of(layer->kind)->has_relu);
}

uint32_t aq_export_layer_pieces(const aq_export_layer *layer)
{
    static const uint32_t activations[] = {
        [AQ_ACTIVATION_RELU] = AQ_PIECE(RELU),
        [AQ_ACTIVATION_TANH] = AQ_PIECE(TANH),
        [AQ_ACTIVATION_ELU] = AQ_PIECE(ELU),
    };
    uint32_t pieces = aq_export_kind_of(layer->spec->kind)->needs;
    if (aq_layer_is_quantizable(layer->spec)) {
        pieces |= layer->stored->input_scale > 0.0f ? AQ_PIECE(LEVELS_FIXED) : AQ_PIECE(LEVELS);
    }
    return is_activated_apart(layer->spec) ? pieces | activations[layer->spec->activation] : pieces;
}

size_t aq_export_layer_bytes(const aq_export_layer *layer)
{
    const aq_export_kind *kind = aq_export_kind_of(layer->spec->kind);
    return layer->stored->weights_bytes + layer->stored->sizes.scales * sizeof(float) +
           aq_layer_matrix(layer->spec).rows * sizeof(float) +
           (kind->constants_bytes != NULL ? kind->constants_bytes(layer->spec) : 0);
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
    aq_export_print(
        to,
        "\nstatic const @_matrix @_layer%u = {\n    %u, %u, @_weights%u, %d, @_scale%u, "
        "%d, @_bias%u, %d,\n};\n",
        index, matrix.rows, matrix.columns, index, stored->weight_zero, index,
        stored->sizes.scales > 1, index,
        has_relu && aq_export_kind_of(layer->spec->kind)->has_relu);
}

void aq_export_layer_put_constants(const aq_export_layer *layer, aq_export_text *to)
{
    const aq_export_kind *kind = aq_export_kind_of(layer->spec->kind);
    if (aq_layer_is_quantizable(layer->spec)) {
        put_matrix(layer, to);
    }
    if (kind->put_constants != NULL && to->rc == 0) {
        to->rc = kind->put_constants(to, layer);
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
    if (aq_layer_is_quantizable(layer->spec)) {
        put_levels(layer, to);
    }
    aq_export_kind_of(layer->spec->kind)->call(to, layer);
    if (is_activated_apart(layer->spec)) {
        aq_export_print(to, "    @_%s(%s, %u);\n", aq_activation_name(layer->spec->activation),
                        layer->y, layer->spec->outputs);
    }
}
