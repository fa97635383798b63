/*
 * Learner cases: see learner_case.h.
 *
 * The products are listed as the algorithms call them: for dqn, one pass of the target network, one
 * of the learned one over twice the rows, and one back; for d4pg and sac see
 * actor_critic_numbers.c; for ppo one pass of each network and one back. No network's first layer
 * hands a gradient on, but a critic's does to its action. A convolution counts as the products over
 * copies of its patches that OpenBLAS would be asked for; our kernels make none.
 */
#include "bench/learner/learner_case.h"

#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/experience/column_catalog.h"
#include "learner/algorithms/actor_critic/policy_network.h"
#include "learner/algorithms/on_policy/on_policy_network.h"

enum {
    ATOMS = 51, /* distributional values of one action */
    SEQUENCE_STEPS = 64,
    MINIBATCHES = 4, /* of a group */
};

typedef struct case_row {
    const char *name;
    uint32_t algorithm; /* enum aq_algorithm */
    uint32_t rows, inputs;
    uint32_t actions; /* choices of discrete ones */
    bool is_discrete;
    const char *hidden, *critic_hidden;
    const char *torso;
    aq_picture_shape picture; /* of bytes, in place of inputs */
} case_row;

/* Observations of the dimensions of cheetah (17 and 6), CartPole (4 and 2) or Pendulum (3 and 1);
 * d4pg with Acme's networks, and SimBa's, which also say how they are trained. */
static const case_row case_rows[] = {
    {"d4pg_acme", AQ_ALGORITHM_D4PG, 256, 17, 6, false, "256,256,256", "512,512,256", "", {0}},
    {"dqn_256x256_b256", AQ_ALGORITHM_DQN, 256, 4, 2, true, "256,256", "", "", {0}},
    {"dqn_2048x3_b256", AQ_ALGORITHM_DQN, 256, 4, 2, true, "2048,2048,2048", "", "", {0}},
    {"dqn_256x256_b64", AQ_ALGORITHM_DQN, 64, 4, 2, true, "256,256", "", "", {0}},
    {"dqn_64x64_b64", AQ_ALGORITHM_DQN, 64, 4, 2, true, "64,64", "", "", {0}},
    {"ppo_choices_b64", AQ_ALGORITHM_PPO, 64, 4, 2, true, "64,64", "", "", {0}},
    {"ppo_choices_b256", AQ_ALGORITHM_PPO, 256, 4, 2, true, "64,64", "", "", {0}},
    {"ppo_numbers_b64", AQ_ALGORITHM_PPO, 64, 3, 1, false, "64,64", "", "", {0}},
    {"ppo_numbers_b256", AQ_ALGORITHM_PPO, 256, 3, 1, false, "64,64", "", "", {0}},
    {"sac_256x256_b256", AQ_ALGORITHM_SAC, 256, 17, 6, false, "256,256", "", "", {0}},
    {"sac_64x64_b100", AQ_ALGORITHM_SAC, 100, 3, 1, false, "64,64", "", "", {0}},
    {"sac_simba", AQ_ALGORITHM_SAC, 256, 17, 6, false, "simba:128x1", "simba:512x2", "", {0}},
    {"d4pg_simba", AQ_ALGORITHM_D4PG, 256, 17, 6, false, "simba:128x1", "simba:512x2", "", {0}},
    /* A game's picture, and Atari's. */
    {"dqn_minatar", AQ_ALGORITHM_DQN, 32, 400, 6, true, "128", "", "minatar", {10, 10, 4}},
    {"dqn_nature", AQ_ALGORITHM_DQN, 32, 28224, 6, true, "512", "", "nature", {84, 84, 4}},
    {"dqn_impala", AQ_ALGORITHM_DQN, 32, 28224, 6, true, "256", "", "impala", {84, 84, 4}},
    /* The wide one, beyond those that are counted. */
    {"d4pg_2048",
     AQ_ALGORITHM_D4PG,
     256,
     17,
     6,
     false,
     "2048,2048,2048",
     "2048,2048,2048",
     "",
     {0}},
};

/* Each row is two cases where there is bf16: its products in fp32, and in bf16. */
static uint32_t formats(void)
{
    return aq_products_has_bf16() ? 2 : 1;
}

size_t aq_learner_case_count(void)
{
    return (sizeof(case_rows) / sizeof(case_rows[0]) - 1) * formats();
}

static bool is_bf16(size_t index)
{
    return index % formats() == 1;
}

aq_learner_case_name aq_learner_case_name_of(size_t index)
{
    aq_learner_case_name name;

    AQ_ASSERT(index < aq_learner_case_count());
    (void)snprintf(name.text, sizeof(name.text), "%s%s", case_rows[index / formats()].name,
                   is_bf16(index) ? "_bf16" : "");
    return name;
}

