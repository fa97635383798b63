/*
 * Bench case: see bench_case.h.
 */
#include "bench/kernels/bench_case.h"

#include <math.h>
#include <string.h>

#include "bench/kernels/limit_contender.h"
#include "common/base/assert.h"
#include "common/base/memory.h"
#include "quantizer/engine/engine.h"

/* How far results may be from the reference, in rms by rms: rounding of floats; and for each layer
 * the rounding of its activations to 256 levels. The error of weights counts for peers alone, who
 * round the fp32 weights themselves: ours are held against the weights that they have. */
#define DISTANCE_FLOAT         1e-4
#define DISTANCE_INTEGER_LAYER 0.02

typedef struct ours {
    uint32_t format;
    const aq_bench_problem *problem; /* lent */
    aq_snapshot *snapshot;
    aq_engine *engine;
    float *room;      /* for what comes out, but where the engine keeps it */
    const float *out; /* of the last run */
    size_t bytes;
    double operations;
} ours;

typedef struct other {
    const aq_bench_peer *peer;
    void *self;
} other;

typedef struct bench_case {
    const aq_bench_problem *problem;
    const aq_limit_loops *loops;
    size_t ours_count, others_count;
    ours ours[AQ_FORMAT_COUNT];
    other others[AQ_BENCH_PEERS];
    void *memory; /* that the limit loops read */
    /* as many bytes as ours of the same index */
    aq_limit_reading readings[AQ_FORMAT_COUNT][AQ_LIMIT_READERS];
    aq_limit_multiplying dot, fma;
} bench_case;

/* ---- contenders ----------------------------------------------------------------------------- */

static void run_ours(void *self)
{
    ours *one = self;
    const aq_bench_problem *problem = one->problem;
    if (problem->bytes != NULL && aq_engine_takes_bytes(one->engine)) {
        one->out = aq_engine_step_of_bytes(one->engine, problem->bytes, NULL, problem->rows);
    } else {
        aq_engine_forward(one->engine, problem->obs, problem->rows, one->room);
        one->out = one->room;
    }
}

static void run_other(void *self)
{
    other *one = self;
    one->peer->run(one->self);
}

/* What a pass has to read and to compute at least. */
static void count_work(ours *one)
{
    const aq_net_spec *spec = &one->problem->spec;
    const size_t rows = one->problem->rows;
    const size_t input_bytes = one->problem->bytes != NULL ? 1 : sizeof(float);
    one->bytes =
        aq_snapshot_tensor_bytes(one->snapshot) + rows * aq_net_spec_inputs(spec) * input_bytes;
    one->operations = 0.0;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        const aq_snapshot_layer *layer = &one->snapshot->layers[i];
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&spec->layers[i]);
        const double weights = layer->format == AQ_FORMAT_INT8_SPARSE
                                   ? (double)layer->sizes.weights_bytes
                                   : (double)matrix.rows * matrix.columns;
        const double products =
            matrix.rows > 0 ? (double)spec->layers[i].outputs / matrix.rows : 0.0;
        one->operations += 2.0 * weights * products * (double)rows;
    }
}

static int check(const bench_case *all, const char *name, const float *got, const float *expected,
                 bool is_integer, aq_error *error)
{
    const double allowed =
        is_integer ? DISTANCE_INTEGER_LAYER * all->problem->spec.layer_count : DISTANCE_FLOAT;
    const double distance = aq_bench_problem_distance(all->problem, got, expected);
    if (distance <= allowed) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT,
                   "%s computes something else: %g of the reference's size away, %g is allowed",
                   name, distance, allowed);
}

static int make_ours(bench_case *all, uint32_t format, const aq_qkernels *rung, aq_error *error)
{
    const aq_bench_problem *problem = all->problem;
    ours *one = &all->ours[all->ours_count++];
    float *expected = NULL;
    *one = (ours){.format = format, .problem = problem};
    int rc = aq_bench_problem_snapshot(problem, format, &one->snapshot, error);
    rc = rc != 0
             ? rc
             : aq_engine_create(one->snapshot, problem->rows, rung->cpu_flags, &one->engine, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", aq_format_name(format));
    }
    AQ_ASSERT(strcmp(aq_engine_rung(one->engine), rung->name) == 0);
    count_work(one);
    one->room = aq_alloc(problem->rows * aq_net_spec_outputs(&problem->spec), sizeof(float));
    rc = one->room != NULL ? aq_bench_problem_expected(problem, one->snapshot, &expected)
                           : AQ_E_NOMEM;
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for a network's results");
    }
    run_ours(one);
    rc =
        check(all, aq_format_name(format), one->out, expected, aq_format_is_integer(format), error);
    aq_free(expected);
    return rc;
}

static bool is_picture(const aq_bench_problem *problem)
{
    return problem->spec.layers[0].kind == AQ_LAYER_CONV2D;
}

/* Layers one after the other are all that peers are made of. */
static bool is_chain(const aq_net_spec *spec)
{
    bool is = true;
    for (uint32_t i = 0; i < spec->layer_count; i++) {
        is &= aq_net_is_chained(spec, i);
    }
    return is;
}

