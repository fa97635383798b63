/*
 * A forward pass in double, kind by kind, and its differences.
 */
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

#include "tests/unit/learner/net_fixture.h"

/* What quantizing adds to the layers' inputs; zero where it is off. */
typedef struct offsets {
    double input[AQ_NET_LAYERS_MAX][NET_ROWS][NET_WIDTH_MAX];
} offsets;

net_shape net_random_shape(enum aq_activation activation, uint64_t seed)
{
    net_shape shape = {.activation = activation};
    aq_rng rng = rng_of(seed, activation);
    shape.hidden_count = (uint32_t)aq_rng_below(&rng, 5);
    for (uint32_t i = 0; i < shape.hidden_count; i++) {
        shape.hidden[i] = 1 + (uint32_t)aq_rng_below(&rng, 20);
    }
    shape.inputs = 1 + (uint32_t)aq_rng_below(&rng, 8);
    shape.outputs = 1 + (uint32_t)aq_rng_below(&rng, 5);
    return shape;
}

aq_net_spec net_spec_of(const net_shape *shape)
{
    aq_net_spec spec = {0};
    uint32_t width = shape->inputs;
    for (uint32_t i = 0; i < shape->hidden_count; i++) {
        net_add(&spec, aq_layer_linear(width, shape->hidden[i],
                                       shape->has_norm ? AQ_ACTIVATION_NONE : shape->activation));
        if (shape->has_norm) {
            net_add(&spec, aq_layer_norm(shape->hidden[i], shape->activation));
        }
        width = shape->hidden[i];
    }
    net_add(&spec, aq_layer_linear(width, shape->outputs + shape->is_dueling, AQ_ACTIVATION_NONE));
    if (shape->is_dueling) {
        net_add(&spec, aq_layer_dueling(shape->outputs, 1));
    }
    assert_int_equal(aq_net_spec_validate(&spec, NULL), 0);
    return spec;
}

static aq_net_train *make_train(const aq_net_spec *spec, aq_fake_quant quant)
{
    aq_net_train *train = NULL;
    assert_succeeds(aq_net_train_create(
        &(aq_net_train_config){
            .spec = spec, .rows_max = NET_ROWS, .backward_rows_max = NET_ROWS, .quant = quant},
        &train, NULL));
    aq_net_train_quantize(train, quant.bits != 0);
    return train;
}

static void drop_fixture(void *user)
{
    net_fixture *fixture = user;
    aq_net_train_destroy(fixture->train);
    aq_params_fini(&fixture->gradient);
    aq_params_fini(&fixture->params);
    aq_free(fixture);
}

net_fixture *net_fixture_of(const aq_net_spec *spec, aq_fake_quant quant, uint64_t seed)
{
    net_fixture *fixture = aq_alloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    at_end(drop_fixture, fixture);
    fixture->spec = *spec;
    fixture->quant = quant;
    assert_int_equal(aq_params_init(spec, &fixture->params), 0);
    assert_int_equal(aq_params_init(spec, &fixture->gradient), 0);
    fixture->train = make_train(spec, quant);
    aq_rng rng = rng_of(seed, 0);
    aq_params_randomize(spec, &fixture->params, &rng);
    for (size_t k = 0; k < fixture->params.count; k++) { /* gains that are not 1, too */
        fixture->params.block[k] += (float)aq_rng_range(&rng, -0.1, 0.1);
    }
    for (size_t i = 0; i < (size_t)NET_ROWS * NET_WIDTH_MAX; i++) {
        fixture->input[i] = (float)aq_rng_normal(&rng);
        fixture->d_out[i] = (float)aq_rng_normal(&rng);
    }
    return fixture;
}

double exact_activation(uint32_t activation, double z)
{
    switch (activation) {
    case AQ_ACTIVATION_RELU:
        return z > 0 ? z : 0;
    case AQ_ACTIVATION_TANH:
        return tanh(z);
    case AQ_ACTIVATION_ELU:
        return z > 0 ? z : expm1(z);
    default:
        return z;
    }
}