/* ---- what is trained ------------------------------------------------------------------------ */

static int configure(aq_learner_case *of, const case_row *row, uint32_t products, uint32_t threads,
                     const aq_settings_assignments *settings, aq_error *error)
{
    const bool is_simba = strncmp(row->hidden, "simba:", 6) == 0;
    const bool is_acme = row->algorithm == AQ_ALGORITHM_D4PG && !is_simba;
    aq_run_config *config = &of->config;

    aq_settings_init(aq_run_config_table(), config);
    if (aq_text_set(config->learner.hidden, AQ_RUN_TEXT_MAX, row->hidden) != 0 ||
        aq_text_set(config->learner.critic_hidden, AQ_RUN_TEXT_MAX, row->critic_hidden) != 0 ||
        aq_text_set(config->learner.torso, AQ_RUN_TEXT_MAX, row->torso) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "%s: too many layers", row->name);
    }
    config->learner.algorithm = row->algorithm;
    config->learner.batch_size = row->rows;
    config->learner.threads = threads;
    config->learner.products = products;
    config->learner.target_period = 100;
    config->learner.atoms = ATOMS;
    config->learner.tau = row->algorithm == AQ_ALGORITHM_SAC ? 0.005 : 0;
    if (is_simba) {
        config->learner.clipped_double_q = false;
        config->learner.weight_decay = 0.01;
        config->learner.learning_rate = 1e-4;
    }
    if (is_acme) {
        config->learner.gradient_clip = 40;
        config->learner.norm_first = true;
        config->learner.critic_norm_first = true;
        config->learner.activation = AQ_ACTIVATION_ELU - AQ_ACTIVATION_RELU;
        config->learner.critic_activation = AQ_ACTIVATION_ELU - AQ_ACTIVATION_RELU;
        config->learner.learning_rate = 1e-4;
    }
    if (row->algorithm == AQ_ALGORITHM_PPO) {
        config->learner.activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
        config->learner.critic_activation = AQ_ACTIVATION_TANH - AQ_ACTIVATION_RELU;
        config->learner.learning_rate = 3e-4;
        config->learner.gradient_clip = 0.5;
        config->learner.minibatches = MINIBATCHES;
        config->learner.group_steps = MINIBATCHES * row->rows;
        config->replay.selector = AQ_SELECTOR_QUEUE;
        config->replay.sequence_length = SEQUENCE_STEPS;
        config->replay.sequence_period = SEQUENCE_STEPS;
    }
    return settings == NULL
               ? 0
               : aq_settings_assign_all(aq_run_config_table(), settings, config, error);
}

static void fill_space(uint32_t elements, aq_space *space)
{
    float low[AQ_BOUNDS_MAX], high[AQ_BOUNDS_MAX];

    for (uint32_t i = 0; i < elements; i++) {
        low[i] = -1.0f;
        high[i] = 1.0f;
    }
    aq_space_init_box(space, elements, low, high);
}

static void fill_picture(const aq_picture_shape *shape, aq_space *space)
{
    *space = (aq_space){.kind = AQ_SPACE_BOX,
                        .dtype = AQ_DTYPE_U8,
                        .rank = 3,
                        .shape = {shape->height, shape->width, shape->channels},
                        .bound_count = 1,
                        .high = {255}};
}

static void fill_uniform(float *out, size_t count, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)aq_rng_range(rng, -1, 1);
    }
}

static void fill_batch(aq_learner_case *of, aq_rng *rng)
{
    aq_batch *batch = of->batch;
    const size_t steps = (size_t)batch->rows * batch->steps;
    const bool is_discrete = of->schema.action.kind == AQ_SPACE_DISCRETE;

    for (uint32_t c = 0; c < batch->column_count; c++) {
        const aq_batch_column *column = &batch->columns[c];
        const size_t bytes = batch->rows * aq_batch_column_bytes(column);
        if (column->is.dtype == AQ_DTYPE_F32) {
            fill_uniform((float *)(void *)column->bytes, bytes / sizeof(float), rng);
        }
        for (size_t i = 0; column->is.dtype == AQ_DTYPE_U8 && i < bytes; i++) {
            column->bytes[i] = (uint8_t)aq_rng_below(rng, 256);
        }
    }
    for (size_t i = 0; i < steps; i++) {
        if (is_discrete) {
            const int32_t action = (int32_t)aq_rng_below(rng, of->actions);
            memcpy(batch->action + i * sizeof(action), &action, sizeof(action));
        }
        batch->bootstrap[i] = 0.95f;
    }
    for (uint32_t row = 0; row < batch->rows; row++) {
        batch->weight[row] = 1.0f;
        if (aq_batch_has_sequences(batch)) {
            batch->length[row] = batch->steps;
        }
    }
}

