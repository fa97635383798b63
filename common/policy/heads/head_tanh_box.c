/*
 * tanh box: one output, -1 to 1, for each element of an action, between whose bounds it is spread.
 * Explores by noise.
 */
#include <math.h>

#include "common/policy/exploration.h"
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
                       "policy: the network gives %u values for an action of %zu", outputs,
                       aq_space_elements(action));
    }
    if (spec->layers[spec->layer_count - 1].activation != AQ_ACTIVATION_TANH) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the outputs of a continuous policy must end in tanh");
    }
    return 0;
}

static void act(const aq_head_terms *terms, const float *outputs, uint32_t rows, void *actions)
{
    float *elements = actions;
    for (size_t at = 0; at < (size_t)rows * terms->width; at++) {
        elements[at] = aq_head_spread(terms->action, at % terms->width, outputs[at]);
    }
}

/* How far elements are from fp32's, of the range from -1 to 1 that they have. */
static aq_head_cost cost(const aq_head_terms *terms, const float *exact, const float *outputs)
{
    double lost = 0.0;
    for (uint32_t i = 0; i < terms->width; i++) {
        lost += fabs((double)outputs[i] - (double)exact[i]);
    }
    return (aq_head_cost){lost, 2.0 * terms->width};
}

/* clang-format off */
const char aq_scale_text[] =
    "\n"
    "/* From -1 to 1 to between the bounds: low, high and high - low. What rounds beyond them is\n"
    "   held there, and what is not a number is the middle. */\n"
    "@_APART\n"
    "static void @_scale(const float (*bounds)[3], uint32_t count, float *action)\n"
    "{\n"
    "    for (uint32_t i = 0; i < count; i++) {\n"
    "        const float low = bounds[i][0], high = bounds[i][1];\n"
    "        const float unit = action[i] >= 0.0f || action[i] < 0.0f ? action[i] : 0.0f;\n"
    "        const float spread = low + (unit + 1.0f) / 2.0f * bounds[i][2];\n"
    "        action[i] = !(spread >= low) ? low : spread <= high ? spread : high;\n"
    "    }\n"
    "}\n";

const char aq_scale_prototype[] =
    "\n"
    "/* action[$outputs]: each output, -1 to 1, scaled to the bounds of its element. */\n"
    "void @_act(const float *obs, float *action);\n";

const char aq_scale_act_text[] =
    "\n"
    "void @_act(const float *obs, float *action)\n"
    "{\n"
    "    @_forward(obs, action);\n"
    "    @_scale(@_bounds, $outputs, action);\n"
    "}\n";
/* clang-format on */

static const aq_head_code code = {
    .prototypes = {aq_scale_prototype},
    .texts = {aq_scale_text, aq_scale_act_text},
    .is_in_place = true,
};

const aq_head aq_head_tanh_box = {
    .name = "continuous",
    .check = check,
    .act = act,
    .explore = aq_action_perturb,
    .cost = cost,
    .code = &code,
};