static void linear(const aq_layer_spec *layer, const double *at, const double *x, double *z)
{
    for (uint32_t o = 0; o < layer->outputs; o++) {
        z[o] = at[layer->inputs * layer->outputs + o];
        for (uint32_t i = 0; i < layer->inputs; i++) {
            z[o] += x[i] * at[o * layer->inputs + i];
        }
    }
}

static void convolve(const aq_layer_spec *layer, const double *at, const double *x, double *z)
{
    const aq_conv_shape *of = &layer->conv;
    const uint32_t patch = of->kernel * of->kernel * of->channels, width = aq_conv_out_width(of);
    for (uint32_t o = 0; o < layer->outputs; o++) {
        const uint32_t f = o % of->filters, pixel = o / of->filters;
        z[o] = at[of->filters * patch + f];
        for (uint32_t k = 0; k < patch; k++) {
            const uint32_t tap = k / of->channels;
            const int64_t row =
                (int64_t)(pixel / width * of->stride + tap / of->kernel) - of->padding;
            const int64_t column =
                (int64_t)(pixel % width * of->stride + tap % of->kernel) - of->padding;
            if (row >= 0 && row < of->height && column >= 0 && column < of->width) {
                z[o] += x[(row * of->width + column) * of->channels + k % of->channels] *
                        at[f * patch + k];
            }
        }
    }
}

static void pool(const aq_layer_spec *layer, const double *x, double *z)
{
    const aq_conv_shape *of = &layer->conv;
    const uint32_t width = aq_conv_out_width(of);
    for (uint32_t o = 0; o < layer->outputs; o++) {
        const uint32_t c = o % of->channels, pixel = o / of->channels;
        z[o] = -INFINITY;
        for (uint32_t tap = 0; tap < of->kernel * of->kernel; tap++) {
            const int64_t row =
                (int64_t)(pixel / width * of->stride + tap / of->kernel) - of->padding;
            const int64_t column =
                (int64_t)(pixel % width * of->stride + tap % of->kernel) - of->padding;
            if (row >= 0 && row < of->height && column >= 0 && column < of->width) {
                z[o] = fmax(z[o], x[(row * of->width + column) * of->channels + c]);
            }
        }
    }
}

static void norm(const aq_layer_spec *layer, const double *at, const double *x, double *z)
{
    const uint32_t width = layer->outputs;
    double mean = 0, variance = 0;
    for (uint32_t i = 0; i < width; i++) {
        mean += x[i] / width;
    }
    for (uint32_t i = 0; i < width; i++) {
        variance += (x[i] - mean) * (x[i] - mean) / width;
    }
    for (uint32_t i = 0; i < width; i++) {
        z[i] = at[i] * (x[i] - mean) / sqrt(variance + (double)AQ_NORM_EPSILON) + at[width + i];
    }
}

static void dueling(const aq_layer_spec *layer, const double *x, double *z)
{
    const uint32_t atoms = layer->head.atoms, choices = layer->head.choices;
    for (uint32_t k = 0; k < atoms; k++) {
        double mean = 0;
        for (uint32_t c = 0; c < choices; c++) {
            mean += x[(1 + c) * atoms + k] / choices;
        }
        for (uint32_t c = 0; c < choices; c++) {
            z[c * atoms + k] = x[k] + x[(1 + c) * atoms + k] - mean;
        }
    }
}

/* The values of a network for one row. */
typedef struct row_values {
    double of[AQ_NET_VALUES_MAX][NET_WIDTH_MAX];
} row_values;

