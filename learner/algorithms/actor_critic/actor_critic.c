/*
 * Actor and critic: one step is three pieces of work for the thread pool.
 *
 *   rows        each member takes some of the batch to gradients of its own (actor_critic_share.c)
 *   sums        each member adds up all members' gradients over some of the parameters, and
 *               squares; with other ranks it squares again what their mean is
 *   parameters  each member changes those: Adam, then the target networks
 *
 * Between the second and the third it is decided whether all is finite, and how much is clipped.
 * The parameters are sections, the policy's, the critics' and the temperature's, of an optimizer
 * each.
 *
 * A step that is not the policy's leaves its section alone. So the number of the policy's steps
 * follows from the number of steps, and a checkpoint needs one of them only. A temperature that is
 * fixed is a section that is never due; networks without one have none of its floats.
 */
#include "learner/algorithms/actor_critic/actor_critic.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/exact_math.h"
#include "common/base/memory.h"
#include "learner/algorithms/actor_critic/actor_critic_share.h"
#include "learner/nn/optimizer.h"
#include "learner/nn/passes.h"
#include "learner/nn/thread_pool.h"

enum { SECTION_POLICY, SECTION_CRITIC, SECTION_TEMPERATURE, SECTION_COUNT };

/* Pieces of a section begin on a cache line. */
enum { LINE_FLOATS = 16 };

typedef struct section {
    size_t first, count; /* floats of the block */
    aq_optimizer optimizer;
    aq_adam_pass pass; /* of this step */
    bool is_due;       /* in this step */
    bool has_target;
} section;

typedef struct actor_critic {
    aq_algorithm head;
    aq_actor_critic_setup setup;
    uint32_t rows_max;
    uint32_t obs_bytes;
    double gradient_clip; /* 0: off */
    uint64_t target_period;
    float tau; /* 0: copies */
    uint64_t policy_period;
    uint64_t quant_delay;
    uint64_t step;
    size_t parameters;
    float *arrays; /* online, target, first and second moments */
    aq_actor_critic_nets online, target;
    aq_params acting; /* the policy as it acts, once training is quantized */
    section sections[SECTION_COUNT];
    aq_thread_pool *pool;
    aq_actor_critic_share *shares[AQ_THREAD_POOL_MAX];
    double squares[AQ_THREAD_POOL_MAX][SECTION_COUNT];
    aq_actor_critic_work work;
    bool targets_follow;            /* in this step */
    bool is_summed;                 /* likewise: the first share has the gradient of all */
    aq_gradient_exchange *exchange; /* NULL: none */
    aq_model_group *model;          /* NULL: the networks are whole */
} actor_critic;

static actor_critic *actor_critic_of(aq_algorithm *algorithm)
{
    AQ_ASSERT(algorithm->class->destroy == aq_actor_critic_destroy);
    return (actor_critic *)algorithm; /* the head is the first member */
}

/* ---- making it ------------------------------------------------------------------------------ */

/* Of floats of the block up to `end`. */
static size_t make_section(section *made, size_t first, size_t end, const aq_run_config *config,
                           float *m, float *v)
{
    made->first = first;
    made->count = end - first;
    made->optimizer = aq_optimizer_of(config, m + first, v + first);
    return end;
}

