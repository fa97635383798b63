/*
 * Foreign net: see foreign_net.h.
 */
#include "interchange/import/foreign_net.h"

#include <math.h>
#include <stdbool.h>

#include "common/base/memory.h"
#include "common/experience/finite.h"

/* Of half of the bounds' distance: what rounding floats can make of it. */
#define SPREAD_ERROR 1e-5

static void clear_scale(aq_foreign_net *net)
{
    aq_free(net->gain);
    aq_free(net->shift);
    net->gain = net->shift = NULL;
    net->scaled = 0;
}

void aq_foreign_net_fini(aq_foreign_net *net)
{
    for (uint32_t i = 0; i < AQ_NET_LAYERS_MAX; i++) {
        aq_free(net->weight[i]);
        aq_free(net->bias[i]);
    }
    clear_scale(net);
    aq_free(net->log_deviation);
    *net = (aq_foreign_net){0};
}

uint32_t aq_foreign_inputs(const aq_foreign_net *net)
{
    return net->spec.layer_count > 0 ? net->spec.layers[0].inputs : 0;
}

const aq_layer_spec *aq_foreign_last(const aq_foreign_net *net)
{
    return net->spec.layer_count > 0 ? &net->spec.layers[net->spec.layer_count - 1] : NULL;
}

uint32_t aq_foreign_outputs(const aq_foreign_net *net)
{
    const aq_layer_spec *last = aq_foreign_last(net);
    return last != NULL ? last->outputs : 0;
}

/* A copy, or without values zeros or ones; NULL: out of memory. */
static float *copy_of(const float *values, size_t count, float otherwise)
{
    float *made = aq_alloc(count, sizeof(*made));
    for (size_t i = 0; made != NULL && i < count; i++) {
        made[i] = values != NULL ? values[i] : otherwise;
    }
    return made;
}

static int check_finite(const float *values, size_t count, const char *what, aq_error *error)
{
    const size_t bad = values != NULL ? aq_find_nonfinite(values, count) : count;
    return bad < count
               ? aq_fail(error, AQ_E_CORRUPT, "%s: number %zu is NaN or infinite", what, bad)
               : 0;
}

static int check_width(const aq_foreign_net *net, uint32_t width, const char *what, aq_error *error)
{
    const uint32_t given = aq_foreign_outputs(net);
    if (net->spec.layer_count > 0 && width != given) {
        return aq_fail(error, AQ_E_INVALID,
                       "%s takes %u values, and the layer before it gives %u: the layers do not "
                       "follow one another",
                       what, width, given);
    }
    return 0;
}

/* That a layer, or what is called so, may follow. */
static int check_open(const aq_foreign_net *net, const char *what, aq_error *error)
{
    if (net->ending == AQ_FOREIGN_CLIPPED) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "values are held between %g and %g before %s, which no layer does; without "
                       "that the network can be imported, and is the same where they stay within",
                       (double)net->low, (double)net->high, what);
    }
    return net->ending == AQ_FOREIGN_OPEN
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED, "%s behind %s, with which a network ends", what,
                         net->ending == AQ_FOREIGN_SHARES ? "Softmax" : "ArgMax");
}

/* ---- layers --------------------------------------------------------------------------------- */

/* Takes what the layer is made of, also on failure. */
static int add_layer(aq_foreign_net *net, const aq_layer_spec *layer, float *weight, float *bias,
                     aq_error *error)
{
    const uint32_t index = net->spec.layer_count;
    int rc = weight == NULL || bias == NULL
                 ? aq_fail(error, AQ_E_NOMEM, "no memory for a layer of %u values", layer->outputs)
                 : aq_layer_spec_validate(layer, index, error);
    rc = rc != 0 ? rc : aq_net_spec_add(&net->spec, layer, error);
    if (rc != 0) {
        aq_free(weight);
        aq_free(bias);
        return rc;
    }
    net->weight[index] = weight;
    net->bias[index] = bias;
    return 0;
}

/* W (gain x + shift) + b = (W gain) x + (W shift + b). */
static void fold_scale(const aq_foreign_net *net, uint32_t rows, uint32_t columns, float *weight,
                       float *bias)
{
    for (uint32_t row = 0; row < rows; row++) {
        double sum = (double)bias[row];
        for (uint32_t i = 0; i < columns; i++) {
            float *w = &weight[(size_t)row * columns + i];
            const uint32_t at = net->scaled > 1 ? i : 0;
            sum += (double)*w * (double)net->shift[at];
            *w = (float)((double)*w * (double)net->gain[at]);
        }
        bias[row] = (float)sum;
    }
}

