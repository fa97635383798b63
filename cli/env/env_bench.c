/*
 * Env bench: see env_bench.h. Where there is a physics library, a slice is an episode of every lane
 * from its reset on, and then the library alone: the start of an episode, which may be hundreds of
 * steps, and the same states and actions again.
 */
#include "cli/env/env_bench.h"

#include <stdlib.h>

#include "cli/env/bench_lanes.h"
#include "common/base/clock.h"
#include "common/base/memory.h"

#define SLICE_NS (10 * AQ_NS_PER_MS)

enum { SLICES_MIN = 3, SLICES_MAX = 1 << 16, EPISODE_STEPS = 1000, RESET_SHARE = 20 };

typedef struct slice {
    double step_ns;    /* of one lane, resets included */
    double physics_ns; /* likewise */
} slice;

typedef struct bench {
    aq_bench_lanes lanes;
    bool by_wall_clock;
    uint64_t slice_steps; /* of each lane */
    slice *slices;
    size_t slice_count;
    uint64_t episodes; /* begun in slices */
    double reset_ns;
} bench;

static int64_t now_ns(const bench *b)
{
    return b->by_wall_clock ? aq_clock_monotonic_ns() : aq_clock_cpu_ns();
}

/* ---- slices --------------------------------------------------------------------------------- */

static int run_slice(bench *b, aq_error *error)
{
    aq_bench_lanes_draw(&b->lanes);
    int64_t start = now_ns(b);
    int rc = aq_bench_lanes_step(&b->lanes, b->slice_steps, error);
    double spent_ns = (double)(now_ns(b) - start);
    if (rc == 0) {
        double steps = (double)b->slice_steps * b->lanes.rows.count;
        b->slices[b->slice_count++] = (slice){.step_ns = spent_ns / steps};
    }
    return rc;
}

/* The last step of the episode is left out: it would reset the lanes once more. */
static int run_episode_and_physics(bench *b, aq_error *error)
{
    aq_bench_lanes *lanes = &b->lanes;
    aq_bench_lanes_draw(lanes);
    aq_bench_lanes_seed(lanes, b->slice_count);
    int64_t start = now_ns(b);
    int rc = aq_bench_lanes_reset(lanes, error);
    double reset_ns = (double)(now_ns(b) - start);
    if (rc != 0) {
        return rc;
    }
    start = now_ns(b);
    rc = aq_bench_lanes_step(lanes, b->slice_steps, error);
    double spent_ns = (double)(now_ns(b) - start);
    if (rc != 0) {
        return rc;
    }
    start = now_ns(b);
    aq_bench_lanes_start_physics(lanes);
    double physics_ns = (double)(now_ns(b) - start);
    aq_bench_lanes_seed(lanes, b->slice_count); /* so that the same episodes begin */
    rc = aq_bench_lanes_reset(lanes, error);
    if (rc != 0) {
        return rc;
    }
    lanes->episodes -= lanes->rows.count; /* not new ones */
    start = now_ns(b);
    aq_bench_lanes_step_physics(lanes, b->slice_steps);
    physics_ns += (double)(now_ns(b) - start);
    double steps = (double)b->slice_steps * lanes->rows.count;
    b->slices[b->slice_count++] =
        (slice){.step_ns = (reset_ns + spent_ns) / steps, .physics_ns = physics_ns / steps};
    b->reset_ns += reset_ns / lanes->rows.count;
    return 0;
}

/* How many steps take as long as a slice should: tried with ever more of them, as long as there is
 * the time for twice as many, since an environment may wait without using any of the processor's.
 * An episode's, where they are more and there is the time for that. */
static int calibrate(bench *b, int64_t budget_ns, aq_error *error)
{
    const uint32_t limit = b->lanes.env->step_limit;
    const int64_t most_ns = budget_ns / SLICES_MIN;
    int64_t taken_ns;
    b->slice_steps = 1;
    for (;;) {
        const int64_t begin_ns = aq_clock_monotonic_ns(), start = now_ns(b);
        int rc = aq_bench_lanes_step(&b->lanes, b->slice_steps, error);
        if (rc != 0) {
            return rc;
        }
        const int64_t spent_ns = now_ns(b) - start;
        taken_ns = aq_clock_monotonic_ns() - begin_ns;
        if (spent_ns >= SLICE_NS || taken_ns > most_ns / 2) {
            break;
        }
        b->slice_steps *= 2;
    }
    const double episode_ns = (double)taken_ns / (double)b->slice_steps * (double)limit;
    if (b->slice_steps < limit && episode_ns <= (double)most_ns) {
        b->slice_steps = limit;
    }
    return 0;
}

