/*
 * A policy is found by its file or its run and comes in the precision asked for, or not at all.
 */

#include <limits.h>
#include <unistd.h>

#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_policy.h"
#include "library/source/policy_source.h"
#include "quantizer/quantize/quantize.h"
#include "tests/support/file_kit.h"
#include "tests/support/must.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/cli/cli_fixture.h"

TEST_ENDING(end_snapshot, aq_snapshot_unref);

static aq_snapshot *read_policy(const char *source, uint32_t precision, char *path)
{
    aq_snapshot *snapshot = NULL;
    assert_succeeds(aq_policy_source_read(source, precision, &snapshot, path, NULL, &refusal));
    at_end(end_snapshot, snapshot);
    return snapshot;
}

static void assert_read(const char *source, uint32_t precision, const char *file,
                        const char *format)
{
    char path[PATH_MAX];
    aq_snapshot *snapshot = read_policy(source, precision, path);
    assert_string_equal(path, file);
    assert_string_equal(aq_format_name(aq_snapshot_format(snapshot)), format);
    assert_int_equal(snapshot->version, 31);
}

static void refuse(const char *source, uint32_t precision, int code, const char *words)
{
    char path[PATH_MAX];
    aq_snapshot *snapshot = NULL;
    assert_refused(aq_policy_source_read(source, precision, &snapshot, path, NULL, &refusal), code,
                   words);
    assert_null(snapshot);
}

TEST(a_precision_is_read_from_its_name)
{
    uint32_t precision = AQ_PRECISION_AS_STORED;
    assert_int_equal(aq_precision_take(&precision, "int8", NULL), 0);
    assert_int_equal(precision, AQ_FORMAT_INT8_CHANNEL);
    assert_int_equal(aq_precision_take(&precision, "fp32", NULL), 0);
    assert_int_equal(precision, AQ_FORMAT_F32);
    assert_int_equal(aq_precision_take(&precision, "int4", NULL), 0);
    assert_int_equal(precision, AQ_FORMAT_INT4);
    assert_int_equal(aq_precision_take(&precision, "int3", &refusal), AQ_E_INVALID);
    assert_string_equal(refusal.text, "'int3' is no format; there are fp32, int8, fp16, bf16, "
                                      "int8-tensor, int4, int2 and int8-sparse");
}

TEST_IN_FOLDER(a_file_is_taken_as_it_is_stored)
{
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_INT8_CHANNEL, 1);
    assert_read(path, AQ_PRECISION_AS_STORED, path, "int8");
    assert_read(path, AQ_FORMAT_INT8_CHANNEL, path, "int8");
    cli_write_policy(path, AQ_FORMAT_F32, 1);
    assert_read(path, AQ_PRECISION_AS_STORED, path, "fp32");
    assert_read(path, AQ_FORMAT_F32, path, "fp32");
}

TEST_IN_FOLDER(an_fp32_file_is_quantized_as_the_learner_would)
{
    char path[PATH_MAX];
    const char *file = cli_path(state, "a.aq");
    cli_write_policy(file, AQ_FORMAT_F32, 3);
    aq_snapshot *made = read_policy(file, AQ_FORMAT_INT8_CHANNEL, path);
    aq_snapshot *expected = cli_policy(AQ_FORMAT_INT8_CHANNEL, 3);
    assert_string_equal(aq_format_name(aq_snapshot_format(made)), "int8");
    assert_int_equal(made->learner_step, expected->learner_step);
    assert_int_equal(made->run_id, expected->run_id);
    for (uint32_t i = 0; i < expected->spec.layer_count; i++) {
        size_t outputs = expected->spec.layers[i].outputs;
        assert_memory_equal(made->layers[i].weights, expected->layers[i].weights,
                            expected->layers[i].sizes.weights_bytes);
        assert_memory_equal(made->layers[i].scale, expected->layers[i].scale,
                            outputs * sizeof(float));
        assert_memory_equal(made->layers[i].bias, expected->layers[i].bias,
                            outputs * sizeof(float));
    }
}

TEST_IN_FOLDER(an_fp32_file_comes_in_every_format)
{
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_F32, 3);
    for (uint32_t format = 1; format <= AQ_FORMAT_COUNT; format++) {
        assert_read(path, format, path, aq_format_name(format));
    }
}

