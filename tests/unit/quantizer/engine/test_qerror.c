/*
 * The measured quantization error, on policies whose error is known.
 */
#include <float.h>

#include "common/sys/cpu.h"
#include "quantizer/engine/qerror.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "tests/unit/quantizer/random_policy.h"

enum { ROWS = 50, ROWS_MAX = 16 };

static aq_engine *make_engine(const quantizer_fixture *fixture, uint32_t format)
{
    return quantizer_fixture_engine(quantizer_fixture_snapshot(fixture, format), ROWS_MAX,
                                    aq_cpu_flags());
}

/* 4 -> 64 -> 64 -> 2. */
static quantizer_fixture *random_of(void)
{
    const uint32_t hidden[] = {64, 64, 0};
    return quantizer_fixture_of(4, hidden, 2, AQ_ACTIVATION_RELU);
}

static aq_quant_error measure(aq_engine *engine, const quantizer_fixture *fixture, const float *obs)
{
    aq_quant_error error;
    assert_int_equal(aq_quant_error_measure(engine,
                                            quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32), obs,
                                            ROWS, &error),
                     0);
    return error;
}

TEST(fp32_has_no_error_but_rounding)
{
    quantizer_fixture *fixture = random_of();
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    const aq_quant_error error = measure(make_engine(fixture, AQ_FORMAT_F32), fixture, obs);
    assert_int_equal(error.rows, ROWS);
    assert_true(error.cost == 0.0f);
    assert_true(error.output_max <= 2e-6f);
    assert_true(error.output_rms <= error.output_max);
}

TEST(int8_has_some_error_and_its_rms_is_below_its_maximum)
{
    quantizer_fixture *fixture = random_of();
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_INT8_CHANNEL);
    const aq_quant_error error = measure(engine, fixture, obs);
    assert_true(error.output_rms > 0.0f);
    assert_true(error.output_rms < error.output_max);
    assert_true(error.output_max < 0.05f);
}

/* y = bias + W x with W = 0: the network's outputs are its biases, whatever it sees. */
static quantizer_fixture *constant_of(float first, float second)
{
    quantizer_fixture *fixture = quantizer_fixture_of(3, NULL, 2, AQ_ACTIVATION_NONE);
    memset(fixture->params.weight[0], 0, 3 * 2 * sizeof(float));
    fixture->params.bias[0][0] = first;
    fixture->params.bias[0][1] = second;
    return fixture;
}

TEST(a_known_difference_is_what_is_measured)
{
    quantizer_fixture *fixture = constant_of(1.0f, 2.0f);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_F32);
    fixture->params.bias[0][0] = 4.0f; /* the fp32 policy says 4, 6 and the engine still 1, 2 */
    fixture->params.bias[0][1] = 6.0f;
    const aq_quant_error error = measure(engine, fixture, obs);
    assert_true(error.output_max == 4.0f);
    assert_true(error.output_rms == (float)sqrt((9.0 + 16.0) / 2.0));
    assert_true(error.cost == 0.0f); /* the same action is the best */
}

/* By fp32 the first action is worth x[0] and the other nothing; the engine always chooses the
 * other. Where x[0] is 1, all of it is lost, and a choice by chance would lose half. */
static float cost_of_the_other(float elsewhere)
{
    quantizer_fixture *fixture = constant_of(0.0f, 1.0f);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_F32);
    fixture->params.bias[0][1] = 0.0f;
    fixture->params.weight[0][0] = 1.0f;
    for (size_t row = 0; row < ROWS; row++) {
        obs[row * 3] = row < 15 ? 1.0f : elsewhere;
    }
    return measure(engine, fixture, obs).cost;
}

TEST(the_cost_is_the_value_that_is_lost_of_what_choices_are_worth)
{
    assert_near((double)cost_of_the_other(-1.0f), 15.0 / 25.0, 1e-6);
    /* Where more is at stake and nothing is lost, the same mistakes matter less. */
    assert_near((double)cost_of_the_other(-10.0f), 15.0 / 182.5, 1e-6);
    /* Mistakes where values are nearly equal cost next to nothing. */
    assert_near((double)cost_of_the_other(-1000.0f), 15.0 / 17507.5, 1e-6);
}

TEST(worse_than_a_choice_by_chance_costs_all_that_is_at_stake)
{
    assert_true(cost_of_the_other(1.0f) == 1.0f);
}

