/*
 * argmax: one output for each choice; the greatest is chosen. Explores epsilon-greedily.
 */
#include "common/policy/exploration.h"
#include "common/policy/head.h"

static int check(const aq_net_spec *spec, const aq_space *action, aq_error *error)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    if (action->kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the greatest output can choose only a discrete action");
    }
    if (outputs != action->choice_count) {
        return aq_fail(error, AQ_E_SCHEMA, "policy: the network gives %u values for %u choices",
                       outputs, action->choice_count);
    }
    return 0;
}

static void act(const aq_head_terms *terms, const float *outputs, uint32_t rows, void *actions)
{
    const uint32_t width = terms->width;
    int32_t *choices = actions;
    for (uint32_t row = 0; row < rows; row++) {
        choices[row] = (int32_t)aq_argmax(outputs + (size_t)row * width, width);
    }
}

/* By fp32's values: what the chosen one is worth less than the best, of what a choice by chance
 * would be. */
static aq_head_cost cost(const aq_head_terms *terms, const float *exact, const float *outputs)
{
    const uint32_t width = terms->width;
    const double best = (double)exact[aq_argmax(exact, width)];
    double at_stake = 0.0;
    for (uint32_t i = 0; i < width; i++) {
        at_stake += (best - (double)exact[i]) / width;
    }
    return (aq_head_cost){best - (double)exact[aq_argmax(outputs, width)], at_stake};
}

/* clang-format off */
const char aq_greatest_text[] =
    "\n"
    "static uint32_t @_greatest(const float *values)\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    for (uint32_t i = 1; i < $outputs; i++) {\n"
    "        if (values[i] > values[best] ||\n"
    "            (values[best] != values[best] && values[i] == values[i])) {\n"
    "            best = i;\n"
    "        }\n"
    "    }\n"
    "    return best;\n"
    "}\n";

const char aq_greatest_prototype[] =
    "\n"
    "/* The choice, 0 to $last_output: the greatest output, the first of equals. "
    "NaN never wins. */\n"
    "uint32_t @_act(const float *obs);\n";

const char aq_greatest_act_text[] =
    "\n"
    "uint32_t @_act(const float *obs)\n"
    "{\n"
    "    float values[$outputs];\n"
    "    @_forward(obs, values);\n"
    "    return @_greatest(values);\n"
    "}\n";
/* clang-format on */

static const aq_head_code code = {
    .helpers = {aq_greatest_text},
    .prototype = aq_greatest_prototype,
    .act = aq_greatest_act_text,
    .keeps_outputs = true,
};

const aq_head aq_head_argmax = {
    .name = "argmax",
    .check = check,
    .act = act,
    .explore = aq_action_epsilon_greedy,
    .cost = cost,
    .code = &code,
};
