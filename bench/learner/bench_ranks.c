/*
 * What a learner's step takes on several ranks, which share of it is what they exchange, and what a
 * rank keeps: D4PG with Acme's networks, or with 2048 x 3, one thread a rank, a batch that is there
 * already.
 *
 *   bench_ranks                          alone, and what looking at the noise of its gradients
 *                                        costs
 *   mpirun -n 2 bench_ranks              each format of gradients
 *   mpirun -n 2 bench_ranks acme 1 8     8 steps in each of the 11 slices, not 40
 *   bench_ranks 2048                     alone, with wide layers
 *   mpirun -n 2 bench_ranks 2048 2       two that share the networks
 *   mpirun -n 4 bench_ranks 2048 2       both: two times two
 *   mpirun -n 2 bench_ranks acme 2 drift how far they come from one that has the networks to itself
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/learner/learner_case.h"
#include "bench/median.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "learner/algorithms/agent_ranks.h"
#include "learner/gradients/gradient_noise.h"
#include "learner/nn/blas.h"

enum { SLICES = 11, STEPS = 40, WIDE_STEPS = 2, FORMATS = 3 };

/* What was asked for. */
typedef struct request {
    bool is_wide, is_drift;
    uint64_t sharing; /* ranks that share the networks */
    uint64_t steps;   /* of a slice */
} request;

/* What ranks have of each other; zeroes: nobody is there. */
typedef struct crew {
    aq_rank_link *all, within, across;
    aq_model_group *model;
    aq_gradient_exchange *exchange;
} crew;

static const char *const formats[] = {AQ_GRADIENT_FORMATS(AQ_CHOICE_WORD) NULL};

/* *ret_link is NULL without mpirun. */
static int open_link(aq_rank_link *link, aq_rank_link **ret_link, aq_error *error)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    aq_rank_link_open_fn open = NULL;
    *ret_link = NULL;
    if (size == NULL || strcmp(size, "1") == 0) {
        return 0;
    }
    void *module = dlopen(AQ_BENCH_MODULE, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = module != NULL ? dlsym(module, AQ_RANK_LINK_SYMBOL) : NULL;
    memcpy(&open, &symbol, sizeof(open));
    if (open == NULL || open(sizeof(*link), link) != 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "MPI: %s", module == NULL ? dlerror() : "refused");
    }
    *ret_link = link;
    return 0;
}

/* Both of gradients and within networks. */
static aq_exchange_figures figures_of(const crew *ranks)
{
    aq_exchange_figures all = aq_gradient_exchange_figures(ranks->exchange);
    const aq_exchange_figures within = aq_model_group_figures(ranks->model);
    all.sent_bytes += within.sent_bytes;
    all.spent_ns += within.spent_ns;
    return all;
}

/* Of parameters, targets and optimizers. */
static double kept_mib(const aq_learner_case *of)
{
    aq_named_arrays arrays;
    double bytes = 0;
    aq_agent_arrays(of->agent, &arrays);
    for (size_t i = 0; i < arrays.count; i++) {
        bytes += (double)aq_array_bytes(&arrays.arrays[i]);
    }
    return bytes / (1 << 20);
}

/* The median slice: milliseconds of a step, and of its exchange. */
static int measure(aq_learner_case *of, const crew *ranks, uint64_t steps, double *ret_step_ms,
                   double *ret_exchange_ms)
{
    double step_ms[SLICES], exchange_ms[SLICES];
    aq_update_report report;
    int rc = 0;
    for (int slice = -1; rc == 0 && slice < SLICES; slice++) { /* the first is to warm up */
        const aq_exchange_figures before = figures_of(ranks);
        const int64_t begun_ns = aq_clock_monotonic_ns();
        for (uint64_t step = 0; rc == 0 && step < steps; step++) {
            rc = aq_agent_train(of->agent, of->batch, &report);
        }
        if (slice >= 0) {
            const int64_t waited_ns = figures_of(ranks).spent_ns - before.spent_ns;
            step_ms[slice] = 1e-6 * (double)(aq_clock_monotonic_ns() - begun_ns) / (double)steps;
            exchange_ms[slice] = 1e-6 * (double)waited_ns / (double)steps;
        }
    }
    *ret_step_ms = aq_median(step_ms, SLICES);
    *ret_exchange_ms = aq_median(exchange_ms, SLICES);
    return rc;
}