TEST_IN_FOLDER(a_run_is_read_in_formats_that_it_did_not_broadcast)
{
    cli_write_run(*state);
    assert_read(*state, AQ_FORMAT_BF16, cli_path(state, "policy.fp32.aq"), "bf16");
    assert_read(*state, AQ_FORMAT_INT4, cli_path(state, "policy.fp32.aq"), "int4");
}

TEST_IN_FOLDER(int8_is_not_undone)
{
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_INT8_CHANNEL, 1);
    refuse(path, AQ_FORMAT_F32, AQ_E_UNSUPPORTED, "policy.fp32.aq");
    refuse(path, AQ_FORMAT_F32, AQ_E_UNSUPPORTED, path);
}

TEST_IN_FOLDER(a_run_has_its_policy_in_both_precisions)
{
    cli_write_run(*state);
    assert_read(*state, AQ_PRECISION_AS_STORED, cli_path(state, "policy.aq"), "int8");
    assert_read(*state, AQ_FORMAT_INT8_CHANNEL, cli_path(state, "policy.aq"), "int8");
    assert_read(*state, AQ_FORMAT_F32, cli_path(state, "policy.fp32.aq"), "fp32");
}

TEST_IN_FOLDER(a_run_whose_policy_in_fp32_was_not_written_says_so)
{
    cli_write_run(*state);
    must(unlink(cli_path(state, "policy.fp32.aq")));
    assert_read(*state, AQ_PRECISION_AS_STORED, cli_path(state, "policy.aq"), "int8");
    refuse(*state, AQ_FORMAT_F32, AQ_E_NOT_FOUND, "not in fp32, as a learner died");
    cli_write_policy(cli_path(state, "policy.aq"), AQ_FORMAT_F32, 1);
    assert_read(*state, AQ_FORMAT_F32, cli_path(state, "policy.aq"), "fp32");
}

TEST_IN_FOLDER(a_folder_without_a_policy_says_so)
{
    refuse(*state, AQ_PRECISION_AS_STORED, AQ_E_NOT_FOUND, "has no policy.aq");
    refuse(*state, AQ_FORMAT_F32, AQ_E_NOT_FOUND, "has no policy.aq");
}

TEST_IN_FOLDER(a_missing_file_is_named)
{
    const char *path = cli_path(state, "none.aq");
    refuse(path, AQ_PRECISION_AS_STORED, AQ_E_NOT_FOUND, path);
}

TEST_IN_FOLDER(a_damaged_file_is_named)
{
    const char *path = cli_path(state, "a.aq");
    cli_write_policy(path, AQ_FORMAT_INT8_CHANNEL, 1);
    file_flip(path, -5);
    refuse(path, AQ_PRECISION_AS_STORED, AQ_E_CORRUPT, path);
}

TEST_IN_FOLDER(a_checkpoint_is_what_was_trained_then)
{
    char path[PATH_MAX];
    const char *file = cli_path(state, "x.aqc");
    cli_write_checkpoint(file, 1000);
    aq_snapshot *snapshot = read_policy(file, AQ_PRECISION_AS_STORED, path);
    assert_true(aq_snapshot_is_fp32(snapshot));
    assert_int_equal(snapshot->learner_step, 1000);
    assert_string_equal(path, file);
    file_flip(file, -9);
    refuse(file, AQ_PRECISION_AS_STORED, AQ_E_CORRUPT, "x.aqc");
}

/* Puts into a checkpoint what its algorithm saw of observations: means of 1, deviations of 2. */
static void write_statistics(const char *file, size_t count)
{
    double statistics[64] = {4};
    aq_buffer *bytes = file_bytes(file);
    aq_checkpoint checkpoint;
    assert_succeeds(aq_wire_checkpoint_unpack(bytes->data, bytes->size, &checkpoint, &refusal));
    const size_t width = aq_net_spec_inputs(&checkpoint.spec);
    for (size_t i = 0; i < width; i++) {
        statistics[1 + i] = 1;
        statistics[1 + width + i] = 16;
    }
    aq_named_arrays_add(&checkpoint.arrays, "statistics", AQ_ARRAY_F64, count, statistics);
    aq_buffer_clear(bytes);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, bytes), 0);
    file_put(file, bytes->data, bytes->size);
    checkpoint.arrays.count--; /* it is not the checkpoint's */
    aq_checkpoint_fini(&checkpoint);
}