TEST(pieces_of_any_size_give_the_same_result)
{
    quantizer_fixture *fixture = random_of();
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT8_CHANNEL);
    const uint32_t flags = aq_cpu_flags();
    const aq_quant_error whole =
        measure(quantizer_fixture_engine(snapshot, ROWS, flags), fixture, obs);
    const aq_quant_error pieces =
        measure(quantizer_fixture_engine(snapshot, 7, flags), fixture, obs);
    /* fp32 is summed in another order for another number of rows. */
    assert_near(whole.output_max, pieces.output_max, 1e-6);
    assert_near(whole.output_rms, pieces.output_rms, 1e-6);
    assert_near((double)whole.cost, (double)pieces.cost, 1e-6);
}

/* Each row goes on from the state that the one before left. */
TEST(pieces_of_one_episode_give_the_same_result)
{
    const aq_net_spec spec = random_policy_spec(NET_GRU);
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_snapshot *snapshot = quantizer_fixture_snapshot(fixture, AQ_FORMAT_INT4);
    static const size_t rows_max[] = {ROWS, 7, 1};
    aq_quant_error errors[3];
    EACH_ROW(i, rows_max) {
        aq_engine *engine = quantizer_fixture_engine(snapshot, rows_max[i], aq_cpu_flags());
        errors[i] = measure(engine, fixture, obs);
        assert_true(errors[i].output_max > 0.0f);
        assert_near(errors[i].output_max, errors[0].output_max, 1e-6);
        assert_near(errors[i].output_rms, errors[0].output_rms, 1e-6);
    }
}

TEST(what_is_not_finite_counts_as_zero_in_both_precisions)
{
    aq_quant_error error, zero;
    quantizer_fixture *fixture = quantizer_fixture_of(3, NULL, 2, AQ_ACTIVATION_NONE);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_INT8_CHANNEL);
    aq_snapshot *exact = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    obs[3 * 20] = NAN;
    assert_int_equal(aq_quant_error_measure(engine, exact, obs, ROWS, &error), 0);
    obs[3 * 20] = 0.0f;
    assert_int_equal(aq_quant_error_measure(engine, exact, obs, ROWS, &zero), 0);
    assert_true(error.output_max == zero.output_max && error.output_rms == zero.output_rms);
}

TEST(an_error_that_is_not_a_number_is_refused)
{
    aq_quant_error error = {.rows = 77};
    quantizer_fixture *fixture = quantizer_fixture_of(3, NULL, 2, AQ_ACTIVATION_NONE);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    fixture->params.bias[0][0] = -FLT_MAX;
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_INT8_CHANNEL);
    fixture->params.bias[0][0] = FLT_MAX; /* a difference beyond what floats hold */
    aq_snapshot *exact = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    assert_int_equal(aq_quant_error_measure(engine, exact, obs, ROWS, &error), AQ_E_CORRUPT);
    assert_int_equal(error.rows, 77);
}

TEST(a_failed_allocation_is_an_error)
{
    aq_quant_error error;
    int rc;
    quantizer_fixture *fixture = random_of();
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_INT8_CHANNEL);
    aq_snapshot *exact = quantizer_fixture_snapshot(fixture, AQ_FORMAT_F32);
    EACH_ALLOCATION_FAILS(rc) {
        rc = aq_quant_error_measure(engine, exact, obs, ROWS, &error);
    }
}

TEST(more_bits_have_less_error)
{
    const uint32_t formats[] = {AQ_FORMAT_F16,  AQ_FORMAT_BF16,        AQ_FORMAT_INT8_CHANNEL,
                                AQ_FORMAT_INT4, AQ_FORMAT_INT8_SPARSE, AQ_FORMAT_INT2};
    float before = 0.0f;
    quantizer_fixture *fixture = random_of();
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    EACH_ROW(i, formats) {
        const aq_quant_error error = measure(make_engine(fixture, formats[i]), fixture, obs);
        assert_true(error.output_rms > before);
        before = error.output_rms;
    }
}

/* ---- continuous actions --------------------------------------------------------------------- */

/* tanh of biases: the actions are known. */
static quantizer_fixture *continuous_of(void)
{
    quantizer_fixture *fixture = constant_of(0.0f, 0.0f);
    fixture->spec.layers[0].activation = AQ_ACTIVATION_TANH;
    fixture->schema.action = fixture->schema.obs;
    fixture->schema.action.shape[0] = 2;
    fixture->meta.head = AQ_HEAD_TANH_BOX;
    return fixture;
}

