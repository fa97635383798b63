/*
 * gSDE, generalized state-dependent exploration (Raffin et al., 2021): the network gives features,
 * and its arrays hold the rest, for each element of an action a row of weights and a bias, which
 * make the mean of the features, and a row of deviations. Noise is a matrix that is drawn now
 * and then (draw_source.h) and held in between; what it adds to the mean follows from the features.
 * So exploration is smooth along a path, and the density at one step is Gaussian:
 *
 *   mean = weight . features + bias,  variance = sum over h of (deviation[h] features[h])^2
 *
 * The last layer is fp32 therefore, as the deviations are. These are kept as they are, not as
 * logarithms, so that a step costs no exponentials. Features get no gradient through the variance,
 * but for that of a divergence. A mean of -1 to 1 is spread between an element's bounds, and held
 * there.
 */
#include <string.h>

#include "common/base/exact_math.h"
#include "common/policy/gaussian.h"
#include "common/policy/head.h"

enum { WEIGHT, BIAS, DEVIATION, ARRAYS };

static int check(const aq_net_spec *spec, const aq_space *action, aq_error *error)
{
    static const char *const names[ARRAYS] = {"mean_weight", "mean_bias", "deviation"};
    const uint32_t features = aq_net_spec_outputs(spec);
    int rc = aq_head_check_box(action, error);
    if (rc != 0) {
        return rc;
    }
    const size_t elements = aq_space_elements(action);
    bool fits = aq_net_spec_acting_arrays(spec) == ARRAYS;
    for (int i = 0; fits && i < ARRAYS; i++) {
        fits = strcmp(spec->arrays[i].name, names[i]) == 0 &&
               spec->arrays[i].count == elements * (i == BIAS ? 1 : features);
    }
    return fits ? 0
                : aq_fail(error, AQ_E_SCHEMA,
                          "policy: gSDE of %u features needs weights, biases and deviations "
                          "of %zu elements as arrays",
                          features, elements);
}

/* ---- one element ---------------------------------------------------------------------------- */

/* Where an array begins, or the row of an element in it. */
static size_t row_of(const aq_head_terms *terms, int array, uint32_t i)
{
    const size_t matrix = (size_t)aq_head_elements(terms) * terms->width;
    switch (array) {
    case WEIGHT:
        return (size_t)i * terms->width;
    case BIAS:
        return matrix + i;
    default:
        return matrix + aq_head_elements(terms) + (size_t)i * terms->width;
    }
}

static double mean_of(const aq_head_terms *terms, const float *features, uint32_t i)
{
    const float *weight = terms->arrays + row_of(terms, WEIGHT, i);
    double sum = (double)terms->arrays[row_of(terms, BIAS, i)];
    for (uint32_t h = 0; h < terms->width; h++) {
        sum += (double)weight[h] * (double)features[h];
    }
    return sum;
}

/* The deviations of the features' noise; their signs mean nothing. */
static const float *deviations_of(const aq_head_terms *terms, uint32_t i)
{
    return terms->arrays + row_of(terms, DEVIATION, i);
}

static double variance_of(const aq_head_terms *terms, const float *features, uint32_t i)
{
    const float *deviation = deviations_of(terms, i);
    double sum = AQ_GSDE_LEAST_VARIANCE;
    for (uint32_t h = 0; h < terms->width; h++) {
        const double part = (double)deviation[h] * (double)features[h];
        sum += part * part;
    }
    return sum;
}

static double log_deviation(const aq_head_terms *terms, const float *features, uint32_t i)
{
    return 0.5 * aq_exact_log(variance_of(terms, features, i));
}

/* ---- drawing -------------------------------------------------------------------------------- */

static uint32_t noise_count(const aq_head_terms *terms)
{
    return aq_head_elements(terms) * terms->width;
}

static double drawn(const aq_head_terms *terms, const float *features, const float *noise,
                    uint32_t i)
{
    const float *deviation = deviations_of(terms, i);
    const float *own = noise + (size_t)i * terms->width;
    double sum = mean_of(terms, features, i);
    for (uint32_t h = 0; h < terms->width; h++) {
        sum += (double)deviation[h] * (double)own[h] * (double)features[h];
    }
    return sum;
}

