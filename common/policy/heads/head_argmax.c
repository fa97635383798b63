/*
 * argmax: one output for each choice; the greatest is chosen. Of several choices at once, each has
 * its outputs behind those of the one before. Explores epsilon-greedily.
 */
#include "common/policy/exploration.h"
#include "common/policy/head.h"

int aq_greatest_check(const aq_net_spec *spec, const aq_space *action, aq_error *error)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    if (action->kind != AQ_SPACE_DISCRETE) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the greatest output can choose only a discrete action");
    }
    if (outputs != aq_space_choices_all(action)) {
        return aq_fail(error, AQ_E_SCHEMA, "policy: the network gives %u values for %u choices",
                       outputs, aq_space_choices_all(action));
    }
    return 0;
}

void aq_greatest_act(const aq_head_terms *terms, const float *outputs, uint32_t rows, void *actions)
{
    const uint32_t parts = aq_head_parts(terms);
    int32_t *choices = actions;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < parts; i++) {
            const uint32_t width = aq_head_width(terms, i);
            *choices++ = (int32_t)aq_argmax(outputs, width);
            outputs += width;
        }
    }
}

/* By fp32's values: what the chosen one is worth less than the best, of what a choice by chance
 * would be. */
static aq_head_cost cost(const aq_head_terms *terms, const float *exact, const float *outputs)
{
    const uint32_t parts = aq_head_parts(terms);
    aq_head_cost sum = {0.0, 0.0};
    for (uint32_t part = 0; part < parts; part++) {
        const uint32_t width = aq_head_width(terms, part);
        const double best = (double)exact[aq_argmax(exact, width)];
        for (uint32_t i = 0; i < width; i++) {
            sum.at_stake += (best - (double)exact[i]) / width;
        }
        sum.lost += best - (double)exact[aq_argmax(outputs, width)];
        exact += width;
        outputs += width;
    }
    return sum;
}

/* clang-format off */
const char aq_greatest_text[] =
    "\n"
    "static uint32_t @_greatest(const float *values, uint32_t count)\n"
    "{\n"
    "    uint32_t best = 0;\n"
    "    for (uint32_t i = 1; i < count; i++) {\n"
    "        if (values[i] > values[best] ||\n"
    "            (values[best] != values[best] && values[i] == values[i])) {\n"
    "            best = i;\n"
    "        }\n"
    "    }\n"
    "    return best;\n"
    "}\n";

const char aq_greatest_prototype_one[] =
    "\n"
    "/* The choice, 0 to $last_output: the greatest output, the first of equals. "
    "NaN never wins. */\n"
    "uint32_t @_act(const float *obs);\n";

const char aq_greatest_act_one[] =
    "\n"
    "uint32_t @_act(const float *obs)\n"
    "{\n"
    "    float values[$outputs];\n"
    "    @_forward(obs, values);\n"
    "    return @_greatest(values, $outputs);\n"
    "}\n";

const char aq_greatest_prototype_row[] =
    "\n"
    "/* The $elements choices of an action, each from 0 on: of its own outputs the greatest, the\n"
    "   first of equals. NaN never wins. */\n"
    "void @_act(const float *obs, int32_t *action);\n";

const char aq_greatest_act_row[] =
    "\n"
    "void @_act(const float *obs, int32_t *action)\n"
    "{\n"
    "    float values[$outputs];\n"
    "    const float *own = values;\n"
    "    @_forward(obs, values);\n"
    "    for (uint32_t i = 0; i < $elements; i++) {\n"
    "        const uint32_t count = (uint32_t)@_bounds[i][1] + 1;\n"
    "        action[i] = (int32_t)@_greatest(own, count);\n"
    "        own += count;\n"
    "    }\n"
    "}\n";
/* clang-format on */

static const aq_head_code code = {
    .prototypes = {aq_greatest_prototype_one},
    .texts = {aq_greatest_text, aq_greatest_act_one},
};

static const aq_head_code code_of_row = {
    .prototypes = {aq_greatest_prototype_row},
    .texts = {aq_greatest_text, aq_greatest_act_row},
};

const aq_head aq_head_argmax = {
    .name = "argmax",
    .check = aq_greatest_check,
    .act = aq_greatest_act,
    .explore = aq_action_epsilon_greedy,
    .cost = cost,
    .code = &code,
    .code_of_row = &code_of_row,
};