TEST(a_continuous_policy_has_the_error_of_its_action)
{
    quantizer_fixture *fixture = continuous_of();
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_F32);
    fixture->params.bias[0][0] = 50.0f; /* tanh of it is 1 */
    fixture->params.bias[0][1] = -50.0f;
    const aq_quant_error error = measure(engine, fixture, obs);
    assert_true(error.output_rms == 1.0f);
    assert_true(error.output_max == 1.0f);
    assert_true(error.kl == 0.0f);
    assert_true(error.cost == 0.5f); /* from the middle of the range to an end of it */
}

/* ---- distributions -------------------------------------------------------------------------- */

enum { CHOICES = 2, ATOMS = 3, LOGITS = CHOICES * ATOMS };

/* Logits are biases, as those of constant_of. */
static quantizer_fixture *categorical_of(const float *logits)
{
    const aq_head_shape head = {.choices = CHOICES, .atoms = ATOMS, .low = -1.0f, .high = 1.0f};
    const aq_layer_spec layers[] = {aq_layer_linear(3, LOGITS, AQ_ACTIVATION_NONE),
                                    aq_layer_categorical(&head)};
    const aq_net_spec spec = net_of(layers);
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    memset(fixture->params.weight[0], 0, (size_t)3 * LOGITS * sizeof(float));
    memcpy(fixture->params.bias[0], logits, LOGITS * sizeof(float));
    return fixture;
}

/* The engine says (1/2, 1/4, 1/4) for each choice; fp32 the same for one, (1/4, 1/2, 1/4) for the
 * other: KL = 1/4 log(1/2) + 1/2 log 2 = log(2) / 4, half of it on average over the choices. */
TEST(kl_is_the_divergence_from_fp32_per_row_and_choice)
{
    const float half = 3.0f + (float)log(2.0), quarter = 3.0f;
    const float engine_logits[] = {half, quarter, quarter, half, quarter, quarter};
    quantizer_fixture *fixture = categorical_of(engine_logits);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_F32);
    fixture->params.bias[0][ATOMS] = quarter;
    fixture->params.bias[0][ATOMS + 1] = half;
    const aq_quant_error error = measure(engine, fixture, obs);
    assert_near((double)error.kl, log(2.0) / 8.0, 1e-6);
    assert_near((double)error.output_max, 0.25, 1e-6); /* (-1, 0, 1) by probabilities */
}

/* The engine draws by (3/4, 1/4), and fp32 by (1/2, 1/2): KL = log(4/3) / 2, on every row. */
TEST(kl_of_a_policy_that_draws_is_a_mean_too)
{
    quantizer_fixture *fixture = constant_of((float)log(3.0), 0.0f);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    fixture->meta.head = AQ_HEAD_CATEGORICAL;
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_F32);
    fixture->params.bias[0][0] = 0.0f;
    assert_near((double)measure(engine, fixture, obs).kl, log(4.0 / 3.0) / 2.0, 1e-6);
}

TEST(the_same_distribution_has_no_divergence)
{
    const float logits[] = {1.0f, -200.0f, 300.0f, 0.0f, 0.0f, 1e-3f};
    quantizer_fixture *fixture = categorical_of(logits);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    const aq_quant_error error = measure(make_engine(fixture, AQ_FORMAT_F32), fixture, obs);
    assert_true(error.kl == 0.0f);
}

/* Its probability in the engine is less than the smallest double, its logarithm is not. */
TEST(a_divergence_may_be_large)
{
    const float logits[] = {0.0f, 2000.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    quantizer_fixture *fixture = categorical_of(logits);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_F32);
    fixture->params.bias[0][0] = 4000.0f;
    const aq_quant_error error = measure(engine, fixture, obs);
    assert_true(error.kl == 1000.0f);
}

TEST(a_head_alone_has_no_error)
{
    const aq_head_shape head = {.choices = 2, .atoms = 3, .low = 0.0f, .high = 1.0f};
    const aq_net_spec spec = net_of((aq_layer_spec[]){aq_layer_categorical(&head)});
    quantizer_fixture *fixture = quantizer_fixture_of_spec(&spec);
    float *obs = quantizer_fixture_observations(fixture, ROWS);
    aq_engine *engine = make_engine(fixture, AQ_FORMAT_INT8_CHANNEL);
    const aq_quant_error error = measure(engine, fixture, obs);
    assert_true(error.kl == 0.0f);
    assert_true(error.output_max < 1e-5f);
}
