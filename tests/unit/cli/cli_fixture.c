/*
 * Policies, checkpoints and run folders for the tests of the command-line tool.
 */
#include "tests/unit/cli/cli_fixture.h"
#include "common/nn/params.h"
#include "common/sys/file.h"
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_policy.h"
#include "quantizer/quantize/quantize.h"
#include "tests/support/file_kit.h"
#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"

enum { FRAME_BYTES_MAX = 1 << 20 };

#define CARTPOLE "gym:CartPole-v1"

/* ---- the folder ----------------------------------------------------------------------------- */

int cli_fixture_setup(void **state)
{
    *state = file_folder_make();
    return 0;
}

int cli_fixture_teardown(void **state)
{
    file_folder_remove(*state);
    return 0;
}

const char *cli_path(void **state, const char *name)
{
    return file_in(*state, name);
}

/* ---- pages ---------------------------------------------------------------------------------- */

static const char anything[] = "…";

bool cli_fits(const char *pattern, const char *text)
{
    while (*pattern != '\0' && strncmp(pattern, anything, strlen(anything)) != 0) {
        if (*pattern++ != *text++) {
            return false;
        }
    }
    if (*pattern == '\0') {
        return *text == '\0';
    }
    for (pattern += strlen(anything); !cli_fits(pattern, text); text++) {
        if (*text == '\0') {
            return false;
        }
    }
    return true;
}

void cli_assert_page(const char *name, const char *text)
{
    const char *path = file_in(AQ_GOLDEN_DIR "/pages", name);
    const char *page = aq_path_exists(path) ? file_text(path) : "";
    if (cli_fits(page, text)) {
        return;
    }
    if (getenv("AQ_WRITE_GOLDEN") != NULL) {
        file_put_text(path, text);
        return;
    }
    fail_msg("%s is\n%sinstead of\n%s", name, text, page);
}

static char *printed;
static size_t printed_size;
static FILE *printing;

FILE *cli_print_begin(void)
{
    free(printed);
    printed = NULL;
    printing = open_memstream(&printed, &printed_size);
    assert_non_null(printing);
    return printing;
}

const char *cli_print_end(void)
{
    assert_int_equal(fclose(printing), 0);
    return printed;
}

TEST_ENDING(end_json, json_decref);

json_t *cli_json(json_t *json)
{
    assert_non_null(json);
    at_end(end_json, json);
    return json;
}

TEST_ENDING(end_env, aq_env_unref);

aq_env *cli_env(const char *name)
{
    aq_env *env = NULL;
    assert_succeeds(aq_env_open(name, &env, &refusal));
    at_end(end_env, env);
    return env;
}

/* ---- files ---------------------------------------------------------------------------------- */

void cli_make_folder(const char *path)
{
    assert_int_equal(aq_dir_create(path, NULL), 0);
}

void cli_truncate(const char *path, size_t size)
{
    assert_int_equal(truncate(path, (off_t)size), 0);
}

/* ---- a policy ------------------------------------------------------------------------------- */

static void make_schema(const char *task, aq_schema *ret_schema)
{
    aq_env *env = NULL;
    assert_int_equal(aq_env_open(task, &env, NULL), 0);
    *ret_schema = env->schema;
    aq_env_unref(env);
}

static void make_network(const aq_schema *schema, aq_net_spec *ret_spec)
{
    static const uint32_t hidden[] = {16, 8};
    const uint32_t inputs = (uint32_t)aq_space_elements(&schema->obs);
    assert_int_equal(aq_net_spec_init_mlp(inputs, hidden, 2, schema->action.choice_count,
                                          AQ_ACTIVATION_RELU, ret_spec, NULL),
                     0);
    ret_spec->layers[1].activation = AQ_ACTIVATION_TANH;
}

static void make_parameters(const aq_net_spec *spec, uint64_t seed, aq_params *ret_params)
{
    aq_rng rng = rng_of(seed, 0);
    assert_int_equal(aq_params_init(spec, ret_params), 0);
    aq_params_randomize(spec, ret_params, &rng);
}

static aq_snapshot *make_policy(const char *task, uint32_t format, uint64_t seed)
{
    aq_schema schema;
    aq_net_spec spec;
    aq_params params;
    aq_snapshot *snapshot = NULL;
    make_schema(task, &schema);
    make_network(&schema, &spec);
    make_parameters(&spec, seed, &params);
    const aq_quantize_meta meta = {
        .run_id = CLI_RUN_ID,
        .version = 31,
        .learner_step = 3100,
        .task = task,
        .schema = &schema,
        .head = AQ_HEAD_ARGMAX,
    };
    assert_succeeds(aq_quantize(&spec, &params, &(aq_quantize_plan){.format = format}, &meta,
                                &snapshot, &refusal));
    if (format == AQ_FORMAT_INT8_CHANNEL) {
        snapshot->quant_error =
            (aq_quant_error){.rows = 256, .cost = 0.0078125f, .output_rms = 0.25f, .output_max = 1};
    }
    aq_params_fini(&params);
    return snapshot;
}

aq_snapshot *cli_make_policy(uint32_t format, uint64_t seed)
{
    return make_policy(CARTPOLE, format, seed);
}

