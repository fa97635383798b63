/*
 * Distributions: the projection against its definition, and the losses against finite differences.
 */
#include "learner/algorithms/q_learning/q_loss.h"
#include "learner/nn/categorical.h"
#include "learner/nn/passes.h"
#include "tests/support/test.h"

enum { ATOMS = 7, ACTIONS = 3, ROWS = 6, OUTPUTS = ACTIONS * ATOMS };

static void random_distribution(aq_rng *rng, float *out)
{
    float logits[ATOMS];
    fill_normal(logits, ATOMS, 1, rng);
    aq_passes_best()->softmax(logits, 1, ATOMS, out);
}

TEST(a_distribution_begins_around_zero_or_the_end_near_it)
{
    static const struct {
        float low, high, near;
    } ranges[] = {{-200, 200, 0}, {-20, 200, 0}, {0, 100, 0}, {10, 90, 10}, {-90, -10, -10}};
    EACH_ROW(i, ranges) {
        enum { COUNT = 101 };
        float p[COUNT];
        aq_atoms atoms;
        double close = 0;
        aq_atoms_init(&atoms, COUNT, ranges[i].low, ranges[i].high);
        aq_atoms_begin(&atoms, p);
        aq_passes_best()->softmax(p, 1, COUNT, p);
        assert_near(aq_atoms_mean(&atoms, p), ranges[i].near, atoms.spacing);
        for (int k = 0; k < COUNT; k++) {
            close += fabsf(atoms.value[k] - ranges[i].near) <= 5.5f * atoms.spacing ? p[k] : 0.0f;
        }
        assert_true(close > 0.99);
    }
}

/* Each atom's share is 1 - distance / spacing where that is above 0. */
TEST(a_projection_shares_by_distance_and_keeps_the_mean)
{
    aq_atoms atoms;
    aq_atoms_init(&atoms, ATOMS, -2, 4);
    aq_rng rng = rng_of(3, 0);
    for (int trial = 0; trial < 200; trial++) {
        const float reward = (float)aq_rng_range(&rng, -5, 5);
        const float bootstrap = trial % 4 == 0 ? 0.0f : 0.9f;
        float next[ATOMS], got[ATOMS];
        double sum = 0;
        random_distribution(&rng, next);
        aq_atoms_project(&atoms, reward, bootstrap, next, got);
        for (int i = 0; i < ATOMS; i++) {
            double want = 0;
            for (int k = 0; k < ATOMS; k++) {
                const double z = fmin(fmax(reward + bootstrap * atoms.value[k], -2), 4);
                want += next[k] * fmax(0, 1 - fabs(z - atoms.value[i]) / atoms.spacing);
            }
            assert_near(got[i], want, 1e-5);
            sum += got[i];
        }
        assert_near(sum, 1, 1e-5);
    }
}

TEST(what_is_beyond_the_ends_counts_as_the_end)
{
    const float next[ATOMS] = {0.1f, 0.2f, 0.1f, 0.1f, 0.2f, 0.1f, 0.2f};
    float got[ATOMS];
    aq_atoms atoms;
    aq_atoms_init(&atoms, ATOMS, -2, 4);
    aq_atoms_project(&atoms, 1e30f, 1, next, got);
    assert_true(fabsf(got[ATOMS - 1] - 1) < 1e-6f);
    aq_atoms_project(&atoms, -1e30f, 1, next, got);
    assert_true(fabsf(got[0] - 1) < 1e-6f);
}

TEST(the_mass_beyond_the_ends_is_told)
{
    static const struct {
        float reward, bootstrap;
        double below, above;
    } rows[] = {
        {0, 1, 0, 0},   {0, 0.9f, 0, 0}, {0.5f, 1, 0, 0.2}, {-1.5f, 1, 0.3, 0}, {30, 1, 0, 1},
        {-30, 1, 1, 0}, {4, 0, 0, 0},    {4.5f, 0, 0, 1},   {0.004f, 1, 0, 0}, /* rounding */
    };
    const float next[ATOMS] = {0.1f, 0.2f, 0.1f, 0.1f, 0.2f, 0.1f, 0.2f};
    aq_atoms atoms;
    aq_atoms_init(&atoms, ATOMS, -2, 4);
    EACH_ROW(i, rows) {
        double below = 0, above = 0;
        aq_atoms_add_beyond(&atoms, rows[i].reward, rows[i].bootstrap, next, &below, &above);
        assert_near(below, rows[i].below, 1e-6);
        assert_near(above, rows[i].above, 1e-6);
    }
}

TEST(a_projection_of_what_is_not_finite_is_nan)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    const float next[ATOMS] = {1};
    float got[ATOMS];
    aq_atoms atoms;
    aq_atoms_init(&atoms, ATOMS, -2, 4);
    for (size_t i = 0; i < 3; i++) {
        aq_atoms_project(&atoms, bad[i], 1, next, got);
        assert_true(isnan(got[0]));
        aq_atoms_project(&atoms, 0, bad[i], next, got);
        assert_true(isnan(got[0]));
    }
}

TEST(cross_entropy_stays_finite_where_a_probability_vanishes)
{
    float logits[ATOMS] = {0, 500, 0, 0, 0, 0, 0}, p[ATOMS];
    const float target[ATOMS] = {1};
    aq_atoms atoms;
    aq_atoms_init(&atoms, ATOMS, -2, 4);
    aq_passes_best()->softmax(logits, 1, ATOMS, p);
    assert_near(aq_atoms_cross_entropy(&atoms, logits, p, target), 500, 1e-3);
}