/* Resets alone, for a share of the time by either clock. */
static int time_resets(bench *b, int64_t budget_ns, aq_error *error)
{
    const int64_t end_ns = aq_clock_monotonic_ns() + budget_ns;
    uint64_t resets = 0;
    int64_t start = now_ns(b);
    int64_t spent_ns;
    do {
        int rc = aq_bench_lanes_reset(&b->lanes, error);
        if (rc != 0) {
            return rc;
        }
        resets += b->lanes.rows.count;
        spent_ns = now_ns(b) - start;
    } while (spent_ns < budget_ns && aq_clock_monotonic_ns() < end_ns);
    b->reset_ns = (double)spent_ns / (double)resets;
    return 0;
}

/* Of an episode without its last step; of a longer one, or one without a limit, its beginning. */
static uint64_t episode_steps(uint32_t limit)
{
    const uint32_t steps = limit > 0 && limit <= EPISODE_STEPS ? limit - 1 : EPISODE_STEPS;
    return steps > 0 ? steps : 1;
}

static int run(bench *b, double seconds, aq_error *error)
{
    const aq_env *env = b->lanes.env;
    const bool has_physics = env->class->physics != NULL;
    const int64_t budget_ns = (int64_t)(seconds * (double)AQ_NS_PER_S);
    aq_bench_lanes_draw(&b->lanes);
    int rc = aq_bench_lanes_reset(&b->lanes, error);
    if (rc == 0 && has_physics) {
        b->slice_steps = episode_steps(env->step_limit);
    } else if (rc == 0) {
        rc = calibrate(b, budget_ns, error);
    }
    const uint64_t episodes_before = b->lanes.episodes;
    int64_t start = aq_clock_monotonic_ns(); /* who waits counts on that, however busy it is here */
    while (rc == 0 && b->slice_count < SLICES_MAX &&
           (b->slice_count < SLICES_MIN || aq_clock_monotonic_ns() - start < budget_ns)) {
        rc = has_physics ? run_episode_and_physics(b, error) : run_slice(b, error);
    }
    b->episodes = b->lanes.episodes - episodes_before;
    if (rc == 0 && has_physics) {
        b->reset_ns /= (double)b->slice_count;
    } else if (rc == 0) {
        rc = time_resets(b, budget_ns / RESET_SHARE, error);
    }
    return rc;
}

/* ---- figures -------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of sorted numbers. */
static double quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

static int make_report(const bench *b, aq_env_bench_report *ret_report, aq_error *error)
{
    const size_t count = b->slice_count;
    aq_env_bench_report report = {
        .lanes = b->lanes.rows.count,
        .slices = count,
        .steps = count * b->slice_steps * b->lanes.rows.count,
        .episodes = b->episodes,
        .by_wall_clock = b->by_wall_clock,
        .reset_ns = b->reset_ns,
        .has_physics = b->lanes.env->class->physics != NULL,
    };
    double *numbers = aq_alloc(count, sizeof(double));
    if (numbers == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for the figures");
    }
    for (size_t i = 0; i < count; i++) {
        numbers[i] = b->slices[i].step_ns;
    }
    qsort(numbers, count, sizeof(double), compare_numbers);
    report.step_ns = quantile(numbers, count, 0.5);
    report.steps_per_s = 1e9 / report.step_ns;
    report.steps_per_s_low = 1e9 / quantile(numbers, count, 0.9);
    report.steps_per_s_high = 1e9 / quantile(numbers, count, 0.1);
    if (report.has_physics) {
        for (size_t i = 0; i < count; i++) {
            numbers[i] = b->slices[i].physics_ns;
        }
        qsort(numbers, count, sizeof(double), compare_numbers);
        report.physics_steps_per_s = 1e9 / quantile(numbers, count, 0.5);
        for (size_t i = 0; i < count; i++) {
            numbers[i] = b->slices[i].physics_ns / b->slices[i].step_ns;
        }
        qsort(numbers, count, sizeof(double), compare_numbers);
        report.physics_ratio = quantile(numbers, count, 0.5);
    }
    aq_free(numbers);
    *ret_report = report;
    return 0;
}

int aq_env_bench(const aq_env *env, double seconds, uint32_t lanes, uint64_t seed,
                 aq_env_bench_report *ret_report, aq_error *error)
{
    bench b = {.by_wall_clock = env->class->works_elsewhere};
    if (lanes == 0) {
        lanes = env->class->physics != NULL ? AQ_ENV_BENCH_LANES_PHYSICS : AQ_ENV_BENCH_LANES;
    }
    int rc = aq_bench_lanes_init(&b.lanes, env, lanes, seed, error);
    if (rc != 0) {
        return rc;
    }
    b.slices = aq_alloc(SLICES_MAX, sizeof(slice));
    rc = b.slices != NULL ? run(&b, seconds, error)
                          : aq_fail(error, AQ_E_NOMEM, "no memory for the slices");
    if (rc == 0) {
        rc = make_report(&b, ret_report, error);
    }
    aq_bench_lanes_fini(&b.lanes);
    aq_free(b.slices);
    return rc;
}
