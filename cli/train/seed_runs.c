/*
 * Seed runs: see seed_runs.h.
 *
 * A run's result is what it prints with --json, kept as FOLDER/seed-K.json.
 */
#include "cli/train/seed_runs.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "cli/launch/own_child.h"
#include "cli/launch/own_loop.h"
#include "cli/launch/words.h"
#include "cli/run/run_series.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/shell_text.h"
#include "cli/train/train_folder.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/base/plain_text.h"
#include "common/base/student_t.h"
#include "common/config/run_names.h"
#include "common/sys/file.h"
#include "common/sys/process.h"
#include "envs/env_code.h"

enum { PATH_BYTES = PATH_MAX + AQ_GRID_NAME_MAX + 64 };

typedef struct seed_run {
    struct seed_runs *all;
    aq_own_child child;
    uint64_t seed;
    const char *point; /* "": of no grid */
    json_t *result;    /* NULL: it left none */
    bool is_started;
    bool has_failed; /* whatever it left */
} seed_run;

typedef struct seed_runs {
    const aq_train_options *options;
    const char *program;
    aq_own_loop loop;
    uint64_t jobs, running;
    size_t next, count;
    size_t point_count;
    bool stopped; /* nothing more is started */
    bool interrupted;
    aq_json_form json;
    aq_error error; /* why a run could not be started */
    seed_run runs[AQ_SEEDS_MAX];
    char points[AQ_SEEDS_MAX][AQ_GRID_NAME_MAX];
} seed_runs;

/* FOLDER, or FOLDER/POINT. */
static void folder_of(const seed_runs *all, const char *point, char *out, size_t size)
{
    (void)snprintf(out, size, "%s%s%s", all->options->run_dir, point[0] != '\0' ? "/" : "", point);
}

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

static void path_of(const seed_run *run, const char *end, char *out, size_t size)
{
    char folder[PATH_BYTES - 64];
    folder_of(run->all, run->point, folder, sizeof(folder));
    (void)snprintf(out, size, "%s/seed-%" PRIu64 "%s", folder, run->seed, end);
}

static void read_result(seed_run *run)
{
    char path[PATH_BYTES];
    path_of(run, ".json", path, sizeof(path));
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
        aq_figure mean;
        (void)printf(
            "%s%sseed %-4" PRIu64 "  return %s  %s after %s, %s steps  %s\n", run->point,
            run->point[0] != '\0' ? "  " : "", run->seed,
            aq_figure_return(&mean, aq_json_number_of(run->result, "return_mean")),
            aq_run_state_text(json_string_value(json_object_get(run->result, "state"))),
            aq_text_duration(took, sizeof(took), aq_json_number_of(run->result, "wall_s")),
            aq_text_count(steps, sizeof(steps), aq_json_number_of(run->result, "env_steps")),
            json_string_value(json_object_get(run->result, "run")));
    }
    (void)fflush(stdout);
}

/* A run that was interrupted before there was one leaves nothing, as if it had not been started. */
static bool take_back(seed_run *run)
{
    char path[PATH_BYTES];
    path_of(run, "", path, sizeof(path));
    if (!run->all->interrupted || aq_path_exists_in(path, "run.json")) {
        return false;
    }
    aq_train_folder_drop(path);
    run->is_started = false;
    return true;
}

/* It said nothing itself; the others may do better. */
static void say_killed(const seed_run *run, int signal_number)
{
    char path[PATH_BYTES];
    path_of(run, "", path, sizeof(path));
    aq_print_line(stderr, "%s was ended by signal %d (%s)", path, signal_number,
                  strsignal(signal_number));
}

static void settle_lost(seed_run *run, int signal_number)
{
    if (take_back(run)) {
        return;
    }
    if (signal_number != 0) {
        say_killed(run, signal_number);
    } else {
        run->all->stopped = true; /* it said why, and so would the others */
    }
}

static void on_run_ended(aq_own_child *child, int signal_number, int64_t status)
{
    seed_run *run = child->user;
    seed_runs *all = run->all;
    run->has_failed = signal_number != 0 || status != 0;
    all->running--;
    read_result(run);
    if (run->result != NULL) {
        print_run(run);
    } else {
        settle_lost(run, signal_number);
    }
    start_more(all);
}

