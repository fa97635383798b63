/*
 * actorq sweep: tries settings of a task, and says which are the best. `work` and `status` are
 * commands of their own files.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/sweep/journal/sweep_desk.h"
#include "cli/sweep/report/sweep_json.h"
#include "cli/sweep/report/sweep_report.h"
#include "cli/sweep/report/sweep_table.h"
#include "cli/sweep/work/sweep_drive.h"
#include "cli/text/command.h"
#include "cli/text/shell_text.h"
#include "cli/train/train_folder.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/sys/daemon.h"
#include "common/sys/file.h"
#include "envs/env_code.h"

enum { ROWS_SHOWN = 10 };

typedef struct sweep_arguments {
    const char *spec;
    const char *folder;
    uint64_t workers;
    aq_json_form json;
    bool found, resume, quiet;
} sweep_arguments;

static const aq_option option_rows[] = {
    {"folder", 'f', "DIR",
     "the sweep's folder (default: a new one below ./sweeps), which workers may share",
     AQ_TO_TEXT(sweep_arguments, folder)},
    {"workers", 0, "N",
     "how many runs at once on this host (default: as many as there are processors for)",
     AQ_TO_NUMBER(sweep_arguments, workers, 1, AQ_SWEEP_WORKERS_MAX)},
    {"found", 0, NULL, "only make the folder, for workers elsewhere; one of this SPEC.yaml is fine",
     AQ_TO_FLAG(sweep_arguments, found)},
    {"resume", 0, NULL, "go on with the sweep that --folder holds",
     AQ_TO_FLAG(sweep_arguments, resume)},
    AQ_ALLOW_CODE_OPTION,
    AQ_PARENT_OPTION_ROW,
    AQ_JSON_OPTION_ROW(sweep_arguments, json, "the result"),
    {"quiet", 'q', NULL, "show no progress", AQ_TO_FLAG(sweep_arguments, quiet)},
};

static const aq_options options_page = {
    .program = "actorq sweep",
    .usage = "SPEC.yaml [options]",
    .summary = "Tries settings of a task from several seeds, lets the better ones train on, and "
               "trains the best once more from seeds that had no part in choosing them. Workers on "
               "other hosts may join by the folder.",
    .details = "Commands:\n"
               "  work    do runs of a sweep, on this host or another\n"
               "  status  how far a sweep is, and what it found\n"
               "  prune   make room of what it does not need any more\n"
               "\n"
               "Examples:\n"
               "  actorq sweep cartpole.yaml --folder sweeps/cartpole --workers 2\n"
               "  actorq sweep --folder sweeps/cartpole --resume\n"
               "  actorq sweep status sweeps/cartpole --watch\n"
               "\n"
               "DIR/report.html holds all of it; sweep.json, trials.csv and runs.csv the figures, "
               "and\njournal.jsonl what happened. docs/sweeps.md says what SPEC.yaml may hold.\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPTIONAL_OPERAND("SPEC.yaml", sweep_arguments, spec)},
};

/* ---- the folder ----------------------------------------------------------------------------- */

static int choose_folder(const sweep_arguments *arguments, const aq_sweep_spec *spec, char *out,
                         aq_error *error)
{
    int rc = arguments->folder != NULL
                 ? aq_text_set(out, PATH_MAX - 256, arguments->folder)
                 : aq_train_name_folder("sweeps", spec->task, out, PATH_MAX - 256);
    return rc != 0 ? aq_fail(error, AQ_E_TOO_BIG, "the path of the folder is too long") : 0;
}

/* The file is read and checked before anything is written. */
static int found(const sweep_arguments *arguments, const aq_buffer *text, char *ret_dir,
                 aq_error *error)
{
    aq_sweep_spec spec;
    aq_sweep_plan plan;
    int rc =
        aq_sweep_spec_read(arguments->spec, (const char *)text->data, text->size, &spec, error);
    if (rc != 0) {
        return rc;
    }
    aq_env_allow_code(spec.task);
    rc = aq_sweep_spec_check(&spec, &plan, error);
    if (rc != 0) {
        return aq_fail_context(error, rc, "%s", arguments->spec);
    }
    rc = choose_folder(arguments, &spec, ret_dir, error);
    if (rc == 0 && !plan.is_resumed && spec.rung_count > 1 && !arguments->quiet) {
        (void)fprintf(stderr, "each rung starts anew: learner.learning_rate_end and importance_end "
                              "make a run another one when it is to be longer\n");
    }
    rc = rc != 0 ? rc
                 : aq_sweep_desk_found(ret_dir, &spec, text, &plan, aq_ns_to_s(aq_clock_wall_ns()),
                                       error);
    /* Many may do so at once, and all of them mean the one that is there then. */
    return rc == AQ_E_EXISTS && arguments->found ? aq_sweep_desk_check(ret_dir, text, error) : rc;
}