/* Layer `l`, whose parameters begin at `at`, given x as its first value. */
static void forward_layer(const aq_net_spec *spec, uint32_t l, const double *at, const double *x,
                          row_values *values)
{
    const aq_layer_spec *layer = &spec->layers[l];
    double z[NET_WIDTH_MAX];
    switch (layer->kind) {
    case AQ_LAYER_LINEAR:
        linear(layer, at, x, z);
        break;
    case AQ_LAYER_CONV2D:
        convolve(layer, at, x, z);
        break;
    case AQ_LAYER_POOL:
        pool(layer, x, z);
        break;
    case AQ_LAYER_NORM:
        norm(layer, at, x, z);
        break;
    case AQ_LAYER_DUELING:
        dueling(layer, x, z);
        break;
    default:
        assert_int_equal(layer->kind, AQ_LAYER_ADD);
        for (uint32_t o = 0; o < layer->outputs; o++) {
            z[o] = x[o] + values->of[layer->sources.values[1]][o];
        }
        break;
    }
    for (uint32_t o = 0; o < layer->outputs; o++) {
        values->of[1 + l][o] = exact_activation(layer->activation, z[o]);
    }
}

/* sum over `rows` rows of d_out . net(input), in double; `parameters` in the block's order. */
static double objective(const net_fixture *f, const double *parameters, const offsets *added,
                        uint32_t rows)
{
    const uint32_t inputs = aq_net_spec_inputs(&f->spec), outputs = aq_net_spec_outputs(&f->spec);
    const uint32_t count = f->spec.layer_count;
    double sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        row_values values;
        const double *at = parameters;
        for (uint32_t i = 0; i < inputs; i++) {
            values.of[0][i] = f->input[r * inputs + i];
        }
        for (uint32_t l = 0; l < count; l++) {
            const uint32_t from = aq_net_sources(&f->spec, l).values[0];
            double x[NET_WIDTH_MAX];
            for (uint32_t i = 0; i < aq_net_value_width(&f->spec, from); i++) {
                x[i] = values.of[from][i] + added->input[l][r][i];
            }
            forward_layer(&f->spec, l, at, x, &values);
            at += aq_layer_parameters(&f->spec.layers[l]);
        }
        for (uint32_t o = 0; o < outputs; o++) {
            sum += values.of[count][o] * f->d_out[r * outputs + o];
        }
    }
    return sum;
}

/* What a network of the layers before `l`, which end in what it takes, gives it when quantized. */
static void find_quantized_input(const net_fixture *f, uint32_t l, float *quantized)
{
    aq_net_spec before = f->spec;
    aq_net_train *train = NULL;
    before.layer_count = l;
    assert_true(aq_net_is_chained(&f->spec, l));
    assert_true(l == 0 || aq_net_spec_validate(&before, NULL) == 0);
    train = l > 0 ? make_train(&before, f->quant) : NULL;
    aq_fake_quant_input(l > 0 ? aq_net_forward(train, &f->params, f->input, NET_ROWS) : f->input,
                        NET_ROWS, f->spec.layers[l].inputs, quantized);
    aq_net_train_destroy(train);
}

/* Layer by layer: what goes in in double, and what the quantized input of the same layer is. */
static void find_input_offsets(const net_fixture *f, const double *parameters, offsets *added)
{
    static row_values values[NET_ROWS];
    const uint32_t inputs = aq_net_spec_inputs(&f->spec);
    const double *at = parameters;
    for (uint32_t i = 0; i < NET_ROWS * inputs; i++) {
        values[i / inputs].of[0][i % inputs] = f->input[i];
    }
    for (uint32_t l = 0; l < f->spec.layer_count; l++) {
        const uint32_t from = aq_net_sources(&f->spec, l).values[0];
        const uint32_t width = aq_net_value_width(&f->spec, from);
        float quantized[NET_ROWS * NET_WIDTH_MAX];
        const bool is_quantized = aq_fake_quant_covers(&f->quant, &f->spec, l);
        if (is_quantized) {
            find_quantized_input(f, l, quantized);
        }
        for (uint32_t r = 0; r < NET_ROWS; r++) {
            double x[NET_WIDTH_MAX];
            for (uint32_t i = 0; i < width; i++) {
                x[i] = is_quantized ? quantized[r * width + i] : values[r].of[from][i];
                added->input[l][r][i] = x[i] - values[r].of[from][i];
            }
            forward_layer(&f->spec, l, at, x, &values[r]);
        }
        at += aq_layer_parameters(&f->spec.layers[l]);
    }
}

