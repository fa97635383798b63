/*
 * How fast DQN trains: steps a second on one thread, and which share of a step the matrix products
 * take by themselves, so that what is left to gain beside them can be seen.
 *
 *   bench_dqn [seconds a round]
 *
 * Each number is the median of ROUNDS rounds, in processor time, so that a neighbour on the same
 * machine does not count. The products are timed in a loop of their own over the shapes of a step,
 * where they find their operands in nearer caches: the share errs on the low side. `bits` are those
 * of quantization-aware training; 0 is without.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>

#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "learner/algorithms/agent.h"
#include "learner/nn/blas.h"
#include "learner/nn/passes.h"

enum { OBS_ELEMENTS = 4, ACTIONS = 2, ROUNDS = 9 };

typedef struct bench_case {
    const char *hidden;
    uint32_t width, rows;
    enum aq_activation activation;
    uint32_t bits; /* learner.qat_bits */
    bool is_whole; /* with norms and a dueling head */
} bench_case;

static const bench_case cases[] = {
    {"64,64", 64, 64, AQ_ACTIVATION_RELU, 0, false},
    {"64,64", 64, 64, AQ_ACTIVATION_RELU, 8, false},
    {"64,64", 64, 64, AQ_ACTIVATION_RELU, 0, true},
    {"64,64", 64, 64, AQ_ACTIVATION_TANH, 0, false},
    {"256,256", 256, 64, AQ_ACTIVATION_RELU, 0, false},
    {"256,256", 256, 64, AQ_ACTIVATION_RELU, 8, false},
    {"256,256", 256, 64, AQ_ACTIVATION_RELU, 0, true},
    {"256,256", 256, 64, AQ_ACTIVATION_TANH, 0, false},
    {"256,256", 256, 256, AQ_ACTIVATION_RELU, 0, false},
    {"256,256", 256, 256, AQ_ACTIVATION_RELU, 8, false},
    {"512,512", 512, 256, AQ_ACTIVATION_RELU, 0, false},
    {"512,512", 512, 256, AQ_ACTIVATION_RELU, 8, false},
};

typedef struct bench {
    aq_agent *agent;
    aq_batch *batch;
    float *a, *b, *c; /* operands of the products, large enough for each */
} bench;

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static void fill_uniform(float *out, size_t count, aq_rng *rng)
{
    for (size_t i = 0; i < count; i++) {
        out[i] = (float)aq_rng_range(rng, -1, 1);
    }
}

static void fill_batch(aq_batch *batch, aq_rng *rng)
{
    fill_uniform((float *)(void *)batch->obs, (size_t)batch->rows * OBS_ELEMENTS, rng);
    fill_uniform((float *)(void *)batch->next_obs, (size_t)batch->rows * OBS_ELEMENTS, rng);
    fill_uniform(batch->reward, batch->rows, rng);
    for (uint32_t i = 0; i < batch->rows; i++) {
        int32_t action = (int32_t)aq_rng_below(rng, ACTIONS);

        memcpy(batch->action + i * sizeof(action), &action, sizeof(action));
        batch->bootstrap[i] = 0.97f;
        batch->weight[i] = 1;
    }
}

static void bench_fini(bench *self)
{
    aq_agent_destroy(self->agent);
    aq_batch_destroy(self->batch);
    aq_free(self->a);
    aq_free(self->b);
    aq_free(self->c);
}

static int bench_init(bench *self, const bench_case *of, aq_error *error)
{
    static const float low[OBS_ELEMENTS] = {-1, -1, -1, -1};
    static const float high[OBS_ELEMENTS] = {1, 1, 1, 1};
    size_t operand = (size_t)of->width * (of->width > 2 * of->rows ? of->width : 2 * of->rows);
    aq_run_config config = {0};
    aq_schema schema = {0};
    aq_layout layout;
    aq_rng rng;

    memset(self, 0, sizeof(*self));
    aq_space_init_box(&schema.obs, OBS_ELEMENTS, low, high);
    aq_space_init_discrete(&schema.action, ACTIONS);
    int rc = aq_text_set(config.learner.hidden, sizeof(config.learner.hidden), of->hidden);
    if (rc != 0) {
        return aq_fail(error, rc, "%s: too long", of->hidden);
    }
    config.learner.batch_size = of->rows;
    config.learner.learning_rate = 1e-3;
    config.learner.adam_epsilon = 1e-8;
    config.learner.huber_delta = 1;
    config.learner.gradient_clip = 10;
    config.learner.target_period = 100;
    config.learner.double_q = true;
    config.learner.qat_bits = of->bits;
    config.learner.norm = of->is_whole;
    config.learner.dueling = of->is_whole;
    config.learner.activation = (uint32_t)of->activation - AQ_ACTIVATION_RELU;
    const aq_algorithm_setup setup = {.config = &config, .schema = &schema, .seed = 1};
    rc = aq_agent_create(aq_algorithm_find("dqn"), &setup, &self->agent, error);
    if (rc == 0) {
        rc = aq_layout_init(&schema, 1, 2, &layout, error);
    }
    if (rc == 0) {
        rc = aq_batch_create(&layout, 0, of->rows, &self->batch);
    }
    self->a = aq_alloc(operand, sizeof(float));
    self->b = aq_alloc(operand, sizeof(float));
    self->c = aq_alloc(operand, sizeof(float));
    if (rc == 0 && (self->a == NULL || self->b == NULL || self->c == NULL)) {
        rc = aq_fail(error, AQ_E_NOMEM, "no memory");
    }
    if (rc != 0) {
        bench_fini(self);
        return rc;
    }
    aq_rng_init(&rng, 1, 0);
    fill_uniform(self->a, operand, &rng);
    fill_uniform(self->b, operand, &rng);
    self->batch->rows = of->rows;
    fill_batch(self->batch, &rng);
    return 0;
}

