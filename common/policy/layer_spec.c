/*
 * What the kinds of layers have in common, and the checks of each.
 */
#include "common/policy/layer_spec.h"

#include <float.h>
#include <string.h>

#include "common/base/assert.h"

static const char *const activation_names[] = {
    [AQ_ACTIVATION_NONE] = "none",
    [AQ_ACTIVATION_RELU] = "relu",
    [AQ_ACTIVATION_TANH] = "tanh",
    [AQ_ACTIVATION_ELU] = "elu",
};

static bool is_activation(uint32_t value)
{
    return value >= AQ_ACTIVATION_NONE && value <= AQ_ACTIVATION_ELU;
}

int aq_activation_from_text(const char *text, enum aq_activation *ret_activation)
{
    for (uint32_t i = AQ_ACTIVATION_NONE; i <= AQ_ACTIVATION_ELU; i++) {
        if (strcmp(text, activation_names[i]) == 0) {
            *ret_activation = (enum aq_activation)i;
            return 0;
        }
    }
    return AQ_E_INVALID;
}

const char *aq_activation_name(uint32_t activation)
{
    return is_activation(activation) ? activation_names[activation] : "unknown";
}

/* ---- making --------------------------------------------------------------------------------- */

aq_layer_spec aq_layer_linear(uint32_t inputs, uint32_t outputs, enum aq_activation activation)
{
    return (aq_layer_spec){
        .kind = AQ_LAYER_LINEAR, .inputs = inputs, .outputs = outputs, .activation = activation};
}

/* Pixels along one side of the output; 0 where the kernel does not fit. */
static uint32_t out_side(uint32_t side, const aq_conv_shape *shape)
{
    const uint64_t padded = (uint64_t)side + 2 * (uint64_t)shape->padding;
    if (shape->kernel == 0 || shape->stride == 0 || padded < shape->kernel) {
        return 0;
    }
    const uint64_t pixels = (padded - shape->kernel) / shape->stride + 1;
    return pixels > UINT32_MAX ? UINT32_MAX : (uint32_t)pixels;
}

uint32_t aq_conv_out_height(const aq_conv_shape *shape)
{
    return out_side(shape->height, shape);
}

uint32_t aq_conv_out_width(const aq_conv_shape *shape)
{
    return out_side(shape->width, shape);
}

/* a * b * c, UINT32_MAX when it does not fit. */
static uint32_t volume(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t area, whole;
    if (__builtin_mul_overflow(a, b, &area) || __builtin_mul_overflow(area, c, &whole)) {
        return UINT32_MAX;
    }
    return whole;
}

aq_layer_spec aq_layer_conv2d(const aq_conv_shape *shape, enum aq_activation activation)
{
    return (aq_layer_spec){
        .kind = AQ_LAYER_CONV2D,
        .inputs = volume(shape->height, shape->width, shape->channels),
        .outputs = volume(aq_conv_out_height(shape), aq_conv_out_width(shape), shape->filters),
        .activation = activation,
        .conv = *shape,
    };
}

aq_layer_spec aq_layer_norm(uint32_t width, enum aq_activation activation)
{
    return (aq_layer_spec){
        .kind = AQ_LAYER_NORM, .inputs = width, .outputs = width, .activation = activation};
}

aq_layer_spec aq_layer_dueling(uint32_t choices, uint32_t atoms)
{
    return (aq_layer_spec){.kind = AQ_LAYER_DUELING,
                           .inputs = volume(1 + choices, atoms, 1),
                           .outputs = volume(choices, atoms, 1),
                           .activation = AQ_ACTIVATION_NONE,
                           .head = {.choices = choices, .atoms = atoms}};
}

aq_layer_spec aq_layer_categorical(const aq_head_shape *shape)
{
    return (aq_layer_spec){.kind = AQ_LAYER_CATEGORICAL,
                           .inputs = volume(shape->choices, shape->atoms, 1),
                           .outputs = shape->choices,
                           .activation = AQ_ACTIVATION_NONE,
                           .head = *shape};
}

/* ---- checking ------------------------------------------------------------------------------- */

static int check_size(uint32_t size, uint32_t size_max, uint32_t index, const char *what,
                      aq_error *error)
{
    if (size < 1 || size > size_max) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: its %s is %u; 1 to %u are possible", index,
                       what, size, size_max);
    }
    return 0;
}

static int check_ends(const aq_layer_spec *layer, uint32_t size_max, uint32_t index,
                      aq_error *error)
{
    int rc = check_size(layer->inputs, size_max, index, "input", error);
    return rc != 0 ? rc : check_size(layer->outputs, size_max, index, "output", error);
}

/* The ends are what the shape makes of them. */
static int check_same_ends(const aq_layer_spec *layer, const aq_layer_spec *made, uint32_t index,
                           aq_error *error)
{
    if (layer->inputs == made->inputs && layer->outputs == made->outputs) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "layer %u: it says that it takes %u values and gives %u, but its shape makes "
                   "that %u and %u",
                   index, layer->inputs, layer->outputs, made->inputs, made->outputs);
}

static int check_linear(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    return check_ends(layer, AQ_NET_WIDTH_MAX, index, error);
}

static int check_norm(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_norm(layer->inputs, AQ_ACTIVATION_NONE);
    int rc = check_ends(layer, AQ_NET_IMAGE_MAX, index, error);
    return rc != 0 ? rc : check_same_ends(layer, &made, index, error);
}