TEST_IN_FOLDER(a_checkpoint_of_normalized_observations_takes_them_as_they_are)
{
    char path[PATH_MAX];
    const char *file = cli_path(state, "x.aqc");
    cli_write_checkpoint(file, 1000);
    const aq_snapshot *plain = read_policy(file, AQ_PRECISION_AS_STORED, path);
    const uint32_t width = aq_net_spec_inputs(&plain->spec);
    write_statistics(file, 1 + 2 * width);
    const aq_snapshot *folded = read_policy(file, AQ_PRECISION_AS_STORED, path);
    const float *before = plain->layers[0].weights, *after = folded->layers[0].weights;
    for (uint32_t o = 0; o < plain->spec.layers[0].outputs; o++) {
        float bias = plain->layers[0].bias[o];
        for (uint32_t i = 0; i < width; i++, before++, after++) {
            assert_near(*after, *before / 2, 1e-6);
            bias -= *after;
        }
        assert_near(folded->layers[0].bias[o], bias, 1e-5);
    }
    cli_write_checkpoint(file, 1000);
    write_statistics(file, 2);
    refuse(file, AQ_PRECISION_AS_STORED, AQ_E_CORRUPT, "statistics are not of its observations");
}

static void write_settings(const char *file, const char *config)
{
    aq_buffer *bytes = file_bytes(file);
    aq_checkpoint checkpoint;
    assert_succeeds(aq_wire_checkpoint_unpack(bytes->data, bytes->size, &checkpoint, &refusal));
    const char *of_before = checkpoint.config;
    checkpoint.config = config;
    aq_buffer_clear(bytes);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, bytes), 0);
    checkpoint.config = of_before;
    file_put(file, bytes->data, bytes->size);
    aq_checkpoint_fini(&checkpoint);
}

/* The weights that its levels stand for are what acted, not those that they were made from. */
TEST_IN_FOLDER(a_checkpoint_that_was_trained_quantized_is_in_the_runs_format)
{
    static const struct {
        const char *settings, *precision;
    } rows[] = {
        {"learner:\n  qat_bits: 4\n  qat_delay: 1000\nquantizer:\n  format: int4\n", "int4"},
        {"learner:\n  qat_bits: 2\n  qat_delay: 1001\n", "fp32"},
        {"learner:\n  qat_bits: 2\n  of_another_build: 1\n", "fp32"},
    };
    char path[PATH_MAX], text[AQ_PRECISION_TEXT_MAX];
    const char *file = cli_path(state, "x.aqc");
    EACH_ROW(i, rows) {
        cli_write_checkpoint(file, 1000);
        write_settings(file, rows[i].settings);
        const aq_snapshot *policy = read_policy(file, AQ_PRECISION_AS_STORED, path);
        assert_string_equal(aq_policy_source_precision(policy, text), rows[i].precision);
    }
    write_settings(file, rows[0].settings);
    refuse(file, AQ_FORMAT_F32, AQ_E_UNSUPPORTED, "int4 weights, from which fp32 ones");
}

enum { STATES = 4, CHOICES = 2 };

