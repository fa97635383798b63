/*
 * Normalized: see normalized.h.
 */
#include "learner/algorithms/normalized.h"

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "learner/nn/obs_normalizer.h"

typedef struct normalized {
    aq_algorithm head;
    const aq_algorithm_class *inner;
    aq_algorithm *algorithm;
    aq_obs_normalizer normalizer;
    aq_params acting; /* the policy, for observations as they are */
    size_t rows_max;
    float *obs;      /* (rows_max, width) */
    float *next_obs; /* likewise */
} normalized;

static normalized *normalized_of(aq_algorithm *algorithm)
{
    return (normalized *)(void *)algorithm;
}

static const normalized *const_normalized_of(const aq_algorithm *algorithm)
{
    return (const normalized *)(const void *)algorithm;
}

static void destroy(aq_algorithm *algorithm)
{
    normalized *self = normalized_of(algorithm);
    if (!self) {
        return;
    }
    if (self->algorithm) {
        self->inner->destroy(self->algorithm);
    }
    aq_obs_normalizer_fini(&self->normalizer);
    aq_params_fini(&self->acting);
    aq_free(self->obs);
    aq_free(self->next_obs);
    aq_free(self);
}

static int check(const aq_schema *schema, const aq_net_spec *spec, aq_error *error)
{
    if (schema->obs.dtype != AQ_DTYPE_F32) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.normalize_obs is for observations in floats; these are bytes, "
                       "which every network sees divided by 255");
    }
    if (spec->layers[0].kind != AQ_LAYER_LINEAR) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "learner.normalize_obs needs a network that begins with a linear layer");
    }
    return 0;
}

/* What surrounds the algorithm, which is there. */
static int make_room(normalized *self, size_t rows_max, aq_error *error)
{
    const aq_net_spec *spec = self->inner->spec(self->algorithm);
    const uint32_t width = spec->layers[0].inputs;
    int rc = aq_obs_normalizer_init(&self->normalizer, width);
    if (!rc) {
        rc = aq_params_init(spec, &self->acting);
    }
    self->rows_max = rows_max;
    self->obs = aq_alloc(rows_max * width, sizeof(float));
    self->next_obs = aq_alloc(rows_max * width, sizeof(float));
    if (rc || !self->obs || !self->next_obs) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to normalize observations");
    }
    return 0;
}

static int create(const aq_run_config *config, const aq_schema *schema, uint64_t seed,
                  aq_algorithm **ret_algorithm, aq_error *error)
{
    normalized *self = aq_alloc(1, sizeof(*self));
    if (!self) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to normalize observations");
    }
    self->inner = aq_algorithm_at(config->learner.algorithm);
    self->head.class = self->inner;
    int rc = self->inner->create(config, schema, seed, &self->algorithm, error);
    if (!rc) {
        rc = check(schema, self->inner->spec(self->algorithm), error);
    }
    if (!rc) {
        rc = make_room(self, config->learner.batch_size, error);
    }
    if (rc) {
        destroy(&self->head);
        return rc;
    }
    *ret_algorithm = &self->head;
    return 0;
}

/* The rows count before they are trained on, so that the first are normalized as well. */
static int train(aq_algorithm *algorithm, const aq_batch *batch, aq_train_stats *ret_stats)
{
    normalized *self = normalized_of(algorithm);
    AQ_ASSERT(batch->rows <= self->rows_max);
    AQ_ASSERT(!aq_batch_has_sequences(batch));
    AQ_ASSERT(batch->obs_bytes == self->normalizer.width * sizeof(float));

    const float *obs = (const float *)(const void *)batch->obs;
    const float *next_obs = (const float *)(const void *)batch->next_obs;
    int rc = aq_obs_normalizer_see(&self->normalizer, obs, batch->rows);
    if (rc) {
        return rc;
    }
    aq_obs_normalizer_apply(&self->normalizer, obs, batch->rows, self->obs);
    aq_obs_normalizer_apply(&self->normalizer, next_obs, batch->rows, self->next_obs);
    aq_batch seen = *batch;
    seen.obs = (uint8_t *)self->obs;
    seen.next_obs = (uint8_t *)self->next_obs;
    return self->inner->train(self->algorithm, &seen, ret_stats);
}

static const aq_net_spec *spec(const aq_algorithm *algorithm)
{
    const normalized *self = const_normalized_of(algorithm);
    return self->inner->spec(self->algorithm);
}

/* Made anew at each call, in a place that is the algorithm's own. */
static const aq_params *policy(const aq_algorithm *algorithm)
{
    const normalized *self = const_normalized_of(algorithm);
    aq_params acting = self->acting; /* the views; what they point at is written */
    aq_params_copy(&acting, self->inner->policy(self->algorithm));
    aq_obs_normalizer_fold(&self->normalizer, self->inner->spec(self->algorithm), &acting);
    return &self->acting;
}

static void set_rates(aq_algorithm *algorithm, double learning_rate, double critic_learning_rate)
{
    normalized *self = normalized_of(algorithm);
    self->inner->set_rates(self->algorithm, learning_rate, critic_learning_rate);
}

static void state(aq_algorithm *algorithm, aq_algorithm_state *ret_state)
{
    normalized *self = normalized_of(algorithm);
    self->inner->state(self->algorithm, ret_state);
    ret_state->statistics_count = self->normalizer.statistics_count;
    ret_state->statistics = self->normalizer.statistics;
}

static void restored(aq_algorithm *algorithm, uint64_t adam_step)
{
    normalized *self = normalized_of(algorithm);
    aq_obs_normalizer_restored(&self->normalizer);
    self->inner->restored(self->algorithm, adam_step);
}

aq_algorithm_class aq_normalized_class(const aq_algorithm_class *inner)
{
    aq_algorithm_class class = *inner;
    class.create = create;
    class.destroy = destroy;
    class.train = train;
    class.spec = spec;
    class.policy = policy;
    class.set_rates = set_rates;
    class.state = state;
    class.restored = restored;
    return class;
}
