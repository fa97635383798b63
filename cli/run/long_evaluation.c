/*
 * Long evaluation: see long_evaluation.h.
 */
#include "cli/run/long_evaluation.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>
#include <uv.h>

#include "cli/text/figure_text.h"
#include "common/base/clock.h"

enum { FIRST_WORD_MS = 2000, PERIOD_MS = 5000, PERIOD_TERMINAL_MS = 1000 };

typedef struct evaluation_job {
    uv_work_t work;
    /* The playing thread's, from `play` to `on_played`. */
    aq_env *env;
    aq_engine *engine;
    uint32_t episodes;
    uint64_t seed;
    aq_evaluation *result;
    aq_error *error;
    int rc;
    /* The loop's. */
    uv_timer_t timer;
    int64_t started_ns;
    bool is_terminal;
    bool drawn; /* a line stands on the terminal */
} evaluation_job;

static void play(uv_work_t *work)
{
    evaluation_job *job = work->data;
    job->rc = aq_evaluate(job->env, job->engine, job->episodes, job->seed, job->result, job->error);
}

static void on_played(uv_work_t *work, int status)
{
    evaluation_job *job = work->data;
    (void)status; /* nobody cancels it */
    uv_close((uv_handle_t *)&job->timer, NULL);
}

static void on_still_playing(uv_timer_t *timer)
{
    evaluation_job *job = timer->data;
    aq_figure time;
    const double seconds = aq_ns_to_s(aq_clock_monotonic_ns() - job->started_ns);
    (void)fprintf(stderr, "%splaying %" PRIu32 " episodes, %s so far%s",
                  job->is_terminal ? "\r\033[K" : "", job->episodes,
                  aq_figure_duration(&time, seconds), job->is_terminal ? "" : "\n");
    (void)fflush(stderr);
    job->drawn = job->is_terminal;
}

int aq_long_evaluation(aq_env *env, aq_engine *engine, uint32_t episodes, uint64_t seed,
                       aq_evaluation *ret_result, aq_error *error)
{
    uv_loop_t loop;
    evaluation_job job = {
        .env = env,
        .engine = engine,
        .episodes = episodes,
        .seed = seed,
        .result = ret_result,
        .error = error,
        .started_ns = aq_clock_monotonic_ns(),
        .is_terminal = isatty(STDERR_FILENO),
    };
    job.work.data = &job;
    job.timer.data = &job;
    if (uv_loop_init(&loop)) {
        return aq_fail(error, AQ_E_NOMEM, "an event loop could not be made");
    }
    (void)uv_timer_init(&loop, &job.timer);
    (void)uv_timer_start(&job.timer, on_still_playing, FIRST_WORD_MS,
                         job.is_terminal ? PERIOD_TERMINAL_MS : PERIOD_MS);
    (void)uv_queue_work(&loop, &job.work, play, on_played);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    if (job.drawn) {
        (void)fprintf(stderr, "\r\033[K");
        (void)fflush(stderr);
    }
    return job.rc;
}
