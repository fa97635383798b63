/*
 * Agent: see agent.h.
 */
#include "learner/algorithms/agent.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/config/explore.h"
#include "common/config/pacing.h"
#include "common/config/run_rules.h"
#include "common/nn/obs_normalizer.h"
#include "common/policy/head.h"
#include "common/policy/netspec.h"
#include "learner/algorithms/agent_gradients.h"
#include "learner/algorithms/agent_ranks.h"
#include "learner/algorithms/shared_network.h"

/* Only where observations are normalized. */
typedef struct normalization {
    aq_obs_normalizer normalizer;
    aq_params acting;               /* the policy, for observations as they are */
    size_t obs_max;                 /* observations of an update */
    bool has_next;                  /* of items only */
    float *obs;                     /* (obs_max, width) */
    float *next_obs;                /* likewise */
    aq_gradient_exchange *exchange; /* NULL: alone */
    double *batches;                /* (ranks, statistics): what their rows are like; of several */
    void *arrays;                   /* the block of all */
} normalization;

struct aq_agent {
    const aq_algorithm_class *class;
    aq_algorithm *algorithm;
    aq_metric metric_rows[AQ_METRICS_MAX];
    aq_metric_list metrics;
    uint32_t batch_rows;
    double exploration_entropy;
    bool shows_ends;   /* by bootstraps of 0, which all are without a discount */
    bool bounds_worth; /* at a discount of 1 what comes for ever may be worth anything */
    bool is_normalized;
    normalization normal;
    aq_model_group *model; /* NULL: the networks are whole */
    aq_params whole;       /* the policy; the group's first rank's */
    /* Only where actors compute the gradients. */
    float *parameters; /* the algorithm's; NULL: nowhere else */
    aq_shared_network shared;
};

/* ---- making it ------------------------------------------------------------------------------ */

static void lay_out(void *made, aq_arrays *at)
{
    normalization *normal = made;
    const aq_obs_normalizer *normalizer = &normal->normalizer;
    const uint32_t ranks = aq_gradient_exchange_ranks(normal->exchange);
    normal->obs = aq_arrays_place(at, normal->obs_max, normalizer->width * sizeof(float));
    if (normal->has_next) {
        normal->next_obs = aq_arrays_place(at, normal->obs_max, normalizer->width * sizeof(float));
    }
    if (ranks > 1) {
        normal->batches = aq_arrays_place(at, ranks, normalizer->statistics_count * sizeof(double));
    }
}

static int normalize(aq_agent *agent, const aq_algorithm_setup *setup, aq_error *error)
{
    const aq_net_spec *spec = aq_agent_spec(agent);
    const bool is_by_group = agent->class->needs.update == AQ_UPDATES_BY_GROUP;
    const uint64_t rows =
        is_by_group ? aq_pacing_group_rows(setup->config) : setup->config->learner.batch_size;
    normalization *normal = &agent->normal;
    AQ_ASSERT(setup->schema->obs.dtype == AQ_DTYPE_F32); /* a plan of bytes has it off */
    if (!aq_net_is_affine_in_input(spec)) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.normalize_obs needs a network that begins with a linear layer, "
                       "which is no convolution (learner.torso) and not noisy (fewer layers of "
                       "learner.noisy); learner.normalize_obs=false works");
    }
    agent->is_normalized = true;
    normal->exchange = setup->exchange;
    normal->has_next = setup->sequence_length == 0;
    normal->obs_max = rows * (normal->has_next ? 1 : setup->sequence_length + 1);
    int rc = aq_obs_normalizer_init(&normal->normalizer, aq_net_spec_inputs(spec));
    if (rc == 0) {
        rc = aq_params_init(spec, &normal->acting);
    }
    normal->arrays = rc == 0 ? aq_arrays_make(lay_out, normal) : NULL;
    return normal->arrays != NULL
               ? 0
               : aq_fail(error, AQ_E_NOMEM, "no memory to normalize observations");
}

