/*
 * Compare run: see compare_run.h.
 *
 * A run that was killed is resumed from its checkpoint, with what its shard kept; it says so in its
 * row. Its clock is the learner's, which is in the checkpoint, too.
 */
#include "cli/compare/compare_run.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/launch/rank_launch.h"
#include "cli/run/checkpoint_folder.h"
#include "cli/text/command.h"
#include "cli/text/json_file.h"
#include "cli/train/train_folder.h"
#include "cli/train/train_report.h"
#include "cli/train/train_session.h"
#include "common/base/clock.h"
#include "common/base/plain_text.h"
#include "common/config/gradient_rows.h"
#include "common/policy/format.h"
#include "common/sys/file.h"
#include "common/sys/machine.h"

enum { PATH_BYTES = PATH_MAX + 64, RESULT_BYTES_MAX = 65536 };

static const char *const outcomes[] = {AQ_RUN_OUTCOMES(AQ_CHOICE_WORD) NULL};

const char *aq_run_outcome_name(enum aq_run_outcome outcome)
{
    return outcomes[outcome];
}

/* ---- result.json ---------------------------------------------------------------------------- */

static int write_result(const char *dir, const aq_compare_run *run, aq_error *error)
{
    json_t *json = json_pack("{s:s, s:o, s:o, s:s, s:o, s:i, s:i, s:i}", "outcome",
                             aq_run_outcome_name(run->outcome), "reason", aq_json_text(run->reason),
                             "return_mean", aq_json_number(run->return_fresh), "format",
                             run->format, "cpu", aq_json_text(run->cpu), "cpus", (int)run->cpus,
                             "restarts", (int)run->restarts, "resumed", (int)run->resumed);
    return aq_json_file_write(json, 10, dir, "result.json", error);
}

static void take_result(const json_t *json, aq_compare_run *run)
{
    const char *outcome = json_string_value(json_object_get(json, "outcome"));
    const char *reason = json_string_value(json_object_get(json, "reason"));
    const char *format = json_string_value(json_object_get(json, "format"));
    const char *cpu = json_string_value(json_object_get(json, "cpu"));
    const int found = outcome ? aq_choice_find(outcomes, outcome) : AQ_E_INVALID;
    run->outcome = found >= 0 ? (enum aq_run_outcome)found : AQ_OUTCOME_MISSING;
    (void)snprintf(run->reason, sizeof(run->reason), "%s", reason ? reason : "");
    (void)snprintf(run->format, sizeof(run->format), "%s", format ? format : "");
    (void)snprintf(run->cpu, sizeof(run->cpu), "%s", cpu ? cpu : "");
    run->cpus = (unsigned)json_integer_value(json_object_get(json, "cpus"));
    run->return_fresh = aq_json_number_of(json, "return_mean");
    run->restarts = (unsigned)json_integer_value(json_object_get(json, "restarts"));
    run->resumed = (unsigned)json_integer_value(json_object_get(json, "resumed"));
}

/* One that is missing or damaged leaves the run as one that is not over. */
static void read_result(const char *dir, aq_compare_run *run)
{
    char path[PATH_BYTES];
    json_t *json = NULL;
    (void)snprintf(path, sizeof(path), "%s/result.json", dir);
    if (aq_json_file_read(path, RESULT_BYTES_MAX, &json, NULL) == 0) {
        take_result(json, run);
        json_decref(json);
    }
}

/* ---- how a run ended ------------------------------------------------------------------------ */

/* Cut to fit. */
static void give_reason(aq_compare_run *run, const aq_error *why)
{
    (void)snprintf(run->reason, sizeof(run->reason), "%.*s", (int)sizeof(run->reason) - 1,
                   why->text);
}