int aq_foreign_linear(aq_foreign_net *net, const float *weight, const float *bias, uint32_t rows,
                      uint32_t columns, aq_error *error)
{
    const size_t count = (size_t)rows * columns;
    const aq_layer_spec layer = aq_layer_linear(columns, rows, AQ_ACTIVATION_NONE);
    int rc = aq_layer_spec_validate(&layer, net->spec.layer_count, error);
    rc = rc != 0 ? rc : check_open(net, "a linear layer", error);
    rc = rc != 0 ? rc : check_width(net, columns, "a linear layer", error);
    rc = rc != 0 ? rc : check_finite(weight, count, "the weights of a linear layer", error);
    rc = rc != 0 ? rc : check_finite(bias, rows, "the biases of a linear layer", error);
    if (rc == 0 && net->scaled > 1 && net->scaled != columns) {
        rc = aq_fail(error, AQ_E_INVALID, "%u values are scaled before a layer that takes %u",
                     net->scaled, columns);
    }
    if (rc != 0) {
        return rc;
    }
    float *weights = copy_of(weight, count, 0.0f);
    float *biases = copy_of(bias, rows, 0.0f);
    if (net->scaled > 0 && weights != NULL && biases != NULL) {
        fold_scale(net, rows, columns, weights, biases);
        clear_scale(net);
    }
    return add_layer(net, &layer, weights, biases, error);
}

/* What only a linear layer can take in. */
static int check_plain(const aq_foreign_net *net, const char *what, aq_error *error)
{
    int rc = check_open(net, what, error);
    return rc != 0 || net->scaled == 0
               ? rc
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "values are scaled or shifted before %s, and only a linear layer can take "
                         "that in",
                         what);
}

int aq_foreign_norm(aq_foreign_net *net, const float *gain, const float *bias, uint32_t width,
                    aq_error *error)
{
    const aq_layer_spec layer = aq_layer_norm(width, AQ_ACTIVATION_NONE);
    int rc = check_plain(net, "a layer norm", error);
    rc = rc != 0 ? rc : check_width(net, width, "a layer norm", error);
    rc = rc != 0 ? rc : check_finite(gain, width, "the gains of a layer norm", error);
    rc = rc != 0 ? rc : check_finite(bias, width, "the biases of a layer norm", error);
    return rc != 0 ? rc
                   : add_layer(net, &layer, copy_of(gain, width, 1.0f), copy_of(bias, width, 0.0f),
                               error);
}

int aq_foreign_activate(aq_foreign_net *net, enum aq_activation activation, aq_error *error)
{
    const char *name = aq_activation_name(activation);
    int rc = check_plain(net, name, error);
    if (rc == 0 && net->spec.layer_count == 0) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED, "%s of the observation itself; a layer comes first",
                     name);
    }
    if (rc != 0) {
        return rc;
    }
    aq_layer_spec *last = &net->spec.layers[net->spec.layer_count - 1];
    if (last->activation != AQ_ACTIVATION_NONE) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s right behind %s; one activation follows a layer", name,
                       aq_activation_name(last->activation));
    }
    last->activation = activation;
    return 0;
}

/* ---- scales --------------------------------------------------------------------------------- */

static float value_of(const float *values, uint32_t count, size_t i, float otherwise)
{
    return values != NULL ? values[count > 1 ? i : 0] : otherwise;
}

/* Into the last layer, whose rows are scaled and shifted. */
static void scale_last(aq_foreign_net *net, const float *gain, const float *shift, uint32_t count)
{
    const uint32_t index = net->spec.layer_count - 1;
    const aq_layer_matrix_shape matrix = aq_layer_matrix(&net->spec.layers[index]);
    for (uint32_t row = 0; row < matrix.rows; row++) {
        const float times = value_of(gain, count, row, 1.0f);
        for (uint32_t i = 0; i < matrix.columns; i++) {
            net->weight[index][(size_t)row * matrix.columns + i] *= times;
        }
        net->bias[index][row] = net->bias[index][row] * times + value_of(shift, count, row, 0.0f);
    }
}