/* Makes of a checkpoint one of a run that learned a table, with these values. */
static void write_table(const char *file, float values[(STATES + 1) * CHOICES])
{
    aq_buffer *bytes = file_bytes(file);
    aq_checkpoint checkpoint;
    assert_succeeds(aq_wire_checkpoint_unpack(bytes->data, bytes->size, &checkpoint, &refusal));
    aq_snapshot *of_network = checkpoint.best_policy;
    aq_named_array *parameters = &checkpoint.arrays.arrays[0];
    const aq_named_array of_before = *parameters;
    const aq_quantize_meta meta = {.run_id = of_network->run_id,
                                   .version = of_network->version,
                                   .task = of_network->task,
                                   .schema = &of_network->schema,
                                   .head = of_network->head};
    assert_succeeds(aq_net_spec_init_mlp(STATES, NULL, 0, CHOICES, AQ_ACTIVATION_NONE,
                                         &checkpoint.spec, &refusal));
    const aq_params table = aq_params_view(&checkpoint.spec, values);
    assert_succeeds(aq_quantize(&checkpoint.spec, &table,
                                &(aq_quantize_plan){.format = AQ_FORMAT_F32}, &meta,
                                &checkpoint.best_policy, &refusal));
    (void)snprintf(checkpoint.algorithm, sizeof(checkpoint.algorithm), "q");
    parameters->values = values;
    parameters->count = table.count;
    aq_buffer_clear(bytes);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, bytes), 0);
    file_put(file, bytes->data, bytes->size);

    *parameters = of_before;
    aq_snapshot_unref(of_network);
    aq_checkpoint_fini(&checkpoint);
}

/* In int8 the cliff of the first state rounds away what the others' actions differ by. */
TEST_IN_FOLDER(a_checkpoint_of_a_table_is_what_its_run_published)
{
    float values[(STATES + 1) * CHOICES] = {-100, -1, -1.2f, -1.1f, -99, -1.1f, -1.1f, -1};
    static const float acting[STATES * CHOICES] = {-1, 1, -1, -1, 1, -1, 1, 1};
    char path[PATH_MAX];
    const char *file = cli_path(state, "x.aqc");
    cli_write_checkpoint(file, 1000);
    write_table(file, values);
    const aq_snapshot *policy = read_policy(file, AQ_PRECISION_AS_STORED, path);
    assert_memory_equal(policy->layers[0].weights, acting, sizeof(acting));
}

enum { CRITIC = 3 };

/* Makes of a checkpoint one of a run whose actors compute gradients: its network has a critic,
 * whose numbers are behind the policy's. */
static void write_critic(const char *file)
{
    aq_buffer *bytes = file_bytes(file);
    aq_checkpoint checkpoint;
    aq_params none;
    assert_succeeds(aq_wire_checkpoint_unpack(bytes->data, bytes->size, &checkpoint, &refusal));
    aq_snapshot *of_actors = checkpoint.best_policy;
    aq_named_array *parameters = &checkpoint.arrays.arrays[0];
    const aq_named_array of_policy = *parameters;
    assert_string_equal(parameters->name, "parameters");

    aq_net_array *critic = &checkpoint.spec.arrays[checkpoint.spec.array_count++];
    (void)snprintf(critic->name, sizeof(critic->name), "%s", AQ_CRITIC_ARRAY);
    critic->count = CRITIC;
    const aq_quantize_meta meta = {.run_id = of_actors->run_id,
                                   .version = of_actors->version,
                                   .task = of_actors->task,
                                   .schema = &of_actors->schema,
                                   .head = of_actors->head};
    assert_int_equal(aq_params_init(&checkpoint.spec, &none), 0);
    assert_succeeds(aq_quantize(&checkpoint.spec, &none,
                                &(aq_quantize_plan){.format = AQ_FORMAT_F32}, &meta,
                                &checkpoint.best_policy, &refusal));
    float *both = aq_alloc(of_policy.count + CRITIC, sizeof(*both));
    assert_non_null(both);
    memcpy(both, of_policy.values, of_policy.count * sizeof(*both));
    parameters->values = both;
    parameters->count += CRITIC;
    aq_buffer_clear(bytes);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, bytes), 0);
    file_put(file, bytes->data, bytes->size);

    *parameters = of_policy;
    aq_free(both);
    aq_snapshot_unref(of_actors);
    aq_params_fini(&none);
    aq_checkpoint_fini(&checkpoint);
}