static int start_run(seed_run *run, aq_error *error)
{
    const aq_train_options *options = run->all->options;
    char config[PATH_BYTES], folder[PATH_BYTES], result[PATH_BYTES], seed[24], learners[24];
    folder_of(run->all, run->point, config, sizeof(config));
    aq_text_append(config, sizeof(config), "/config.yaml");
    path_of(run, "", folder, sizeof(folder));
    path_of(run, ".json", result, sizeof(result));
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, run->seed);
    (void)snprintf(learners, sizeof(learners), "%" PRIu64, options->learners);
    aq_words words = {.count = 0};
    aq_words_add(&words, "train", NULL);
    aq_words_add(&words, "--config", config);
    aq_words_add(&words, "--seed", seed);
    aq_words_add(&words, "--run", folder);
    aq_words_add(&words, "--json", "--no-http");
    aq_words_add(&words, "--quiet", NULL);
    if (options->learners > 1) {
        aq_words_add(&words, "--learners", learners);
    }
    if (options->no_evaluator) {
        aq_words_add(&words, "--no-evaluator", NULL);
    }
    if (options->data_set[0] != '\0') {
        aq_words_add(&words, "--offline", options->data_set);
    }
    const aq_own_child_spec spec = {
        .program = run->all->program, .args = words.list, .result_path = result, .lent_file = -1};
    run->child = (aq_own_child){.user = run, .ended = on_run_ended};
    int rc = aq_own_child_start(&run->all->loop.uv, &run->child, &spec, error);
    run->is_started = rc == 0;
    run->all->running += rc == 0;
    return rc;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void start_more(seed_runs *all)
{
    while (!all->stopped && all->next < all->count && all->running < all->jobs) {
        all->stopped = start_run(&all->runs[all->next++], &all->error) != 0;
    }
    if (all->running == 0) {
        uv_stop(&all->loop.uv);
    }
}

static void on_signal(void *user, int number)
{
    seed_runs *all = user;
    all->stopped = true;
    all->interrupted = true;
    for (size_t i = 0; i < all->count; i++) {
        aq_own_child_kill(&all->runs[i].child, number);
    }
}

/* Of the runs of a point that came to their end: what others had reached is none beside theirs. */
static int sum_up_point(const seed_runs *all, const char *point, aq_error *error)
{
    double returns[AQ_SEEDS_MAX];
    size_t ended = 0, solved = 0;
    for (size_t i = 0; i < all->count; i++) {
        const json_t *result = all->runs[i].result;
        if (result != NULL && all->runs[i].point == point &&
            !json_is_true(json_object_get(result, "interrupted"))) {
            returns[ended++] = aq_json_number_of(result, "return_mean");
            solved += json_is_true(json_object_get(result, "solved"));
        }
    }
    const aq_mean_ci mean = aq_mean_ci_of(returns, ended);
    char folder[PATH_BYTES];
    folder_of(all, point, folder, sizeof(folder));
    if (all->json) {
        json_t *json =
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "runs", aq_json_count(ended), "solved",
                      aq_json_count(solved), "return_mean", aq_json_number(mean.mean), "return_std",
                      aq_json_number(mean.std), "return_ci95", aq_json_number(mean.ci95), "folder",
                      aq_json_text(folder));
        return aq_print_json(json, all->json, error);
    }
    if (mean.count == 0) {
        return 0;
    }
    aq_figure figure, deviation, interval;
    (void)printf("\n%s%s%zu of %zu solved; return %s", point, point[0] != '\0' ? ": " : "", solved,
                 ended, aq_figure_return(&figure, mean.mean));
    if (mean.count > 1) {
        (void)printf(", standard deviation over the runs %s, 95 %% interval of the mean +- %s",
                     aq_figure_return(&deviation, mean.std),
                     aq_figure_return(&interval, mean.ci95));
    }
    (void)printf("\n");
    return 0;
}

/* The first that ended before its time; NULL: none. */
static const seed_run *find_interrupted(const seed_runs *all)
{
    for (size_t i = 0; i < all->count; i++) {
        if (json_is_true(json_object_get(all->runs[i].result, "interrupted"))) {
            return &all->runs[i];
        }
    }
    return NULL;
}

static void print_resume(const seed_run *run, const char *program)
{
    char path[PATH_BYTES], word[PATH_BYTES];
    const aq_train_options *options = run->all->options;
    const char *task = json_string_value(json_object_get(run->result, "task"));
    const char *trust = task != NULL ? aq_env_code_option(task) : "";
    path_of(run, "", path, sizeof(path));
    (void)printf("  %s train --run %s --resume", program, aq_shell_word(word, sizeof(word), path));
    if (options->learners > 1) {
        (void)printf(" --learners %" PRIu64, options->learners);
    }
    (void)printf("%s%s\n", options->no_evaluator ? " --no-evaluator" : "", trust);
}

static void print_next(const seed_runs *all, bool can_be_drawn)
{
    char program[PATH_MAX], folder[PATH_MAX];
    const seed_run *interrupted = find_interrupted(all);
    aq_shell_program(program, sizeof(program));
    aq_shell_word(folder, sizeof(folder), all->options->run_dir);
    (void)printf("\nTry next:\n  %s runs %s\n", program, folder);
    if (can_be_drawn && all->point_count <= AQ_CURVES_MAX &&
        all->count / all->point_count <= AQ_CURVE_RUNS_MAX) {
        (void)printf("  %s plot %s\n", program, folder);
    }
    if (interrupted != NULL) {
        print_resume(interrupted, program);
    }
}

/* Why the command fails though its runs are summed up; 0: it does not. After an interruption those
 * that were not begun are no failures. */
