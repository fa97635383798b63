/*
 * The table of the kinds of layers, and what they share: matrices, quantized inputs, activations.
 */
#include "quantizer/export/export_layer.h"

#include <stdio.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

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
    if (!aq_layer_is_quantizable(spec) || aq_format_is_integer(format)) {
        return kind;
    }
    return kind->in_floats != NULL ? kind->in_floats[format] : NULL;
}

bool aq_export_layer_is_quantized(const aq_export_layer *layer)
{
    return aq_layer_is_quantizable(layer->spec) && aq_format_is_integer(layer->stored->format);
}

static const struct product_row {
    const char *name;
    uint32_t piece;
} products[AQ_FORMAT_COUNT + 1] = {
    [AQ_FORMAT_INT8_CHANNEL] = {"int8", AQ_PIECE(PRODUCT_INT8)},
    [AQ_FORMAT_INT8_TENSOR] = {"tensor", AQ_PIECE(PRODUCT_TENSOR)},
    [AQ_FORMAT_INT4] = {"int4", AQ_PIECE(PRODUCT_INT4)},
    [AQ_FORMAT_INT2] = {"int2", AQ_PIECE(PRODUCT_INT2)},
    [AQ_FORMAT_INT8_SPARSE] = {"sparse", AQ_PIECE(PRODUCT_SPARSE)},
};

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
        pieces |= products[layer->stored->format].piece;
        pieces |= layer->stored->input_scale > 0.0f ? AQ_PIECE(LEVELS_FIXED) : AQ_PIECE(LEVELS);
    }
    return is_activated_apart(layer) ? pieces | activations[layer->spec->activation] : pieces;
}

/* The blocks that are stored, as @_product_sparse reads them. */
static void put_blocks(const aq_export_layer *layer, aq_export_text *to)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer->spec);
    const uint32_t columns = aq_block_column_count(matrix.columns);
    const uint32_t stride = 1 + (columns + 31) / 32;
    const size_t count = (size_t)aq_block_row_count(matrix.rows) * stride;
    const uint8_t *mask = layer->stored->mask;
    uint32_t stored = 0;
    uint32_t *words = aq_alloc(count, sizeof(*words));
    if (words == NULL) {
        to->rc = AQ_E_NOMEM;
        return;
    }
    for (size_t row = 0; row < count; row += stride) {
        words[row] = stored;
        for (uint32_t column = 0; column < columns; column++) {
            const uint32_t is_stored = aq_block_is_stored(mask, column);
            words[row + 1 + column / 32] |= is_stored << column % 32;
            stored += is_stored;
        }
        mask += aq_block_mask_row_bytes(matrix.columns);
    }
    aq_export_words(to, "blocks", layer->index, words, count);
    aq_free(words);
}

static void put_matrix(const aq_export_layer *layer, aq_export_text *to)
{
    const aq_snapshot_layer *stored = layer->stored;
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer->spec);
    const uint32_t index = layer->index;
    const bool has_relu = layer->spec->activation == AQ_ACTIVATION_RELU;
    char blocks[32] = "NULL";
    aq_export_int8(to, "weights", index, stored->weights, stored->sizes.weights_bytes);
    aq_export_floats(to, "scale", index, stored->scale, stored->sizes.scales);
    if (stored->mask != NULL) {
        put_blocks(layer, to);
        (void)snprintf(blocks, sizeof(blocks), "@_blocks%u", index);
    }
    aq_export_floats(to, "bias", index, stored->bias, matrix.rows);
    to->constants_bytes += 9 * AQ_EXPORT_WORD_BYTES;
    aq_export_print(to,
                    "\nstatic const @_matrix @_layer%u = {\n    %u, %u, @_product_%s, "
                    "@_weights%u, @_scale%u, %d, %s, @_bias%u, %d,\n};\n",
                    index, matrix.rows, matrix.columns, products[stored->format].name, index, index,
                    stored->weight_zero, blocks, index, has_relu && layer->kind->has_relu);
}

void aq_export_layer_put_constants(const aq_export_layer *layer, aq_export_text *to)
{
    if (aq_export_layer_is_quantized(layer)) {
        put_matrix(layer, to);
    }
    if (layer->kind->put_constants != NULL && to->rc == 0) {
        layer->kind->put_constants(to, layer);
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

void aq_export_layer_put_image(const aq_export_layer *layer, const char *name, aq_export_text *to)
{
    const aq_conv_shape *conv = &layer->spec->conv;
    to->constants_bytes += 8 * AQ_EXPORT_WORD_BYTES;
    aq_export_print(to, "\nstatic const @_%s @_%s%u = {\n    %u, %u, %u, %u, %u, %u, %u, %u,\n};\n",
                    name, name, layer->index, conv->height, conv->width, conv->channels,
                    conv->kernel, conv->stride, conv->padding, aq_conv_out_height(conv),
                    aq_conv_out_width(conv));
}
