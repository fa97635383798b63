/*
 * Nanoseconds per call of every rung: a layer with everything that an int8 layer costs (quantizing
 * its input included), and a whole small policy. Medians, because the machine may be shared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/nn/params.h"
#include "quantizer/engine/engine.h"
#include "quantizer/quantize/quantize.h"
#include "tests/kernels/kernel_check.h"

enum { REPEATS = 15, ROWS_MAX = 64 };
#define REPEAT_NS (2 * AQ_NS_PER_MS)

static const size_t row_counts[] = {1, 4, 8, 16, 64};
static const struct net {
    uint32_t inputs, hidden, layers, outputs; /* `layers` hidden ones */
} nets[] = {
    {4, 64, 2, 2},      {64, 0, 0, 64},     {128, 0, 0, 128}, {256, 0, 0, 256}, {512, 0, 0, 512},
    {1024, 0, 0, 1024}, {2048, 0, 0, 2048}, {17, 64, 3, 6},   {17, 256, 3, 6},  {17, 512, 3, 6},
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_ns(aq_engine *engine, const float *obs, size_t rows, float *out)
{
    double ns[REPEATS];
    int64_t started = aq_clock_monotonic_ns();
    aq_engine_forward(engine, obs, rows, out);
    const int64_t once = aq_clock_monotonic_ns() - started;
    const int64_t calls = 1 + REPEAT_NS / (once + 20);

    for (int repeat = 0; repeat < REPEATS; repeat++) {
        started = aq_clock_monotonic_ns();
        for (int64_t i = 0; i < calls; i++) {
            aq_engine_forward(engine, obs, rows, out);
        }
        ns[repeat] = (double)(aq_clock_monotonic_ns() - started) / (double)calls;
    }
    qsort(ns, REPEATS, sizeof(ns[0]), compare);
    return ns[REPEATS / 2];
}

static aq_snapshot *make_snapshot(const struct net *net, uint32_t format, uint64_t seed)
{
    uint32_t hidden[AQ_NET_LAYERS_MAX];
    aq_net_spec spec;
    aq_params params;
    aq_schema schema;
    aq_rng rng;
    aq_snapshot *snapshot = NULL;
    for (uint32_t i = 0; i < net->layers; i++) {
        hidden[i] = net->hidden;
    }
    int rc = aq_net_spec_init_mlp(net->inputs, hidden, net->layers, net->outputs,
                                  AQ_ACTIVATION_RELU, &spec, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_params_init(&spec, &params);
    AQ_ASSERT(rc == 0);
    aq_rng_init(&rng, seed, 0);
    aq_params_randomize(&spec, &params, &rng);

    memset(&schema, 0, sizeof(schema));
    schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                            .dtype = AQ_DTYPE_F32,
                            .rank = 1,
                            .shape = {net->inputs},
                            .bound_count = 1,
                            .low = {-10.0f},
                            .high = {10.0f}};
    aq_space_init_discrete(&schema.action, net->outputs);
    const aq_quantize_meta meta = {
        .run_id = 1, .version = 1, .task = "bench", .schema = &schema, .head = AQ_HEAD_ARGMAX};
    rc = aq_quantize(&spec, &params, &(aq_quantize_plan){.format = format}, &meta, &snapshot, NULL);
    AQ_ASSERT(rc == 0);
    aq_params_fini(&params);
    return snapshot;
}

static void bench_net(const aq_qkernels *rung, uint32_t format, const struct net *net,
                      const float *obs, float *out, uint64_t seed)
{
    aq_snapshot *snapshot = make_snapshot(net, format, seed);
    aq_engine *engine = NULL;
    char text[256];
    const int rc = aq_engine_create(snapshot, ROWS_MAX, rung->cpu_flags, &engine, NULL);
    AQ_ASSERT(rc == 0);
    AQ_ASSERT(strcmp(aq_engine_rung(engine), rung->name) == 0);

    double operations = 0.0;
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        operations += 2.0 * snapshot->spec.layers[i].inputs * snapshot->spec.layers[i].outputs;
    }
    aq_net_spec_text(&snapshot->spec, text, sizeof(text));
    for (size_t r = 0; r < sizeof(row_counts) / sizeof(row_counts[0]); r++) {
        const size_t rows = row_counts[r];
        const double ns = median_ns(engine, obs, rows, out);
        printf("%-11s %-5s %-24s rows %2zu %12.1f ns %9.1f ns/row %8.1f Gop/s\n", rung->name,
               aq_format_name(format), text, rows, ns, ns / (double)rows,
               operations * (double)rows / ns);
        fflush(stdout);
    }
    aq_engine_destroy(engine);
    aq_snapshot_unref(snapshot);
}

void bench_kernels(uint32_t cpu_flags, uint64_t seed)
{
    enum { WIDTH_MAX = 2048 };
    float *obs = aq_alloc((size_t)ROWS_MAX * WIDTH_MAX, sizeof(float));
    float *out = aq_alloc((size_t)ROWS_MAX * WIDTH_MAX, sizeof(float));
    aq_rng rng;
    AQ_ASSERT(obs != NULL);
    AQ_ASSERT(out != NULL);
    aq_rng_init(&rng, seed, 1);
    for (size_t i = 0; i < (size_t)ROWS_MAX * WIDTH_MAX; i++) {
        obs[i] = (float)aq_rng_normal(&rng);
    }

    const aq_qkernels *rung;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        if ((rung->cpu_flags & ~cpu_flags) != 0) {
            continue;
        }
        for (size_t n = 0; n < sizeof(nets) / sizeof(nets[0]); n++) {
            bench_net(rung, AQ_FORMAT_INT8_CHANNEL, &nets[n], obs, out, seed);
            bench_net(rung, AQ_FORMAT_F32, &nets[n], obs, out, seed);
        }
    }
    aq_free(obs);
    aq_free(out);
}
