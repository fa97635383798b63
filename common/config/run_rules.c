/*
 * Run rules: see run_rules.h. Each message is read by somebody whose run did not start.
 */
#include "common/config/run_rules.h"

#include <inttypes.h>
#include <string.h>

#include "common/config/pacing.h"
#include "common/config/replay_rules.h"
#include "common/energy/carbon_intensity.h"
#include "common/experience/batch.h"
#include "common/policy/layer_formats.h"
#include "common/policy/torso.h"

enum { BITS_ALL = 8 };

static int refuse_hidden(const char *key, const char *text, aq_error *error)
{
    return aq_fail(error, AQ_E_INVALID,
                   "%s is \"%s\"; up to %d widths of 1 to %" PRIu32
                   " are possible, such as \"64,64\", or up to %d blocks of SimBa, up to %" PRIu32
                   " wide, such as \"simba:128x1\"",
                   key, text, AQ_HIDDEN_LAYERS_MAX, AQ_NET_WIDTH_MAX, AQ_SIMBA_BLOCKS_MAX,
                   AQ_NET_WIDTH_MAX / AQ_SIMBA_WIDER);
}

static int check_texts(const aq_run_config *config, aq_error *error)
{
    aq_hidden_shape shape;
    double threshold;
    if (aq_run_config_hidden(config, &shape) != 0) {
        return refuse_hidden("learner.hidden", config->learner.hidden, error);
    }
    if (aq_run_config_critic_hidden(config, &shape) != 0) {
        return refuse_hidden("learner.critic_hidden", config->learner.critic_hidden, error);
    }
    if (aq_run_config_threshold(config, 0.0, &threshold) != 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "evaluator.threshold is \"%s\"; \"auto\" or a number is possible",
                       config->evaluator.threshold);
    }
    return aq_torso_check(config->learner.torso, error);
}

static int check_learner(const aq_run_config *config, aq_error *error)
{
    uint64_t batch = config->learner.batch_size;
    uint64_t batches = config->learner.batches_per_request;
    if (aq_pacing_group_steps(config) == 0 && batch * batches > AQ_BATCH_ROWS_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.batch_size %" PRIu64 " times learner.batches_per_request %" PRIu64
                       " is more than the %" PRIu32 " rows of one sample request; at most %" PRIu64
                       " batches fit",
                       batch, batches, AQ_BATCH_ROWS_MAX, AQ_BATCH_ROWS_MAX / batch);
    }
    if (aq_algorithm_has(config->learner.algorithm, AQ_HAS_ATOMS) &&
        !(config->learner.value_min < config->learner.value_max)) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.value_min %g is not less than learner.value_max %g",
                       config->learner.value_min, config->learner.value_max);
    }
    return 0;
}

/* Training for levels that are then not published would be training for nothing. */
static int check_qat(const aq_run_config *config, aq_error *error)
{
    const uint32_t bits = (uint32_t)config->learner.qat_bits;
    const enum aq_format format = aq_run_config_format(config);
    if (bits == 0) {
        return 0;
    }
    if (bits < 2) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.qat_bits is %u; 2 to 8 are possible, and 0 to train in fp32", bits);
    }
    if (!aq_format_holds_bits(format, bits)) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.qat_bits %u trains for weights of %u bits, which quantizer.format "
                       "%s does not store; quantizer.format=int8 does",
                       bits, bits, aq_format_name(format));
    }
    if (config->quantizer.bits != BITS_ALL && config->quantizer.bits != bits) {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.qat_bits %u trains for other levels than those of quantizer.bits "
                       "%" PRIu64 "; leave quantizer.bits out, and they are the same",
                       bits, config->quantizer.bits);
    }
    if (config->quantizer.formula != AQ_FORMULA_SYMMETRIC ||
        config->quantizer.layer_formats[0] != '\0') {
        return aq_fail(error, AQ_E_INVALID,
                       "learner.qat_bits %u trains for symmetric levels of one format: "
                       "quantizer.formula must be symmetric, and quantizer.layer_formats empty",
                       bits);
    }
    return 0;
}