static int check_conv(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_conv_shape *shape = &layer->conv;
    const aq_layer_spec made = aq_layer_conv2d(shape, AQ_ACTIVATION_NONE);
    int rc = check_ends(layer, AQ_NET_IMAGE_MAX, index, error);
    if (rc == 0) {
        rc = check_size(shape->filters, AQ_NET_WIDTH_MAX, index, "number of filters", error);
    }
    if (rc == 0) {
        rc = check_size(volume(shape->kernel, shape->kernel, shape->channels), AQ_NET_WIDTH_MAX,
                        index, "patch", error);
    }
    if (rc == 0) {
        rc = check_size(shape->stride, AQ_NET_WIDTH_MAX, index, "stride", error);
    }
    if (rc == 0 && shape->padding >= shape->kernel) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "layer %u: a padding of %u for a kernel of %u; it must be less", index,
                     shape->padding, shape->kernel);
    }
    return rc != 0 ? rc : check_same_ends(layer, &made, index, error);
}

static int check_head(const aq_layer_spec *layer, uint32_t atoms_min, uint32_t index,
                      aq_error *error)
{
    int rc = check_size(layer->head.choices, AQ_NET_CHOICES_MAX, index, "number of choices", error);
    if (rc == 0) {
        rc = check_size(layer->head.atoms, AQ_NET_ATOMS_MAX, index, "number of atoms", error);
    }
    if (rc == 0 && layer->head.atoms < atoms_min) {
        rc = aq_fail(error, AQ_E_INVALID, "layer %u: %u atoms are no distribution", index,
                     layer->head.atoms);
    }
    if (rc == 0 && layer->activation != AQ_ACTIVATION_NONE) {
        rc = aq_fail(error, AQ_E_INVALID, "layer %u: nothing can follow a head", index);
    }
    return rc != 0 ? rc : check_ends(layer, AQ_NET_IMAGE_MAX, index, error);
}

static int check_dueling(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_dueling(layer->head.choices, layer->head.atoms);
    int rc = check_head(layer, 1, index, error);
    return rc != 0 ? rc : check_same_ends(layer, &made, index, error);
}

static int check_categorical(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    const aq_layer_spec made = aq_layer_categorical(&layer->head);
    int rc = check_head(layer, 2, index, error);
    /* Written so that NaN fails it. */
    if (rc == 0 && !(layer->head.low >= -FLT_MAX && layer->head.low < layer->head.high &&
                     layer->head.high <= FLT_MAX)) {
        rc = aq_fail(error, AQ_E_INVALID, "layer %u: atoms from %g to %g", index,
                     (double)layer->head.low, (double)layer->head.high);
    }
    return rc != 0 ? rc : check_same_ends(layer, &made, index, error);
}

static aq_layer_matrix_shape linear_matrix(const aq_layer_spec *layer)
{
    return (aq_layer_matrix_shape){layer->outputs, layer->inputs};
}

static aq_layer_matrix_shape conv_matrix(const aq_layer_spec *layer)
{
    const aq_conv_shape *shape = &layer->conv;
    return (aq_layer_matrix_shape){shape->filters, shape->kernel * shape->kernel * shape->channels};
}

static aq_layer_matrix_shape norm_matrix(const aq_layer_spec *layer)
{
    return (aq_layer_matrix_shape){layer->outputs, 1};
}

static const struct kind_row {
    const char *name;
    bool is_quantizable;
    int (*check)(const aq_layer_spec *layer, uint32_t index, aq_error *error);
    aq_layer_matrix_shape (*matrix)(const aq_layer_spec *layer); /* NULL: no parameters */
} kinds[] = {
    [AQ_LAYER_LINEAR] = {"linear", true, check_linear, linear_matrix},
    [AQ_LAYER_CONV2D] = {"conv2d", true, check_conv, conv_matrix},
    [AQ_LAYER_NORM] = {"norm", false, check_norm, norm_matrix},
    [AQ_LAYER_DUELING] = {"dueling", false, check_dueling, NULL},
    [AQ_LAYER_CATEGORICAL] = {"categorical", false, check_categorical, NULL},
};

static bool is_kind(uint32_t kind)
{
    return kind >= AQ_LAYER_LINEAR && kind <= AQ_LAYER_CATEGORICAL;
}

int aq_layer_spec_validate(const aq_layer_spec *layer, uint32_t index, aq_error *error)
{
    if (!is_kind(layer->kind)) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: unknown kind %u", index, layer->kind);
    }
    if (!is_activation(layer->activation)) {
        return aq_fail(error, AQ_E_INVALID, "layer %u: unknown activation %u", index,
                       layer->activation);
    }
    return kinds[layer->kind].check(layer, index, error);
}

/* ---- describing ----------------------------------------------------------------------------- */

aq_layer_matrix_shape aq_layer_matrix(const aq_layer_spec *layer)
{
    AQ_ASSERT(is_kind(layer->kind));
    return kinds[layer->kind].matrix != NULL ? kinds[layer->kind].matrix(layer)
                                             : (aq_layer_matrix_shape){0, 0};
}

size_t aq_layer_parameters(const aq_layer_spec *layer)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    return ((size_t)matrix.columns + 1) * matrix.rows;
}

uint32_t aq_layer_patches(const aq_layer_spec *layer)
{
    return layer->kind == AQ_LAYER_CONV2D
               ? aq_conv_out_height(&layer->conv) * aq_conv_out_width(&layer->conv)
               : 1;
}

bool aq_layer_is_quantizable(const aq_layer_spec *layer)
{
    return is_kind(layer->kind) && kinds[layer->kind].is_quantizable;
}

const char *aq_layer_kind_name(uint32_t kind)
{
    return is_kind(kind) ? kinds[kind].name : "unknown";
}
