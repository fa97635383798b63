/*
 * Policy import: see policy_import.h.
 */
#include "interchange/import/policy_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/policy/gaussian.h"
#include "quantizer/quantize/quantize.h"

static const char *const end_names[] = {
    [AQ_IMPORT_END_VALUES] = "values",
    [AQ_IMPORT_END_LOGITS] = "logits",
    [AQ_IMPORT_END_TANH] = "tanh",
    [AQ_IMPORT_END_ACTIONS] = "actions",
};
enum { ENDS = sizeof(end_names) / sizeof(end_names[0]) };

int aq_import_end_from_text(const char *text, enum aq_import_end *ret_end, aq_error *error)
{
    for (int i = AQ_IMPORT_END_VALUES; i < ENDS; i++) {
        if (strcmp(text, end_names[i]) == 0) {
            *ret_end = (enum aq_import_end)i;
            return 0;
        }
    }
    return aq_fail(error, AQ_E_INVALID,
                   "'%s' is nothing that outputs are; there are values, logits, tanh and actions",
                   text);
}

/* ---- whether it fits ------------------------------------------------------------------------ */

static int check_sizes(const aq_foreign_net *net, const aq_schema *schema, aq_error *error)
{
    const size_t obs = aq_space_elements(&schema->obs);
    const size_t wanted = schema->action.kind == AQ_SPACE_DISCRETE
                              ? aq_space_choices_all(&schema->action)
                              : aq_space_elements(&schema->action);
    int rc =
        aq_foreign_last(net) != NULL ? 0 : aq_fail(error, AQ_E_INVALID, "there is no layer in it");
    if (rc == 0 && aq_foreign_inputs(net) != obs) {
        rc = aq_fail(error, AQ_E_SCHEMA,
                     "the network takes %u values, and an observation of the task has %zu",
                     aq_foreign_inputs(net), obs);
    }
    if (rc == 0 && aq_foreign_outputs(net) != wanted) {
        rc = aq_fail(
            error, AQ_E_SCHEMA, "the network gives %u values, and the task asks for %zu (%s)",
            aq_foreign_outputs(net), wanted,
            schema->action.kind == AQ_SPACE_DISCRETE ? "one for each choice"
                                                     : "one for each element of an action");
    }
    return rc;
}

static bool ends_in_tanh(const aq_foreign_net *net)
{
    return aq_foreign_last(net)->activation == AQ_ACTIVATION_TANH;
}

/* What the outputs are, if nobody said. What is held between bounds, and is no tanh, is actions. */
static int find_end(const aq_foreign_net *net, const aq_space *action, enum aq_import_end *end,
                    aq_error *error)
{
    const bool is_box = action->kind == AQ_SPACE_BOX;
    if (*end == AQ_IMPORT_END_FOUND && !is_box) {
        *end = AQ_IMPORT_END_VALUES;
    } else if (*end == AQ_IMPORT_END_FOUND && ends_in_tanh(net)) {
        *end = AQ_IMPORT_END_TANH;
    } else if (*end == AQ_IMPORT_END_FOUND && net->ending == AQ_FOREIGN_CLIPPED) {
        *end = AQ_IMPORT_END_ACTIONS;
    }
    const bool is_for_box = *end == AQ_IMPORT_END_TANH || *end == AQ_IMPORT_END_ACTIONS;
    if (*end == AQ_IMPORT_END_FOUND) {
        return aq_fail(error, AQ_E_INVALID,
                       "the file does not tell what its outputs are; say --end tanh (SAC, TD3, "
                       "DDPG) or --end actions (PPO, A2C)");
    }
    return is_for_box == is_box
               ? 0
               : aq_fail(error, AQ_E_SCHEMA,
                         "outputs that are %s are for actions that are %s, and the task's are %s",
                         end_names[*end], is_for_box ? "numbers" : "choices",
                         is_box ? "numbers" : "choices");
}

/* ---- the end -------------------------------------------------------------------------------- */

