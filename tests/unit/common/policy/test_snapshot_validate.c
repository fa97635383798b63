/*
 * A policy is believed only when every part of it can be one. Each test breaks one thing of a valid
 * snapshot and expects words that name it.
 */
#include <float.h>

#include "common/policy/snapshot.h"
#include "tests/support/test.h"

enum { INPUTS = 5, WIDTH = 70, CHOICES = 3 };

static void fill_f32(aq_snapshot *snapshot, uint32_t layer, aq_rng *rng)
{
    const aq_layer_spec *spec = &snapshot->spec.layers[layer];
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, layer, &data);
    float *weights = data.weights;
    fill_normal(weights, (size_t)spec->inputs * spec->outputs, 1, rng);
}

static void fill_int8(aq_snapshot *snapshot, uint32_t layer, aq_rng *rng)
{
    const aq_layer_spec *spec = &snapshot->spec.layers[layer];
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, layer, &data);
    int8_t *weights = data.weights;
    for (uint32_t o = 0; o < spec->outputs; o++) {
        data.scale[o] = 0.01f;
        for (uint32_t i = 0; i < spec->inputs; i++) {
            int8_t q = (int8_t)((int)aq_rng_below(rng, 255) - 127);
            weights[o * spec->inputs + i] = q;
            data.sum[o] += q;
        }
    }
}

