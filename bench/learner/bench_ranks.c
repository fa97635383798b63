/*
 * What a learner's step takes on several ranks, and which share of it is the exchange of gradients:
 * D4PG with Acme's networks, one thread a rank, a batch that is there already.
 *
 *   bench_ranks                  alone, and what looking at the noise of its gradients costs
 *   mpirun -n 2 bench_ranks      each format of gradients
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/learner/learner_case.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "learner/gradients/gradient_noise.h"
#include "learner/nn/blas.h"

enum { SLICES = 11, STEPS = 40, FORMATS = 3 };

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

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median slice: milliseconds of a step, and of its exchange. */
static int measure(aq_learner_case *of, const aq_gradient_exchange *exchange, double *ret_step_ms,
                   double *ret_exchange_ms)
{
    double step_ms[SLICES], exchange_ms[SLICES];
    aq_update_report report;
    int rc = 0;
    for (int slice = -1; rc == 0 && slice < SLICES; slice++) { /* the first is to warm up */
        const aq_exchange_figures before = aq_gradient_exchange_figures(exchange);
        const int64_t begun_ns = aq_clock_monotonic_ns();
        for (int step = 0; rc == 0 && step < STEPS; step++) {
            rc = aq_agent_train(of->agent, of->batch, &report);
        }
        if (slice >= 0) {
            const int64_t waited_ns =
                aq_gradient_exchange_figures(exchange).spent_ns - before.spent_ns;
            step_ms[slice] = 1e-6 * (double)(aq_clock_monotonic_ns() - begun_ns) / STEPS;
            exchange_ms[slice] = 1e-6 * (double)waited_ns / STEPS;
        }
    }
    qsort(step_ms, SLICES, sizeof(double), compare);
    qsort(exchange_ms, SLICES, sizeof(double), compare);
    *ret_step_ms = step_ms[SLICES / 2];
    *ret_exchange_ms = exchange_ms[SLICES / 2];
    return rc;
}

/* Beside a step of the case, whose critic has so many parameters. */
static int measure_noise(double step_ms)
{
    enum { COUNT = 418000, LOOKS = 40 };
    aq_gradient_noise *noise = NULL;
    float *gradient = aq_alloc_large(COUNT, sizeof(*gradient));
    int rc = gradient != NULL ? aq_gradient_noise_create(COUNT, 1, &noise) : AQ_E_NOMEM;
    if (rc == 0) {
        const int64_t begun_ns = aq_clock_monotonic_ns();
        for (int i = 0; i < AQ_NOISE_PERIOD * LOOKS; i++) {
            aq_gradient_noise_take(noise, gradient);
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

static int measure_format(aq_rank_link *link, uint32_t format, aq_error *error)
{
    aq_learner_case of;
    aq_gradient_exchange *exchange = NULL;
    double step_ms, exchange_ms;
    int rc = link != NULL ? aq_gradient_exchange_create(link, format, &exchange) : 0;
    rc = rc == 0 ? aq_learner_case_init(&of, 0, 1, exchange, error) : rc;
    if (rc != 0) {
        return rc;
    }
    const uint32_t ranks = aq_gradient_exchange_ranks(exchange);
    const uint64_t sent_before = aq_gradient_exchange_figures(exchange).sent_bytes;
    rc = measure(&of, exchange, &step_ms, &exchange_ms);
    if (rc == 0 && aq_gradient_exchange_rank(exchange) == 0) {
        (void)printf("%-10s %5u %10.0f %10.2f %10.2f %10.1f %10.0f\n",
                     link != NULL ? formats[format] : "-", ranks, 1e3 / step_ms * ranks * of.rows,
                     step_ms, exchange_ms, 100 * exchange_ms / step_ms,
                     (double)(aq_gradient_exchange_figures(exchange).sent_bytes - sent_before) /
                         ((SLICES + 1) * STEPS));
    }
    aq_learner_case_fini(&of);
    aq_gradient_exchange_destroy(exchange);
    return rc == 0 && link == NULL ? measure_noise(step_ms) : rc;
}

int main(int argc, char **argv)
{
    aq_rank_link made;
    aq_error error = {0};
    aq_rank_link *link;
    (void)argc;
    (void)aq_blas_settle(argv);
    int rc = open_link(&made, &link, &error);
    if (link == NULL || link->rank == 0) {
        (void)printf("%-10s %5s %10s %10s %10s %10s %10s\n", "gradients", "ranks", "rows/s",
                     "ms a step", "exchange", "share %", "bytes");
    }
    for (uint32_t format = 0; rc == 0 && format < (link != NULL ? FORMATS : 1); format++) {
        rc = measure_format(link, format, &error);
    }
    if (rc != 0) {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    if (link != NULL) {
        link->close(link, rc == 0);
    }
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
