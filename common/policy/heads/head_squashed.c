/*
 * Squashed Gaussian: two outputs for each element of an action, its mean and then, after all means,
 * the logarithm of its deviation. What is drawn is brought between -1 and 1 by tanh, and spread
 * between the element's bounds; the density is that of the squashed number, from -1 to 1.
 *
 * Noise may be held for some steps, which is smoother along a path and the same at each step.
 *
 * Divergences are those of the numbers before tanh, which changes nothing about them; so is the
 * entropy, which has no formula afterwards.
 */
#include "common/base/exact_math.h"
#include "common/policy/gaussian.h"
#include "common/policy/head.h"

#define LOG_2 0.69314718055994530942

static int check(const aq_net_spec *spec, const aq_space *action, aq_error *error)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    int rc = aq_head_check_box(action, error);
    if (rc != 0) {
        return rc;
    }
    if (outputs != 2 * aq_space_elements(action)) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the network gives %u values, a mean and a deviation of each of "
                       "%zu elements are %zu",
                       outputs, aq_space_elements(action), 2 * aq_space_elements(action));
    }
    return 0;
}

static double log_deviation(const aq_head_terms *terms, const float *outputs, uint32_t i)
{
    return (double)outputs[aq_head_elements(terms) + i];
}

/* -log(1 - tanh(u)^2), also where tanh rounds to 1. */
static double log_stretch(double u)
{
    const double size = u < 0.0 ? -u : u;
    return 2.0 * (size + aq_exact_softplus(-2.0 * size) - LOG_2);
}

static void add(const aq_head_terms *terms, const float *outputs, uint32_t i,
                const aq_gaussian_slope *by, float scale, const aq_head_slope *slope)
{
    (void)outputs;
    slope->outputs[i] += scale * (float)by->mean;
    slope->outputs[aq_head_elements(terms) + i] += scale * (float)by->log_deviation;
}

static const aq_gaussian_rule rule = {
    .log_deviation = log_deviation,
    .squash = aq_exact_tanh,
    .add = add,
    .log_stretch = log_stretch,
};

static const aq_head_drawing drawing = {
    AQ_GAUSSIAN_HEAD,
    .noise_count = aq_head_elements,
    .holds_noise = true,
    .gaussian = &rule,
};

/* clang-format off */
static const char prototype[] =
    "\n"
    "/* action[$elements]: the tanh of each mean, scaled to the bounds of its element. */\n"
    "void @_act(const float *obs, float *action);\n";

static const char act_text[] =
    "\n"
    "void @_act(const float *obs, float *action)\n"
    "{\n"
    "    float outputs[$outputs];\n"
    "    @_forward(obs, outputs);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        action[i] = (float)@_exact_tanh((double)outputs[i]);\n"
    "    }\n"
    "    @_scale(@_bounds, $elements, action);\n"
    "}\n";

static const char draw_text[] =
    "\n"
    "/* What the log-density is more than that of the number before tanh. */\n"
    "@_APART\n"
    "static double @_log_stretch(float drawn)\n"
    "{\n"
    "    const double size = drawn < 0.0f ? -(double)drawn : (double)drawn;\n"
    "    return 2.0 * (size + @_exact_softplus(-2.0 * size) - 0.69314718055994530942);\n"
    "}\n"
    "\n"
    "void @_draw(const float *obs, const float *noise, float *action, float *log_prob)\n"
    "{\n"
    "    float outputs[$outputs];\n"
    "    double sum = 0.0;\n"
    "    @_forward(obs, outputs);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        const double mean = (double)outputs[i];\n"
    "        const double log_deviation = @_held(outputs[$elements + i]);\n"
    "        const float drawn = @_drawn(mean, log_deviation, noise[i]);\n"
    "        sum += log_prob != NULL ? @_log_density(mean, log_deviation, drawn) : 0.0;\n"
    "        sum += log_prob != NULL ? @_log_stretch(drawn) : 0.0;\n"
    "        action[i] = (float)@_exact_tanh((double)drawn);\n"
    "    }\n"
    AQ_GAUSSIAN_DRAW_END;
/* clang-format on */

static const aq_head_code code = {
    .prototypes = {prototype, aq_gaussian_draw_prototype},
    .texts = {aq_scale_text, aq_gaussian_text, aq_gaussian_drawn_text, act_text, draw_text},
};

const aq_head aq_head_squashed = {
    .name = "squashed gaussian",
    .check = check,
    .act = aq_gaussian_head_act,
    .cost = aq_gaussian_head_cost,
    .drawing = &drawing,
    .code = &code,
};