/* Of a value that no layer gave, or an activation. */
static int scale_value(aq_foreign_net *net, const float *gain, const float *shift, uint32_t count,
                       aq_error *error)
{
    const uint32_t wide = count > net->scaled ? count : net->scaled;
    float *gains = aq_alloc(wide, sizeof(*gains));
    float *shifts = aq_alloc(wide, sizeof(*shifts));
    if (gains == NULL || shifts == NULL) {
        aq_free(gains);
        aq_free(shifts);
        return aq_fail(error, AQ_E_NOMEM, "no memory to scale %u values", wide);
    }
    for (uint32_t i = 0; i < wide; i++) {
        const float times = value_of(gain, count, i, 1.0f);
        gains[i] = value_of(net->gain, net->scaled, i, 1.0f) * times;
        shifts[i] =
            value_of(net->shift, net->scaled, i, 0.0f) * times + value_of(shift, count, i, 0.0f);
    }
    clear_scale(net);
    net->gain = gains;
    net->shift = shifts;
    net->scaled = wide;
    return 0;
}

int aq_foreign_scale(aq_foreign_net *net, const float *gain, const float *shift, uint32_t count,
                     aq_error *error)
{
    const aq_layer_spec *last = aq_foreign_last(net);
    const uint32_t width = last != NULL ? last->outputs : net->scaled > 1 ? net->scaled : count;
    int rc = check_open(net, "a scale or shift", error);
    rc = rc != 0 ? rc : check_finite(gain, count, "a scale", error);
    rc = rc != 0 ? rc : check_finite(shift, count, "a shift", error);
    if (rc == 0 && (count == 0 || count > AQ_NET_WIDTH_MAX || (count > 1 && count != width))) {
        rc = aq_fail(error, AQ_E_INVALID, "%u numbers scale or shift %u values", count, width);
    }
    if (rc != 0) {
        return rc;
    }
    if (last != NULL && last->activation == AQ_ACTIVATION_NONE && net->scaled == 0) {
        scale_last(net, gain, shift, count);
        return 0;
    }
    return scale_value(net, gain, shift, count, error);
}

/* ---- the end -------------------------------------------------------------------------------- */

int aq_foreign_deviate(aq_foreign_net *net, const float *log_deviation, uint32_t count,
                       aq_error *error)
{
    int rc = check_finite(log_deviation, count, "the log-deviations", error);
    float *made = rc == 0 ? copy_of(log_deviation, count, 0.0f) : NULL;
    if (made == NULL) {
        return rc != 0 ? rc : aq_fail(error, AQ_E_NOMEM, "no memory for log-deviations");
    }
    aq_free(net->log_deviation);
    net->log_deviation = made;
    net->log_deviations = count;
    return 0;
}

int aq_foreign_clip(aq_foreign_net *net, float low, float high, aq_error *error)
{
    int rc = check_open(net, "another clip", error);
    if (rc == 0 && !(low <= high)) { /* nor NaN */
        rc = aq_fail(error, AQ_E_INVALID, "values are held between %g and %g", (double)low,
                     (double)high);
    }
    if (rc == 0) {
        net->ending = AQ_FOREIGN_CLIPPED;
        net->low = low;
        net->high = high;
    }
    return rc;
}

int aq_foreign_end(aq_foreign_net *net, enum aq_foreign_ending ending, aq_error *error)
{
    const bool is_choice = ending == AQ_FOREIGN_CHOICE;
    int rc = is_choice && net->ending == AQ_FOREIGN_SHARES
                 ? 0
                 : check_open(net, is_choice ? "ArgMax" : "Softmax", error);
    if (rc == 0) {
        net->ending = ending;
    }
    return rc;
}

int aq_foreign_check_end(const aq_foreign_net *net, aq_error *error)
{
    return check_plain(net, "the end", error);
}

int aq_foreign_take_spread(aq_foreign_net *net, const float *low, const float *high,
                           aq_error *error)
{
    for (uint32_t i = 0; net->scaled > 0 && i < aq_foreign_outputs(net); i++) {
        const double half = ((double)high[i] - (double)low[i]) / 2.0;
        const double gain = (double)value_of(net->gain, net->scaled, i, 1.0f);
        const double shift = (double)value_of(net->shift, net->scaled, i, 0.0f);
        if (!(fabs(gain - half) <= SPREAD_ERROR * half) ||
            !(fabs(shift - (double)low[i] - half) <= SPREAD_ERROR * half)) {
            return aq_fail(error, AQ_E_INVALID,
                           "the model spreads output %u between %g and %g, and an action of the "
                           "task goes from %g to %g",
                           i, shift - gain, shift + gain, (double)low[i], (double)high[i]);
        }
    }
    clear_scale(net);
    return 0;
}
