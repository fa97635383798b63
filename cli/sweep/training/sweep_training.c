/*
 * Sweep training: see sweep_training.h.
 */
#include "cli/sweep/training/sweep_training.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/compare/compare_curve.h"
#include "cli/launch/words.h"
#include "cli/run/checkpoint_folder.h"
#include "cli/sweep/training/folder_copy.h"
#include "cli/text/command.h"
#include "cli/train/train_folder.h"
#include "common/base/plain_text.h"
#include "common/sys/file.h"

enum { PATH_BYTES = PATH_MAX + 256, LOG_BYTES_MAX = 1 << 20 };

static const aq_sweep_stage *stage_of(const aq_sweep_study *study, size_t run)
{
    return &study->stages[study->runs[run].stage];
}

void aq_sweep_training_folder(const aq_sweep_study *study, const char *dir, size_t run, char *out,
                              size_t size)
{
    char name[96];
    aq_sweep_run_name(study, aq_sweep_run_trained(study, run), name, sizeof(name));
    (void)snprintf(out, size, "%s/%s", dir, name);
}

static void part_of(const char *folder, uint32_t attempt, char *out, size_t size)
{
    (void)snprintf(out, size, "%s.part-%" PRIu32, folder, attempt);
}

/* Each attempt fills a part of its own: the worker of the one before may only have stood still. One
 * that was faster leaves it to be looked at again. */
static int copy_source(const aq_sweep_study *study, const char *dir, size_t run, const char *folder,
                       aq_error *error)
{
    char source[PATH_BYTES], part[PATH_BYTES + 16];
    aq_sweep_training_folder(study, dir, aq_sweep_run_source(study, run), source, sizeof(source));
    part_of(folder, study->runs[run].attempt, part, sizeof(part));
    int rc = aq_folder_copy(source, part, folder, error);
    return rc == AQ_E_EXISTS ? AQ_E_AGAIN : rc;
}

/* Of workers that died. Once the folder is there, so that of one which stands still and wakes up no
 * half can take its place. */
static void remove_old_parts(const aq_sweep_study *study, size_t run, const char *folder)
{
    for (uint32_t attempt = 1; attempt < study->runs[run].attempt; attempt++) {
        char part[PATH_BYTES + 16];
        part_of(folder, attempt, part, sizeof(part));
        aq_dir_remove(part);
    }
}

int aq_sweep_training_prepare(const aq_sweep_study *study, const char *dir, size_t run,
                              aq_error *error)
{
    char folder[PATH_BYTES], parent[PATH_BYTES];
    uint64_t step;
    const bool has_source = aq_sweep_run_source(study, run) != AQ_SWEEP_NONE;
    aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
    int rc = aq_train_folder_check_unused(folder, error);
    if (rc != 0) {
        return rc == AQ_E_EXISTS ? AQ_E_AGAIN : rc;
    }
    (void)snprintf(parent, sizeof(parent), "%s/runs", dir);
    rc = aq_dir_create(parent, error);
    if (rc != 0) {
        return rc;
    }
    rc = aq_checkpoint_newest_step(folder, &step, error);
    if (rc == AQ_E_NOT_FOUND) {
        aq_dir_remove(folder); /* its steps would count, and nothing that was learned from them */
        rc = has_source ? copy_source(study, dir, run, folder, error) : 0;
    }
    if (rc == 0 && has_source) {
        remove_old_parts(study, run, folder);
    }
    return rc;
}

/* ---- starting ------------------------------------------------------------------------------- */

typedef struct command_line {
    aq_words words;
    aq_sweep_texts settings;
    char limit[48];
} command_line;

static void add_settings(command_line *line, const aq_sweep_study *study,
                         const aq_sweep_stage *stage)
{
    aq_settings_assignments settings;
    aq_sweep_spec_assignments(study->spec, stage->kind != AQ_SWEEP_GIVEN ? &stage->point : NULL,
                              line->settings, &settings);
    for (size_t i = 0; i < settings.count; i++) {
        aq_words_add(&line->words, "--set", settings.texts[i]);
    }
    (void)snprintf(line->limit, sizeof(line->limit), "limits.env_steps=%" PRIu64,
                   aq_sweep_study_steps(study, stage->rung));
    aq_words_add(&line->words, "--set", line->limit);
}

