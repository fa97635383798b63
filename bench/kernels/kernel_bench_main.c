/*
 * actorq-bench: what `actorq bench` starts. A program of its own, because it links the libraries
 * that it compares with, which nothing else of ours needs.
 *
 * Libraries read their settings from the environment when they are loaded, so one that would give
 * them several threads, or other kernels than suit the processor, is put right and the program
 * started anew.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_progress.h"
#include "bench/kernels/bench_pictures.h"
#include "bench/kernels/bench_report.h"
#include "cli/text/command.h"
#include "common/sys/cpu.h"
#include "common/sys/machine.h"
#include "common/sys/process.h"
#include "learner/nn/blas.h"

enum { SPEED_BYTES_MAX = 64 << 20, SPEED_BYTES_MAX_QUICK = 1 << 20, BATCH_OF_POLICIES = 1 };

/* Setting of a library and what it must be; NULL: not set. */
static const struct setting {
    const char *name, *value;
} settings[] = {
    {"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"},   {"OPENBLAS_L2_SIZE", NULL},
    {"DNNL_VERBOSE", NULL},        {"ONEDNN_VERBOSE", NULL},   {"DNNL_MAX_CPU_ISA", NULL},
    {"ONEDNN_MAX_CPU_ISA", NULL},  {"GOTO_NUM_THREADS", NULL},
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* OpenBLAS chooses its kernels, unless it does not know this processor; NULL: it does. */
static const char *blas_core_to_set(void)
{
    aq_blas_facts facts;
    const char *core;
    aq_blas_find_facts(&facts);
    if (facts.env_coretype == NULL) {
        return aq_blas_mend(&facts, &core) ? core : NULL;
    }
    const bool is_best =
        facts.best_core != NULL && strcmp(facts.env_coretype, facts.best_core) == 0;
    return is_best ? facts.best_core : NULL;
}

/* Returns when everything is as it must be. */
static int ensure_settings(char **argv, aq_error *error)
{
    bool changed = false;
    for (size_t i = 0; i <= SETTINGS; i++) {
        const struct setting core = {"OPENBLAS_CORETYPE", blas_core_to_set()};
        const struct setting *wanted = i < SETTINGS ? &settings[i] : &core;
        const char *now = getenv(wanted->name);
        if (now == NULL ? wanted->value == NULL
                        : wanted->value != NULL && strcmp(now, wanted->value) == 0) {
            continue;
        }
        changed = true;
        if ((wanted->value != NULL ? setenv(wanted->name, wanted->value, 1)
                                   : unsetenv(wanted->name)) != 0) {
            return aq_fail(error, AQ_E_NOMEM, "%s can't be set: %s", wanted->name, strerror(errno));
        }
    }
    if (changed) {
        int rc = aq_process_start_anew(argv);
        return aq_fail(error, rc, "the bench can't be started anew: %s", aq_error_text(rc));
    }
    return 0;
}

static int run_case(const aq_bench_plan *plan, const aq_qkernels *rung, aq_bench_problem *problem,
                    aq_bench_row *rows, size_t *count, aq_error *error)
{
    char network[AQ_BENCH_NETWORK_BYTES];
    char what[2 * AQ_BENCH_NETWORK_BYTES];
    size_t written = 0;
    (void)snprintf(what, sizeof(what), "%s: %s, %zu rows", rung->name,
                   aq_net_spec_text(&problem->spec, network, sizeof(network)), problem->rows);
    aq_bench_progress(what);
    int rc = aq_bench_case_run(plan, rung, problem, rows + *count, &written, error);
    *count += written;
    aq_bench_problem_fini(problem);
    return rc != 0 ? aq_fail_context(error, rc, "%s", what) : 0;
}

static int run_layers(const aq_bench_plan *plan, const aq_qkernels *rung, aq_bench_report *report,
                      aq_error *error)
{
    for (size_t i = 0; i < plan->sizes.count; i++) {
        for (size_t j = 0; j < plan->batches.count; j++) {
            const uint32_t size = plan->sizes.values[i];
            aq_bench_problem problem;
            int rc = aq_bench_problem_layer(size, size, plan->batches.values[j], &problem);
            if (rc != 0) {
                return aq_fail(error, rc, "no memory for a layer of %u", size);
            }
            rc = run_case(plan, rung, &problem, report->rows, &report->row_count, error);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int run_policies(const aq_bench_plan *plan, const aq_qkernels *rung, aq_bench_report *report,
                        aq_error *error)
{
    for (size_t i = 0; i < plan->policies.count; i++) {
        const uint32_t width = plan->policies.values[i];
        aq_bench_problem problem;
        int rc = aq_bench_problem_policy(width, BATCH_OF_POLICIES, &problem);
        if (rc != 0) {
            return aq_fail(error, rc, "no memory for a policy of %u", width);
        }
        rc = run_case(plan, rung, &problem, report->policies, &report->policy_count, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int run_pictures(const aq_bench_plan *plan, const aq_qkernels *rung, aq_bench_report *report,
                        aq_error *error)
{
    for (size_t i = 0; i < plan->pictures.count * plan->batches.count; i++) {
        const uint32_t picture = plan->pictures.values[i / plan->batches.count];
        const uint32_t rows = plan->batches.values[i % plan->batches.count];
        aq_bench_problem problem;
        int rc = aq_bench_problem_picture(picture, rows, &problem);
        if (rc != 0) {
            return aq_fail(error, rc, "no memory for %s", aq_bench_picture_name(picture));
        }
        rc = run_case(plan, rung, &problem, report->policies, &report->policy_count, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int run_rung(const aq_bench_plan *plan, const aq_qkernels *rung, aq_bench_report *report,
                    aq_error *error)
{
    aq_bench_progress("limits");
    int rc =
        aq_speed_limits_measure(rung->name, plan->quick ? SPEED_BYTES_MAX_QUICK : SPEED_BYTES_MAX,
                                &plan->timing, &report->limits[report->limits_count]);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for the limits");
    }
    report->limits_count++;
    rc = run_layers(plan, rung, report, error);
    rc = rc != 0 ? rc : run_policies(plan, rung, report, error);
    return rc != 0 ? rc : run_pictures(plan, rung, report, error);
}

static int run_plan(const aq_bench_plan *plan, aq_bench_report *report, aq_error *error)
{
    int rc = 0;
    report->load[0] = aq_machine_load();
    for (size_t i = 0; rc == 0 && i < plan->rung_count; i++) {
        rc = run_rung(plan, plan->rungs[i], report, error);
    }
    report->load[1] = aq_machine_load();
    aq_bench_progress("");
    return rc;
}

static int bench_kernels(int argc, char **argv)
{
    int status;
    aq_error error = {0};
    aq_bench_report report = {0};
    aq_bench_request request = {.all = false};
    aq_bench_plan_init(aq_cpu_flags(), &request.plan);
    if (!aq_command_begin(aq_bench_plan_options(), argc, argv, &request, &status)) {
        return status;
    }
    aq_bench_plan_finish(&request);
    int rc = aq_bench_report_init(&request.plan, &report);
    rc = rc != 0 ? aq_fail(&error, rc, "no memory for the results")
                 : run_plan(&request.plan, &report, &error);
    report.cpu_flags = request.plan.cpu_flags;
    if (rc == 0 && request.plan.json) {
        rc = aq_print_json(aq_bench_report_json(&report), request.plan.json, &error);
    } else if (rc == 0) {
        rc = aq_bench_report_print(stdout, &report);
        rc = rc == 0 ? 0 : aq_fail(&error, rc, "%s", aq_error_text(rc));
    }
    aq_bench_report_fini(&report);
    return aq_command_end(aq_bench_plan_options(), rc, &error);
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    return ensure_settings(argv, &error) == 0
               ? bench_kernels(argc, argv)
               : aq_program_failed(aq_bench_plan_options()->program, &error);
}