/* Parameters as they are computed with, and what is added to the layers' inputs. */
static void start(const net_fixture *f, double *parameters, offsets *added)
{
    aq_params used;
    assert_int_equal(aq_params_init(&f->spec, &used), 0);
    aq_params_copy(&used, &f->params);
    if (f->quant.bits != 0) {
        aq_fake_quant_params(&f->quant, &f->spec, &f->params, &used);
    }
    for (size_t k = 0; k < used.count; k++) {
        parameters[k] = used.block[k];
    }
    memset(added, 0, sizeof(*added));
    if (f->quant.bits != 0) {
        find_input_offsets(f, parameters, added);
    }
    aq_params_fini(&used);
}

/* Of parameters over `rows` rows by differences; returns the largest. */
static double parameter_differences(const net_fixture *f, double *parameters, const offsets *added,
                                    uint32_t rows, double *want)
{
    const double h = 1e-6;
    double largest = 0;
    for (size_t k = 0; k < f->params.count; k++) {
        double value = parameters[k], above, below;
        parameters[k] = value + h;
        above = objective(f, parameters, added, rows);
        parameters[k] = value - h;
        below = objective(f, parameters, added, rows);
        parameters[k] = value;
        want[k] = (above - below) / (2 * h);
        largest = fmax(largest, fabs(want[k]));
    }
    return largest;
}

void net_fixture_check_gradient(net_fixture *f, uint32_t rows)
{
    static offsets added;
    static double parameters[NET_PARAMETERS_MAX], want[NET_PARAMETERS_MAX];
    float d_out[NET_ROWS * NET_WIDTH_MAX];
    assert_true(f->params.count <= NET_PARAMETERS_MAX);
    start(f, parameters, &added);
    const double largest = parameter_differences(f, parameters, &added, rows, want);
    memcpy(d_out, f->d_out, sizeof(d_out));
    aq_net_forward(f->train, &f->params, f->input, NET_ROWS);
    aq_net_backward(f->train, d_out, rows, &f->gradient);
    assert_true(largest > 0);
    for (size_t k = 0; k < f->params.count; k++) {
        if (!(fabs(f->gradient.block[k] - want[k]) <= 2e-5 * largest)) {
            fail_msg("parameter %zu: %.9g, by differences %.9g", k, (double)f->gradient.block[k],
                     want[k]);
        }
    }
}

void net_fixture_check_input_gradient(net_fixture *f, uint32_t rows, uint32_t counted,
                                      uint32_t first_row, uint32_t first_column)
{
    static offsets added;
    static double parameters[NET_PARAMETERS_MAX], want[NET_PARAMETERS_MAX];
    const uint32_t inputs = aq_net_spec_inputs(&f->spec);
    const double h = 1e-6;
    float d_out[NET_ROWS * NET_WIDTH_MAX], d_input[NET_ROWS * NET_WIDTH_MAX];
    const float *got = d_input;
    start(f, parameters, &added);
    const double largest = parameter_differences(f, parameters, &added, counted, want);
    memcpy(d_out, f->d_out, sizeof(d_out));
    aq_net_forward(f->train, &f->params, f->input, NET_ROWS);
    aq_net_backward_as(f->train, &(aq_net_backward_plan){.d_out = d_out,
                                                         .rows = rows,
                                                         .counted_rows = counted,
                                                         .gradient = &f->gradient,
                                                         .d_input = d_input,
                                                         .input_first_row = first_row,
                                                         .input_first_column = first_column});
    for (size_t k = 0; k < f->params.count; k++) {
        assert_true(fabs(f->gradient.block[k] - want[k]) <= 2e-5 * largest);
    }
    for (uint32_t r = first_row; r < rows; r++) {
        for (uint32_t i = first_column; i < inputs; i++) {
            double above, below;
            added.input[0][r][i] = h;
            above = objective(f, parameters, &added, rows);
            added.input[0][r][i] = -h;
            below = objective(f, parameters, &added, rows);
            added.input[0][r][i] = 0;
            assert_near(*got++, (above - below) / (2 * h), 2e-5);
        }
    }
}