static int make_arrays(actor_critic *self, const aq_run_config *config, aq_error *error)
{
    const size_t count = aq_actor_critic_parameters(&self->setup);

    self->parameters = count;
    self->arrays = aq_alloc_large(count, 4 * sizeof(float));
    if (self->arrays == NULL || aq_gradient_exchange_reserve(self->exchange, count) != 0 ||
        (self->setup.quant.bits != 0 &&
         aq_params_init(&self->setup.policy.slice, &self->acting) != 0)) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for networks of %zu parameters", count);
    }
    const bool is_soft = self->setup.kind->is_soft;
    section *sections = self->sections;
    float *m = self->arrays + 2 * count, *v = self->arrays + 3 * count;
    self->online = aq_actor_critic_nets_view(&self->setup, self->arrays);
    self->target = aq_actor_critic_nets_view(&self->setup, self->arrays + count);
    size_t at = make_section(&sections[SECTION_POLICY], 0, self->online.policy.count, config, m, v);
    at = make_section(&sections[SECTION_CRITIC], at, count - is_soft, config, m, v);
    (void)make_section(&sections[SECTION_TEMPERATURE], at, count, config, m, v);
    const section *critic = &sections[SECTION_CRITIC];
    if (aq_gradient_exchange_watch(self->exchange, critic->first, critic->count, self->rows_max) !=
        0) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the noise of gradients");
    }
    sections[SECTION_TEMPERATURE].optimizer.weight_decay = 0.0f; /* 1 is no better than others */
    sections[SECTION_POLICY].has_target = !is_soft;
    sections[SECTION_CRITIC].has_target = true;
    if (is_soft) {
        self->target.policy = self->online.policy;
    }
    aq_actor_critic_set_rates(&self->head, config->learner.learning_rate,
                              config->learner.critic_learning_rate);
    return 0;
}

static int make_shares(actor_critic *self, uint32_t threads, aq_error *error)
{
    const uint32_t members = threads < self->rows_max ? threads : self->rows_max;
    const uint32_t rows = (self->rows_max + members - 1) / members;
    int rc = aq_thread_pool_create(members, &self->pool);

    if (rc != 0) {
        return aq_fail(error, rc, "learner.threads: %u threads can't be started", members);
    }
    for (uint32_t i = 0; rc == 0 && i < members; i++) {
        rc = aq_actor_critic_share_create(&self->setup, rows, &self->shares[i], error);
    }
    return rc;
}

int aq_actor_critic_create(const aq_algorithm_class *class, const aq_algorithm_setup *setup,
                           aq_algorithm **ret_algorithm, aq_error *error)
{
    const aq_actor_critic_kind *kind = class->kind;
    const aq_run_config *config = setup->config;
    actor_critic *self = aq_alloc(1, sizeof(*self));
    if (self == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %s", class->name);
    }
    AQ_ASSERT(config->learner.batch_size > 0 && config->learner.batch_size <= AQ_BATCH_ROWS_MAX);
    self->head = (aq_algorithm){.class = class, .spec = &self->setup.policy.whole};
    self->rows_max = (uint32_t)config->learner.batch_size;
    self->obs_bytes = (uint32_t)aq_space_bytes(&setup->schema->obs);
    self->gradient_clip = config->learner.gradient_clip;
    self->target_period = config->learner.target_period;
    self->tau = (float)config->learner.tau;
    self->policy_period = kind->is_delayed ? config->learner.policy_delay : 1;
    self->quant_delay = config->learner.qat_delay;
    self->exchange = setup->exchange;
    self->model = setup->model;
    int rc = aq_actor_critic_setup_init(class, setup, &self->setup, error);
    if (rc == 0) {
        rc = make_arrays(self, config, error);
    }
    if (rc == 0) {
        rc = make_shares(self, (uint32_t)config->learner.threads, error);
    }
    if (rc == 0) {
        rc = aq_actor_critic_nets_begin(&self->setup, config, &self->online, error);
    }
    if (rc != 0) {
        aq_actor_critic_destroy(&self->head);
        return rc;
    }
    memcpy(self->target.block, self->online.block, self->parameters * sizeof(float));
    *ret_algorithm = &self->head;
    return 0;
}

void aq_actor_critic_destroy(aq_algorithm *algorithm)
{
    if (algorithm == NULL) {
        return;
    }
    actor_critic *self = actor_critic_of(algorithm);
    aq_thread_pool_destroy(self->pool);
    for (uint32_t i = 0; i < AQ_THREAD_POOL_MAX; i++) {
        aq_actor_critic_share_destroy(self->shares[i]);
    }
    aq_params_fini(&self->acting);
    aq_free(self->arrays);
    aq_free(self);
}

/* ---- a step --------------------------------------------------------------------------------- */