/* Beside a step of the case, whose critic has about so many parameters. */
static int measure_noise(double step_ms)
{
    enum { COUNT = 418000, LOOKS = 40 };
    aq_gradient_noise *noise = NULL;
    float *gradient = aq_alloc_large(COUNT, sizeof(*gradient));
    int rc = gradient != NULL ? aq_gradient_noise_create(COUNT, &noise) : AQ_E_NOMEM;
    if (rc == 0) {
        const int64_t begun_ns = aq_clock_monotonic_ns();
        for (int i = 0; i < AQ_NOISE_PERIOD * LOOKS; i++) {
            aq_gradient_noise_take(noise, gradient, 1);
        }
        const double look_ms = 1e-6 * (double)(aq_clock_monotonic_ns() - begun_ns) / LOOKS;
        (void)printf("a look at the noise of %d gradients of %d parameters takes %.2f ms, %.2f %% "
                     "of %d steps\n",
                     AQ_NOISE_LOOK, COUNT, look_ms, 100 * look_ms / (step_ms * AQ_NOISE_PERIOD),
                     AQ_NOISE_PERIOD);
    }
    aq_gradient_noise_destroy(noise);
    aq_free(gradient);
    return rc;
}

static int measure_format(crew *ranks, const request *wanted, uint32_t format, aq_error *error)
{
    aq_learner_case of;
    double step_ms, exchange_ms;
    aq_rank_link *link = ranks->model != NULL ? &ranks->across : ranks->all;
    int rc = link != NULL ? aq_gradient_exchange_create(link, format, &ranks->exchange) : 0;
    rc = rc == 0 ? aq_learner_case_init(&of, wanted->is_wide ? AQ_LEARNER_CASE_WIDE : 0, 1, NULL,
                                        ranks->exchange, ranks->model, error)
                 : rc;
    if (rc != 0) {
        return rc;
    }
    const uint32_t groups = aq_gradient_exchange_ranks(ranks->exchange);
    const uint64_t sent_before = figures_of(ranks).sent_bytes;
    rc = measure(&of, ranks, wanted->steps, &step_ms, &exchange_ms);
    if (rc == 0 && (ranks->all == NULL || ranks->all->rank == 0)) {
        (void)printf("%-10s %5" PRIu64 " %7" PRIu64 " %10.0f %10.2f %10.2f %10.1f %10.0f %10.1f\n",
                     groups > 1 ? formats[format] : "-", groups * wanted->sharing, wanted->sharing,
                     1e3 / step_ms * groups * of.rows, step_ms, exchange_ms,
                     100 * exchange_ms / step_ms,
                     (double)(figures_of(ranks).sent_bytes - sent_before) /
                         (double)((SLICES + 1) * wanted->steps),
                     kept_mib(&of));
    }
    aq_learner_case_fini(&of);
    aq_gradient_exchange_destroy(ranks->exchange);
    ranks->exchange = NULL;
    return rc == 0 && ranks->all == NULL && !wanted->is_wide ? measure_noise(step_ms) : rc;
}

/* ---- how far they come from one rank -------------------------------------------------------- */

/* What changed since `begun`, and how much of it differs: root mean squares, and the greatest. */
static void tell_drift(int steps, const float *begun, const float *alone, const float *shared,
                       size_t count)
{
    double way = 0, apart = 0, most = 0;
    for (size_t i = 0; i < count; i++) {
        const double moved = (double)alone[i] - (double)begun[i];
        const double differs = fabs((double)alone[i] - (double)shared[i]);
        way += moved * moved;
        apart += differs * differs;
        most = differs > most ? differs : most;
    }
    (void)printf("%7d %14.3g %14.3g %14.3g\n", steps, sqrt(way / (double)count),
                 sqrt(apart / (double)count), most);
}

static const float *parameters_of(aq_agent *agent, size_t *ret_count)
{
    aq_named_arrays arrays;
    aq_agent_arrays(agent, &arrays);
    const aq_named_array *parameters = aq_named_arrays_find(&arrays, "parameters");
    *ret_count = parameters->count;
    return parameters->values;
}

static int train_both(aq_learner_case *alone, aq_learner_case *shared, int steps)
{
    aq_update_report report;
    int rc = 0;
    for (int step = 0; rc == 0 && step < steps; step++) {
        rc = aq_agent_train(alone->agent, alone->batch, &report);
        rc = rc == 0 ? aq_agent_train(shared->agent, shared->batch, &report) : rc;
    }
    return rc;
}