static int judge(const seed_runs *all, aq_error *error)
{
    size_t lost = 0, failed = 0, begun = 0;
    for (size_t i = 0; i < all->count; i++) {
        const seed_run *run = &all->runs[i];
        begun += run->is_started;
        lost += run->is_started && run->result == NULL;
        failed += run->result != NULL && run->has_failed;
    }
    if (all->error.code != 0) {
        return aq_fail(error, all->error.code, "%s", all->error.text);
    }
    if (lost > 0) {
        return aq_fail(error, AQ_E_IO, "%zu of %zu runs came to nothing%s", lost, begun,
                       begun < all->count ? "; the others were not begun" : "");
    }
    if (begun == 0) {
        return aq_fail(error, AQ_E_IO, "interrupted: there is no run yet");
    }
    return failed > 0 ? aq_fail(error, AQ_E_CORRUPT, "%zu of %zu runs diverged or ended in trouble",
                                failed, all->count)
                      : 0;
}

static int sum_up(const seed_runs *all, aq_error *error)
{
    size_t ended = 0;
    bool is_evaluated = false;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < all->point_count; i++) {
        rc = sum_up_point(all, all->points[i], error);
    }
    for (size_t i = 0; i < all->count; i++) {
        const json_t *result = all->runs[i].result;
        ended += result != NULL;
        is_evaluated =
            is_evaluated || (result != NULL && isfinite(aq_json_number_of(result, "best_return")));
    }
    if (rc == 0 && all->interrupted && !all->json) {
        (void)printf("\n%zu of %zu runs; interrupted\n", ended, all->count);
    }
    if (rc == 0 && ended > 0 && !all->json) {
        print_next(all, is_evaluated);
    }
    return rc != 0 ? rc : judge(all, error);
}

/* A run that was refused has removed its folder; any other has one, whatever came of it. */
static bool is_any_left(const seed_runs *all)
{
    bool is_left = false;
    for (size_t i = 0; i < all->count && !is_left; i++) {
        char folder[PATH_BYTES];
        path_of(&all->runs[i], "", folder, sizeof(folder));
        is_left = aq_path_exists(folder);
    }
    return is_left;
}

static int run_all(seed_runs *all, aq_error *error)
{
    int rc = aq_own_loop_init(&all->loop, on_signal, all, error);
    if (rc != 0) {
        return rc;
    }
    start_more(all);
    (void)uv_run(&all->loop.uv, UV_RUN_DEFAULT);
    aq_own_loop_fini(&all->loop);
    return sum_up(all, error);
}

/* All are resolved before the first is written. */
static int write_configs(seed_runs *all, const aq_seed_plan *plan, aq_error *error)
{
    aq_run_config config;
    int rc = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; rc == 0 && i < plan->points; i++) {
            char path[PATH_BYTES];
            rc = plan->resolve(plan->user, i, all->points[i], &config, error);
            folder_of(all, all->points[i], path, sizeof(path));
            if (rc == 0 && pass > 0) {
                rc = aq_dir_create(path, error);
            }
            aq_text_append(path, sizeof(path), "/config.yaml");
            if (rc == 0 && pass > 0) {
                rc = aq_settings_write_file(aq_run_config_table(), path, &config, error);
            }
        }
    }
    return rc;
}

static int begin(seed_runs *all, const aq_seed_plan *plan, aq_error *error)
{
    if (plan->points > AQ_SEEDS_MAX || plan->points * plan->seeds.count > AQ_SEEDS_MAX) {
        return aq_fail(error, AQ_E_TOO_BIG, "more than %d runs", AQ_SEEDS_MAX);
    }
    all->point_count = plan->points;
    all->count = plan->points * (size_t)plan->seeds.count;
    for (size_t i = 0; i < all->count; i++) { /* all points from one seed, then the next */
        all->runs[i].all = all;
        all->runs[i].seed = plan->seeds.first + i / plan->points;
        all->runs[i].point = all->points[i % plan->points];
    }
    return write_configs(all, plan, error);
}

int aq_seed_runs(const aq_seed_plan *plan, const aq_train_options *options, aq_json_form json,
                 aq_error *error)
{
    char program[PATH_MAX];
    seed_runs *all = aq_alloc(1, sizeof(*all));
    if (all == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    all->options = options;
    all->program = program;
    all->jobs = plan->jobs > 0 ? plan->jobs : aq_own_child_runs_fitting();
    all->json = json;
    int rc = begin(all, plan, error);
    if (rc == 0) {
        rc = aq_process_find_program("actorq", "cli", program, sizeof(program), error);
    }
    if (rc == 0) {
        rc = run_all(all, error);
    }
    if (rc != 0 && !is_any_left(all)) {
        aq_train_folder_drop(options->run_dir); /* nothing was trained in it */
    }
    for (size_t i = 0; i < all->count; i++) {
        json_decref(all->runs[i].result);
    }
    aq_free(all);
    return rc;
}