static void take_metrics(aq_agent *agent)
{
    const aq_metric_list *own = &agent->class->metrics;
    AQ_ASSERT(own->count + AQ_AGENT_METRICS <= AQ_METRICS_MAX);
    memcpy(agent->metric_rows, own->rows, own->count * sizeof(*own->rows));
    memcpy(agent->metric_rows + own->count, aq_agent_metric_rows, sizeof(aq_agent_metric_rows));
    agent->metrics = (aq_metric_list){agent->metric_rows, own->count + AQ_AGENT_METRICS};
}

static int share(aq_agent *agent, aq_error *error)
{
    aq_named_arrays arrays = {.count = 0};
    agent->class->arrays(agent->algorithm, &arrays);
    const aq_named_array *parameters = aq_named_arrays_find(&arrays, "parameters");
    AQ_ASSERT(parameters != NULL && parameters->type == AQ_ARRAY_F32);
    agent->parameters = parameters->values;
    const size_t policy = agent->class->policy(agent->algorithm)->count;
    AQ_ASSERT(policy <= parameters->count);
    return aq_shared_network_init(&agent->shared, agent->algorithm->spec,
                                  parameters->count - policy, error);
}

static int check_ranks(const aq_algorithm_setup *setup, aq_error *error)
{
    const uint64_t ranks = aq_gradient_exchange_ranks(setup->exchange);
    if (ranks == 1) {
        return 0;
    }
    if (aq_pacing_group_steps(setup->config) == 0 &&
        ranks * setup->config->learner.batch_size > AQ_BATCH_ROWS_MAX) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.batch_size of %" PRIu64 " on %" PRIu64
                       " ranks makes more than %d rows a step; fewer of either work",
                       setup->config->learner.batch_size, ranks, AQ_BATCH_ROWS_MAX);
    }
    return aq_pacing_check_capacity(setup->config, (uint32_t)ranks, error);
}

static int check_quantized(const aq_algorithm_class *class, const aq_run_config *config,
                           aq_error *error)
{
    return class->trains_quantized || config->learner.qat_bits == 0
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "%s has no quantization-aware training; learner.qat_bits=0 works",
                         class->name);
}

/* As actors hold it (rollout/act.c). */
static int check_noise(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                       aq_error *error)
{
    const aq_run_config *config = setup->config;
    const aq_head *head = aq_head_of(aq_algorithm_acts_by(class, config, setup->schema));
    const bool is_held =
        head->drawing != NULL ? head->drawing->holds_noise : config->learner.noisy > 0;
    return is_held || config->actor.noise_octaves <= 1
               ? 0
               : aq_fail(error, AQ_E_UNSUPPORTED,
                         "actor.noise_octaves is for noise that is kept for some steps, and %s "
                         "keeps none here; actor.noise_octaves=1 works",
                         class->name);
}

static int make_whole(aq_agent *agent, aq_error *error)
{
    int rc = aq_agent_check_shared(agent, error);
    if (rc == 0 && aq_model_group_rank(agent->model) == 0 &&
        aq_params_init(aq_agent_spec(agent), &agent->whole) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory for a whole policy");
    }
    return rc;
}

int aq_agent_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                    aq_agent **ret_agent, aq_error *error)
{
    const aq_run_config *config = setup->config;
    AQ_ASSERT(setup->schema->obs.kind == AQ_SPACE_BOX); /* run_plan.h */
    int rc = aq_run_rules_check_task(config, setup->schema, error);
    if (rc == 0) {
        rc = check_quantized(class, config, error);
    }
    if (rc == 0) {
        rc = check_noise(class, setup, error);
    }
    if (rc == 0) {
        rc = check_ranks(setup, error);
    }
    if (rc == 0) {
        rc = aq_agent_check_model(class, setup, error);
    }
    if (rc == 0 && config->actor.gradients) {
        rc = aq_agent_check_gradients(class, setup, error);
    }
    if (rc != 0) {
        return rc;
    }
    aq_agent *agent = aq_alloc(1, sizeof(*agent));
    if (agent == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %s", class->name);
    }
    agent->class = class;
    agent->model = setup->model;
    agent->exploration_entropy = aq_explore_entropy(config, 1.0, &setup->schema->action);
    agent->batch_rows = (uint32_t)config->learner.batch_size;
    agent->shows_ends = config->learner.discount > 0;
    agent->bounds_worth = (float)config->learner.discount < 1.0f; /* as rows have it */
    take_metrics(agent);
    rc = class->create(class, setup, &agent->algorithm, error);
    if (rc == 0 && agent->model != NULL) {
        rc = make_whole(agent, error);
    }
    if (rc == 0 && config->learner.normalize_obs) {
        rc = normalize(agent, setup, error);
    }
    if (rc == 0 && config->actor.gradients) {
        rc = share(agent, error);
    }
    if (rc != 0) {
        aq_agent_destroy(agent);
        return rc;
    }
    *ret_agent = agent;
    return 0;
}

