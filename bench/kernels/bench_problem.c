/*
 * Bench problem: see bench_problem.h.
 */
#include "bench/kernels/bench_problem.h"

#include <math.h>
#include <string.h>

#include "bench/kernels/bench_pictures.h"
#include "common/base/memory.h"
#include "common/base/rng.h"
#include "common/nn/forward.h"
#include "quantizer/quantize/quantize.h"

enum {
    CHECKED_ROWS_MAX = 2,
    POLICY_INPUTS = 17,
    POLICY_ACTIONS = 6,
    PICTURE_CHANNELS_MAX = 4,
    SEED = 1,
};
enum { STREAM_PARAMETERS, STREAM_OBS };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Runs the reference; `visitor`, where given, takes in what goes into each layer. */
static int run_reference(const aq_bench_problem *problem, const aq_params *params,
                         const aq_forward_visitor *visitor, float *out)
{
    float *scratch =
        aq_alloc(aq_forward_scratch(&problem->spec, problem->checked_rows), sizeof(*scratch));
    if (scratch == NULL) {
        return AQ_E_NOMEM;
    }
    if (visitor != NULL) {
        aq_forward_visit(&problem->spec, params, problem->obs, problem->checked_rows, scratch, out,
                         visitor);
    } else {
        aq_forward_reference(&problem->spec, params, problem->obs, problem->checked_rows, scratch,
                             out);
    }
    aq_free(scratch);
    return 0;
}

static void take_in_range(void *user, uint32_t layer, const float *in, size_t rows)
{
    aq_bench_problem *problem = user;
    const uint32_t value = aq_net_sources(&problem->spec, layer).values[0];
    const size_t count = rows * aq_net_value_width(&problem->spec, value);
    for (size_t i = 0; i < count; i++) {
        problem->low[layer] = in[i] < problem->low[layer] ? in[i] : problem->low[layer];
        problem->high[layer] = in[i] > problem->high[layer] ? in[i] : problem->high[layer];
    }
}

/* Everything but the observations' values. The specification is there. */
static int begin(aq_bench_problem *problem, size_t rows)
{
    aq_rng rng;
    int rc = aq_params_init(&problem->spec, &problem->params);
    if (rc != 0) {
        return rc;
    }
    aq_rng_init(&rng, SEED, STREAM_PARAMETERS);
    aq_params_randomize(&problem->spec, &problem->params, &rng);
    problem->rows = rows;
    problem->checked_rows = least(rows, CHECKED_ROWS_MAX);
    problem->obs = aq_alloc(rows * aq_net_spec_inputs(&problem->spec), sizeof(float));
    problem->expected =
        aq_alloc(problem->checked_rows * aq_net_spec_outputs(&problem->spec), sizeof(float));
    return problem->obs != NULL && problem->expected != NULL ? 0 : AQ_E_NOMEM;
}

static int finish(aq_bench_problem *problem)
{
    const aq_forward_visitor visitor = {.user = problem, .visit = take_in_range};
    return run_reference(problem, &problem->params, &visitor, problem->expected);
}

/* Observation `i` of the problem. */
typedef float obs_function(aq_rng *rng, size_t i, uint32_t inputs);

static float obs_unit(aq_rng *rng, size_t i, uint32_t inputs)
{
    return i % inputs == 0 ? 1.0f : (float)aq_rng_uniform(rng);
}

static float obs_normal(aq_rng *rng, size_t i, uint32_t inputs)
{
    (void)i;
    (void)inputs;
    return (float)aq_rng_normal(rng);
}

static float obs_byte(aq_rng *rng, size_t i, uint32_t inputs)
{
    return i % inputs == 0 ? 1.0f : (float)aq_rng_below(rng, 256) / 255.0f;
}

static int make(const aq_net_spec *spec, size_t rows, obs_function *draw,
                aq_bench_problem *ret_problem)
{
    aq_bench_problem problem = {.spec = *spec};
    aq_rng rng;
    int rc = aq_net_spec_validate(spec, NULL);
    rc = rc != 0 ? rc : begin(&problem, rows);
    if (rc == 0) {
        const uint32_t inputs = aq_net_spec_inputs(spec);
        aq_rng_init(&rng, SEED, STREAM_OBS);
        for (size_t i = 0; i < rows * inputs; i++) {
            problem.obs[i] = draw(&rng, i, inputs);
        }
        rc = finish(&problem);
    }
    if (rc != 0) {
        aq_bench_problem_fini(&problem);
        return rc;
    }
    *ret_problem = problem;
    return 0;
}