bool aq_run_rules_hold_bits(const aq_run_config *config, uint32_t format)
{
    aq_layer_formats chosen = {0};
    const uint32_t bits = (uint32_t)config->quantizer.bits;
    bool holds = aq_format_holds_bits(format, bits);
    if (aq_layer_formats_parse(config->quantizer.layer_formats, &chosen, NULL) != 0) {
        return holds; /* it is refused elsewhere */
    }
    for (size_t i = 0; i < chosen.count; i++) {
        holds = holds || aq_format_holds_bits(chosen.rows[i].format, bits);
    }
    return holds;
}

static int check_quantizer(const aq_run_config *config, aq_error *error)
{
    aq_layer_formats chosen;
    const uint32_t bits = (uint32_t)config->quantizer.bits;
    int rc = aq_layer_formats_parse(config->quantizer.layer_formats, &chosen, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "quantizer.layer_formats \"%s\"",
                               config->quantizer.layer_formats);
    }
    if (bits != BITS_ALL && !aq_run_rules_hold_bits(config, aq_run_config_format(config))) {
        return aq_fail(error, AQ_E_INVALID,
                       "quantizer.bits is %u, but no layer is int8 or int8-tensor: "
                       "quantizer.format %s has bits of its own",
                       bits, aq_format_name(aq_run_config_format(config)));
    }
    return 0;
}

/* A run knows by its steps alone how far it is. */
static int check_annealing(const aq_run_config *config, aq_error *error)
{
    const bool falls = config->learner.learning_rate_end < 1;
    if (config->limits.env_steps > 0 || config->limits.learner_steps > 0 ||
        (!falls && config->learner.importance_end == 0)) {
        return 0;
    }
    return aq_fail(error, AQ_E_INVALID,
                   "learner.%s needs limits.learner_steps, or limits.env_steps where actors play, "
                   "at which it is reached; without them, learner.%s works",
                   falls ? "learning_rate_end" : "importance_end",
                   falls ? "learning_rate_end=1" : "importance_end=0");
}

static int check_net(const aq_run_config *config, aq_error *error)
{
    if (config->net.member_timeout_ms < 2 * config->net.heartbeat_ms) {
        return aq_fail(
            error, AQ_E_INVALID,
            "net.member_timeout_ms %" PRIu64 " is less than twice net.heartbeat_ms %" PRIu64
            ": one late heartbeat would count as a death; %" PRIu64 " is the least that works",
            config->net.member_timeout_ms, config->net.heartbeat_ms, 2 * config->net.heartbeat_ms);
    }
    return 0;
}

static int check_energy(const aq_run_config *config, aq_error *error)
{
    if (!aq_carbon_intensity_find(config->energy.country)) {
        return aq_fail(error, AQ_E_INVALID,
                       "energy.country is \"%s\"; a code of docs/energy.md such as DEU, or WORLD, "
                       "is possible; for another place, set energy.carbon_intensity",
                       config->energy.country);
    }
    return 0;
}

int aq_run_rules_check_seen(const aq_run_config *config, aq_error *error)
{
    if (config->net.reconnect_max_ms < config->net.reconnect_min_ms) {
        return aq_fail(error, AQ_E_INVALID,
                       "net.reconnect_max_ms %" PRIu64
                       " is less than net.reconnect_min_ms %" PRIu64,
                       config->net.reconnect_max_ms, config->net.reconnect_min_ms);
    }
    return aq_replay_rules_check_storage(config, error);
}

/* A table is of states that can be counted, however the task shows them. Less a mean, a row of
 * floats is no longer one of many; of bytes normalize_obs changes nothing. */
static int check_table(const aq_run_config *config, const aq_schema *schema, aq_error *error)
{
    if (!aq_algorithm_has(config->learner.algorithm, AQ_LEARNS_A_TABLE)) {
        return 0;
    }
    if (strstr(config->task, AQ_ONE_HOT "=") == NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s learns a table of discrete states; what is seen in %s are numbers, for "
                       "which learner.algorithm=dqn is made",
                       aq_algorithm_names[config->learner.algorithm], config->task);
    }
    if (config->learner.normalize_obs && schema->obs.dtype == AQ_DTYPE_F32) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s looks states up as they are; learner.normalize_obs=false works",
                       aq_algorithm_names[config->learner.algorithm]);
    }
    return 0;
}