static int prepare(const sweep_arguments *arguments, char *ret_dir, aq_error *error)
{
    aq_buffer text;
    aq_buffer_init(&text, AQ_SWEEP_SPEC_BYTES_MAX);
    int rc = 0;
    if (arguments->resume && arguments->folder == NULL) {
        rc = aq_fail(error, AQ_E_INVALID, "--resume needs --folder DIR");
    } else if (arguments->found &&
               (arguments->json || arguments->workers > 0 || arguments->resume)) {
        rc = aq_fail(error, AQ_E_INVALID,
                     "--json, --workers and --resume are for a sweep that is started; --found only "
                     "makes its folder");
    } else if (!arguments->resume && arguments->spec == NULL) {
        rc = aq_fail(error, AQ_E_INVALID, "which SPEC.yaml? docs/sweeps.md says what it holds");
    } else if (arguments->spec != NULL) {
        rc = aq_file_read(arguments->spec, &text, error);
    }
    if (rc == 0 && arguments->resume) {
        aq_sweep_desk *desk = NULL;
        rc = choose_folder(arguments, NULL, ret_dir, error);
        rc = rc != 0 ? rc : aq_sweep_desk_open(ret_dir, "", &desk, error);
        rc = rc == 0 && arguments->spec != NULL ? aq_sweep_desk_check(ret_dir, &text, error) : rc;
        aq_sweep_desk_close(desk);
    } else if (rc == 0) {
        rc = found(arguments, &text, ret_dir, error);
    }
    aq_buffer_fini(&text);
    return rc;
}

/* ---- the end -------------------------------------------------------------------------------- */

static int say_stopped(const char *task, const char *dir, aq_error *error)
{
    char program[PATH_MAX], folder[PATH_MAX];
    return aq_fail(error, AQ_E_CLOSED,
                   "interrupted; '%s sweep --folder %s --resume%s' goes on with it",
                   aq_shell_program(program, sizeof(program)),
                   aq_shell_word(folder, sizeof(folder), dir), aq_env_code_option(task));
}

/* In the words of the first run that came to nothing. */
static int fail_whole(const aq_sweep_summary *summary, aq_error *error)
{
    const aq_sweep_study *study = summary->study;
    char name[96];
    size_t run = 0;
    while (run < study->run_count && study->runs[run].state != AQ_SWEEP_FAILED) {
        run++;
    }
    if (run == study->run_count) {
        return aq_fail(error, AQ_E_UNSUPPORTED, "no trial came to its end");
    }
    aq_sweep_run_name(study, run, name, sizeof(name));
    return aq_fail(error, AQ_E_UNSUPPORTED,
                   "no trial came to its end; the first, %s: %s (%s/journal.jsonl has the others' "
                   "reasons)",
                   name + strlen("runs/"), study->runs[run].outcome.reason, summary->dir);
}

static int show(const aq_sweep_summary *summary, aq_json_form json, aq_error *error)
{
    int rc = aq_sweep_report_write(summary, error);
    if (rc != 0) {
        return rc;
    }
    if (json) {
        rc = aq_print_json(aq_sweep_json(summary), json, error);
    } else {
        rc = aq_sweep_table_print(summary, ROWS_SHOWN, stdout) != 0
                 ? aq_fail(error, AQ_E_NOMEM, "out of memory")
                 : 0;
        (void)printf("  report     %s/report.html\n", summary->dir);
    }
    return rc != 0 || summary->winner != AQ_SWEEP_NONE ? rc : fail_whole(summary, error);
}

static int sweep(void *given, aq_error *error)
{
    const sweep_arguments *arguments = given;
    char dir[PATH_MAX];
    bool is_stopped = false;
    aq_sweep_desk *desk = NULL;
    aq_sweep_summary summary;
    int rc = prepare(arguments, dir, error);
    if (rc == 0 && arguments->found) {
        (void)printf("%s\n", dir);
        return 0;
    }
    if (rc == 0 && !arguments->quiet) {
        (void)fprintf(stderr, "sweeping in %s\n", dir);
    }
    if (rc == 0) {
        rc = aq_sweep_drive(dir, arguments->workers, arguments->quiet, &is_stopped, error);
    }
    if (rc == 0) {
        rc = aq_sweep_desk_open(dir, "", &desk, error);
    }
    if (rc == 0 && is_stopped) {
        rc = say_stopped(aq_sweep_desk_study(desk)->spec->task, dir, error);
    }
    if (rc == 0 && aq_sweep_summary_make(aq_sweep_desk_study(desk), dir, &summary) != 0) {
        rc = aq_fail(error, AQ_E_NOMEM, "out of memory");
    } else if (rc == 0) {
        rc = show(&summary, arguments->json, error);
        aq_sweep_summary_fini(&summary);
    }
    aq_sweep_desk_close(desk);
    return rc;
}

static const sweep_arguments defaults = {0};
static const aq_command *const below[] = {&aq_command_sweep_work, &aq_command_sweep_status,
                                          &aq_command_sweep_prune};
static const aq_command_page page = {.commands = below, .count = sizeof(below) / sizeof(below[0])};

const aq_command aq_command_sweep = {
    .name = "sweep",
    .summary = "try settings of a task, and find the best",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = sweep,
    .page = &page,
};
