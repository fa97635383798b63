/*
 * aq_snapshot_validate: every byte of a policy is looked at once before an actor acts on it.
 *
 * The workload is one snapshot of up to some megabytes a second, on the thread that receives it, so
 * the loops over tensors are branch-free and left to the compiler's vectorizer.
 */
#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "common/experience/finite.h"
#include "common/policy/net_graph.h"
#include "common/policy/snapshot.h"
#include "common/policy/snapshot_layer_check.h"

static int check_task(const char *task, aq_error *error)
{
    if (memchr(task, '\0', AQ_TASK_NAME_MAX) == NULL) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name does not end");
    }
    if (task[0] == '\0') {
        return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name is empty");
    }
    for (const char *at = task; *at != '\0'; at++) {
        if (*at < ' ' || *at > '~') {
            return aq_fail(error, AQ_E_CORRUPT, "policy: the task's name is not printable");
        }
    }
    return 0;
}

static int check_header(const aq_snapshot *snapshot, aq_error *error)
{
    if (snapshot->version == 0) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: version 0; versions start at 1");
    }
    int rc = check_task(snapshot->task, error);
    if (rc != 0) {
        return rc;
    }
    const aq_quant_error *measured = &snapshot->quant_error;
    if (!(measured->action_disagreement >= 0.0f && measured->action_disagreement <= 1.0f)) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: a share of differing actions of %g",
                       (double)measured->action_disagreement);
    }
    if (!(measured->kl >= 0.0f && measured->kl <= FLT_MAX)) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: a divergence of %g is no measurement",
                       (double)measured->kl);
    }
    if (!(measured->output_rms >= 0.0f && measured->output_rms <= FLT_MAX) ||
        !(measured->output_max >= 0.0f && measured->output_max <= FLT_MAX)) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "policy: an output error of rms %g, maximum %g is no measurement",
                       (double)measured->output_rms, (double)measured->output_max);
    }
    return 0;
}

static int check_spec(const aq_net_spec *spec, aq_error *error)
{
    aq_error why;
    if (aq_net_spec_validate(spec, &why) != 0) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: %s", why.text);
    }
    if (aq_net_end_count(spec) != 1) {
        return aq_fail(error, AQ_E_CORRUPT, "policy: a network with %u ends; a policy has one",
                       aq_net_end_count(spec));
    }
    return 0;
}

static int check_argmax(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_space *action = &snapshot->schema.action;
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
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

static int check_continuous(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_space *action = &snapshot->schema.action;
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    if (action->kind != AQ_SPACE_BOX || action->dtype != AQ_DTYPE_F32) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: outputs can be scaled only to an action of numbers");
    }
    if (outputs != aq_space_elements(action)) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the network gives %u values for an action of %zu", outputs,
                       aq_space_elements(action));
    }
    if (snapshot->spec.layers[snapshot->spec.layer_count - 1].activation != AQ_ACTIVATION_TANH) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the outputs of a continuous policy must end in tanh");
    }
    return 0;
}

static int check_act_rule(const aq_snapshot *snapshot, aq_error *error)
{
    switch (snapshot->act_rule) {
    case AQ_ACT_ARGMAX:
        return check_argmax(snapshot, error);
    case AQ_ACT_CONTINUOUS:
        return check_continuous(snapshot, error);
    default:
        return aq_fail(error, AQ_E_VERSION, "policy: unknown rule to act by %u",
                       snapshot->act_rule);
    }
}

/* The network takes what the environment shows and answers what the act rule reads. */
static int check_fit(const aq_snapshot *snapshot, aq_error *error)
{
    const aq_schema *schema = &snapshot->schema;
    int rc = aq_schema_validate(schema, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "policy");
    }
    if (schema->obs.kind != AQ_SPACE_BOX) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: a network cannot take an observation that is a discrete choice");
    }
    uint32_t inputs = aq_net_spec_inputs(&snapshot->spec);
    if (aq_space_elements(&schema->obs) != inputs) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "policy: the network takes %u values, an observation has %zu", inputs,
                       aq_space_elements(&schema->obs));
    }
    return check_act_rule(snapshot, error);
}

static int check_arrays(const aq_snapshot *snapshot, aq_error *error)
{
    const size_t count = aq_net_spec_array_values(&snapshot->spec);
    const size_t bad = aq_find_nonfinite(snapshot->arrays, count);
    return bad == count ? 0
                        : aq_fail(error, AQ_E_CORRUPT,
                                  "policy: value %zu of its arrays is NaN or infinite", bad);
}

int aq_snapshot_validate(const aq_snapshot *snapshot, aq_error *error)
{
    int rc = check_header(snapshot, error);
    if (rc == 0) {
        rc = check_spec(&snapshot->spec, error);
    }
    if (rc == 0) {
        rc = check_fit(snapshot, error);
    }
    if (rc == 0) {
        rc = check_arrays(snapshot, error);
    }
    for (uint32_t i = 0; rc == 0 && i < snapshot->spec.layer_count; i++) {
        rc = aq_snapshot_layer_check(&snapshot->spec.layers[i], &snapshot->layers[i], i, error);
    }
    return rc;
}
