/*
 * DQN solves a task whose values are known: a chain of five states, told as one-hot vectors. Going
 * right from the last one ends with 1, going left from the first one ends with 0.1.
 *
 *   Q(s, right) = discount^(4 - s);  Q(0, left) = 0.1;  Q(s, left) = discount^(4 - s + 2)
 *
 * Its batches are drawn uniformly over all states and actions, so what is tested is learning alone.
 * With n-step returns the items follow the optimal policy after their first action.
 */
#include "common/base/parse.h"
#include "common/nn/forward.h"
#include "common/policy/head.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { STATES = 5, ACTIONS = 2, LEFT = 0, RIGHT = 1, ROWS = 32, STEPS = 2000, SCRATCH = 4096 };

static const double discount = 0.9;

/* One move; returns the reward, sets `*ret_done` when the episode is over. */
static double move(int *s, int action, int *ret_done)
{
    int next = *s + (action == RIGHT ? 1 : -1);
    *ret_done = next < 0 || next == STATES;
    if (*ret_done) {
        return next < 0 ? 0.1 : 1;
    }
    *s = next;
    return 0;
}

static void fill_row(aq_batch *batch, uint32_t row, uint32_t n_step, aq_rng *rng)
{
    int s = (int)aq_rng_below(rng, STATES), action = (int)aq_rng_below(rng, ACTIONS), done = 0;
    double rewards = 0, factor = 1;
    size_t at = (size_t)row * STATES;
    memset(fixture_obs(batch) + at, 0, STATES * sizeof(float));
    memset(fixture_next_obs(batch) + at, 0, STATES * sizeof(float));
    fixture_obs(batch)[at + (size_t)s] = 1;
    fixture_set_action(batch, row, action);
    for (uint32_t k = 0; k < n_step && !done; k++) {
        rewards += factor * move(&s, k == 0 ? action : RIGHT, &done);
        factor *= discount;
    }
    fixture_next_obs(batch)[at + (size_t)s] = 1;
    batch->reward[row] = (float)rewards;
    batch->bootstrap[row] = done ? 0.0f : (float)factor;
    batch->weight[row] = 1;
}

typedef struct chain_case {
    uint32_t n_step;
    uint32_t activation;
    bool norm, dueling;
    uint32_t bits; /* of quantization-aware training */
    uint32_t products;
    uint64_t noisy;
    const char *hidden;              /* NULL: the fixture's */
    const aq_algorithm_class *class; /* NULL: dqn's */
} chain_case;

/* How far a value may be off. With few bits a step of one weight from level to level moves it, with
 * noise every step. */
static double tolerance(const chain_case *of)
{
    return of->noisy > 0 ? 0.15 : of->bits != 0 && of->bits < 8 ? 0.12 : 0.05;
}

/* Trains, and checks the values of all states and actions. */
static void check_solved(uint64_t seed, const chain_case *of)
{
    float obs[STATES * STATES] = {0}, q[STATES * ACTIONS], scratch[SCRATCH];
    const aq_schema schema = fixture_schema(STATES, ACTIONS);
    aq_run_config config = fixture_config();
    if (of->hidden != NULL) {
        assert_int_equal(aq_text_set(config.learner.hidden, AQ_RUN_TEXT_MAX, of->hidden), 0);
    }
    config.learner.batch_size = ROWS;
    config.learner.learning_rate = 3e-3;
    config.learner.gradient_clip = 10;
    config.learner.target_period = 25;
    config.learner.activation = of->activation;
    config.learner.norm = of->norm;
    config.learner.dueling = of->dueling;
    config.learner.qat_bits = of->bits;
    config.learner.products = of->products;
    config.learner.threads = 1;
    config.learner.quantiles = 5;
    config.learner.noisy = of->noisy;
    config.learner.noisy_deviation = 0.5;
    config.learner.atoms = 31;
    config.learner.value_min = -1;
    config.learner.value_max = 2;
    aq_agent *algorithm =
        agent_of(of->class != NULL ? of->class : &aq_dqn_class, &config, &schema, seed);
    aq_batch *batch = fixture_batch(&schema, ROWS);
    aq_rng rng = rng_of(seed, 0);
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t row = 0; row < ROWS; row++) {
            fill_row(batch, row, of->n_step, &rng);
        }
        agent_train(algorithm, batch);
    }
    for (size_t s = 0; s < STATES; s++) {
        obs[s * STATES + s] = 1;
    }
    aq_forward_reference(aq_agent_spec(algorithm), aq_agent_policy(algorithm), obs, STATES, scratch,
                         q);
    for (int s = 0; s < STATES; s++) {
        double right = pow(discount, STATES - 1 - s);
        double left = s == 0 ? 0.1 : right * discount * discount;
        if (aq_argmax(q + s * ACTIONS, ACTIONS) != RIGHT ||
            fabs(q[s * ACTIONS + RIGHT] - right) > tolerance(of) ||
            fabs(q[s * ACTIONS + LEFT] - left) > tolerance(of)) {
            fail_msg("seed %llu, state %d: %g and %g, not %g and %g", (unsigned long long)seed, s,
                     (double)q[s * ACTIONS + LEFT], (double)q[s * ACTIONS + RIGHT], left, right);
        }
    }
}

