/*
 * Networks: see on_policy_network.h.
 */
#include "learner/algorithms/on_policy/on_policy_network.h"

#include <math.h>
#include <stdio.h>

#include "common/policy/head.h"
#include "common/policy/torso.h"
#include "learner/nn/hidden_layers.h"

static int check_task(const aq_schema *schema, const char *algorithm, aq_error *error)
{
    const aq_space *action = &schema->action;
    if (action->kind == AQ_SPACE_BOX &&
        (action->dtype != AQ_DTYPE_F32 || !aq_space_is_bounded(action))) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s needs choices, or actions that are floats between finite bounds",
                       algorithm);
    }
    return 0;
}

static void add_array(aq_net_spec *spec, const char *name, size_t count)
{
    aq_net_array *array = &spec->arrays[spec->array_count++];
    (void)snprintf(array->name, sizeof(array->name), "%s", name);
    array->count = (uint32_t)count;
}

/* What follows the hidden layers, which give `width` values. */
static int add_head(uint32_t head, const aq_space *action, uint32_t width, aq_net_spec *spec,
                    aq_error *error)
{
    const size_t elements = aq_space_elements(action);
    const uint32_t outputs =
        head == AQ_HEAD_CATEGORICAL ? aq_space_choices_all(action) : (uint32_t)elements;
    const aq_layer_spec last = aq_layer_linear(width, outputs, AQ_ACTIVATION_NONE);
    if (head == AQ_HEAD_GSDE) {
        add_array(spec, "mean_weight", elements * width);
        add_array(spec, "mean_bias", elements);
        add_array(spec, "deviation", elements * width);
        return 0;
    }
    if (head == AQ_HEAD_GAUSSIAN) {
        add_array(spec, AQ_LOG_DEVIATION_ARRAY, elements);
    }
    return aq_net_spec_add(spec, &last, error);
}

int aq_on_policy_policy_spec(const aq_run_config *config, const aq_schema *schema,
                             const aq_algorithm_class *class, aq_net_spec *ret_spec,
                             aq_error *error)
{
    aq_net_spec spec = {.layer_count = 0};
    aq_hidden_layers hidden;
    uint32_t width = 0;
    const uint32_t head = aq_algorithm_acts_by(class, config, schema);
    int rc = check_task(schema, class->name, error);
    if (rc == 0) {
        rc = aq_hidden_layers_of(config, &schema->obs, &hidden, error);
    }
    if (rc == 0 && hidden.shape.count == 0 && head == AQ_HEAD_GSDE) {
        rc = aq_fail(error, AQ_E_INVALID, "learner.gsde needs a hidden layer in learner.hidden");
    }
    if (rc == 0) {
        rc = aq_hidden_layers_add(&hidden, 0, &width, &spec, error);
    }
    if (rc == 0) {
        rc = add_head(head, &schema->action, width, &spec, error);
    }
    if (rc == 0) {
        rc = aq_net_spec_validate(&spec, error);
    }
    if (rc == 0) {
        rc = aq_hidden_layers_check_policy(&spec, error);
    }
    if (rc == 0) {
        *ret_spec = spec;
    }
    return rc;
}

int aq_on_policy_value_spec(const aq_run_config *config, const aq_schema *schema,
                            aq_net_spec *ret_spec, aq_error *error)
{
    const aq_layer_spec last = aq_layer_linear(0, 1, AQ_ACTIVATION_NONE);
    aq_hidden_layers hidden;
    int rc = aq_hidden_layers_of_critic(config, &schema->obs, &hidden, error);
    if (rc != 0) {
        return rc;
    }
    const uint32_t state = aq_torso_state(config->learner.torso);
    hidden.norm_first = false;                    /* which is for critics of actions */
    hidden.torso = state > 0 ? "" : hidden.torso; /* it sees what the policy keeps */
    rc = aq_hidden_layers_network(&hidden, state, &last, ret_spec, error);
    return rc == 0 || state == 0
               ? rc
               : aq_fail(
                     error, rc,
                     "learner.torso: beside a gru, values see observations as they are, without "
                     "its convolutions, and those are too many numbers here");
}

void aq_on_policy_begin(const aq_run_config *config, const aq_net_spec *spec, aq_params *params,
                        aq_rng *rng)
{
    const uint32_t outputs = aq_net_spec_outputs(spec);
    const bool is_gsde = spec->array_count > 1;
    /* Features of tanh are about a half. */
    const float deviation = is_gsde
                                ? 2.0f * (float)config->learner.deviation / sqrtf((float)outputs)
                                : (float)log(config->learner.deviation);
    aq_params_randomize(spec, params, rng);
    if (spec->array_count > 0) {
        const uint32_t deviations = spec->array_count - 1;
        for (uint32_t i = 0; i < spec->arrays[deviations].count; i++) {
            params->array[deviations][i] = deviation;
        }
    }
    if (is_gsde) {
        const float size = AQ_LAST_LAYER_SHARE / sqrtf((float)outputs);
        for (uint32_t i = 0; i < spec->arrays[0].count; i++) {
            params->array[0][i] = size * (float)aq_rng_range(rng, -1.0, 1.0);
        }
    } else {
        aq_last_layer_begin(spec, params);
    }
}