TEST_IN_FOLDER(a_checkpoint_with_a_critic_for_actors_is_the_policy_without_it)
{
    char path[PATH_MAX];
    const char *file = cli_path(state, "x.aqc");
    cli_write_checkpoint(file, 1000);
    const aq_snapshot *plain = read_policy(file, AQ_PRECISION_AS_STORED, path);
    write_critic(file);
    const aq_snapshot *acting = read_policy(file, AQ_PRECISION_AS_STORED, path);
    assert_true(aq_net_spec_hash(&acting->spec) == aq_net_spec_hash(&plain->spec));
    for (uint32_t i = 0; i < plain->spec.layer_count; i++) {
        assert_memory_equal(acting->layers[i].weights, plain->layers[i].weights,
                            plain->layers[i].sizes.weights_bytes);
        assert_memory_equal(acting->layers[i].bias, plain->layers[i].bias,
                            plain->spec.layers[i].outputs * sizeof(float));
    }
}

TEST(layers_of_two_formats_are_mixed)
{
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_F32, 1);
    snapshot->layers[1].format = AQ_FORMAT_INT8_CHANNEL;
    assert_string_equal(aq_format_name(aq_snapshot_format(snapshot)), "mixed");
}

/* As a run leaves it whose first layer goes out in another format. */
static void write_mixed(const char *path, uint32_t first)
{
    const aq_quantize_plan plan = {.format = AQ_FORMAT_INT8_CHANNEL, .layer_formats = {first}};
    aq_snapshot *mixed = NULL;
    assert_int_equal(aq_quantize_policy(cli_policy(AQ_FORMAT_F32, 7), &plan, &mixed, NULL), 0);
    assert_int_equal(aq_policy_file_write(path, mixed, NULL), 0);
    aq_snapshot_unref(mixed);
}

/* Quantizing it again, all of it, would be another policy than any actor ran. */
TEST_IN_FOLDER(a_mixed_policy_is_played_as_it_was_broadcast)
{
    char path[PATH_MAX];
    const char *policy = cli_path(state, "policy.aq");
    cli_write_run(*state);
    write_mixed(policy, AQ_FORMAT_F32);
    assert_read(*state, AQ_FORMAT_INT8_CHANNEL, policy, "mixed");
    assert_read(policy, AQ_FORMAT_INT8_CHANNEL, policy, "mixed");
    aq_snapshot *fp32 = read_policy(*state, AQ_FORMAT_F32, path);
    assert_true(aq_snapshot_is_fp32(fp32));
    refuse(policy, AQ_FORMAT_F32, AQ_E_UNSUPPORTED, "mixed weights");
}

/* The first layer alone makes no policy of its format, however wide it is. */
TEST_IN_FOLDER(a_mixed_policy_is_in_the_format_of_most_of_it)
{
    const char *policy = cli_path(state, "policy.aq"), *fp32 = cli_path(state, "policy.fp32.aq");
    cli_write_run(*state);
    write_mixed(policy, AQ_FORMAT_BF16);
    assert_read(*state, AQ_FORMAT_INT8_CHANNEL, policy, "mixed");
    assert_read(*state, AQ_FORMAT_BF16, fp32, "bf16");
    refuse(policy, AQ_FORMAT_BF16, AQ_E_UNSUPPORTED, "from which bf16 ones cannot be had");
}

TEST(a_mixed_policy_says_of_which_formats)
{
    static const struct {
        uint32_t formats[3];
        const char *text;
    } rows[] = {
        {{AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_CHANNEL}, "int8"},
        {{AQ_FORMAT_BF16, AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_INT8_CHANNEL},
         "mixed: int8, first layer bf16"},
        {{AQ_FORMAT_BF16, AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32},
         "mixed: int8, first layer bf16, last layer fp32"},
        {{AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F16, AQ_FORMAT_INT8_CHANNEL},
         "mixed: fp16, first layer int8, last layer int8"},
    };
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_F32, 1);
    char text[AQ_PRECISION_TEXT_MAX];
    assert_int_equal(snapshot->spec.layer_count, 3);
    EACH_ROW(i, rows) {
        for (uint32_t k = 0; k < 3; k++) {
            snapshot->layers[k].format = rows[i].formats[k];
        }
        assert_string_equal(aq_policy_source_precision(snapshot, text), rows[i].text);
    }
}

/* Of a policy that draws among many choices it has most of the weights. */
TEST(a_last_layer_in_fp32_has_no_say_however_wide_it_is)
{
    aq_snapshot *snapshot = cli_policy(AQ_FORMAT_INT8_CHANNEL, 1);
    snapshot->spec.layers[2].outputs = 64;
    snapshot->layers[2].format = AQ_FORMAT_F32;
    assert_int_equal(aq_policy_source_main_format(snapshot), AQ_FORMAT_INT8_CHANNEL);
}