/* Two int8 layers around one of fp32, as a valid policy for a task of three choices. */
static aq_snapshot *valid_snapshot(void)
{
    const uint32_t formats[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32, AQ_FORMAT_INT8_CHANNEL};
    const uint32_t hidden[] = {WIDTH, WIDTH};
    const float low[INPUTS] = {0}, high[INPUTS] = {0};
    aq_net_spec spec;
    aq_snapshot *snapshot = NULL;
    aq_rng rng;
    aq_rng_init(&rng, 99, 0);
    assert_int_equal(
        aq_net_spec_init_mlp(INPUTS, hidden, 2, CHOICES, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    spec.array_count = 1;
    spec.arrays[0] = (aq_net_array){"log_deviation", 2};
    assert_int_equal(aq_snapshot_create(&spec, formats, NULL, &snapshot), 0);
    snapshot->run_id = 1;
    snapshot->version = 1;
    strcpy(snapshot->task, "gym:CartPole-v1");
    aq_space_init_box(&snapshot->schema.obs, INPUTS, low, high);
    aq_space_init_discrete(&snapshot->schema.action, CHOICES);
    snapshot->head = AQ_HEAD_ARGMAX;
    fill_int8(snapshot, 0, &rng);
    fill_f32(snapshot, 1, &rng);
    fill_int8(snapshot, 2, &rng);
    return snapshot;
}

static aq_snapshot *snapshot; /* valid, until a test changes it */

static int make_valid(void **state)
{
    (void)state;
    snapshot = valid_snapshot();
    return 0;
}

static int drop(void **state)
{
    (void)state;
    aq_snapshot_unref(snapshot);
    return 0;
}

#define TEST_OF_POLICY(name) TEST_WITH(name, make_valid, drop)

static void accept(void)
{
    assert_succeeds(aq_snapshot_validate(snapshot, &refusal));
}

/* As it was changed; then there is a valid one again. */
static void refuse(int code, const char *words)
{
    assert_refused(aq_snapshot_validate(snapshot, &refusal), code, words);
    assert_int_equal(aq_snapshot_validate(snapshot, NULL), code);
    aq_snapshot_unref(snapshot);
    snapshot = valid_snapshot();
}

static aq_snapshot_layer_data edit(uint32_t layer)
{
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, layer, &data);
    return data;
}

TEST_OF_POLICY(a_whole_policy_is_valid)
{
    accept();
}

TEST_OF_POLICY(version_zero_is_refused)
{
    snapshot->version = 0;
    refuse(AQ_E_CORRUPT, "version 0");
}

TEST_OF_POLICY(a_task_name_ends_and_can_be_printed)
{
    memset(snapshot->task, 'x', sizeof(snapshot->task));
    refuse(AQ_E_CORRUPT, "name does not end");
    snapshot->task[0] = '\0';
    refuse(AQ_E_CORRUPT, "name is empty");
    snapshot->task[3] = '\033';
    refuse(AQ_E_CORRUPT, "not printable");
    snapshot->task[3] = (char)0xc3;
    refuse(AQ_E_CORRUPT, "not printable");
    (void)snprintf(snapshot->task, sizeof(snapshot->task), "so:/\xc3\xa9/p.so:good");
    accept();
}

TEST_OF_POLICY(a_measured_error_is_a_share_and_two_sizes)
{
    const float bad_shares[] = {-0.1f, 1.1f, NAN};
    const float bad_sizes[] = {-1.0f, INFINITY, NAN};
    for (int i = 0; i < 3; i++) {
        snapshot->quant_error.cost = bad_shares[i];
        refuse(AQ_E_CORRUPT, "a cost of quantizing of");
        snapshot->quant_error.output_rms = bad_sizes[i];
        refuse(AQ_E_CORRUPT, "output error");
        snapshot->quant_error.output_max = bad_sizes[i];
        refuse(AQ_E_CORRUPT, "output error");
    }
}

TEST_OF_POLICY(a_broken_network_is_refused)
{
    snapshot->spec.layers[1].activation = 9;
    refuse(AQ_E_CORRUPT, "layer 1: unknown activation 9");
    snapshot->spec.layer_count = AQ_NET_LAYERS_MAX + 1;
    refuse(AQ_E_CORRUPT, "49 layers");
}

TEST_OF_POLICY(a_broken_schema_is_refused)
{
    snapshot->schema.obs.rank = 9;
    refuse(AQ_E_SCHEMA, "policy: observation");
}

TEST_OF_POLICY(inputs_that_do_not_fit_the_observation_are_refused)
{
    snapshot->schema.obs.shape[0] = snapshot->schema.obs.bound_count = INPUTS - 1;
    refuse(AQ_E_SCHEMA, "takes 5 values, an observation has 4");
    aq_space_init_discrete(&snapshot->schema.obs, INPUTS);
    refuse(AQ_E_SCHEMA, "discrete choice");
    snapshot->schema.obs.dtype = AQ_DTYPE_U8; /* bytes are made floats before the network */
    accept();
}

TEST_OF_POLICY(outputs_that_do_not_fit_the_actions_are_refused)
{
    snapshot->schema.action.choice_count = CHOICES + 1;
    refuse(AQ_E_SCHEMA, "gives 3 values for 4 choices");
}

TEST_OF_POLICY(an_unknown_head_is_of_another_version)
{
    snapshot->head = 99;
    refuse(AQ_E_VERSION, "unknown rule to act by 99");
}

TEST_OF_POLICY(an_unknown_format_is_of_another_version)
{
    snapshot->layers[2].format = 9;
    refuse(AQ_E_VERSION, "layer 2: unknown weight format 9");
}

TEST_OF_POLICY(tensors_of_another_format_or_size_are_not_read)
{
    snapshot->layers[0].format = AQ_FORMAT_F32; /* four times the bytes that are there */
    refuse(AQ_E_CORRUPT, "layer 0: tensors of another size");
    snapshot->layers[1].format = AQ_FORMAT_INT8_CHANNEL;
    refuse(AQ_E_CORRUPT, "layer 1: tensors of another size");
    snapshot->layers[2].sizes.weights_bytes--;
    refuse(AQ_E_CORRUPT, "layer 2: tensors of another size");
    snapshot->layers[2].sum = NULL;
    refuse(AQ_E_CORRUPT, "layer 2: tensors of another size");
}

TEST_OF_POLICY(a_bad_fp32_weight_is_named_by_layer_and_row)
{
    ((float *)edit(1).weights)[17 * WIDTH + 69] = NAN;
    refuse(AQ_E_CORRUPT, "layer 1, row 17: a weight is NaN or infinite");
    ((float *)edit(1).weights)[WIDTH * WIDTH - 1] = INFINITY;
    refuse(AQ_E_CORRUPT, "layer 1, row 69");
}

TEST_OF_POLICY(a_bad_bias_is_named_by_layer_and_row)
{
    edit(0).bias[69] = NAN;
    refuse(AQ_E_CORRUPT, "layer 0, row 69: a bias is NaN or infinite");
    edit(2).bias[0] = -INFINITY;
    refuse(AQ_E_CORRUPT, "layer 2, row 0: a bias");
}

TEST_OF_POLICY(a_bad_value_of_an_array_is_named_by_its_place)
{
    aq_snapshot_arrays_edit(snapshot)[1] = NAN;
    refuse(AQ_E_CORRUPT, "value 1 of its arrays is NaN");
}

TEST_OF_POLICY(a_policy_has_one_end)
{
    snapshot->spec.layers[2].sources = (aq_layer_sources){.count = 1, .values = {1}};
    refuse(AQ_E_CORRUPT, "policy: layer 1 gives a value that no layer takes");
}

TEST_OF_POLICY(a_scale_is_positive_and_leaves_room_for_127)
{
    const float bad[] = {0.0f, -0.01f, NAN, INFINITY, FLT_MAX};
    for (int i = 0; i < 5; i++) {
        edit(0).scale[42] = bad[i];
        refuse(AQ_E_CORRUPT, "layer 0, row 42: a scale of");
    }
    edit(0).scale[42] = FLT_MAX / 127.0f;
    accept();
}

/* With its sum adjusted, so that nothing but the value itself is wrong. */
TEST_OF_POLICY(minus_128_is_refused_at_every_place)
{
    for (uint32_t i = 0; i < WIDTH; i++) {
        aq_snapshot_layer_data data = edit(2);
        int8_t *weight = (int8_t *)data.weights + WIDTH + i;
        data.sum[1] += -128 - *weight;
        *weight = -128;
        refuse(AQ_E_CORRUPT, "layer 2, row 1: a weight of -128");
    }
}

TEST_OF_POLICY(a_sum_that_is_not_the_sum_is_refused)
{
    edit(2).sum[2]++;
    refuse(AQ_E_CORRUPT, "layer 2, row 2: the weights add up to");
    ((int8_t *)edit(0).weights)[3] ^= 1;
    refuse(AQ_E_CORRUPT, "layer 0, row 0: the weights add up to");
}

/* Written through a pointer from before, which nobody should do: so it shows who looks. */
TEST_OF_POLICY(tensors_of_a_settled_policy_are_read_again_after_an_edit_only)
{
    float *bias = edit(0).bias;
    assert_succeeds(aq_snapshot_settle(snapshot, &refusal));
    bias[0] = NAN;
    accept();
    edit(2);
    refuse(AQ_E_CORRUPT, "layer 0, row 0: a bias");
}

TEST_OF_POLICY(what_a_settled_policy_says_of_itself_is_looked_at_each_time)
{
    assert_succeeds(aq_snapshot_settle(snapshot, &refusal));
    snapshot->version = 0;
    refuse(AQ_E_CORRUPT, "version 0");
}

TEST_OF_POLICY(a_policy_that_is_refused_is_not_settled)
{
    edit(0).bias[0] = NAN;
    assert_refused(aq_snapshot_settle(snapshot, &refusal), AQ_E_CORRUPT, "layer 0, row 0: a bias");
    refuse(AQ_E_CORRUPT, "layer 0, row 0: a bias");
}

TEST(the_widest_row_of_extremes_adds_up)
{
    const uint32_t format = AQ_FORMAT_INT8_CHANNEL;
    aq_net_spec spec;
    const float low = -1.0f, high = 1.0f;
    assert_int_equal(
        aq_net_spec_init_mlp(AQ_NET_WIDTH_MAX, NULL, 0, 2, AQ_ACTIVATION_NONE, &spec, NULL), 0);
    assert_int_equal(aq_snapshot_create(&spec, &format, NULL, &snapshot), 0);
    snapshot->version = 1;
    strcpy(snapshot->task, "wide");
    aq_space_init_box(&snapshot->schema.obs, 1, &low, &high);
    snapshot->schema.obs.shape[0] = AQ_NET_WIDTH_MAX;
    aq_space_init_discrete(&snapshot->schema.action, 2);
    snapshot->head = AQ_HEAD_ARGMAX;
    aq_snapshot_layer_data data = edit(0);
    memset(data.weights, 127, AQ_NET_WIDTH_MAX);
    memset((int8_t *)data.weights + AQ_NET_WIDTH_MAX, -127, AQ_NET_WIDTH_MAX);
    data.sum[0] = 127 * 16384;
    data.sum[1] = -127 * 16384;
    data.scale[0] = data.scale[1] = 1.0f;
    accept();
    aq_snapshot_unref(snapshot);
}