/* ---- its products --------------------------------------------------------------------------- */

static void add_product(aq_learner_case *of, aq_product product, uint32_t times)
{
    if (times == 0) {
        return;
    }
    AQ_ASSERT(of->product_count < AQ_PRODUCTS_MAX);
    product.b_stride = product.transposes_b ? product.k : product.n;
    of->products[of->product_count++] = (aq_case_product){product, times};
}

/* How often a network goes forward over the batch's rows and over twice as many, how many rows of
 * gradients pass through its layers, and how many elements of its input want theirs. */
typedef struct network_work {
    uint32_t forward, forward_twice;
    uint32_t back_rows;
    uint32_t input_columns;
} network_work;

/* Layer `l` as a matrix of so many rows for each row of a batch. */
static void add_layer(aq_learner_case *of, const aq_layer_spec *layer, bool is_first,
                      const network_work *work)
{
    const aq_layer_matrix_shape matrix = aq_layer_matrix(layer);
    const uint32_t pixels = layer->outputs / matrix.rows, rows = of->rows * pixels;
    const aq_product forward = {
        .transposes_b = true, .m = rows, .n = matrix.rows, .k = matrix.columns};
    aq_product twice = forward;
    twice.m *= 2;
    add_product(of, forward, work->forward);
    add_product(of, twice, work->forward_twice);
    add_product(
        of, (aq_product){.transposes_a = true, .m = matrix.rows, .n = matrix.columns, .k = rows},
        1);
    if (!is_first) {
        add_product(
            of, (aq_product){.m = work->back_rows * pixels, .n = matrix.columns, .k = matrix.rows},
            1);
    } else if (work->input_columns > 0) {
        add_product(of, (aq_product){.m = rows, .n = work->input_columns, .k = matrix.rows}, 1);
    }
}

static void add_network(aq_learner_case *of, const aq_net_spec *spec, const network_work *work)
{
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        if (aq_layer_is_quantizable(&spec->layers[l])) {
            add_layer(of, &spec->layers[l], l == 0, work);
        }
    }
}

static int list_products(aq_learner_case *of, aq_error *error)
{
    const uint32_t algorithm = (uint32_t)of->config.learner.algorithm;
    const aq_net_spec *policy = aq_agent_spec(of->agent);
    const bool is_sac = algorithm == AQ_ALGORITHM_SAC;
    aq_net_spec values;
    int rc = 0;

    if (algorithm == AQ_ALGORITHM_DQN) {
        add_network(of, policy, &(network_work){1, 1, of->rows, 0});
        return 0;
    }
    if (algorithm == AQ_ALGORITHM_PPO) {
        rc = aq_on_policy_value_spec(&of->config, &of->schema, &values, error);
        if (rc == 0) {
            add_network(of, policy, &(network_work){1, 0, of->rows, 0});
            add_network(of, &values, &(network_work){1, 0, of->rows, 0});
        }
        return rc;
    }
    rc = aq_critic_network_spec(&of->config, &of->schema, is_sac ? 1 : ATOMS, &values, error);
    if (rc != 0) {
        return rc;
    }
    add_network(of, policy, &(network_work){2, 0, of->rows, 0});
    const bool is_twin = is_sac && of->config.learner.clipped_double_q;
    for (int critics = is_twin ? 2 : 1; critics > 0; critics--) {
        add_network(of, &values, &(network_work){1, 1, 2 * of->rows, of->actions});
    }
    return 0;
}