/* Of the step that comes next; the same after a resume. */
static bool is_quantized(const actor_critic *self)
{
    return self->setup.quant.bits != 0 && self->step >= self->quant_delay;
}

/* Member `index`'s part of `count` things. */
static size_t part_begin(size_t count, uint32_t index, uint32_t members, size_t align)
{
    const size_t at = count * index / members;

    return index == members ? count : at - at % align;
}

typedef void share_function(aq_actor_critic_share *share, const aq_actor_critic_work *work,
                            uint32_t first, uint32_t rows);

static void on_rows_of(actor_critic *self, uint32_t index, share_function *function)
{
    const uint32_t rows = self->work.batch->rows, members = aq_thread_pool_size(self->pool);
    const uint32_t first = (uint32_t)part_begin(rows, index, members, 1);
    const uint32_t end = (uint32_t)part_begin(rows, index + 1, members, 1);

    function(self->shares[index], &self->work, first, end - first);
}

/* A part for each share. */
static void run(actor_critic *self, aq_thread_pool_fn part)
{
    aq_thread_pool_run(self->pool, aq_thread_pool_size(self->pool), part, self);
}

static void train_part(void *user, uint32_t index)
{
    on_rows_of(user, index, aq_actor_critic_share_train);
}

static void improve_part(void *user, uint32_t index)
{
    on_rows_of(user, index, aq_actor_critic_share_improve);
}

static void sum_part(void *user, uint32_t index)
{
    actor_critic *self = user;
    const uint32_t members = aq_thread_pool_size(self->pool);
    const uint32_t shares = self->is_summed ? 1 : members;
    const aq_passes *passes = aq_passes_best();
    float *sum = aq_actor_critic_share_gradient(self->shares[0]);

    for (uint32_t s = 0; s < SECTION_COUNT; s++) {
        const section *of = &self->sections[s];
        const size_t first = of->first + part_begin(of->count, index, members, LINE_FLOATS);
        const size_t end = of->first + part_begin(of->count, index + 1, members, LINE_FLOATS);

        if (!of->is_due) {
            continue;
        }
        for (uint32_t i = 1; i < shares; i++) {
            passes->add(sum + first, aq_actor_critic_share_gradient(self->shares[i]) + first,
                        end - first);
        }
        self->squares[index][s] = passes->sum_squares(sum + first, end - first);
    }
}

static void change_part(void *user, uint32_t index)
{
    actor_critic *self = user;
    const uint32_t members = aq_thread_pool_size(self->pool);
    const aq_passes *passes = aq_passes_best();
    const float *gradient = aq_actor_critic_share_gradient(self->shares[0]);

    for (uint32_t s = 0; s < SECTION_COUNT; s++) {
        const section *of = &self->sections[s];
        const size_t first = part_begin(of->count, index, members, LINE_FLOATS);
        const size_t count = part_begin(of->count, index + 1, members, LINE_FLOATS) - first;
        const size_t at = of->first + first;
        float *online = self->online.block + at, *target = self->target.block + at;

        if (of->is_due) {
            passes->adam(&of->pass, online, of->optimizer.m + first, of->optimizer.v + first,
                         gradient + at, count);
        }
        if (!self->targets_follow || !of->has_target) {
            continue;
        }
        if (self->tau > 0.0f) {
            passes->approach(target, online, self->tau, count);
        } else {
            memcpy(target, online, count * sizeof(*target));
        }
    }
}

static aq_actor_critic_sums sums_of(const actor_critic *self)
{
    aq_actor_critic_sums sums = {0};
    for (uint32_t i = 0; i < aq_thread_pool_size(self->pool); i++) {
        aq_actor_critic_share_add_sums(self->shares[i], &sums);
    }
    return sums;
}

/* The gradient of this rank becomes that of all. Sections that are due lie side by side. */
static int combine(actor_critic *self, bool is_good)
{
    const section *of = self->sections;
    const size_t first = of[SECTION_POLICY].is_due ? 0 : of[SECTION_CRITIC].first;
    const section *last =
        &of[of[SECTION_TEMPERATURE].is_due ? SECTION_TEMPERATURE : SECTION_CRITIC];
    int rc = aq_gradient_mean(self->exchange, is_good, first,
                              aq_actor_critic_share_gradient(self->shares[0]) + first,
                              last->first + last->count - first);
    if (rc == 0 && aq_gradient_exchange_ranks(self->exchange) > 1) {
        self->is_summed = true;
        run(self, sum_part);
    }
    return rc;
}