/* How it ended, by the learner's last words. */
static void judge_end(const char *dir, aq_compare_run *run)
{
    aq_compare_curve curve;
    aq_error error;
    run->outcome = AQ_OUTCOME_FAILED;
    if (aq_compare_curve_read(dir, &curve, &error) != 0) {
        give_reason(run, &error);
        return;
    }
    if (strcmp(curve.end, "diverged") == 0) {
        run->outcome = AQ_OUTCOME_DIVERGED;
        (void)snprintf(run->reason, sizeof(run->reason),
                       "loss or gradient was not finite any more after %.0f steps",
                       curve.env_steps);
    } else if (strcmp(curve.end, "budget") == 0 || strcmp(curve.end, "solved") == 0) {
        run->outcome = AQ_OUTCOME_FINISHED;
    } else {
        (void)snprintf(run->reason, sizeof(run->reason), "the run ended before its limits (%s)",
                       curve.end[0] ? curve.end : "without a word");
    }
    aq_compare_curve_fini(&curve);
}

/* ---- training ------------------------------------------------------------------------------- */

static void take_report(const aq_run_config *config, const aq_train_options *options,
                        const aq_train_result *result, aq_compare_run *run)
{
    aq_train_report report;
    aq_error problem;
    run->restarts += result->restarts;
    (void)snprintf(run->cpu, sizeof(run->cpu), "%s", aq_machine_model());
    run->cpus = aq_machine_cpu_count();
    judge_end(options->run_dir, run);
    if (aq_train_report_make(config, options, result, &report, &problem) == 0) {
        run->return_fresh = report.kept.return_mean;
        (void)snprintf(run->format, sizeof(run->format), "%s",
                       report.kept.episodes > 0 ? aq_format_name(report.kept.format) : "");
    } else {
        aq_print_line(stderr, "%s: %s", options->run_dir, problem.text);
    }
}

static int train(const aq_compare_arm *arm, const aq_run_config *config, const char *dir,
                 bool quiet, aq_compare_run *run, bool *ret_interrupted, aq_error *error)
{
    aq_train_options options = {
        .quiet = quiet, .learners = arm->learners, .started_ns = aq_clock_monotonic_ns()};
    aq_train_result result = {0};
    aq_error problem = {0};
    uint64_t step;
    int rc = aq_checkpoint_newest_step(dir, &step, error);
    options.resume = rc == 0;
    if (rc == AQ_E_NOT_FOUND) {
        aq_dir_remove(dir); /* its steps would count, and nothing that was learned from them */
        rc = aq_dir_create(dir, error);
    }
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(options.run_dir, sizeof(options.run_dir), "%s", dir);
    if (options.resume) { /* kept now: a kill must not lose that it was gone on with */
        run->resumed++;
        run->outcome = AQ_OUTCOME_MISSING;
        rc = write_result(dir, run, error);
        if (rc != 0) {
            return rc;
        }
    }
    const int failure = aq_train_session_run(config, &options, &result, &problem);
    *ret_interrupted = result.was_asked;
    if (failure != 0) { /* what no daemon refused, the machine is at fault for */
        run->outcome = failure == AQ_E_PEER ? AQ_OUTCOME_REFUSED : AQ_OUTCOME_FAILED;
        give_reason(run, &problem);
    } else if (result.interrupted) {
        run->outcome = AQ_OUTCOME_MISSING;
        run->restarts += result.restarts;
    } else {
        take_report(config, &options, &result, run);
        if (run->outcome == AQ_OUTCOME_FINISHED && result.trouble[0] != '\0') {
            run->outcome = AQ_OUTCOME_FAILED; /* what is kept need not be what was learned */
            (void)snprintf(run->reason, sizeof(run->reason), "%.*s", (int)sizeof(run->reason) - 1,
                           result.trouble);
        }
    }
    aq_train_result_fini(&result);
    return 0;
}