static int train_step(bench *self)
{
    aq_update_report report;

    return aq_agent_train(self->agent, self->batch, &report);
}

static void product(bench *self, CBLAS_TRANSPOSE transpose_a, CBLAS_TRANSPOSE transpose_b, int m,
                    int n, int k)
{
    cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, m, n, k, 1.0f, self->a,
                transpose_a == CblasTrans ? m : k, self->b, transpose_b == CblasTrans ? k : n, 0.0f,
                self->c, n);
}

/* The products of one step, on numbers that stand for the real ones. */
static int products_of_step(bench *self)
{
    const aq_net_spec *spec = aq_agent_spec(self->agent);
    int rows = (int)self->batch->rows;

    for (uint32_t l = 0; l < spec->layer_count; l++) {
        int inputs = (int)spec->layers[l].inputs, outputs = (int)spec->layers[l].outputs;

        if (spec->layers[l].kind != AQ_LAYER_LINEAR) {
            continue;
        }
        product(self, CblasNoTrans, CblasTrans, rows, outputs, inputs);
        product(self, CblasNoTrans, CblasTrans, 2 * rows, outputs, inputs);
        product(self, CblasTrans, CblasNoTrans, outputs, inputs, rows);
        if (l > 0) {
            product(self, CblasNoTrans, CblasNoTrans, rows, inputs, outputs);
        }
    }
    return 0;
}

/* Median over the rounds of the nanoseconds that one call takes; negative when one fails. */
static double time_calls(int (*call)(bench *self), bench *self, double round_ns)
{
    double rounds[ROUNDS];

    for (int r = 0; r < ROUNDS; r++) {
        int64_t start = aq_clock_cpu_ns(), now = start;
        uint64_t calls = 0;

        while ((double)(now - start) < round_ns) {
            for (int i = 0; i < 64; i++) {
                if (call(self) != 0) {
                    return -1;
                }
            }
            calls += 64;
            now = aq_clock_cpu_ns();
        }
        rounds[r] = (double)(now - start) / (double)calls;
    }
    qsort(rounds, ROUNDS, sizeof(rounds[0]), ascending);
    return rounds[ROUNDS / 2];
}

static int run_case(const bench_case *of, double round_ns)
{
    aq_error error = {0};
    double step_ns, products_ns;
    char net[64];
    bench self;

    if (bench_init(&self, of, &error) != 0) {
        fprintf(stderr, "bench_dqn: %s\n", error.text);
        return 1;
    }
    step_ns = time_calls(train_step, &self, round_ns);
    products_ns = time_calls(products_of_step, &self, round_ns);
    if (step_ns < 0) {
        fprintf(stderr, "bench_dqn: a training step failed\n");
    } else {
        printf("%-34s %6" PRIu32 " %5" PRIu32 " %10.0f %10.2f %12.2f %8.0f%%\n",
               aq_net_spec_text(aq_agent_spec(self.agent), net, sizeof(net)), of->rows, of->bits,
               1e9 / step_ns, step_ns / 1e3, products_ns / 1e3, 100 * products_ns / step_ns);
    }
    bench_fini(&self);
    return step_ns < 0;
}

int main(int argc, char **argv)
{
    double round_s = 0.2;
    char problem[512];
    int failed = 0;

    if (argc > 2 || (argc == 2 && (aq_parse_f64(argv[1], &round_s) != 0 || round_s <= 0))) {
        fprintf(stderr, "usage: bench_dqn [seconds a round]\n");
        return 2;
    }
    aq_blas_set_threads(1);
    printf("%s; core %s; passes %s\n", aq_blas_config(), aq_blas_core(), aq_passes_best()->name);
    if (aq_blas_problem(problem, sizeof(problem))) {
        printf("warning: %s\n", problem);
    }
    printf("%-34s %6s %5s %10s %10s %12s %9s\n", "network", "rows", "bits", "steps/s", "us/step",
           "products us", "share");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        failed |= run_case(&cases[i], round_s * 1e9);
    }
    return failed;
}