/* That what the model does at its end is what the policy's head does. */
static int check_ending(const aq_foreign_net *net, const aq_space *action, enum aq_import_end end,
                        aq_error *error)
{
    const bool is_box = action->kind == AQ_SPACE_BOX;
    const bool is_within = end == AQ_IMPORT_END_TANH && net->scaled == 0;
    switch (net->ending) {
    case AQ_FOREIGN_OPEN:
        return 0;
    case AQ_FOREIGN_SHARES:
        return !is_box ? 0
                       : aq_fail(error, AQ_E_SCHEMA,
                                 "the model ends in Softmax, and the task's actions are numbers");
    case AQ_FOREIGN_CHOICE:
        return end == AQ_IMPORT_END_VALUES && aq_space_elements(action) == 1
                   ? 0
                   : aq_fail(error, AQ_E_SCHEMA,
                             "the model gives the number of the greatest output, which is an "
                             "action of one choice, by --end values");
    case AQ_FOREIGN_CLIPPED:
        break;
    }
    if (!is_box || (end == AQ_IMPORT_END_TANH && !ends_in_tanh(net))) {
        return aq_fail(error, AQ_E_INVALID, "outputs that are %s are held between %g and %g",
                       end_names[end], (double)net->low, (double)net->high);
    }
    for (size_t i = 0; i < aq_space_elements(action); i++) {
        const size_t at = aq_space_bound(action, i);
        const float low = is_within ? -1.0f : action->low[at];
        const float high = is_within ? 1.0f : action->high[at];
        if (!(net->low <= low && net->high >= high)) {
            return aq_fail(error, AQ_E_SCHEMA,
                           "the model holds its outputs between %g and %g, and %s go from %g to %g",
                           (double)net->low, (double)net->high,
                           is_within ? "they" : "the task's actions", (double)low, (double)high);
        }
    }
    return 0;
}

/* Of the model's own tanh, also what spreads it between the bounds, which the head does. */
static int end_in_tanh(aq_foreign_net *net, const aq_space *action, aq_error *error)
{
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];
    const uint32_t count = aq_foreign_outputs(net);
    if (!ends_in_tanh(net)) {
        int rc = aq_foreign_check_end(net, error);
        return rc != 0 ? rc : aq_foreign_activate(net, AQ_ACTIVATION_TANH, error);
    }
    if (net->scaled > 0 && (count > AQ_BOUNDS_MAX || !aq_space_is_bounded(action))) {
        return aq_foreign_check_end(net, error);
    }
    for (uint32_t i = 0; net->scaled > 0 && i < count; i++) {
        const size_t at = aq_space_bound(action, i);
        low[i] = action->low[at];
        high[i] = action->high[at];
    }
    return aq_foreign_take_spread(net, low, high, error);
}

static int check_deviations(const aq_foreign_net *net, aq_error *error)
{
    const uint32_t count = aq_foreign_outputs(net), inputs = aq_foreign_last(net)->inputs;
    if (net->log_deviation == NULL || net->log_deviations == count) {
        return 0;
    }
    return aq_fail(
        error, AQ_E_INVALID, "%u log-deviations for %u outputs%s", net->log_deviations, count,
        net->log_deviations % inputs != 0
            ? ""
            : ": one for each input of the last layer, as of gSDE (use_sde), whose noise "
              "is not imported; for the means alone, leave log_std out of the arrays");
}