int aq_compare_run_train(const aq_compare_plan *plan, size_t arm, uint64_t seed, bool quiet,
                         bool *ret_interrupted, aq_error *error)
{
    char dir[PATH_MAX];
    aq_run_config config;
    aq_error problem = {0};
    bool interrupted = false;
    aq_compare_run run = {.return_fresh = NAN};
    if (aq_compare_plan_run_dir(plan, arm, seed, dir, sizeof(dir)) != 0) {
        return aq_fail(error, AQ_E_TOO_BIG, "the path of the folder is too long");
    }
    int rc =
        aq_train_folder_check_unused(dir, error); /* after a kill its daemons may still be ending */
    if (rc != 0) {
        return rc;
    }
    read_result(dir, &run);
    const int unfit = aq_compare_plan_config(plan, arm, seed, &config, &problem);
    if (unfit != 0 || aq_rank_launch_check(plan->arms[arm].learners, &problem) != 0) {
        run.outcome = unfit != 0 ? AQ_OUTCOME_REFUSED : AQ_OUTCOME_FAILED;
        give_reason(&run, &problem);
        rc = aq_dir_create(dir, error);
    } else {
        run.reason[0] = '\0';
        rc = train(&plan->arms[arm], &config, dir, quiet, &run, &interrupted, error);
    }
    if (rc == 0) {
        rc = write_result(dir, &run, error);
    }
    *ret_interrupted = interrupted;
    return rc;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Steps, or the gradients that are sent in their place. */
static double rows_to_shards(const aq_compare_plan *plan, const aq_compare_run *run)
{
    aq_run_config config;
    return aq_compare_plan_config(plan, run->arm, run->seed, &config, NULL) == 0
               ? run->curve.env_steps / (double)aq_gradient_steps_of_row(&config)
               : (double)NAN; /* a run that was refused */
}

/* A gradient that is not sent takes nothing; in the mode async it is what shards hold. */
static void take_bytes(const aq_compare_plan *plan, aq_compare_run *run)
{
    const aq_compare_curve *curve = &run->curve;
    const aq_compare_arm *arm = &plan->arms[run->arm];
    const bool is_async = plan->request.subject == AQ_COMPARE_MODES && arm->mode == AQ_MODE_ASYNC;
    const double to_shards = curve->row_bytes * rows_to_shards(plan, run);
    const double between_ranks =
        arm->learners > 1 ? curve->gradient_bytes * curve->learner_steps : 0;
    run->edge_bytes[AQ_EDGE_EXPERIENCE] = is_async ? 0 : to_shards;
    run->edge_bytes[AQ_EDGE_POLICY] = curve->actors * curve->broadcast_bytes;
    run->edge_bytes[AQ_EDGE_GRADIENTS] = is_async ? to_shards : between_ranks;
}

static void take_behind(aq_compare_run *run)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < AQ_CURVE_BINS; i++) {
        rows += run->curve.behind[i];
    }
    for (size_t i = 0; i < AQ_CURVE_BINS; i++) {
        run->behind[i] = rows > 0 ? (double)run->curve.behind[i] / (double)rows : (double)NAN;
    }
}

static void take_curve(const aq_compare_plan *plan, aq_compare_run *run)
{
    const aq_compare_curve *curve = &run->curve;
    const double *states = curve->states;
    run->env_steps_per_s = curve->env_steps / (curve->wall_s + curve->lost_s);
    run->learner_steps_per_s = curve->learner_steps / curve->wall_s;
    run->actor_steps_per_s =
        curve->actor_steps / (states[AQ_TIME_ACTOR_INFERENCE] + states[AQ_TIME_ACTOR_ENVIRONMENT] +
                              states[AQ_TIME_ACTOR_OTHER]);
    run->return_first = curve->returns.count > 0 ? curve->returns.points[0].value : (double)NAN;
    run->return_last = aq_compare_curve_final(curve);
    run->fallback_share = curve->policy_fallbacks / curve->policy_versions;
    take_bytes(plan, run);
    take_behind(run);
}

void aq_compare_run_read(const aq_compare_plan *plan, size_t arm, uint64_t seed,
                         aq_compare_run *ret_run)
{
    char dir[PATH_MAX];
    aq_compare_run run = {
        .arm = arm,
        .seed = seed,
        .return_fresh = NAN,
        .curve = aq_compare_curve_none(),
        .energy = aq_run_energy_none(),
    };
    if (aq_compare_plan_run_dir(plan, arm, seed, dir, sizeof(dir)) == 0) {
        read_result(dir, &run);
        int rc = aq_compare_curve_read(dir, &run.curve, NULL);
        rc = aq_run_energy_read(dir, &run.energy, NULL);
        (void)rc; /* untouched on failure: nothing is known */
    }
    take_curve(plan, &run);
    *ret_run = run;
}

void aq_compare_run_fini(aq_compare_run *run)
{
    aq_compare_curve_fini(&run->curve);
}