int aq_bench_problem_layer(uint32_t inputs, uint32_t outputs, size_t rows,
                           aq_bench_problem *ret_problem)
{
    aq_net_spec spec = {.layer_count = 1};
    spec.layers[0] = aq_layer_linear(inputs, outputs, AQ_ACTIVATION_RELU);
    return make(&spec, rows, obs_unit, ret_problem);
}

int aq_bench_problem_policy(uint32_t width, size_t rows, aq_bench_problem *ret_problem)
{
    const uint32_t hidden[] = {width, width, width};
    aq_net_spec spec;
    int rc = aq_net_spec_init_mlp(POLICY_INPUTS, hidden, sizeof(hidden) / sizeof(hidden[0]),
                                  POLICY_ACTIONS, AQ_ACTIVATION_RELU, &spec, NULL);
    return rc != 0 ? rc : make(&spec, rows, obs_normal, ret_problem);
}

int aq_bench_problem_picture(uint32_t picture, size_t rows, aq_bench_problem *ret_problem)
{
    const aq_net_spec spec = aq_bench_picture_spec(picture);
    if (spec.layers[0].conv.channels > PICTURE_CHANNELS_MAX) {
        return make(&spec, rows, obs_unit, ret_problem);
    }
    int rc = make(&spec, rows, obs_byte, ret_problem);
    if (rc != 0) {
        return rc;
    }
    const size_t count = rows * aq_net_spec_inputs(&spec);
    ret_problem->bytes = aq_alloc(count, 1);
    if (ret_problem->bytes == NULL) {
        aq_bench_problem_fini(ret_problem);
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        ret_problem->bytes[i] = (uint8_t)lrintf(ret_problem->obs[i] * 255.0f);
    }
    return 0;
}

void aq_bench_problem_fini(aq_bench_problem *problem)
{
    aq_params_fini(&problem->params);
    aq_free(problem->obs);
    aq_free(problem->bytes);
    aq_free(problem->expected);
    *problem = (aq_bench_problem){0};
}

int aq_bench_problem_snapshot(const aq_bench_problem *problem, uint32_t format,
                              aq_snapshot **ret_snapshot, aq_error *error)
{
    aq_schema schema;
    memset(&schema, 0, sizeof(schema));
    schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                            .dtype = AQ_DTYPE_F32,
                            .rank = 1,
                            .shape = {aq_net_spec_inputs(&problem->spec)},
                            .bound_count = 1,
                            .low = {-10.0f},
                            .high = {10.0f}};
    aq_space_init_discrete(&schema.action, aq_net_spec_outputs(&problem->spec));
    const aq_quantize_meta meta = {
        .run_id = 1, .version = 1, .task = "bench", .schema = &schema, .head = AQ_HEAD_ARGMAX};
    return aq_quantize(&problem->spec, &problem->params, &(aq_quantize_plan){.format = format},
                       &meta, ret_snapshot, error);
}

double aq_bench_problem_distance(const aq_bench_problem *problem, const float *got,
                                 const float *expected)
{
    const size_t count = problem->checked_rows * aq_net_spec_outputs(&problem->spec);
    double differences = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        const double difference = (double)got[i] - (double)expected[i];
        differences += difference * difference;
        squares += (double)expected[i] * (double)expected[i];
    }
    const double distance = sqrt(differences / squares);
    return isnan(distance) ? (double)INFINITY : distance;
}

int aq_bench_problem_expected(const aq_bench_problem *problem, const aq_snapshot *snapshot,
                              float **ret_expected)
{
    aq_params params = {0};
    const size_t count = problem->checked_rows * aq_net_spec_outputs(&problem->spec);
    float *expected = aq_alloc(count, sizeof(*expected));
    int rc = expected != NULL ? aq_params_init(&problem->spec, &params) : AQ_E_NOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < problem->spec.layer_count; i++) {
            aq_snapshot_layer_weights(snapshot, i, params.weight[i]);
            memcpy(params.bias[i], snapshot->layers[i].bias,
                   aq_layer_matrix(&problem->spec.layers[i]).rows * sizeof(float));
        }
        rc = run_reference(problem, &params, NULL, expected);
    }
    aq_params_fini(&params);
    if (rc != 0) {
        aq_free(expected);
        return rc;
    }
    *ret_expected = expected;
    return 0;
}
