/*
 * What a version of the policy costs the learner: copying the parameters, which the trainer's
 * thread does, and making of them what goes out, which is the quantizer stage's. Both stand beside
 * a plain copy of the parameters, since of a wide policy most of it is reading memory.
 *
 *     build/bench/bench_version [WIDTH...]
 *
 * A policy 17-WIDTH-WIDTH-WIDTH-6 in int8, each version in full, medians of processor time.
 */
#include <stdio.h>
#include <string.h>

#include "bench/median.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/cpu.h"
#include "learner/publish/publication.h"

enum { INPUTS = 17, ACTIONS = 6, ROWS = 256, VERSIONS = 25, WARM_VERSIONS = 5 };

typedef struct subject {
    aq_schema schema;
    aq_net_spec spec;
    aq_params params;
    float *plain; /* where the plain copy goes */
    float *obs;
    aq_rng rng;
    aq_publication_config config;
    aq_publication_history history;
} subject;

typedef struct figures {
    double plain_us[VERSIONS], copy_us[VERSIONS], make_us[VERSIONS];
    size_t bytes;
} figures;

static int make_subject(subject *of, uint32_t width)
{
    const uint32_t hidden[] = {width, width, width};
    float low[INPUTS], high[INPUTS];
    for (size_t i = 0; i < INPUTS; i++) {
        low[i] = -2;
        high[i] = 2;
    }
    aq_rng_init(&of->rng, 1, 0);
    aq_space_init_box(&of->schema.obs, INPUTS, low, high);
    aq_space_init_discrete(&of->schema.action, ACTIONS);
    int rc = aq_net_spec_init_mlp(INPUTS, hidden, 3, ACTIONS, AQ_ACTIVATION_TANH, &of->spec, NULL);
    rc = rc == 0 ? aq_params_init(&of->spec, &of->params) : rc;
    if (rc != 0) {
        return rc;
    }
    of->plain = aq_alloc_large(of->params.count, sizeof(float));
    of->obs = aq_alloc((size_t)ROWS * INPUTS, sizeof(float));
    if (of->plain == NULL || of->obs == NULL) {
        return AQ_E_NOMEM;
    }
    aq_params_randomize(&of->spec, &of->params, &of->rng);
    for (size_t i = 0; i < (size_t)ROWS * INPUTS; i++) {
        of->obs[i] = (float)aq_rng_range(&of->rng, -2, 2);
    }
    of->config = (aq_publication_config){.plan = {.format = AQ_FORMAT_INT8_CHANNEL},
                                         .full_period = 1,
                                         .error_budget = 0.1,
                                         .error_rows = ROWS,
                                         .cpu_flags = aq_cpu_flags()};
    aq_publication_history_init(&of->history, &of->config);
    aq_memory_keep(aq_publication_room_bytes(&of->spec)); /* as the learner does */
    return 0;
}

static void drop_subject(subject *of)
{
    aq_publication_history_fini(&of->history);
    aq_params_fini(&of->params);
    aq_free(of->plain);
    aq_free(of->obs);
}

static double since_us(int64_t begun_ns)
{
    return (double)(aq_clock_thread_ns() - begun_ns) / (double)AQ_NS_PER_US;
}

/* The one with that number, as if training had gone on. */
static int make_version(subject *of, uint64_t version, double *ret_plain, double *ret_copy,
                        double *ret_make, size_t *ret_bytes)
{
    const aq_quantize_meta meta = {.run_id = 1,
                                   .version = version,
                                   .task = "bench",
                                   .schema = &of->schema,
                                   .head = AQ_HEAD_ARGMAX};
    aq_snapshot *exact = NULL;
    aq_publication made;
    for (size_t i = 0; i < of->params.count; i++) {
        of->params.block[i] += (float)aq_rng_range(&of->rng, -1e-5, 1e-5);
    }
    int64_t begun = aq_clock_thread_ns();
    memcpy(of->plain, of->params.block, of->params.count * sizeof(float));
    *ret_plain = since_us(begun);

    int rc = aq_snapshot_create_exact(&of->spec, &exact);
    if (rc != 0) {
        return rc;
    }
    begun = aq_clock_thread_ns();
    aq_params_put(&of->params, exact);
    *ret_copy = since_us(begun);

    begun = aq_clock_thread_ns();
    rc = aq_publication_make(&of->config, &of->history, &meta, exact, of->obs, ROWS, &made, NULL);
    if (rc != 0) {
        return rc;
    }
    *ret_bytes = made.frame.size;
    aq_publication_fini(&made);
    *ret_make = since_us(begun);
    return 0;
}

static int measure(uint32_t width)
{
    subject of = {0};
    figures got = {0};
    int rc = make_subject(&of, width);
    for (uint64_t i = 0; rc == 0 && i < WARM_VERSIONS + VERSIONS; i++) {
        const size_t at = i < WARM_VERSIONS ? 0 : i - WARM_VERSIONS;
        rc = make_version(&of, i + 1, &got.plain_us[at], &got.copy_us[at], &got.make_us[at],
                          &got.bytes);
    }
    if (rc == 0) {
        const double plain = aq_median(got.plain_us, VERSIONS);
        const double copy = aq_median(got.copy_us, VERSIONS);
        const double make = aq_median(got.make_us, VERSIONS);
        (void)printf("%5u  %9zu bytes  plain copy %8.1f us  the trainer's %8.1f us (%4.1f x)  "
                     "the stage's %8.1f us (%4.1f x)\n",
                     width, got.bytes, plain, copy, copy / plain, make, make / plain);
    }
    drop_subject(&of);
    return rc;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"64", "256", "512", "1024", "2048"};
    const size_t count = argc > 1 ? (size_t)argc - 1 : sizeof(usual) / sizeof(usual[0]);
    aq_memory_use_one_heap();
    for (size_t i = 0; i < count; i++) {
        const char *text = argc > 1 ? argv[i + 1] : usual[i];
        uint64_t width = 0;
        int rc = aq_parse_u64(text, &width);
        rc = rc == 0 && (width < 1 || width > AQ_NET_WIDTH_MAX) ? AQ_E_INVALID : rc;
        rc = rc == 0 ? measure((uint32_t)width) : rc;
        if (rc != 0) {
            (void)fprintf(stderr, "bench_version: %s: %s\n", text, aq_error_text(rc));
            return 1;
        }
    }
    return 0;
}