static int make_others(bench_case *all, aq_error *error)
{
    for (size_t i = 0; i < AQ_BENCH_PEERS; i++) {
        const aq_bench_peer *peer = aq_bench_peer_at(i);
        if (peer->create == NULL || (is_picture(all->problem) && !peer->convolves) ||
            !is_chain(&all->problem->spec)) {
            continue;
        }
        other *one = &all->others[all->others_count];
        int rc = peer->create(all->problem, &one->self, error);
        if (rc != 0) {
            return rc;
        }
        one->peer = peer;
        all->others_count++;
        peer->run(one->self);
        rc = check(all, peer->name, peer->result(one->self), all->problem->expected,
                   peer->is_integer, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int make_limits(bench_case *all, aq_error *error)
{
    size_t most = 0;
    for (size_t i = 0; i < all->ours_count; i++) {
        most = all->ours[i].bytes > most ? all->ours[i].bytes : most;
    }
    all->memory = aq_limit_memory(aq_round_up(most, AQ_LIMIT_READ_STEP));
    if (all->memory == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory to read");
    }
    for (size_t i = 0; i < all->ours_count; i++) {
        aq_limit_readings_init(all->loops, all->memory,
                               aq_round_up(all->ours[i].bytes, AQ_LIMIT_READ_STEP),
                               all->readings[i]);
    }
    all->dot = (aq_limit_multiplying){.loop = all->loops->dot};
    all->fma = (aq_limit_multiplying){.loop = all->loops->fma};
    return 0;
}

static void release(bench_case *all)
{
    for (size_t i = 0; i < all->ours_count; i++) {
        aq_engine_destroy(all->ours[i].engine);
        aq_snapshot_unref(all->ours[i].snapshot);
        aq_free(all->ours[i].room);
    }
    for (size_t i = 0; i < all->others_count; i++) {
        all->others[i].peer->destroy(all->others[i].self);
    }
    aq_free(all->memory);
}

/* ---- timing --------------------------------------------------------------------------------- */

/* Contenders in this order: ours, the readings of each, dot, fma, others. */
static size_t reading_index(const bench_case *all, size_t index)
{
    return all->ours_count + index * AQ_LIMIT_READERS;
}

static size_t list_contenders(bench_case *all, aq_contender *list)
{
    size_t count = 0;
    for (size_t i = 0; i < all->ours_count; i++) {
        list[count++] = (aq_contender){run_ours, &all->ours[i]};
    }
    for (size_t i = 0; i < all->ours_count; i++) {
        aq_limit_reading_contenders(all->readings[i], list + count);
        count += AQ_LIMIT_READERS;
    }
    list[count++] = aq_limit_multiplying_contender(&all->dot);
    list[count++] = aq_limit_multiplying_contender(&all->fma);
    for (size_t i = 0; i < all->others_count; i++) {
        list[count++] = (aq_contender){run_other, &all->others[i]};
    }
    return count;
}

static aq_bench_row row_of(const bench_case *all, size_t index, const aq_qkernels *rung,
                           const aq_paired_times *times)
{
    const ours *one = &all->ours[index];
    const aq_net_spec *spec = &all->problem->spec;
    const bool is_integer = aq_format_is_integer(one->format);
    const size_t peak = reading_index(all, all->ours_count) + (is_integer ? 0 : 1);
    const double peak_operations =
        (double)AQ_LIMIT_STEPS *
        (is_integer ? all->loops->dot_operations : all->loops->fma_operations);
    const double bytes_us = aq_limit_reading_us(times, reading_index(all, index));
    const double operations_us =
        one->operations / peak_operations * aq_paired_times_us(times, peak);
    aq_bench_row row = {
        .rung = rung->name,
        .format = one->format,
        .inputs = aq_net_spec_inputs(spec),
        .outputs = aq_net_spec_outputs(spec),
        .batch = all->problem->rows,
        .us = aq_paired_times_us(times, index),
        .peer_us = (double)NAN,
        .ratio = (double)NAN,
        .bytes = one->bytes,
        .operations = one->operations,
        .limit_us = fmax(bytes_us, operations_us),
        .limited_by_bytes = bytes_us >= operations_us,
    };
    (void)aq_net_spec_text(spec, row.network, sizeof(row.network));
    row.limit_share = row.limit_us / row.us;
    return row;
}

static size_t write_rows(const bench_case *all, const aq_qkernels *rung,
                         const aq_paired_times *times, aq_bench_row *rows)
{
    const size_t others_first = reading_index(all, all->ours_count) + 2;
    size_t count = 0;
    for (size_t i = 0; i < all->ours_count; i++) {
        const aq_bench_row row = row_of(all, i, rung, times);
        if (all->others_count == 0) {
            rows[count++] = row;
        }
        for (size_t j = 0; j < all->others_count; j++) {
            rows[count] = row;
            rows[count].peer = all->others[j].peer->name;
            rows[count].peer_us = aq_paired_times_us(times, others_first + j);
            rows[count].ratio = aq_paired_times_ratio(times, others_first + j, i);
            count++;
        }
    }
    return count;
}

int aq_bench_case_run(const aq_bench_plan *plan, const aq_qkernels *rung,
                      const aq_bench_problem *problem, aq_bench_row *ret_rows, size_t *ret_count,
                      aq_error *error)
{
    aq_contender contenders[AQ_CONTENDERS_MAX];
    aq_paired_times times = {0};
    bench_case all = {.problem = problem, .loops = aq_limit_loops_of(rung->name)};
    int rc = 0;
    for (uint32_t format = 0; rc == 0 && format < AQ_QKERNEL_FORMATS; format++) {
        if (aq_bench_plan_wants(plan, rung, format)) {
            rc = make_ours(&all, format, rung, error);
        }
    }
    if (rc == 0 && all.ours_count == 0) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED, "the rung %s has none of these formats", rung->name);
    }
    rc = rc != 0 ? rc : make_others(&all, error);
    rc = rc != 0 ? rc : make_limits(&all, error);
    if (rc == 0) {
        const size_t count = list_contenders(&all, contenders);
        rc = aq_paired_times_measure(contenders, count, &plan->timing, &times);
        rc = rc != 0 ? aq_fail(error, rc, "no memory for times") : 0;
    }
    if (rc == 0) {
        *ret_count = write_rows(&all, rung, &times, ret_rows);
    }
    aq_paired_times_fini(&times);
    release(&all);
    return rc;
}