static int make_operands(aq_learner_case *of, aq_rng *rng, aq_error *error)
{
    aq_products_room room = {0};
    size_t floats = 1;

    for (size_t i = 0; i < of->product_count; i++) {
        aq_product *p = &of->products[i].is;
        const size_t a = (size_t)p->m * p->k, b = (size_t)p->k * p->n, c = (size_t)p->m * p->n;
        floats = a > floats ? a : floats;
        floats = b > floats ? b : floats;
        floats = c > floats ? c : floats;
        aq_products_room_for(p, &room);
    }
    of->a = aq_alloc(floats, sizeof(float));
    of->b = aq_alloc(floats, sizeof(float));
    of->c = aq_alloc(floats, sizeof(float));
    if (of->a == NULL || of->b == NULL || of->c == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the operands of products");
    }
    fill_uniform(of->a, floats, rng);
    fill_uniform(of->b, floats, rng);
    for (size_t i = 0; i < of->product_count; i++) {
        aq_product *p = &of->products[i].is;
        p->a = of->a;
        p->b = of->b;
        p->c = of->c;
    }
    return aq_products_bf16_threads(&of->config, 1) != 0 ? aq_products_create(room, 1, &of->bf16)
                                                         : 0;
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* A row for each of an update's: items, or the sequences of a group. */
static int make_batch(aq_learner_case *of, aq_error *error)
{
    const aq_algorithm_class *class = aq_agent_class(of->agent);
    const uint32_t steps = (uint32_t)of->config.replay.sequence_length;
    const uint32_t rows = steps > 0 ? MINIBATCHES * of->rows / steps : of->rows;
    aq_layout layout;
    int rc = aq_layout_init(&of->schema, 1, steps + 2, &layout, error);

    for (const char *const *name = class->needs.columns; rc == 0 && name != NULL && *name != NULL;
         name++) {
        aq_column column;
        rc = aq_column_find(*name, &of->schema, &column);
        if (rc == 0 && column.bytes > 0) {
            rc = aq_layout_record(&layout, &column, 1, error);
        }
    }
    if (rc == 0 && aq_batch_create(&layout, steps, rows, &of->batch) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory for a batch");
    }
    if (rc == 0) {
        of->batch->rows = rows;
    }
    return rc;
}

static int make(aq_learner_case *of, const case_row *row, aq_gradient_exchange *exchange,
                aq_model_group *model, aq_error *error)
{
    aq_rng rng;

    if (row->torso[0] != '\0') {
        fill_picture(&row->picture, &of->schema.obs);
    } else {
        fill_space(row->inputs, &of->schema.obs);
    }
    if (row->is_discrete) {
        aq_space_init_discrete(&of->schema.action, row->actions);
    } else {
        fill_space(row->actions, &of->schema.action);
    }
    aq_algorithm_set_blas_threads(aq_algorithm_at(row->algorithm), &of->config);
    const aq_algorithm_setup setup = {
        .config = &of->config,
        .schema = &of->schema,
        .sequence_length = (uint32_t)of->config.replay.sequence_length,
        .seed = 1,
        .exchange = exchange,
        .model = model,
    };
    int rc = aq_agent_create(aq_algorithm_at(row->algorithm), &setup, &of->agent, error);
    if (rc == 0) {
        rc = make_batch(of, error);
    }
    if (rc == 0) {
        aq_rng_init(&rng, 1, 0);
        fill_batch(of, &rng);
        rc = list_products(of, error);
    }
    return rc == 0 ? make_operands(of, &rng, error) : rc;
}

int aq_learner_case_init(aq_learner_case *of, size_t index, uint32_t threads,
                         const aq_settings_assignments *settings, aq_gradient_exchange *exchange,
                         aq_model_group *model, aq_error *error)
{
    AQ_ASSERT(index <= AQ_LEARNER_CASE_WIDE);
    const case_row *row = &case_rows[index / formats()];
    const bool is_wide = index == AQ_LEARNER_CASE_WIDE;
    const uint32_t products = !is_wide && is_bf16(index) ? AQ_PRODUCTS_BF16 : AQ_PRODUCTS_FP32;

    *of = (aq_learner_case){.rows = row->rows, .actions = row->actions};
    int rc = configure(of, row, products, threads, settings, error);
    rc = rc == 0 ? make(of, row, exchange, model, error) : rc;
    if (rc != 0) {
        aq_learner_case_fini(of);
        return aq_fail_context(error, rc, "%s", row->name);
    }
    return 0;
}

void aq_learner_case_fini(aq_learner_case *of)
{
    if (of->agent != NULL) {
        aq_agent_destroy(of->agent);
    }
    aq_batch_destroy(of->batch);
    aq_free(of->a);
    aq_free(of->b);
    aq_free(of->c);
    aq_products_destroy(of->bf16);
    *of = (aq_learner_case){0};
}

int aq_learner_case_update(aq_learner_case *of, uint64_t *ret_steps)
{
    aq_update_report report;
    int rc = aq_agent_train(of->agent, of->batch, &report);

    if (rc == 0) {
        *ret_steps = report.steps;
    }
    return rc;
}

void aq_learner_case_product(aq_learner_case *of, const aq_case_product *product)
{
    aq_products_run(of->bf16, &product->is);
}

double aq_learner_case_flop(const aq_learner_case *of)
{
    double flop = 0;

    for (size_t i = 0; i < of->product_count; i++) {
        const aq_case_product *p = &of->products[i];
        flop += 2.0 * p->is.m * p->is.n * p->is.k * p->times;
    }
    return flop;
}