/* 8-4-noisy 2, whose deviations are in fp32. */
TEST(what_makes_deviations_has_no_say)
{
    const aq_layer_spec outputs = aq_layer_linear(4, 2, AQ_ACTIVATION_NONE);
    aq_layer_spec layers[] = {aq_layer_linear(8, 4, AQ_ACTIVATION_RELU), outputs,
                              aq_layer_noise(4, 1, 1, AQ_ACTIVATION_NONE), outputs,
                              aq_layer_noise(2, 2, 1, AQ_ACTIVATION_NONE)};
    layers[2].sources = (aq_layer_sources){.count = 1, .values = {1}};
    layers[4].sources = (aq_layer_sources){.count = 2, .values = {2, 4}};
    const aq_net_spec spec = net_of(layers);
    aq_snapshot snapshot = {.spec = spec};
    char text[AQ_PRECISION_TEXT_MAX];
    for (uint32_t i = 0; i < spec.layer_count; i++) {
        snapshot.layers[i].format = i < 2 ? AQ_FORMAT_INT8_CHANNEL : AQ_FORMAT_F32;
    }
    assert_string_equal(aq_policy_source_precision(&snapshot, text), "mixed: int8");
    const aq_snapshot mean = aq_snapshot_mean(&snapshot);
    assert_string_equal(aq_policy_source_precision(&mean, text), "int8");
}

/* noisy 2, which has no other layer. */
TEST(a_layer_alone_says_its_format)
{
    const aq_layer_spec outputs = aq_layer_linear(4, 2, AQ_ACTIVATION_NONE);
    aq_layer_spec layers[] = {outputs, aq_layer_noise(4, 1, 1, AQ_ACTIVATION_NONE), outputs,
                              aq_layer_noise(2, 2, 1, AQ_ACTIVATION_NONE)};
    layers[1].sources = (aq_layer_sources){.count = 1, .values = {0}};
    layers[3].sources = (aq_layer_sources){.count = 2, .values = {1, 3}};
    aq_snapshot snapshot = {.spec = net_of(layers)};
    char text[AQ_PRECISION_TEXT_MAX];
    for (uint32_t i = 0; i < snapshot.spec.layer_count; i++) {
        snapshot.layers[i].format = i == 0 ? AQ_FORMAT_BF16 : AQ_FORMAT_F32;
    }
    assert_string_equal(aq_policy_source_precision(&snapshot, text), "mixed: bf16");
}

TEST_IN_FOLDER(who_asks_hears_whether_it_was_quantized_now)
{
    static const struct {
        uint32_t precision;
        bool quantized;
    } rows[] = {{AQ_FORMAT_INT8_CHANNEL, false},
                {AQ_PRECISION_AS_STORED, false},
                {AQ_FORMAT_F32, false},
                {AQ_FORMAT_INT4, true}};
    cli_write_run(*state);
    EACH_ROW(i, rows) {
        char path[PATH_MAX];
        aq_snapshot *snapshot = NULL;
        bool quantized = !rows[i].quantized;
        assert_int_equal(
            aq_policy_source_read(*state, rows[i].precision, &snapshot, path, &quantized, NULL), 0);
        assert_int_equal(quantized, rows[i].quantized);
        aq_snapshot_unref(snapshot);
    }
}

TEST_IN_FOLDER(without_memory_nothing_is_read)
{
    int rc = AQ_E_NOMEM;
    const char *file = cli_path(state, "a.aq");
    cli_write_policy(file, AQ_FORMAT_F32, 3);
    EACH_ALLOCATION_FAILS(rc) {
        char path[PATH_MAX];
        aq_snapshot *snapshot = NULL;
        rc = aq_policy_source_read(file, AQ_FORMAT_INT8_CHANNEL, &snapshot, path, NULL, &refusal);
        assert_true(rc == 0 || refusal.text[0] != '\0');
        aq_snapshot_unref(snapshot);
    }
}