void aq_agent_destroy(aq_agent *agent)
{
    if (agent == NULL) {
        return;
    }
    agent->class->destroy(agent->algorithm);
    aq_shared_network_fini(&agent->shared);
    aq_obs_normalizer_fini(&agent->normal.normalizer);
    aq_params_fini(&agent->normal.acting);
    aq_params_fini(&agent->whole);
    aq_free(agent->normal.arrays);
    aq_free(agent);
}

/* ---- training ------------------------------------------------------------------------------- */

const aq_algorithm_class *aq_agent_class(const aq_agent *agent)
{
    return agent->class;
}

const aq_metric_list *aq_agent_metrics(const aq_agent *agent)
{
    return &agent->metrics;
}

uint32_t aq_agent_update_rows(const aq_agent *agent, uint32_t group_rows)
{
    return agent->class->needs.update == AQ_UPDATES_BY_GROUP ? group_rows : agent->batch_rows;
}

static const float *obs_of(const aq_batch *rows, uint32_t row)
{
    const size_t values = aq_batch_has_sequences(rows) ? rows->steps + 1 : 1;
    return (const float *)(const void *)(rows->obs + row * values * rows->obs_bytes);
}

/* The observations that steps began with, of each sequence in its turn: into a batch, or into what
 * the normalizer has. */
static int see_rows(normalization *normal, const aq_batch *rows, double *batch)
{
    const bool has_sequences = aq_batch_has_sequences(rows);
    const uint32_t parts = has_sequences ? rows->rows : 1;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < parts; i++) {
        const size_t count = has_sequences ? rows->length[i] : rows->rows;
        if (count > 0 && batch != NULL) {
            aq_obs_normalizer_add(&normal->normalizer, obs_of(rows, i), count, batch);
        } else if (count > 0) {
            rc = aq_obs_normalizer_see(&normal->normalizer, obs_of(rows, i), count);
        }
    }
    return rc;
}

/* Those of all ranks are taken in, in the order of the ranks. */
static int see(normalization *normal, const aq_batch *rows)
{
    aq_gradient_exchange *exchange = normal->exchange;
    const size_t numbers = normal->normalizer.statistics_count;
    if (aq_gradient_exchange_ranks(exchange) == 1) {
        return see_rows(normal, rows, NULL);
    }
    double *own = normal->batches + aq_gradient_exchange_rank(exchange) * numbers;
    memset(own, 0, numbers * sizeof(*own));
    int rc = see_rows(normal, rows, own);
    if (rc == 0) {
        rc = aq_gradient_exchange_gather(exchange, normal->batches, numbers * sizeof(*own));
    }
    return rc == 0 ? aq_obs_normalizer_take(&normal->normalizer, normal->batches,
                                            aq_gradient_exchange_ranks(exchange))
                   : rc;
}

