/*
 * Seed runs: see seed_runs.h.
 *
 * A run's result is what it prints with --json, kept as FOLDER/seed-K.json.
 */
#include "cli/train/seed_runs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cli/text/command.h"
#include "cli/text/shell_text.h"
#include "cli/text/student_t.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/sys/process.h"

enum { PATH_BYTES = AQ_CLI_PATH_MAX + 64, ARGS_MAX = 20, STEPPERS_A_RUN = 2 };

typedef struct seed_run {
    struct seed_runs *all;
    uv_process_t process;
    uint64_t seed;
    bool is_running;
    json_t *result; /* NULL: it left none */
} seed_run;

typedef struct seed_runs {
    const aq_train_options *options;
    const char *program;
    uv_loop_t loop;
    uv_signal_t signals[2];
    uint64_t jobs, running;
    size_t next, count;
    bool stopped; /* nothing more is started */
    aq_json_form json;
    aq_error error; /* why a run could not be started */
    seed_run runs[AQ_SEEDS_MAX];
} seed_runs;

int aq_seed_range_take(void *range, const char *value, aq_error *error)
{
    aq_seed_range *seeds = range;
    uint64_t first = 1, last = 0;
    char text[48];
    char *dots = aq_text_set(text, sizeof(text), value) == 0 ? strstr(text, "..") : NULL;
    if (dots != NULL) {
        *dots = '\0';
    }
    if ((dots != NULL && aq_parse_u64(text, &first) != 0) ||
        aq_parse_u64(dots != NULL ? dots + 2 : text, &last) != 0 || first < 1 || last < first ||
        last > AQ_JSON_SEED_MAX || last - first >= AQ_SEEDS_MAX) {
        return aq_fail(error, AQ_E_INVALID,
                       "'%s' is neither a number of seeds, 1 to %d, nor seeds such as 3..7", value,
                       AQ_SEEDS_MAX);
    }
    *seeds = (aq_seed_range){first, last - first + 1};
    return 0;
}

/* ---- one of them ---------------------------------------------------------------------------- */

static void start_more(seed_runs *all);

static void read_result(seed_run *run)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/seed-%" PRIu64 ".json", run->all->options->run_dir,
                   run->seed);
    run->result = json_load_file(path, 0, NULL);
    if (run->result == NULL) {
        (void)unlink(path);
    }
}

static void print_run(const seed_run *run)
{
    if (run->all->json) {
        run->all->stopped |=
            aq_print_json(json_incref(run->result), run->all->json, &run->all->error) != 0;
    } else {
        char took[32], steps[32];
        (void)printf(
            "seed %-4" PRIu64 "  return %.1f  %s after %s, %s steps  %s\n", run->seed,
            aq_json_number_of(run->result, "return_mean"),
            json_string_value(json_object_get(run->result, "state")),
            aq_text_duration(took, sizeof(took), aq_json_number_of(run->result, "wall_s")),
            aq_text_count(steps, sizeof(steps), aq_json_number_of(run->result, "env_steps")),
            json_string_value(json_object_get(run->result, "run")));
    }
    (void)fflush(stdout);
}

static void on_exit_of_run(uv_process_t *process, int64_t exit_status, int term_signal)
{
    seed_run *run = process->data;
    seed_runs *all = run->all;
    (void)exit_status;
    (void)term_signal;
    uv_close((uv_handle_t *)process, NULL);
    run->is_running = false;
    all->running--;
    read_result(run);
    if (run->result != NULL) {
        print_run(run);
    } else {
        all->stopped = true; /* it said why, and so would the others */
    }
    start_more(all);
}

static int start_run(seed_run *run, aq_error *error)
{
    const aq_train_options *options = run->all->options;
    char config[PATH_BYTES], folder[PATH_BYTES], result[PATH_BYTES + 8], seed[24], parent[24];
    (void)snprintf(config, sizeof(config), "%s/config.yaml", options->run_dir);
    (void)snprintf(folder, sizeof(folder), "%s/seed-%" PRIu64, options->run_dir, run->seed);
    (void)snprintf(result, sizeof(result), "%s.json", folder);
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, run->seed);
    (void)snprintf(parent, sizeof(parent), "%d", (int)getpid());
    const char *args[ARGS_MAX] = {"actorq",  "train",    "--config", config,   "--seed",
                                  seed,      "--run",    folder,     "--json", "--no-http",
                                  "--quiet", "--parent", parent};
    size_t count = 13;
    char learners[24];
    if (options->learners > 1) {
        (void)snprintf(learners, sizeof(learners), "%" PRIu64, options->learners);
        args[count++] = "--learners";
        args[count++] = learners;
    }
    if (options->no_evaluator) {
        args[count++] = "--no-evaluator";
    }
    if (options->data_set[0] != '\0') {
        args[count++] = "--offline";
        args[count++] = options->data_set;
    }
    const int out = open(result, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    uv_stdio_container_t stdio[3] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = out},
        {.flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO},
    };
    const uv_process_options_t how = {
        .exit_cb = on_exit_of_run,
        .file = run->all->program,
        .args = (char **)(uintptr_t)args,
        .stdio_count = 3,
        .stdio = stdio,
        .flags = UV_PROCESS_DETACHED, /* a Ctrl-C comes to this process, which passes it on */
    };
    run->process.data = run;
    int problem = out >= 0 ? uv_spawn(&run->all->loop, &run->process, &how) : UV_EIO;
    if (out >= 0) {
        (void)close(out);
    }
    if (problem != 0) {
        return aq_fail(error, AQ_E_IO, "seed %" PRIu64 " could not be started in %s: %s", run->seed,
                       folder, uv_strerror(problem));
    }
    run->is_running = true;
    run->all->running++;
    return 0;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void start_more(seed_runs *all)
{
    while (!all->stopped && all->next < all->count && all->running < all->jobs) {
        all->stopped = start_run(&all->runs[all->next++], &all->error) != 0;
    }
    if (all->running == 0) {
        uv_stop(&all->loop);
    }
}

