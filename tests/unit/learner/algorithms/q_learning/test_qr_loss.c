/*
 * QR-DQN's loss: a row by hand, gradients by central finite differences of the loss in double
 * precision; and that the network which actors get gives the means of what is learned.
 */
#include "common/nn/forward.h"
#include "learner/algorithms/q_learning/q_loss.h"
#include "learner/algorithms/q_learning/q_network.h"
#include "tests/support/test.h"
#include "tests/unit/learner/dqn_fixture.h"

enum { QUANTILES = 4, ACTIONS = FIXTURE_ACTIONS, ROWS = FIXTURE_ROWS };
enum { ROW = ACTIONS * QUANTILES, VALUES = ROWS * ROW, ROOM = 64, SCRATCH = 4096 };

typedef struct fixture {
    aq_batch *batch;
    float online[VALUES], chooser[VALUES], target_next[VALUES], d_online[VALUES], room[ROOM];
} fixture;

static fixture make(uint64_t seed)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, ACTIONS);
    fixture f = {.batch = fixture_batch(&schema, ROWS)};
    aq_rng rng = rng_of(seed, 0);
    fixture_randomize(f.batch, ACTIONS, &rng);
    for (size_t i = 0; i < VALUES; i++) {
        f.online[i] = (float)aq_rng_normal(&rng);
        f.chooser[i] = (float)aq_rng_normal(&rng);
        f.target_next[i] = (float)aq_rng_normal(&rng);
        f.d_online[i] = NAN;
    }
    assert_true(aq_q_loss_room(ACTIONS, QUANTILES) <= ROOM);
    return f;
}

static int find_loss(fixture *f, float delta, aq_q_loss *ret_loss)
{
    const aq_value_kind kind = {.learns = AQ_Q_QUANTILES};
    const aq_q_values values = {.actions = ACTIONS,
                                .width = QUANTILES,
                                .huber_delta = delta,
                                .online = f->online,
                                .chooser = f->chooser,
                                .target_next = f->target_next,
                                .room = f->room};
    return aq_q_loss_of(&kind, f->batch, &values, f->d_online, ret_loss);
}

static double mean(const float *values)
{
    return ((double)values[0] + (double)values[1] + (double)values[2] + (double)values[3]) / 4;
}

static size_t best_of(const float *row)
{
    size_t best = 0;
    for (size_t a = 1; a < ACTIONS; a++) {
        best = mean(row + a * QUANTILES) > mean(row + best * QUANTILES) ? a : best;
    }
    return best;
}

/* The equation, in double, with `shift` added to one of the quantiles in the present state. */
static double loss_in_double(const fixture *f, double delta, size_t shifted, double shift)
{
    double loss = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const float *next = f->target_next + i * ROW + best_of(f->chooser + i * ROW) * QUANTILES;
        const size_t at = i * ROW + fixture_action(f->batch, i) * QUANTILES;
        for (size_t k = 0; k < QUANTILES; k++) {
            for (size_t j = 0; j < QUANTILES; j++) {
                const double y =
                    (double)f->batch->reward[i] + (double)f->batch->bootstrap[i] * (double)next[j];
                const double u = y - (double)f->online[at + k] - (at + k == shifted ? shift : 0);
                const double huber = fabs(u) <= delta ? u * u / 2 : delta * (fabs(u) - delta / 2);
                loss += (double)f->batch->weight[i] *
                        fabs((k + 0.5) / QUANTILES - (u < 0 ? 1 : 0)) * huber / QUANTILES;
            }
        }
    }
    return loss / ROWS;
}

TEST(loss_and_gradient_are_those_of_double_precision)
{
    const double h = 1e-5;
    const float deltas[] = {100, 0.05f, 1};
    EACH_ROW(d, deltas) {
        for (uint64_t seed = 1; seed <= 10; seed++) {
            fixture f = make(seed);
            aq_q_loss loss;
            assert_succeeds(find_loss(&f, deltas[d], &loss));
            assert_near(loss.loss, loss_in_double(&f, deltas[d], SIZE_MAX, 0), 1e-5);
            for (size_t i = 0; i < VALUES; i++) {
                const double above = loss_in_double(&f, deltas[d], i, h);
                const double below = loss_in_double(&f, deltas[d], i, -h);
                assert_near(f.d_online[i], (above - below) / (2 * h), 2e-6);
            }
        }
    }
}

TEST(a_priority_is_how_far_the_mean_is_from_the_targets)
{
    fixture f = make(3);
    aq_q_loss loss;
    assert_succeeds(find_loss(&f, 1, &loss));
    for (size_t i = 0; i < ROWS; i++) {
        const float *next = f.target_next + i * ROW + best_of(f.chooser + i * ROW) * QUANTILES;
        const double y = (double)f.batch->reward[i] + (double)f.batch->bootstrap[i] * mean(next);
        const double q = mean(f.online + i * ROW + fixture_action(f.batch, i) * QUANTILES);
        assert_near(f.batch->priority[i], fabs(q - y), 1e-6);
    }
}

TEST(what_cannot_be_is_refused_or_shows_in_the_loss)
{
    const int32_t wrong[] = {-1, ACTIONS, INT32_MIN, INT32_MAX};
    aq_q_loss loss;
    fixture f = make(1);
    f.batch->reward[2] = NAN;
    assert_succeeds(find_loss(&f, 1, &loss));
    assert_false(isfinite(loss.loss));
    EACH_ROW(i, wrong) {
        fixture_set_action(f.batch, ROWS - 1, wrong[i]);
        assert_int_equal(find_loss(&f, 1, &loss), AQ_E_CORRUPT);
    }
}

/* With and without a dueling head. */
TEST(the_network_that_actors_get_gives_the_means)
{
    const aq_value_kind quantiles = {.learns = AQ_Q_QUANTILES};
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, ACTIONS);
    for (int is_dueling = 0; is_dueling < 2; is_dueling++) {
        aq_run_config config = fixture_config();
        aq_net_spec wide, narrow;
        aq_params from, to;
        float obs[FIXTURE_INPUTS] = {0.3f, -0.8f, 0.1f, 0.6f}, scratch[SCRATCH];
        float all[ROW], means[ACTIONS];
        aq_rng rng = rng_of(5, 0);
        config.learner.dueling = is_dueling;
        assert_succeeds(
            aq_q_network_spec(&quantiles, &config, &schema, QUANTILES, &wide, &refusal));
        assert_succeeds(aq_q_network_spec(&quantiles, &config, &schema, 1, &narrow, &refusal));
        assert_succeeds(aq_params_init(&wide, &from));
        assert_succeeds(aq_params_init(&narrow, &to));
        aq_params_randomize(&wide, &from, &rng);
        aq_q_network_fold(&wide, &from, &narrow, &to);
        aq_forward_reference(&wide, &from, obs, 1, scratch, all);
        aq_forward_reference(&narrow, &to, obs, 1, scratch, means);
        for (size_t a = 0; a < ACTIONS; a++) {
            assert_near(means[a], mean(all + a * QUANTILES), 1e-6);
        }
        aq_params_fini(&from);
        aq_params_fini(&to);
    }
}

TEST(quantization_aware_training_is_refused)
{
    const aq_schema schema = fixture_schema(FIXTURE_INPUTS, ACTIONS);
    aq_run_config config = fixture_config();
    aq_agent *agent = NULL;
    config.learner.qat_bits = 4;
    assert_refused(agent_try(&aq_qr_dqn_class, &config, &schema, 1, &agent, &refusal),
                   AQ_E_UNSUPPORTED, "qat_bits=0");
}