/* From an action's own units to -1 to 1 between its bounds, and its deviation with it. */
static int end_in_means(aq_foreign_net *net, const aq_space *action, float *log_deviation,
                        aq_error *error)
{
    float gain[AQ_BOUNDS_MAX], shift[AQ_BOUNDS_MAX];
    const uint32_t count = aq_foreign_outputs(net);
    if (count > AQ_BOUNDS_MAX || !aq_space_is_bounded(action)) {
        return aq_fail(error, AQ_E_SCHEMA, "actions need bounds, and at most %d elements",
                       AQ_BOUNDS_MAX);
    }
    if (aq_foreign_last(net)->activation != AQ_ACTIVATION_NONE) {
        return aq_fail(error, AQ_E_INVALID, "outputs that are actions end in %s",
                       aq_activation_name(aq_foreign_last(net)->activation));
    }
    int rc = check_deviations(net, error);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        const size_t at = aq_space_bound(action, i);
        const double half = ((double)action->high[at] - (double)action->low[at]) / 2.0;
        gain[i] = (float)(1.0 / half);
        shift[i] = (float)(-(double)action->low[at] / half - 1.0);
        log_deviation[i] = net->log_deviation != NULL
                               ? (float)((double)net->log_deviation[i] - log(half))
                               : (float)AQ_LOG_DEVIATION_MIN;
    }
    (void)snprintf(net->spec.arrays[0].name, sizeof(net->spec.arrays[0].name), "%s",
                   AQ_LOG_DEVIATION_ARRAY);
    net->spec.arrays[0].count = count;
    net->spec.array_count = 1;
    return aq_foreign_scale(net, gain, shift, count, error);
}

static uint32_t head_of(enum aq_import_end end)
{
    static const uint32_t heads[ENDS] = {
        [AQ_IMPORT_END_VALUES] = AQ_HEAD_ARGMAX,
        [AQ_IMPORT_END_LOGITS] = AQ_HEAD_CATEGORICAL,
        [AQ_IMPORT_END_TANH] = AQ_HEAD_TANH_BOX,
        [AQ_IMPORT_END_ACTIONS] = AQ_HEAD_GAUSSIAN,
    };
    return heads[end];
}

/* ---- the policy ----------------------------------------------------------------------------- */

static int make_snapshot(const aq_foreign_net *net, const aq_quantize_meta *meta,
                         const float *log_deviation, aq_snapshot **ret_snapshot, aq_error *error)
{
    const aq_quantize_plan plan = {.format = AQ_FORMAT_F32};
    aq_params params;
    int rc = aq_net_spec_validate(&net->spec, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_params_init(&net->spec, &params);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for the policy's parameters");
    }
    for (uint32_t i = 0; i < net->spec.layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&net->spec.layers[i]);
        memcpy(params.weight[i], net->weight[i],
               (size_t)matrix.rows * matrix.columns * sizeof(float));
        memcpy(params.bias[i], net->bias[i], matrix.rows * sizeof(float));
    }
    if (net->spec.array_count > 0) {
        memcpy(params.array[0], log_deviation, net->spec.arrays[0].count * sizeof(float));
    }
    rc = aq_quantize(&net->spec, &params, &plan, meta, ret_snapshot, error);
    aq_params_fini(&params);
    return rc;
}

int aq_policy_import(aq_foreign_net *net, const char *task, const aq_schema *schema,
                     enum aq_import_end end, aq_snapshot **ret_snapshot, aq_error *error)
{
    float log_deviation[AQ_BOUNDS_MAX];
    int rc = check_sizes(net, schema, error);
    rc = rc != 0 ? rc : find_end(net, &schema->action, &end, error);
    rc = rc != 0 ? rc : check_ending(net, &schema->action, end, error);
    net->ending = rc != 0 ? net->ending : AQ_FOREIGN_OPEN; /* the head does that */
    if (rc == 0 && end == AQ_IMPORT_END_TANH) {
        rc = end_in_tanh(net, &schema->action, error);
    } else {
        rc = rc != 0 ? rc : aq_foreign_check_end(net, error);
        rc = rc != 0 || end != AQ_IMPORT_END_ACTIONS
                 ? rc
                 : end_in_means(net, &schema->action, log_deviation, error);
    }
    const aq_quantize_meta meta = {
        .version = 1, .task = task, .schema = schema, .head = head_of(end)};
    return rc != 0 ? rc : make_snapshot(net, &meta, log_deviation, ret_snapshot, error);
}