/* On every rank the lone one trains, too. */
static int measure_drift(crew *ranks, const request *wanted, aq_error *error)
{
    static const int stops[] = {10, 100, 1000};
    const size_t index = wanted->is_wide ? AQ_LEARNER_CASE_WIDE : 0;
    aq_learner_case alone, shared;
    aq_named_arrays shape, begun = {0}, kept = {0};
    size_t count;
    if (ranks->model == NULL) {
        return aq_fail(error, AQ_E_INVALID, "drift is of ranks that share networks");
    }
    int rc = aq_learner_case_init(&alone, index, 1, NULL, NULL, NULL, error);
    rc = rc == 0 ? aq_learner_case_init(&shared, index, 1, NULL, NULL, ranks->model, error) : rc;
    if (rc != 0) {
        return rc;
    }
    aq_agent_whole(alone.agent, &shape);
    rc = aq_named_arrays_like(&shape, &begun);
    rc = rc == 0 ? aq_named_arrays_like(&shape, &kept) : rc;
    rc = rc == 0 ? aq_agent_keep(alone.agent, &begun) : rc;
    for (int i = 0; rc == 0 && i < 3; i++) {
        rc = train_both(&alone, &shared, stops[i] - (i > 0 ? stops[i - 1] : 0));
        rc = rc == 0 ? aq_agent_keep(shared.agent, &kept) : rc;
        if (rc == 0 && ranks->all->rank == 0) {
            const float *its = parameters_of(alone.agent, &count);
            tell_drift(stops[i], aq_named_arrays_find(&begun, "parameters")->values, its,
                       aq_named_arrays_find(&kept, "parameters")->values, count);
        }
    }
    aq_named_arrays_fini(&begun);
    aq_named_arrays_fini(&kept);
    aq_learner_case_fini(&alone);
    aq_learner_case_fini(&shared);
    return rc;
}

static int share(crew *ranks, uint64_t sharing, aq_error *error)
{
    aq_rank_link *all = ranks->all;
    if (sharing == 1) {
        return 0;
    }
    if (all == NULL || sharing == 0 || all->count % sharing != 0) {
        return aq_fail(error, AQ_E_INVALID, "it takes a multiple of %" PRIu64 " ranks", sharing);
    }
    return all->part(all, all->rank / (uint32_t)sharing, &ranks->within) == 0 &&
                   all->part(all, all->rank % (uint32_t)sharing, &ranks->across) == 0
               ? aq_model_group_create(&ranks->within, &ranks->model)
               : aq_fail(error, AQ_E_PEER, "%s", all->trouble);
}

/* Gradients that only one group has are in no format, and where networks are shared not in int8. */
static uint32_t formats_of(const crew *ranks)
{
    return ranks->model == NULL      ? (ranks->all != NULL ? FORMATS : 1)
           : ranks->across.count > 1 ? FORMATS - 1
                                     : 1;
}

int main(int argc, char **argv)
{
    aq_rank_link made;
    aq_error error = {0};
    crew ranks = {0};
    const bool is_wide = argc > 1 && strcmp(argv[1], "2048") == 0;
    request wanted = {.is_wide = is_wide,
                      .is_drift = argc > 3 && strcmp(argv[3], "drift") == 0,
                      .sharing = 1,
                      .steps = is_wide ? WIDE_STEPS : STEPS};
    (void)aq_blas_settle(argv);
    int rc = argc > 2 ? aq_parse_u64(argv[2], &wanted.sharing) : 0;
    rc = rc == 0 && argc > 3 && !wanted.is_drift ? aq_parse_u64(argv[3], &wanted.steps) : rc;
    if (rc != 0 || wanted.steps == 0 || (argc > 1 && !is_wide && strcmp(argv[1], "acme") != 0)) {
        (void)fprintf(stderr, "bench_ranks: [acme|2048 [SHARING [STEPS|drift]]]\n");
        return EXIT_FAILURE;
    }
    rc = open_link(&made, &ranks.all, &error);
    rc = rc == 0 ? share(&ranks, wanted.sharing, &error) : rc;
    if (wanted.is_drift) {
        rc = rc == 0 ? measure_drift(&ranks, &wanted, &error) : rc;
    } else if (ranks.all == NULL || ranks.all->rank == 0) {
        (void)printf("%-10s %5s %7s %10s %10s %10s %10s %10s %10s\n", "gradients", "ranks",
                     "sharing", "rows/s", "ms a step", "exchange", "share %", "bytes", "MiB kept");
    }
    const uint32_t formats_wanted = wanted.is_drift ? 0 : formats_of(&ranks);
    for (uint32_t format = 0; rc == 0 && format < formats_wanted; format++) {
        rc = measure_format(&ranks, &wanted, format, &error);
    }
    if (rc != 0) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    if (ranks.all != NULL) {
        ranks.all->close(ranks.all, rc == 0);
    }
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