/* Of what this rank answers for: layers that all ranks have are the first one's. */
static void find_squares(actor_critic *self, double squares[SECTION_COUNT])
{
    const aq_slices slices = aq_actor_critic_setup_slices(&self->setup, "parameters");
    const float *gradient = aq_actor_critic_share_gradient(self->shares[0]);

    for (uint32_t s = 0; s < SECTION_COUNT; s++) {
        const section *of = &self->sections[s];

        squares[s] = 0.0;
        for (uint32_t i = 0; of->is_due && i < aq_thread_pool_size(self->pool); i++) {
            squares[s] += self->squares[i][s];
        }
        if (of->is_due && aq_model_group_rank(self->model) > 0) {
            squares[s] = aq_slices_squares(&slices, gradient, of->first, of->count);
        }
    }
}

/* One that clones divides its values by their mean size, over the rows of all ranks. */
static int find_value_scale(actor_critic *self)
{
    double sums[] = {sums_of(self).own_size, self->work.batch->rows};

    if (!self->setup.kind->clones || !self->work.improves_policy) {
        return 0;
    }
    int rc = aq_gradient_exchange_sum(self->exchange, sums, 2);
    self->work.value_scale = (float)(sums[1] / sums[0]);
    return rc;
}

/* Everything before the parameters may change. */
static int find_gradients(actor_critic *self, const aq_batch *batch, aq_update_report *ret_report,
                          double norms[SECTION_COUNT])
{
    double squares[SECTION_COUNT];

    self->is_summed = false;
    run(self, train_part);
    const bool knows_scale = find_value_scale(self) == 0;
    if (self->setup.kind->clones && self->work.improves_policy) {
        run(self, improve_part);
    }
    run(self, sum_part);
    const aq_actor_critic_sums sums = sums_of(self);
    int rc = combine(self, knows_scale && !sums.has_bad_action && isfinite(sums.loss));
    find_squares(self, squares);
    rc = aq_model_group_judge(self->model, rc, squares, SECTION_COUNT);
    if (rc != 0) {
        return rc;
    }
    for (uint32_t s = 0; s < SECTION_COUNT; s++) {
        norms[s] = sqrt(squares[s]);
    }
    *ret_report = (aq_update_report){.steps = 1};
    aq_actor_critic_tell(&(aq_actor_critic_told){.setup = &self->setup,
                                                 .sums = &sums,
                                                 .rows = batch->rows,
                                                 .improves_policy = self->work.improves_policy,
                                                 .temperature = (double)self->work.temperature,
                                                 .gradient_clip = self->gradient_clip,
                                                 .policy_norm = norms[SECTION_POLICY],
                                                 .critic_norm = norms[SECTION_CRITIC]},
                         ret_report->metrics);
    return 0;
}

static float temperature(const actor_critic *self)
{
    return self->setup.kind->is_soft ? (float)aq_exact_exp((double)*self->online.log_temperature)
                                     : 0.0f;
}

static void plan_step(actor_critic *self, const aq_batch *batch)
{
    const uint64_t next = self->step + 1;
    const bool is_policys = next % self->policy_period == 0;

    self->sections[SECTION_POLICY].is_due = is_policys;
    self->sections[SECTION_CRITIC].is_due = true;
    self->sections[SECTION_TEMPERATURE].is_due = self->setup.learns_temperature;
    self->targets_follow = self->tau > 0.0f ? is_policys : next % self->target_period == 0;
    self->work = (aq_actor_critic_work){
        .batch = batch,
        .online = &self->online,
        .target = &self->target,
        .improves_policy = is_policys,
        .is_quantized = is_quantized(self),
        .temperature = temperature(self),
        .value_scale = 1.0f,
        .step = self->step,
    };
}

