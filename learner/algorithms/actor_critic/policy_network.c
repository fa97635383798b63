/*
 * Building the networks layer by layer; each is validated when it is whole.
 */
#include "learner/algorithms/actor_critic/policy_network.h"

#include <inttypes.h>
#include <stdbool.h>

#include "common/policy/head.h"
#include "learner/nn/hidden_layers.h"

/* Of the kind that the algorithm is made for. */
static int check_actions(const aq_schema *schema, const char *algorithm, aq_error *error)
{
    const aq_space *action = &schema->action;

    if (action->kind == AQ_SPACE_DISCRETE) {
        return 0;
    }
    if (action->dtype != AQ_DTYPE_F32 || !aq_space_is_bounded(action)) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s needs actions that are floats between finite bounds", algorithm);
    }
    if (aq_space_elements(action) + aq_space_elements(&schema->obs) > AQ_NET_WIDTH_MAX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "a critic takes an observation and an action of up to %" PRIu32
                       " elements together; this task's have %zu",
                       AQ_NET_WIDTH_MAX,
                       aq_space_elements(action) + aq_space_elements(&schema->obs));
    }
    return 0;
}

static aq_layer_spec last_layer(const aq_schema *schema, uint32_t head)
{
    const uint32_t elements = (uint32_t)aq_space_elements(&schema->action);

    switch (head) {
    case AQ_HEAD_ARGMAX:
    case AQ_HEAD_CATEGORICAL:
        return aq_layer_linear(0, schema->action.choice_count, AQ_ACTIVATION_NONE);
    case AQ_HEAD_SQUASHED:
        return aq_layer_linear(0, 2 * elements, AQ_ACTIVATION_NONE);
    default:
        return aq_layer_linear(0, elements, AQ_ACTIVATION_TANH);
    }
}

int aq_policy_network_spec(const aq_run_config *config, const aq_schema *schema,
                           const aq_algorithm_class *class, aq_net_spec *ret_spec, aq_error *error)
{
    aq_hidden_layers hidden;
    int rc = check_actions(schema, class->name, error);
    if (rc == 0) {
        rc = aq_hidden_layers_of(config, &schema->obs, &hidden, error);
    }
    if (rc != 0) {
        return rc;
    }
    const aq_layer_spec last = last_layer(schema, aq_algorithm_acts_by(class, config, schema));
    rc = aq_hidden_layers_network(&hidden, 0, &last, ret_spec, error);
    return rc == 0 ? aq_hidden_layers_check_policy(ret_spec, error) : rc;
}

/* What judges observations, with `beside` more numbers. */
static int judge_network(const aq_run_config *config, const aq_schema *schema, uint32_t beside,
                         uint32_t outputs, aq_net_spec *ret_spec, aq_error *error)
{
    const aq_layer_spec head = aq_layer_linear(0, outputs, AQ_ACTIVATION_NONE);
    aq_hidden_layers hidden;
    int rc = aq_hidden_layers_of_critic(config, &schema->obs, &hidden, error);

    return rc == 0 ? aq_hidden_layers_network(&hidden, beside, &head, ret_spec, error) : rc;
}

int aq_critic_network_spec(const aq_run_config *config, const aq_schema *schema, uint32_t outputs,
                           aq_net_spec *ret_spec, aq_error *error)
{
    const bool judges_any = schema->action.kind == AQ_SPACE_BOX; /* not all at once */
    const uint32_t beside = judges_any ? (uint32_t)aq_space_elements(&schema->action) : 0;

    return judge_network(config, schema, beside, outputs, ret_spec, error);
}

int aq_value_network_spec(const aq_run_config *config, const aq_schema *schema,
                          aq_net_spec *ret_spec, aq_error *error)
{
    return judge_network(config, schema, 0, 1, ret_spec, error);
}