int aq_sweep_training_start(const aq_sweep_study *study, const char *dir, size_t run,
                            const char *program, int lent_file, uv_loop_t *loop,
                            aq_own_child *child, aq_error *error)
{
    char folder[PATH_BYTES], result[PATH_BYTES + 8], log[PATH_BYTES + 8], seed[24];
    command_line line = {.words.count = 0};
    uint64_t step;
    aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
    const int rc = aq_checkpoint_newest_step(folder, &step, error);
    if (rc != 0 && rc != AQ_E_NOT_FOUND) {
        return rc;
    }
    (void)snprintf(result, sizeof(result), "%s.json", folder);
    (void)snprintf(log, sizeof(log), "%s.log", folder);
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, study->runs[run].seed);
    aq_words_add(&line.words, "train", study->spec->task);
    aq_words_add(&line.words, "--json", "--quiet");
    aq_words_add(&line.words, "--no-http", NULL);
    aq_words_add(&line.words, "--run", folder);
    if (rc == 0) {
        /* The folder's settings may be those of the run that it is a copy of, or of its rung
         * before: one that does not count any more would go on as it was there. */
        aq_words_add(&line.words, "--resume", "--new-settings");
    }
    if (study->spec->preset[0] != '\0') {
        aq_words_add(&line.words, "--preset", study->spec->preset);
    }
    aq_words_add(&line.words, "--seed", seed);
    add_settings(&line, study, stage_of(study, run));
    const aq_own_child_spec spec = {.program = program,
                                    .args = line.words.list,
                                    .result_path = result,
                                    .log_path = log,
                                    .lent_file = lent_file};
    return aq_own_child_start(loop, child, &spec, error);
}

/* ---- what came of it ------------------------------------------------------------------------ */

/* The mean, over the steps that a run may take, of what it had shown by then: at each step the
 * return of the newest evaluation, and before the first the least that random actions gave,
 * about what an untrained policy does. Nothing counts before it was seen, so that a run which is
 * seldom evaluated can't score above its own curve. The policy that it left, over fresh episodes,
 * holds for the steps that a run which was solved early did not need; of one that another limit
 * ended the newest evaluation does, since the policy that was kept is the best of many. */
static double area_of(const aq_run_series *returns, const aq_sweep_outcome *outcome,
                      double least_return, double steps)
{
    const aq_series_point last = {.env_steps = outcome->figures[AQ_SWEEP_STEPS],
                                  .value = outcome->figures[AQ_SWEEP_RETURN]};
    double area = 0, at = 0, shown = least_return;
    for (size_t i = 0; i < returns->count + outcome->is_solved && at < steps; i++) {
        const aq_series_point *point = i < returns->count ? &returns->points[i] : &last;
        const double end = fmin(fmax(point->env_steps, at), steps);
        area += (end - at) * shown;
        at = end;
        shown = point->value;
    }
    return (area + (steps - at) * shown) / steps;
}

static void take_curve(const aq_sweep_study *study, const char *folder, double steps,
                       aq_sweep_outcome *outcome)
{
    aq_compare_curve curve;
    if (aq_compare_curve_read(folder, &curve, NULL) == 0) {
        outcome->figures[AQ_SWEEP_WALL] = curve.wall_s; /* of all its lives, not of the last one */
        if (!outcome->is_failed) {
            outcome->figures[AQ_SWEEP_AREA] =
                area_of(&curve.returns, outcome, study->plan.least_return, steps);
        }
        aq_compare_curve_fini(&curve);
    }
}

static void fail_with(aq_sweep_outcome *outcome, const char *words)
{
    outcome->is_failed = true;
    (void)aq_plain_text(outcome->reason, sizeof(outcome->reason), words);
}