static void apply(const normalization *normal, const aq_batch *rows, aq_batch *ret_seen)
{
    const size_t values = aq_batch_has_sequences(rows) ? rows->steps + 1 : 1;
    AQ_ASSERT(rows->rows * values <= normal->obs_max);
    AQ_ASSERT(rows->obs_bytes == normal->normalizer.width * sizeof(float));
    for (uint32_t row = 0; row < rows->rows; row++) {
        const size_t real = aq_batch_has_sequences(rows) ? rows->length[row] + 1 : 1;
        aq_obs_normalizer_apply(&normal->normalizer, obs_of(rows, row), real,
                                normal->obs + row * values * normal->normalizer.width);
    }
    *ret_seen = *rows;
    ret_seen->obs = ret_seen->columns[AQ_BATCH_OBS].bytes = (uint8_t *)normal->obs;
    if (normal->has_next) {
        aq_obs_normalizer_apply(&normal->normalizer, (const float *)(const void *)rows->next_obs,
                                rows->rows, normal->next_obs);
        ret_seen->next_obs = ret_seen->columns[AQ_BATCH_NEXT_OBS].bytes =
            (uint8_t *)normal->next_obs;
    }
}

/* Items count before they are trained on, so that the first are normalized as well. Sequences count
 * afterwards: what a policy did is learned from by the map that it did it by. */
static int train_normalized(aq_agent *agent, const aq_batch *rows, aq_update_report *ret_report)
{
    normalization *normal = &agent->normal;
    const bool is_seen_first = !aq_batch_has_sequences(rows);
    aq_batch seen;
    int rc = is_seen_first ? see(normal, rows) : 0;
    if (rc == 0) {
        apply(normal, rows, &seen);
        rc = agent->class->train(agent->algorithm, &seen, ret_report);
    }
    return rc == 0 && !is_seen_first ? see(normal, rows) : rc;
}

/* A value v that a row's target makes of itself, v = reward + bootstrap * v, is the most that its
 * reward can be worth: where it lies within others' for all rows, training keeps values there. */
static void tell_rewards(const aq_agent *agent, const aq_batch *rows,
                         double metrics[AQ_AGENT_METRICS])
{
    double size = 0, floor = NAN, ceiling = NAN;
    uint64_t counted = 0, rewarded = 0, ended = 0;
    for (size_t i = 0; i < (size_t)rows->rows * rows->steps; i++) {
        const float reward = rows->reward[i], bootstrap = rows->bootstrap[i];
        if (aq_batch_has_sequences(rows) && i % rows->steps >= rows->length[i / rows->steps]) {
            continue; /* beyond the sequence's end */
        }
        counted++;
        size += fabs(reward);
        rewarded += reward != 0.0f;
        ended += bootstrap == 0.0f;
        if (agent->bounds_worth && bootstrap < 1.0f) {
            const double worth = (double)reward / (1.0 - (double)bootstrap);
            floor = fmin(floor, worth);
            ceiling = fmax(ceiling, worth);
        }
    }
    const double share = counted > 0 ? 1.0 / (double)counted : (double)NAN;
    metrics[AQ_AGENT_REWARD_SIZE] = share * size;
    metrics[AQ_AGENT_REWARDED] = share * (double)rewarded;
    metrics[AQ_AGENT_ENDED] = agent->shows_ends ? share * (double)ended : (double)NAN;
    metrics[AQ_AGENT_VALUE_FLOOR] = floor;
    metrics[AQ_AGENT_VALUE_CEILING] = ceiling;
}

int aq_agent_train(aq_agent *agent, const aq_batch *rows, aq_update_report *ret_report)
{
    int rc = agent->is_normalized ? train_normalized(agent, rows, ret_report)
                                  : agent->class->train(agent->algorithm, rows, ret_report);
    if (rc == 0) {
        double *own = ret_report->metrics + agent->class->metrics.count;
        tell_rewards(agent, rows, own);
        own[AQ_AGENT_EXPLORATION] = agent->exploration_entropy;
    }
    return rc;
}

size_t aq_agent_gradient_values(const aq_agent *agent)
{
    return agent->shared.params.count;
}

int aq_agent_follow(aq_agent *agent, const float *gradient, aq_update_report *ret_report)
{
    return agent->class->by_gradients->follow(agent->algorithm, gradient, ret_report);
}

int aq_agent_adopt(aq_agent *agent, const aq_snapshot *version)
{
    const float *parameters;
    int rc = aq_shared_network_split(&agent->shared, version, &parameters);
    if (rc == 0) {
        agent->class->by_gradients->adopt(agent->algorithm, parameters, version->learner_step);
    }
    return rc;
}