typedef struct loss_case {
    aq_batch batch;
    int32_t action[ROWS];
    float reward[ROWS], bootstrap[ROWS], weight[ROWS], priority[ROWS];
    double online[ROWS * OUTPUTS];
    float single[ROWS * OUTPUTS], chooser[ROWS * OUTPUTS], target[ROWS * OUTPUTS];
    aq_atoms atoms;
    float room[OUTPUTS + 3 * ATOMS];
} loss_case;

static void init_case(loss_case *c, uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    aq_rng rng = rng_of(seed, 0);
    aq_atoms_init(&c->atoms, ATOMS, -2, 4);
    for (int i = 0; i < ROWS; i++) {
        c->action[i] = (int32_t)aq_rng_below(&rng, ACTIONS);
        c->reward[i] = (float)aq_rng_normal(&rng);
        c->bootstrap[i] = i == 2 ? 0.0f : 0.9f;
        c->weight[i] = (float)aq_rng_range(&rng, 0.2, 1);
    }
    for (int i = 0; i < ROWS * OUTPUTS; i++) {
        c->single[i] = (float)aq_rng_normal(&rng);
        c->online[i] = (double)c->single[i];
        c->chooser[i] = (float)aq_rng_normal(&rng);
        c->target[i] = (float)aq_rng_normal(&rng);
    }
    c->batch = (aq_batch){.rows = ROWS,
                          .rows_max = ROWS,
                          .action = (uint8_t *)c->action,
                          .action_bytes = sizeof(int32_t),
                          .reward = c->reward,
                          .bootstrap = c->bootstrap,
                          .weight = c->weight,
                          .priority = c->priority};
}

static int find_loss(loss_case *c, float *d, aq_q_loss *loss)
{
    const aq_value_kind kind = {.learns = AQ_Q_DISTRIBUTIONS};
    return aq_q_loss_of(&kind, &c->batch,
                        &(aq_q_values){.actions = ACTIONS,
                                       .width = ATOMS,
                                       .atoms = &c->atoms,
                                       .online = c->single,
                                       .chooser = c->chooser,
                                       .target_next = c->target,
                                       .room = c->room},
                        d, loss);
}

static double mean_in_double(const loss_case *c, const float *logits)
{
    double sum = 0, mean = 0;
    for (int k = 0; k < ATOMS; k++) {
        sum += exp((double)logits[k]);
        mean += exp((double)logits[k]) * (double)c->atoms.value[k];
    }
    return mean / sum;
}

/* The loss by its definition, in double. */
static double loss_in_double(const loss_case *c, double priority[ROWS])
{
    double loss = 0;
    for (int r = 0; r < ROWS; r++) {
        const double *logits = c->online + r * OUTPUTS + c->action[r] * ATOMS;
        float next[ATOMS], y[ATOMS];
        double sum = 0, entropy = 0;
        int best = 0;
        for (int a = 1; a < ACTIONS; a++) {
            if (mean_in_double(c, c->chooser + r * OUTPUTS + a * ATOMS) >
                mean_in_double(c, c->chooser + r * OUTPUTS + best * ATOMS)) {
                best = a;
            }
        }
        aq_passes_best()->softmax(c->target + r * OUTPUTS + best * ATOMS, 1, ATOMS, next);
        aq_atoms_project(&c->atoms, c->reward[r], c->bootstrap[r], next, y);
        for (int k = 0; k < ATOMS; k++) {
            sum += exp(logits[k]);
        }
        for (int k = 0; k < ATOMS; k++) {
            entropy -= (double)y[k] * (logits[k] - log(sum));
        }
        priority[r] = entropy;
        loss += (double)c->weight[r] * entropy / ROWS;
    }
    return loss;
}

TEST(the_gradient_of_c51s_loss_agrees_with_differences)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const double h = 1e-5;
        double priority[ROWS], unused[ROWS];
        float d[ROWS * OUTPUTS];
        aq_q_loss loss;
        loss_case c;
        init_case(&c, seed);
        assert_int_equal(find_loss(&c, d, &loss), 0);
        assert_near(loss.loss, loss_in_double(&c, priority), 1e-5);
        for (int r = 0; r < ROWS; r++) {
            assert_near((double)c.priority[r], priority[r], 1e-5);
        }
        for (int i = 0; i < ROWS * OUTPUTS; i++) {
            const double value = c.online[i];
            c.online[i] = value + h;
            const double above = loss_in_double(&c, unused);
            c.online[i] = value - h;
            const double below = loss_in_double(&c, unused);
            c.online[i] = value;
            assert_near((double)d[i], (above - below) / (2 * h), 1e-5);
        }
    }
}

TEST(an_action_that_does_not_exist_is_refused)
{
    float d[ROWS * OUTPUTS];
    aq_q_loss loss;
    loss_case c;
    init_case(&c, 1);
    c.action[3] = ACTIONS;
    assert_int_equal(find_loss(&c, d, &loss), AQ_E_CORRUPT);
    c.action[3] = -1;
    assert_int_equal(find_loss(&c, d, &loss), AQ_E_CORRUPT);
}

TEST(a_loss_of_what_is_not_finite_is_not_finite)
{
    float d[ROWS * OUTPUTS];
    aq_q_loss loss;
    loss_case c;
    init_case(&c, 1);
    c.reward[0] = NAN;
    assert_int_equal(find_loss(&c, d, &loss), 0);
    assert_false(isfinite(loss.loss));
    init_case(&c, 1);
    for (int i = 0; i < OUTPUTS; i++) {
        c.target[i] = NAN;
    }
    assert_int_equal(find_loss(&c, d, &loss), 0);
    assert_false(isfinite(loss.loss));
}