TEST_ENDING(end_snapshot, aq_snapshot_unref);

aq_snapshot *cli_policy(uint32_t format, uint64_t seed)
{
    aq_snapshot *snapshot = cli_make_policy(format, seed);
    at_end(end_snapshot, snapshot);
    return snapshot;
}

void cli_write_policy(const char *path, uint32_t format, uint64_t seed)
{
    cli_write_policy_of(path, CARTPOLE, format, seed);
}

void cli_write_policy_of(const char *path, const char *task, uint32_t format, uint64_t seed)
{
    aq_snapshot *snapshot = make_policy(task, format, seed);
    assert_succeeds(aq_policy_file_write(path, snapshot, &refusal));
    aq_snapshot_unref(snapshot);
}

/* ---- a checkpoint and a run ----------------------------------------------------------------- */

void cli_write_checkpoint(const char *path, uint64_t step)
{
    aq_params params;
    aq_checkpoint checkpoint = {
        .run_id = CLI_RUN_ID,
        .task = CARTPOLE,
        .algorithm = "dqn",
        .learner_step = step,
        .env_steps = 4 * step,
        .env_steps_base = 0,
        .shard_count = 1,
        .shards = {{.store = 5, .inserted = 4 * step}},
        .policy_version = step / 100,
        .policies.versions = step / 100,
        .policies.bytes = 500 * (step / 100),
        .policies.bytes_fp32 = 1200 * (step / 100),
        .wall_s = 12.5,
        .best_return = 187.5,
        .best_std = 25.5,
        .best_episodes = 100,
        .best_confirmed = true,
        .config = "task: gym:CartPole-v1\nlearner:\n  algorithm: dqn\n  hidden: \"16,8\"\n",
    };
    make_schema(CARTPOLE, &checkpoint.schema);
    make_network(&checkpoint.schema, &checkpoint.spec);
    make_parameters(&checkpoint.spec, 7, &params);
    float *zeros = aq_alloc(params.count, sizeof(*zeros));
    assert_non_null(zeros);
    kept_arrays(params.count, (float *const[4]){params.block, params.block, params.block, zeros},
                &step, &checkpoint.arrays);
    checkpoint.best_policy = cli_make_policy(AQ_FORMAT_INT8_CHANNEL, 7);
    aq_buffer *frame = buffer_up_to(FRAME_BYTES_MAX);
    assert_int_equal(aq_wire_checkpoint_pack(&checkpoint, frame), 0);
    file_put(path, frame->data, frame->size);
    aq_snapshot_unref(checkpoint.best_policy);
    aq_free(zeros);
    aq_params_fini(&params);
}

void cli_write_run(const char *folder)
{
    const char *checkpoints = file_in(folder, "checkpoints");
    cli_make_folder(checkpoints);
    file_put_text(
        file_in(folder, "run.json"),
        "{\"run_id\": \"1122334455667788\", \"task\": \"gym:CartPole-v1\", \"seed\": 42,\n"
        " \"made\": \"2026-01-31T12:00:00Z\", \"software\": \"0.1.0\"}\n");
    file_put_text(file_in(folder, "config.yaml"),
                  "task: gym:CartPole-v1\nseed: 42\nlearner:\n  algorithm: dqn\n"
                  "  hidden: \"16,8\"\n  discount: 0.97\n");
    file_put_text(
        file_in(folder, "metrics.jsonl"),
        "{\"event\":\"progress\",\"wall_s\":1.0,\"env_steps\":900}\n"
        "{\"event\":\"evaluation\",\"policy_version\":9,\"episodes\":10,\"return_mean\":"
        "300.0,\"return_std\":5.0,\"confirmed\":false}\n"
        "{\"event\":\"evaluation\",\"policy_version\":31,\"episodes\":100,\"return_mean\":"
        "187.5,\"return_std\":25.5,\"confirmed\":true}\n"
        "{\"event\":\"evaluation\",\"policy_version\":32,\"episodes\":100,\"return_mean\":"
        "150.0,\"return_std\":25.5,\"confirmed\":true}\n"
        "{\"event\":\"progress\",\"wall_s\":2.0,\"env_steps\":1800,\"replay\":{\"stored\":1700,"
        "\"bytes\":170000,\"disk_bytes\":200000,\"running_s\":2.0,\"inserting_s\":0.5,"
        "\"staleness\":[60,0,40],\"tables\":[{\"name\":\"main\",\"times_sampled\":null}]},"
        "\"best\":{\"policy_version\":31,\"episodes\":100,\"return_mean\":187.5,"
        "\"return_std\":25.5,\"confirmed\":true}}\n");
    for (unsigned step = 1000; step <= 3000; step += 1000) {
        char name[32];
        (void)snprintf(name, sizeof(name), "step-%012u.aqc", step);
        cli_write_checkpoint(file_in(checkpoints, name), step);
    }
    cli_write_policy(file_in(folder, "policy.aq"), AQ_FORMAT_INT8_CHANNEL, 7);
    cli_write_policy(file_in(folder, "policy.fp32.aq"), AQ_FORMAT_F32, 7);
}