void aq_agent_set_exploration(aq_agent *agent, double entropy, double epsilon)
{
    agent->exploration_entropy = entropy;
    if (agent->class->set_epsilon != NULL) {
        agent->class->set_epsilon(agent->algorithm, epsilon);
    }
}

void aq_agent_set_rates(aq_agent *agent, double learning_rate, double critic_learning_rate)
{
    agent->class->set_rates(agent->algorithm, learning_rate, critic_learning_rate);
}

/* ---- what others see ------------------------------------------------------------------------ */

const aq_net_spec *aq_agent_spec(const aq_agent *agent)
{
    return agent->parameters != NULL ? &agent->shared.spec : agent->algorithm->spec;
}

aq_model_group *aq_agent_model(const aq_agent *agent)
{
    return agent->model;
}

aq_slices aq_agent_slices(const aq_agent *agent, const aq_named_array *array)
{
    return agent->model != NULL && array->type == AQ_ARRAY_F32
               ? agent->class->slices(agent->algorithm, array->name)
               : (aq_slices){0};
}

/* Normalized, it is made anew at each call, in a place of the agent's own. */
const aq_params *aq_agent_policy(aq_agent *agent)
{
    if (agent->parameters != NULL) {
        return aq_shared_network_join(&agent->shared, agent->parameters);
    }
    const aq_params *policy = agent->class->policy(agent->algorithm);
    normalization *normal = &agent->normal;
    if (agent->model != NULL) {
        policy = aq_agent_gather_policy(agent, policy, &agent->whole);
    }
    if (!agent->is_normalized || policy == NULL) {
        return policy;
    }
    aq_params_copy(&normal->acting, policy);
    aq_obs_normalizer_fold(&normal->normalizer, aq_agent_spec(agent), &normal->acting);
    return &normal->acting;
}

void aq_agent_arrays(aq_agent *agent, aq_named_arrays *ret_arrays)
{
    const aq_obs_normalizer *normalizer = &agent->normal.normalizer;
    ret_arrays->count = 0;
    agent->class->arrays(agent->algorithm, ret_arrays);
    if (agent->is_normalized) {
        aq_named_arrays_add(ret_arrays, "statistics", AQ_ARRAY_F64, normalizer->statistics_count,
                            normalizer->statistics);
    }
}

/* What is kept, judged by what may be: a checkpoint says nothing of signs. */
static int check_kept(const aq_named_arrays *own, const aq_named_arrays *kept, aq_error *error)
{
    const bool was_normalized = aq_named_arrays_find(kept, "statistics") != NULL;
    const bool is_normalized = aq_named_arrays_find(own, "statistics") != NULL;
    if (was_normalized != is_normalized) {
        return aq_fail(error, AQ_E_INVALID,
                       "the checkpoint was trained with learner.normalize_obs %s, the "
                       "configuration says otherwise",
                       was_normalized ? "true" : "false");
    }
    int rc = aq_named_arrays_check_same(own, kept, error);
    if (rc != 0) {
        return aq_fail_context(error, rc,
                               "the checkpoint is of other networks than these settings "
                               "make");
    }
    for (size_t i = 0; rc == 0 && i < own->count; i++) {
        aq_named_array judged = own->arrays[i];
        judged.values = aq_named_arrays_find(kept, judged.name)->values;
        rc = aq_array_check(&judged, error);
    }
    return rc;
}

int aq_agent_restore(aq_agent *agent, const aq_named_arrays *kept, aq_error *error)
{
    aq_named_arrays whole;
    aq_agent_whole(agent, &whole);
    int rc = check_kept(&whole, kept, error);
    if (rc != 0) {
        return rc;
    }
    aq_agent_take(agent, kept);
    if (agent->class->restored != NULL) {
        agent->class->restored(agent->algorithm);
    }
    if (agent->is_normalized) {
        aq_obs_normalizer_restored(&agent->normal.normalizer);
    }
    return 0;
}