static void on_signal(uv_signal_t *signal_handle, int number)
{
    seed_runs *all = signal_handle->data;
    all->stopped = true;
    for (size_t i = 0; i < all->count; i++) {
        if (all->runs[i].is_running) {
            (void)uv_process_kill(&all->runs[i].process, number);
        }
    }
}

static int watch_signals(seed_runs *all, aq_error *error)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < 2; i++) {
        (void)uv_signal_init(&all->loop, &all->signals[i]);
        all->signals[i].data = all;
        if (uv_signal_start(&all->signals[i], on_signal, numbers[i]) != 0) {
            return aq_fail(error, AQ_E_UNSUPPORTED, "signals could not be watched");
        }
    }
    return 0;
}

/* One with two actors keeps about two processors busy. */
static uint64_t jobs_for(uint64_t wanted)
{
    const uint64_t fitting = uv_available_parallelism() / STEPPERS_A_RUN;
    return wanted > 0 ? wanted : fitting > 0 ? fitting : 1;
}

/* Of the runs that left a result, and whether any came to nothing. */
static int sum_up(const seed_runs *all, aq_error *error)
{
    double returns[AQ_SEEDS_MAX];
    size_t ended = 0, solved = 0;
    for (size_t i = 0; i < all->count; i++) {
        const json_t *result = all->runs[i].result;
        if (result != NULL) {
            returns[ended++] = aq_json_number_of(result, "return_mean");
            solved += json_is_true(json_object_get(result, "solved"));
        }
    }
    const aq_mean_ci mean = aq_mean_ci_of(returns, ended);
    if (all->json) {
        int rc = aq_print_json(
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "runs", aq_json_count(ended), "solved",
                      aq_json_count(solved), "return_mean", aq_json_number(mean.mean), "return_std",
                      aq_json_number(mean.std), "return_ci95", aq_json_number(mean.ci95), "folder",
                      all->options->run_dir),
            all->json, error);
        if (rc != 0) {
            return rc;
        }
    } else if (mean.count > 0) {
        char program[AQ_CLI_PATH_MAX], folder[AQ_CLI_PATH_MAX];
        (void)printf("\n%zu of %zu solved; return %.1f, standard deviation over the runs %.1f, 95 "
                     "%% interval of the mean +- %.1f\n\nTry next:\n  %s runs %s\n",
                     solved, ended, mean.mean, mean.std, mean.ci95,
                     aq_shell_program(program, sizeof(program)),
                     aq_shell_word(folder, sizeof(folder), all->options->run_dir));
    }
    return all->error.code != 0 ? aq_fail(error, all->error.code, "%s", all->error.text)
           : ended < all->count
               ? aq_fail(error, ended > 0 ? AQ_E_IO : AQ_E_PEER, "%zu of %zu runs came to nothing",
                         all->count - ended, all->count)
               : 0;
}

static int run_all(seed_runs *all, aq_error *error)
{
    if (uv_loop_init(&all->loop) != 0) {
        return aq_fail(error, AQ_E_NOMEM, "the event loop could not be made");
    }
    int rc = watch_signals(all, error);
    if (rc == 0) {
        start_more(all);
        (void)uv_run(&all->loop, UV_RUN_DEFAULT);
    }
    for (size_t i = 0; i < 2; i++) {
        uv_close((uv_handle_t *)&all->signals[i], NULL);
    }
    (void)uv_run(&all->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&all->loop);
    return rc != 0 ? rc : sum_up(all, error);
}

int aq_seed_runs(const aq_run_config *config, const aq_train_options *options, aq_seed_range seeds,
                 uint64_t jobs, aq_json_form json, aq_error *error)
{
    char path[PATH_BYTES], program[AQ_CLI_PATH_MAX];
    seed_runs *all = aq_alloc(1, sizeof(*all));
    if (all == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    all->options = options;
    all->program = program;
    all->jobs = jobs_for(jobs);
    all->count = (size_t)seeds.count;
    all->json = json;
    (void)snprintf(path, sizeof(path), "%s/config.yaml", options->run_dir);
    int rc = aq_train_write_config(config, path, error);
    if (rc == 0) {
        rc = aq_process_find_program("actorq", "cli", program, sizeof(program), error);
    }
    for (size_t i = 0; i < all->count; i++) {
        all->runs[i].all = all;
        all->runs[i].seed = seeds.first + i;
    }
    if (rc == 0) {
        rc = run_all(all, error);
    }
    for (size_t i = 0; i < all->count; i++) {
        json_decref(all->runs[i].result);
    }
    aq_free(all);
    return rc;
}
