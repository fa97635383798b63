/*
 * Gaussian: one output, the mean, for each element of an action; the logarithms of the deviations
 * are an array of the network, the same wherever it acts. A mean of -1 to 1 is spread between an
 * element's bounds, and what is drawn beyond them is held there; the density is that of what was
 * drawn.
 */
#include <string.h>

#include "common/policy/gaussian.h"
#include "common/policy/head.h"

static int check(const aq_net_spec *spec, const aq_space *action, aq_error *error)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    int rc = aq_head_check_box(action, error);
    if (rc != 0) {
        return rc;
    }
    if (outputs != aq_space_elements(action)) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the network gives %u means for an action of %zu", outputs,
                       aq_space_elements(action));
    }
    if (aq_net_spec_acting_arrays(spec) != 1 || spec->arrays[0].count != outputs ||
        strcmp(spec->arrays[0].name, AQ_LOG_DEVIATION_ARRAY) != 0) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: a Gaussian one needs an array of %u log-deviations", outputs);
    }
    return 0;
}

static double log_deviation(const aq_head_terms *terms, const float *outputs, uint32_t i)
{
    (void)outputs;
    return (double)terms->arrays[i];
}

static void add(const aq_head_terms *terms, const float *outputs, uint32_t i,
                const aq_gaussian_slope *by, float scale, const aq_head_slope *slope)
{
    (void)terms;
    (void)outputs;
    slope->outputs[i] += scale * (float)by->mean;
    slope->arrays[i] += scale * (float)by->log_deviation;
}

static const aq_gaussian_rule rule = {.log_deviation = log_deviation, .add = add};

static const aq_head_drawing drawing = {
    AQ_GAUSSIAN_HEAD,
    .noise_count = aq_head_elements,
    .gaussian = &rule,
};

/* clang-format off */
static const char draw_text[] =
    "\n"
    "void @_draw(const float *obs, const float *noise, float *action, float *log_prob)\n"
    "{\n"
    "    float means[$outputs];\n"
    "    double sum = 0.0;\n"
    "    @_forward(obs, means);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        const double mean = (double)means[i], log_deviation = @_held(@_array0[i]);\n"
    "        action[i] = @_drawn(mean, log_deviation, noise[i]);\n"
    "        sum += log_prob != NULL ? @_log_density(mean, log_deviation, action[i]) : 0.0;\n"
    "    }\n"
    AQ_GAUSSIAN_DRAW_END;
/* clang-format on */

static const aq_head_code code = {
    .prototypes = {aq_scale_prototype, aq_gaussian_draw_prototype},
    .texts = {aq_scale_text, aq_gaussian_text, aq_gaussian_drawn_text, aq_scale_act_text,
              draw_text},
};

const aq_head aq_head_gaussian = {
    .name = "gaussian",
    .check = check,
    .act = aq_gaussian_head_act,
    .cost = aq_gaussian_head_cost,
    .drawing = &drawing,
    .code = &code,
};
