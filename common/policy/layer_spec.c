/*
 * What the kinds of layers have in common, and the table of them.
 */
#include "common/policy/layer_spec.h"

#include "common/base/assert.h"
#include "common/policy/layer_kind.h"

#define ROW_OF(constant, number, word, suffix) [constant] = {word, suffix},
static const struct activation_row {
    const char *name, *suffix;
} activations[] = {AQ_ACTIVATIONS(ROW_OF)};

static bool is_activation(uint32_t value)
{
    return value < sizeof(activations) / sizeof(activations[0]) && activations[value].name != NULL;
}

const char *aq_activation_name(uint32_t activation)
{
    return is_activation(activation) ? activations[activation].name : "unknown";
}

const char *aq_activation_suffix(uint32_t activation)
{
    return is_activation(activation) ? activations[activation].suffix : "?";
}

/* ---- kinds ---------------------------------------------------------------------------------- */

const aq_layer_kind *aq_layer_kind_of(uint32_t kind)
{
#define ROW(number, NAME, name) [number] = &aq_layer_kind_##name,
    static const aq_layer_kind *const kinds[] = {AQ_LAYER_KINDS(ROW)};
#undef ROW
    return kind < AQ_LAYER_KINDS_END ? kinds[kind] : NULL;
}

const char *aq_layer_kind_name(uint32_t kind)
{
    const aq_layer_kind *row = aq_layer_kind_of(kind);
    return row != NULL ? row->name : "unknown";
}

uint32_t aq_layer_shape_words(uint32_t kind)
{
    const aq_layer_kind *row = aq_layer_kind_of(kind);
    return row != NULL ? row->shape_words : 0;
}

bool aq_layer_is_quantizable(const aq_layer_spec *layer)
{
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    return kind != NULL && kind->is_quantizable;
}

bool aq_layer_is_affine(const aq_layer_spec *layer)
{
    return aq_layer_kind_of(layer->kind)->is_affine;
}

uint32_t aq_layer_state(const aq_layer_spec *layer)
{
    return aq_layer_kind_of(layer->kind)->keeps_state ? layer->outputs : 0;
}

const aq_head_shape *aq_layer_distributions(const aq_layer_spec *layer)
{
    return aq_layer_kind_of(layer->kind)->has_distributions ? &layer->head : NULL;
}

aq_layer_matrix_shape aq_layer_matrix(const aq_layer_spec *layer)
{
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    AQ_ASSERT(kind != NULL);
    return kind->matrix != NULL ? kind->matrix(layer) : (aq_layer_matrix_shape){0, 0};
}

size_t aq_layer_parameters(const aq_layer_spec *layer)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    return ((size_t)matrix.columns + 1) * matrix.rows;
}

/* ---- checks --------------------------------------------------------------------------------- */

uint32_t aq_layer_volume(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t area, whole;
    if (__builtin_mul_overflow(a, b, &area) || __builtin_mul_overflow(area, c, &whole)) {
        return UINT32_MAX;
    }
    return whole;
}

int aq_layer_check_size(uint32_t size, uint32_t size_max, uint32_t index, const char *what,
                        aq_error *error)
{
    if (size < 1 || size > size_max) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: its %s is %u; 1 to %u are possible", index,
                       what, size, size_max);
    }
    return 0;
}

int aq_layer_check_ends(const aq_layer_spec *layer, const aq_layer_spec *made, uint32_t size_max,
                        uint32_t index, aq_error *error)
{
    int rc = aq_layer_check_size(layer->inputs, size_max, index, "input", error);
    if (rc == 0) {
        rc = aq_layer_check_size(layer->outputs, size_max, index, "output", error);
    }
    if (rc == 0 && made != NULL &&
        (layer->inputs != made->inputs || layer->outputs != made->outputs)) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "layer %u: it says that it takes %u values and gives %u, but its shape makes "
                     "that %u and %u",
                     index, layer->inputs, layer->outputs, made->inputs, made->outputs);
    }
    return rc;
}

int aq_layer_spec_validate(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_kind *kind = aq_layer_kind_of(layer->kind);
    if (kind == NULL) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: unknown kind %u", index, layer->kind);
    }
    if (!is_activation(layer->activation)) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: unknown activation %u", index,
                       layer->activation);
    }
    return kind->check(layer, index, error);
}
