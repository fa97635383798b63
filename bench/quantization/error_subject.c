/*
 * Error subjects: a policy that was trained, and random ones of the shapes that papers use. They
 * run on the scalar kernels, which every machine has.
 */
#include "bench/quantization/error_subject.h"

#include <limits.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/sys/file.h"
#include "common/wire/wire_policy.h"
#include "quantizer/quantize/quantize.h"
#include "rollout/greedy_obs.h"

enum { SEED = 1, SCALAR = 0 };
enum { STREAM_PARAMETERS, STREAM_MEASURED, STREAM_RANGED };

static int make_rows(aq_error_subject *subject, size_t width, aq_error *error)
{
    const size_t count = (size_t)AQ_ERROR_SUBJECT_ROWS * width;
    subject->measured_rows = subject->ranged_rows = AQ_ERROR_SUBJECT_ROWS;
    subject->measured = aq_alloc(count, sizeof(float));
    subject->ranged = aq_alloc(count, sizeof(float));
    return subject->measured != NULL && subject->ranged != NULL
               ? 0
               : aq_fail(error, AQ_E_NOMEM, "no memory for observations");
}

/* ---- a policy that was trained -------------------------------------------------------------- */

static int init_trained(const char *folder, aq_error_subject *subject, aq_error *error)
{
    char path[PATH_MAX];
    aq_env_task task = {0};
    aq_engine *engine = NULL;
    int rc = aq_path_in(path, sizeof(path), folder, "cartpole_64_64.fp32.aq", error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_policy_file_read(path, &subject->exact, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_env_task_find(subject->exact->task, aq_schema_hash(&subject->exact->schema), &task,
                          error);
    rc = rc != 0 ? rc : make_rows(subject, task.obs_elements, error);
    rc = rc != 0 ? rc
                 : aq_engine_create(subject->exact, AQ_GREEDY_OBS_LANES, SCALAR, &engine, error);
    if (rc == 0) {
        subject->environment = task.env->class->name;
        rc = aq_greedy_obs(&task, engine, &subject->measured_rows, SEED, subject->measured, error);
    }
    if (rc == 0) {
        rc = aq_greedy_obs(&task, engine, &subject->ranged_rows, SEED + 1, subject->ranged, error);
    }
    aq_engine_destroy(engine);
    aq_env_task_fini(&task);
    return rc != 0 ? aq_fail_context(error, rc, "%s", path) : 0;
}

/* ---- random ones ---------------------------------------------------------------------------- */

/* 17-256-256-256-6: HalfCheetah's observations and actions. */
static void describe_mlp(aq_net_spec *spec)
{
    const aq_layer_spec layers[] = {
        aq_layer_linear(17, 256, AQ_ACTIVATION_RELU), aq_layer_linear(256, 256, AQ_ACTIVATION_RELU),
        aq_layer_linear(256, 256, AQ_ACTIVATION_RELU), aq_layer_linear(256, 6, AQ_ACTIVATION_TANH)};
    spec->layer_count = sizeof(layers) / sizeof(layers[0]);
    memcpy(spec->layers, layers, sizeof(layers));
}

/* The same with a normalized first layer and ELU, as D4PG's policies are. */
static void describe_norm(aq_net_spec *spec)
{
    const aq_layer_spec layers[] = {
        aq_layer_linear(17, 256, AQ_ACTIVATION_NONE), aq_layer_norm(256, AQ_ACTIVATION_TANH),
        aq_layer_linear(256, 256, AQ_ACTIVATION_ELU), aq_layer_linear(256, 256, AQ_ACTIVATION_ELU),
        aq_layer_linear(256, 6, AQ_ACTIVATION_TANH)};
    spec->layer_count = sizeof(layers) / sizeof(layers[0]);
    memcpy(spec->layers, layers, sizeof(layers));
}

/* Images, and a dueling distribution over returns. */
static void describe_image(aq_net_spec *spec)
{
    const aq_conv_shape image = {
        .height = 16, .width = 16, .channels = 4, .filters = 16, .kernel = 4, .stride = 2};
    const aq_layer_spec conv = aq_layer_conv2d(&image, AQ_ACTIVATION_RELU);
    const aq_head_shape head = {.choices = 6, .atoms = 51, .low = -10.0f, .high = 10.0f};
    const aq_layer_spec layers[] = {
        conv,
        aq_layer_linear(conv.outputs, 64, AQ_ACTIVATION_RELU),
        aq_layer_linear(64, (1 + head.choices) * head.atoms, AQ_ACTIVATION_NONE),
        aq_layer_dueling(head.choices, head.atoms),
        aq_layer_categorical(&head),
    };
    spec->layer_count = sizeof(layers) / sizeof(layers[0]);
    memcpy(spec->layers, layers, sizeof(layers));
}

static const struct random_subject {
    const char *environment;
    void (*describe)(aq_net_spec *spec);
    bool is_image; /* observations from 0 to 1, and choices; else normally distributed, and a box */
} random_subjects[] = {
    {"random continuous", describe_mlp, false},
    {"random continuous", describe_norm, false},
    {"random images", describe_image, true},
};
_Static_assert(sizeof(random_subjects) / sizeof(random_subjects[0]) + 1 == AQ_ERROR_SUBJECTS,
               "one subject is trained");

static void make_schema(const struct random_subject *from, const aq_net_spec *spec,
                        aq_schema *ret_schema)
{
    memset(ret_schema, 0, sizeof(*ret_schema));
    ret_schema->obs = (aq_space){.kind = AQ_SPACE_BOX,
                                 .dtype = AQ_DTYPE_F32,
                                 .rank = 1,
                                 .shape = {aq_net_spec_inputs(spec)},
                                 .bound_count = 1,
                                 .low = {-10.0f},
                                 .high = {10.0f}};
    if (from->is_image) {
        aq_space_init_discrete(&ret_schema->action, aq_net_spec_outputs(spec));
    } else {
        ret_schema->action = (aq_space){.kind = AQ_SPACE_BOX,
                                        .dtype = AQ_DTYPE_F32,
                                        .rank = 1,
                                        .shape = {aq_net_spec_outputs(spec)},
                                        .bound_count = 1,
                                        .low = {-1.0f},
                                        .high = {1.0f}};
    }
}

static void fill_rows(const struct random_subject *from, uint64_t stream, size_t count, float *rows)
{
    aq_rng rng;
    aq_rng_init(&rng, SEED, stream);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (float)(from->is_image ? aq_rng_uniform(&rng) : aq_rng_normal(&rng));
    }
}

static int init_random(const struct random_subject *from, aq_error_subject *subject,
                       aq_error *error)
{
    aq_net_spec spec = {0};
    aq_params params;
    aq_schema schema;
    aq_rng rng;
    from->describe(&spec);
    int rc = aq_params_init(&spec, &params);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for parameters");
    }
    aq_rng_init(&rng, SEED, STREAM_PARAMETERS);
    aq_params_randomize(&spec, &params, &rng);
    make_schema(from, &spec, &schema);
    const aq_quantize_meta meta = {.run_id = 1,
                                   .version = 1,
                                   .task = from->environment,
                                   .schema = &schema,
                                   .head = from->is_image ? AQ_HEAD_ARGMAX : AQ_HEAD_TANH_BOX};
    rc = aq_quantize(&spec, &params, &(aq_quantize_plan){.format = AQ_FORMAT_F32}, &meta,
                     &subject->exact, error);
    aq_params_fini(&params);
    const size_t width = aq_net_spec_inputs(&spec);
    rc = rc != 0 ? rc : make_rows(subject, width, error);
    if (rc != 0) {
        return rc;
    }
    subject->environment = from->environment;
    fill_rows(from, STREAM_MEASURED, AQ_ERROR_SUBJECT_ROWS * width, subject->measured);
    fill_rows(from, STREAM_RANGED, AQ_ERROR_SUBJECT_ROWS * width, subject->ranged);
    return 0;
}

int aq_error_subject_init(size_t index, const char *folder, aq_error_subject *ret_subject,
                          aq_error *error)
{
    aq_error_subject subject = {0};
    AQ_ASSERT(index < AQ_ERROR_SUBJECTS);
    int rc = index == 0 ? init_trained(folder, &subject, error)
                        : init_random(&random_subjects[index - 1], &subject, error);
    if (rc != 0) {
        aq_error_subject_fini(&subject);
        return rc;
    }
    *ret_subject = subject;
    return 0;
}

void aq_error_subject_fini(aq_error_subject *subject)
{
    aq_snapshot_unref(subject->exact);
    aq_free(subject->measured);
    aq_free(subject->ranged);
    *subject = (aq_error_subject){0};
}