int aq_actor_critic_train(aq_algorithm *algorithm, const aq_batch *batch,
                          aq_update_report *ret_report)
{
    actor_critic *self = actor_critic_of(algorithm);
    double norms[SECTION_COUNT], scales[SECTION_COUNT];
    aq_update_report report;

    AQ_ASSERT(batch->rows > 0 && batch->rows <= self->rows_max);
    AQ_ASSERT(batch->obs_bytes == self->obs_bytes);
    AQ_ASSERT(batch->action_bytes == self->setup.actions * sizeof(float));
    plan_step(self, batch);
    int rc = find_gradients(self, batch, &report, norms);
    for (uint32_t s = 0; rc == 0 && s < SECTION_COUNT; s++) {
        rc = aq_gradient_clip(norms[s], self->gradient_clip, &scales[s]);
    }
    if (rc != 0) {
        return rc;
    }
    for (uint32_t s = 0; s < SECTION_COUNT; s++) {
        section *of = &self->sections[s];
        if (of->is_due) {
            of->pass = aq_optimizer_advance(&of->optimizer, (float)scales[s]);
        }
    }
    run(self, change_part);
    aq_actor_critic_hold_temperature(&self->setup, &self->online);
    self->step++;
    *ret_report = report;
    return 0;
}

/* ---- what others see ------------------------------------------------------------------------ */

const aq_params *aq_actor_critic_policy(const aq_algorithm *algorithm)
{
    const actor_critic *self = (const actor_critic *)algorithm;

    if (!is_quantized(self)) {
        return &self->online.policy;
    }
    aq_fake_quant_params(&self->setup.quant, &self->setup.policy.slice, &self->online.policy,
                         &self->acting);
    return &self->acting;
}

void aq_actor_critic_set_rates(aq_algorithm *algorithm, double learning_rate,
                               double critic_learning_rate)
{
    actor_critic *self = actor_critic_of(algorithm);

    self->sections[SECTION_POLICY].optimizer.learning_rate = (float)learning_rate;
    self->sections[SECTION_TEMPERATURE].optimizer.learning_rate = (float)learning_rate;
    self->sections[SECTION_CRITIC].optimizer.learning_rate =
        (float)(critic_learning_rate > 0 ? critic_learning_rate : learning_rate);
}

void aq_actor_critic_arrays(aq_algorithm *algorithm, aq_named_arrays *arrays)
{
    actor_critic *self = actor_critic_of(algorithm);
    const aq_optimizer *first = &self->sections[SECTION_POLICY].optimizer;
    const size_t count = self->parameters;
    const size_t unfollowed = self->setup.kind->is_soft ? self->online.policy.count : 0;
    const size_t followed = self->sections[SECTION_TEMPERATURE].first - unfollowed;

    aq_named_arrays_add(arrays, "parameters", AQ_ARRAY_F32, count, self->online.block);
    aq_named_arrays_add(arrays, "target", AQ_ARRAY_F32, followed, self->target.block + unfollowed);
    aq_named_arrays_add(arrays, "adam_m", AQ_ARRAY_F32, count, first->m);
    aq_named_arrays_add_nonnegative(arrays, "adam_v", AQ_ARRAY_F32, count, first->v);
    aq_named_arrays_add(arrays, "adam_step", AQ_ARRAY_U64, 1, &self->step);
}

void aq_actor_critic_restored(aq_algorithm *algorithm)
{
    actor_critic *self = actor_critic_of(algorithm);

    self->sections[SECTION_POLICY].optimizer.step = self->step / self->policy_period;
    self->sections[SECTION_CRITIC].optimizer.step = self->step;
    self->sections[SECTION_TEMPERATURE].optimizer.step = self->step;
    aq_actor_critic_hold_temperature(&self->setup, &self->online);
}

aq_slices aq_actor_critic_slices(const aq_algorithm *algorithm, const char *array)
{
    return aq_actor_critic_setup_slices(&((const actor_critic *)algorithm)->setup, array);
}