/* The last line of what it complained of. */
static void take_complaint(const char *folder, aq_sweep_outcome *outcome)
{
    char path[PATH_BYTES + 8];
    aq_buffer text;
    (void)snprintf(path, sizeof(path), "%s.log", folder);
    aq_buffer_init(&text, LOG_BYTES_MAX);
    int rc = aq_file_read(path, &text, NULL);
    while (rc == 0 && text.size > 0 && text.data[text.size - 1] == '\n') {
        text.size--;
    }
    rc = rc != 0 ? rc : aq_buffer_append(&text, "", 1);
    const char *line = rc == 0 ? strrchr((const char *)text.data, '\n') : NULL;
    fail_with(outcome, line != NULL                   ? line + 1
                       : rc == 0 && text.data[0] != 0 ? (const char *)text.data
                                                      : "it ended without a word");
    aq_buffer_fini(&text);
}

static void take_figures(const json_t *json, aq_sweep_outcome *outcome)
{
    outcome->figures[AQ_SWEEP_STEPS] = aq_json_number_of(json, "env_steps");
    outcome->figures[AQ_SWEEP_CPU] = aq_json_number_of(json, "cpu_s");
    outcome->figures[AQ_SWEEP_BYTES] = aq_json_number_of(json, "broadcast_bytes");
    outcome->figures[AQ_SWEEP_JOULES] = aq_json_number_of(json, "energy_model_j");
    outcome->figures[AQ_SWEEP_WALL] = aq_json_number_of(json, "wall_s");
}

/* Only what used its steps up or was solved is scored, and only where all went well to the end:
 * after trouble, the policy that is kept need not be what was learned. Of what a run that failed
 * took is known as much as of any other. */
static bool take_result(const aq_sweep_study *study, const char *folder, double steps,
                        aq_sweep_outcome *outcome)
{
    char path[PATH_BYTES + 8];
    (void)snprintf(path, sizeof(path), "%s.json", folder);
    json_t *json = json_load_file(path, 0, NULL);
    const char *state = json_string_value(json_object_get(json, "state"));
    const bool is_cut =
        state != NULL && (strcmp(state, "interrupted") == 0 || strcmp(state, "stopped") == 0);
    const bool is_good = state != NULL &&
                         (strcmp(state, "budget") == 0 || strcmp(state, "solved") == 0) &&
                         json_string_value(json_object_get(json, "trouble")) == NULL;
    take_figures(json, outcome);
    if (!is_good && !is_cut) {
        take_complaint(folder, outcome);
    } else if (is_good) {
        outcome->figures[AQ_SWEEP_RETURN] = aq_json_number_of(json, "return_mean");
        outcome->is_solved = json_is_true(json_object_get(json, "solved"));
    }
    if (!is_cut) {
        take_curve(study, folder, steps, outcome);
    }
    json_decref(json);
    return !is_cut;
}

bool aq_sweep_training_outcome(const aq_sweep_study *study, const char *dir, size_t run,
                               aq_sweep_outcome *ret_outcome)
{
    char folder[PATH_BYTES];
    bool has_ended = true;
    const aq_sweep_stage *stage = stage_of(study, run);
    const double steps = (double)aq_sweep_study_steps(study, stage->rung);
    aq_sweep_outcome outcome = {0};
    aq_sweep_training_folder(study, dir, run, folder, sizeof(folder));
    if (aq_sweep_run_trained(study, run) != run) {
        outcome = study->runs[aq_sweep_run_trained(study, run)].outcome;
        take_curve(study, folder, steps, &outcome);
    } else {
        for (int i = 0; i < AQ_SWEEP_FIGURE_COUNT; i++) {
            outcome.figures[i] = NAN;
        }
        has_ended = take_result(study, folder, steps, &outcome);
        if (!outcome.is_failed && isnan(outcome.figures[study->spec->score])) {
            fail_with(&outcome, "nothing was evaluated: there is no score");
        }
    }
    *ret_outcome = outcome;
    return has_ended;
}

bool aq_sweep_training_is_over(const aq_sweep_study *study, const char *dir, size_t run)
{
    aq_sweep_outcome outcome;
    const uint32_t rung = stage_of(study, run)->rung;
    if (study->runs[run].attempt <= 1 || !aq_sweep_training_outcome(study, dir, run, &outcome) ||
        outcome.is_failed) {
        return false;
    }
    /* A winner's folder is the same at each rung: what lies there may be of the one before. */
    return outcome.is_solved ||
           outcome.figures[AQ_SWEEP_STEPS] >= (double)aq_sweep_study_steps(study, rung);
}