/* Of states that can be counted, which a run sees as one of many. */
static int check_states(const aq_run_config *config, const aq_schema *schema, aq_error *error)
{
    if (schema->obs.choice_count > AQ_NET_WIDTH_MAX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "up to %" PRIu32 " discrete states can be learned; this task has %" PRIu32,
                       AQ_NET_WIDTH_MAX, schema->obs.choice_count);
    }
    if (strstr(config->task, AQ_ONE_HOT "=") != NULL) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s: a run learns of a discrete state as one of many; leave out " AQ_ONE_HOT,
                       config->task);
    }
    return 0;
}

/* What a network, or a table, takes of an observation. */
static int check_observations(const aq_run_config *config, const aq_schema *schema, aq_error *error)
{
    const size_t inputs = aq_space_elements(&schema->obs);
    const bool has_torso = config->learner.torso[0] != '\0';
    const uint32_t most = has_torso ? AQ_NET_IMAGE_MAX : AQ_NET_WIDTH_MAX;
    int rc = schema->obs.kind == AQ_SPACE_DISCRETE ? check_states(config, schema, error)
                                                   : check_table(config, schema, error);
    if (rc != 0) {
        return rc;
    }
    if (inputs > most) {
        return aq_fail(
            error, AQ_E_UNSUPPORTED,
            "a network takes observations of up to %" PRIu32 " elements; this task's have %zu%s",
            most, inputs, has_torso ? "" : "; pictures may be larger with learner.torso");
    }
    return 0;
}

static int check_state(const aq_run_config *config, aq_error *error)
{
    char others[AQ_RUN_TEXT_MAX];
    if (aq_torso_state(config->learner.torso) == 0) {
        return 0;
    }
    if (!aq_algorithm_has(config->learner.algorithm, AQ_KEEPS_STATE)) {
        aq_algorithm_list(AQ_KEEPS_STATE, others, sizeof(others));
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.torso is \"%s\", with which a policy keeps a state, and %s trains "
                       "none that does; %s do",
                       config->learner.torso, aq_algorithm_names[config->learner.algorithm],
                       others);
    }
    if (config->actor.gradients || config->actor.random_first) { /* without a policy, no state */
        const char *key = config->actor.gradients ? "actor.gradients" : "actor.random_first";
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s is not for policies that keep a state (gru, in learner.torso); "
                       "%s=false works",
                       key, key);
    }
    return 0;
}

static int check_noisy(const aq_run_config *config, aq_error *error)
{
    char others[AQ_RUN_TEXT_MAX];
    if (config->learner.noisy == 0 ||
        aq_algorithm_has(config->learner.algorithm, AQ_CAN_BE_NOISY)) {
        return 0;
    }
    aq_algorithm_list(AQ_CAN_BE_NOISY, others, sizeof(others));
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "learner.noisy is for %s, and not for %s; learner.noisy=0 works", others,
                   aq_algorithm_names[config->learner.algorithm]);
}

int aq_run_rules_check_task(const aq_run_config *config, const aq_schema *schema, aq_error *error)
{
    int rc =
        aq_algorithm_check_actions(config->learner.algorithm, config->task, schema, false, error);
    rc = rc == 0 ? check_observations(config, schema, error) : rc;
    rc = rc == 0 ? check_state(config, error) : rc;
    return rc == 0 ? check_noisy(config, error) : rc;
}

int aq_run_rules_check(const aq_run_config *config, aq_error *error)
{
    static int (*const checks[])(const aq_run_config *config, aq_error *error) = {
        check_texts, check_learner,           check_annealing,
        check_qat,   check_quantizer,         aq_replay_rules_check,
        check_net,   aq_run_rules_check_seen, check_energy,
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        int rc = checks[i](config, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}