TEST(one_and_three_step_returns_solve_the_chain_from_every_seed)
{
    for (uint64_t seed = 1; seed <= test_rounds(8); seed++) {
        check_solved(seed, &(chain_case){.n_step = 1});
        check_solved(seed, &(chain_case){.n_step = 3});
    }
}

/* Layers wide enough for it. */
TEST(products_in_bf16_solve_the_chain)
{
    for (uint64_t seed = 1; seed <= test_rounds(4); seed++) {
        check_solved(seed,
                     &(chain_case){.n_step = 1, .hidden = "64,64", .products = AQ_PRODUCTS_BF16});
    }
}

TEST(every_activation_solves_the_chain)
{
    for (uint32_t activation = 0; activation < 3; activation++) {
        check_solved(9, &(chain_case){.n_step = 2, .activation = activation});
    }
}

TEST(a_dueling_head_and_norms_solve_the_chain)
{
    for (uint64_t seed = 1; seed <= test_rounds(4); seed++) {
        check_solved(seed, &(chain_case){.n_step = 2, .dueling = true});
        check_solved(seed, &(chain_case){.n_step = 2, .norm = true});
        check_solved(seed, &(chain_case){.n_step = 2, .norm = true, .dueling = true});
    }
}

/* By the network of their means. */
TEST(quantiles_solve_the_chain)
{
    for (uint64_t seed = 1; seed <= test_rounds(4); seed++) {
        check_solved(seed, &(chain_case){.n_step = 1, .class = &aq_qr_dqn_class});
        check_solved(seed, &(chain_case){.n_step = 3, .class = &aq_qr_dqn_class, .dueling = true});
    }
}

/* By the means, of which quantiles' are published averaged; each of them has noise to overcome. */
TEST(noisy_layers_solve_the_chain)
{
    extern const aq_algorithm_class aq_rainbow_class;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        check_solved(seed, &(chain_case){.n_step = 2, .noisy = 1});
        check_solved(seed, &(chain_case){.n_step = 2, .noisy = 2, .norm = true, .bits = 8});
        check_solved(seed, &(chain_case){.n_step = 2, .noisy = 1, .class = &aq_qr_dqn_class});
        check_solved(
            seed,
            &(chain_case){.n_step = 3, .noisy = 1, .class = &aq_rainbow_class, .dueling = true});
    }
}

/* The values are those of the published network. */
TEST(weights_of_few_bits_solve_the_chain)
{
    for (uint64_t seed = 1; seed <= test_rounds(4); seed++) {
        check_solved(seed, &(chain_case){.n_step = 2, .bits = 8});
        check_solved(seed, &(chain_case){.n_step = 2, .bits = 4});
        check_solved(seed, &(chain_case){.n_step = 2, .bits = 4, .dueling = true});
    }
}