static void add(const aq_head_terms *terms, const float *features, uint32_t i,
                const aq_gaussian_slope *by, float scale, const aq_head_slope *slope)
{
    const float *weight = terms->arrays + row_of(terms, WEIGHT, i);
    const float *deviation = deviations_of(terms, i);
    float *restrict d_weight = slope->arrays + row_of(terms, WEIGHT, i);
    float *restrict d_deviation = slope->arrays + row_of(terms, DEVIATION, i);
    float *restrict d_features = slope->outputs;
    const float by_mean = scale * (float)by->mean;
    const float by_square =
        (float)((double)scale * by->log_deviation / variance_of(terms, features, i));
    slope->arrays[row_of(terms, BIAS, i)] += by_mean;
    for (uint32_t h = 0; h < terms->width; h++) {
        d_weight[h] += by_mean * features[h];
        d_features[h] += by_mean * weight[h];
        d_deviation[h] += by_square * deviation[h] * features[h] * features[h];
    }
}

static void add_kl(const aq_head_terms *terms, const float *features, uint32_t i,
                   const aq_gaussian_slope *by, float scale, const aq_head_slope *slope)
{
    const float *deviation = deviations_of(terms, i);
    const float by_square =
        (float)((double)scale * by->log_deviation / variance_of(terms, features, i));
    add(terms, features, i, by, scale, slope);
    for (uint32_t h = 0; h < terms->width; h++) {
        slope->outputs[h] += by_square * deviation[h] * deviation[h] * features[h];
    }
}

static const aq_gaussian_rule rule = {
    .mean = mean_of,
    .log_deviation = log_deviation,
    .has_any_deviation = true,
    .drawn = drawn,
    .add = add,
    .add_kl = add_kl,
};

static const aq_head_drawing drawing = {
    AQ_GAUSSIAN_HEAD,
    .noise_count = noise_count,
    .holds_noise = true,
    .gaussian = &rule,
};

/* clang-format off */
static const char helpers_text[] =
    "\n"
    "/* Of an element: weights and bias make its mean of the features. */\n"
    "@_APART\n"
    "static double @_mean(const float *features, uint32_t i)\n"
    "{\n"
    "    double sum = (double)@_array1[i];\n"
    "    for (uint32_t h = 0; h < $outputs; h++) {\n"
    "        sum += (double)@_array0[i * $outputs + h] * (double)features[h];\n"
    "    }\n"
    "    return sum;\n"
    "}\n";

static const char prototype[] =
    "\n"
    "/* action[$elements]: each mean, -1 to 1, scaled to the bounds of its element. */\n"
    "void @_act(const float *obs, float *action);\n";

static const char act_text[] =
    "\n"
    "void @_act(const float *obs, float *action)\n"
    "{\n"
    "    float features[$outputs];\n"
    "    @_forward(obs, features);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        action[i] = (float)@_mean(features, i);\n"
    "    }\n"
    "    @_scale(@_bounds, $elements, action);\n"
    "}\n";

static const char draw_text[] =
    "\n"
    "/* What noise of the features, by their deviations, makes of a mean. */\n"
    "@_APART\n"
    "static float @_drawn(const float *features, uint32_t i, double mean, const float *noise)\n"
    "{\n"
    "    for (uint32_t h = 0; h < $outputs; h++) {\n"
    "        const uint32_t at = i * $outputs + h;\n"
    "        mean += (double)@_array2[at] * (double)noise[at] * (double)features[h];\n"
    "    }\n"
    "    return (float)mean;\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static double @_variance(const float *features, uint32_t i)\n"
    "{\n"
    "    double sum = 1e-6;\n"
    "    for (uint32_t h = 0; h < $outputs; h++) {\n"
    "        const double part = (double)@_array2[i * $outputs + h] * (double)features[h];\n"
    "        sum += part * part;\n"
    "    }\n"
    "    return sum;\n"
    "}\n"
    "\n"
    "void @_draw(const float *obs, const float *noise, float *action, float *log_prob)\n"
    "{\n"
    "    float features[$outputs];\n"
    "    double sum = 0.0;\n"
    "    @_forward(obs, features);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        const double mean = @_mean(features, i);\n"
    "        action[i] = @_drawn(features, i, mean, noise);\n"
    "        if (log_prob != NULL) {\n"
    "            const double log_deviation = 0.5 * @_exact_log(@_variance(features, i));\n"
    "            sum += @_log_density(mean, log_deviation, action[i]);\n"
    "        }\n"
    "    }\n"
    AQ_GAUSSIAN_DRAW_END;
/* clang-format on */

static const aq_head_code code = {
    .prototypes = {prototype, aq_gaussian_draw_prototype},
    .texts = {aq_scale_text, aq_gaussian_text, helpers_text, act_text, draw_text},
};

const aq_head aq_head_gsde = {
    .name = "gsde",
    .check = check,
    .act = aq_gaussian_head_act,
    .cost = aq_gaussian_head_cost,
    .drawing = &drawing,
    .code = &code,
};
