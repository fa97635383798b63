/*
 * actorq-bench-learner: what `actorq bench learner` starts.
 *
 * OpenBLAS reads its settings when it is loaded, so where the environment would give it other
 * kernels than suit the processor, that is put right and the program started anew.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/learner/learner_timing.h"
#include "bench/learner/torch_peer.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/plain_text.h"
#include "common/sys/machine.h"
#include "learner/nn/blas.h"
#include "learner/nn/passes.h"

enum {
    THREADS_MAX = 2,
    ROWS_MAX = 64,
    SLICES = 11,
    SLICES_QUICK = 3,
    SLICE_MS = 300,
    SLICE_MS_QUICK = 60
};

typedef struct bench_row {
    aq_learner_case_name name;
    uint32_t threads;
    aq_learner_time time;
    double flop;
    double torch_steps_per_s; /* NAN: not measured */
} bench_row;

typedef struct bench_request {
    aq_json_form json;
    bool quick, torch;
    const char *only;
    aq_settings_assignments settings;
} bench_request;

typedef struct bench_result {
    size_t count;
    bench_row rows[ROWS_MAX];
    double load[2];
    json_t *torch; /* NULL: not measured */
} bench_result;

/* Whatever these say, the batches of a row fit. */
static const char *const changeable[] = {
    "learner.activation=", "learner.dueling=", "learner.norm=", "learner.qat_bits="};

static int add_setting(void *settings, const char *text, aq_error *error)
{
    for (size_t i = 0; i < sizeof(changeable) / sizeof(changeable[0]); i++) {
        if (strncmp(text, changeable[i], strlen(changeable[i])) == 0) {
            return aq_settings_assignments_add(settings, text, error);
        }
    }
    return aq_fail(error, AQ_E_INVALID,
                   "'%s' is none of learner.activation, dueling, norm or qat_bits", text);
}

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(bench_request, json, "the figures"),
    {"quick", 0, NULL, "short slices: a figure in seconds, less exact",
     AQ_TO_FLAG(bench_request, quick)},
    {"only", 0, "TEXT", "rows whose name has this text in it", AQ_TO_TEXT(bench_request, only)},
    {"set", 0, "KEY=VALUE",
     "change learner.activation, dueling, norm or qat_bits of what is trained; may be given often",
     AQ_TO(add_setting, bench_request, settings)},
    {"torch", 0, NULL, "measure PyTorch beside it, with the python3 that is there",
     AQ_TO_FLAG(bench_request, torch)},
};

static const aq_options options_page = {
    .program = "actorq bench learner",
    .usage = "[options]",
    .summary =
        "Measures how fast the learner trains, on one thread and on two, and which share of "
        "a step its matrix products would take at their own peak rate. Convolutions count as "
        "products over copies of their patches; the learner makes none, so for pictures a "
        "share may be above 100 %.",
    .details = "Examples:\n"
               "  actorq bench learner\n"
               "  actorq bench learner --json --torch >learner.json\n"
               "  actorq bench learner --only ppo --torch\n"
               "  actorq bench learner --only dqn --set learner.qat_bits=8\n",
    AQ_OPTION_ROWS(option_rows),
};

static int measure_row(const bench_request *request, const aq_learner_timing *timing, size_t index,
                       uint32_t threads, bench_row *row, aq_error *error)
{
    aq_learner_case of;
    int rc = aq_learner_case_init(&of, index, threads, &request->settings, NULL, NULL, error);
    if (rc != 0) {
        return rc;
    }
    row->name = aq_learner_case_name_of(index);
    row->threads = threads;
    row->flop = aq_learner_case_flop(&of);
    row->torch_steps_per_s = NAN;
    rc = aq_learner_timing_measure(timing, &of, &row->time);
    if (rc != 0) {
        (void)aq_fail(error, rc, "%s: a training step failed", row->name.text);
    }
    aq_learner_case_fini(&of);
    return rc;
}

static int measure(const bench_request *request, bench_result *result, aq_error *error)
{
    const aq_learner_timing timing = {
        .slices = request->quick ? SLICES_QUICK : SLICES,
        .slice_ns = (request->quick ? SLICE_MS_QUICK : SLICE_MS) * AQ_NS_PER_MS,
    };
    if (request->torch && request->settings.count > 0) {
        return aq_fail(error, AQ_E_INVALID, "PyTorch is measured without --set");
    }
    result->load[0] = aq_machine_load();
    for (size_t i = 0; i < aq_learner_case_count(); i++) {
        const aq_learner_case_name name = aq_learner_case_name_of(i);
        const bool is_wanted = strstr(name.text, request->only) != NULL;
        for (uint32_t threads = 1; is_wanted && threads <= THREADS_MAX; threads++) {
            AQ_ASSERT(result->count < ROWS_MAX);
            bench_row *row = &result->rows[result->count];
            int rc = measure_row(request, &timing, i, threads, row, error);
            if (rc != 0) {
                return rc;
            }
            result->count++;
        }
    }
    if (result->count == 0) {
        return aq_fail(error, AQ_E_INVALID, "no row's name has '%s' in it", request->only);
    }
    if (request->torch) {
        int rc = aq_torch_measure(request->only, &result->torch, error);
        if (rc != 0) {
            return rc;
        }
        for (size_t i = 0; i < result->count; i++) {
            bench_row *row = &result->rows[i];
            row->torch_steps_per_s =
                aq_torch_steps_per_s(result->torch, row->name.text, row->threads);
        }
    }
    result->load[1] = aq_machine_load();
    return 0;
}

static double steps_per_s(const bench_row *row)
{
    return 1e6 / row->time.step_us;
}

/* Products on all threads at once, of which each has its part. */
static double gemm_share(const bench_row *row)
{
    return row->time.products_us / row->threads / row->time.step_us;
}

static json_t *row_json(const bench_row *row, bool has_torch)
{
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", row->name.text, "threads",
                  aq_json_count(row->threads), "steps_per_s", aq_json_number(steps_per_s(row)),
                  "gemm_share", aq_json_number(gemm_share(row)), "step_us",
                  aq_json_number(row->time.step_us), "products_us",
                  aq_json_number(row->time.products_us), "gflop", aq_json_number(row->flop / 1e9));
    if (has_torch) {
        (void)json_object_set_new(object, "torch_steps_per_s",
                                  aq_json_number(row->torch_steps_per_s));
        (void)json_object_set_new(object, "torch_ratio",
                                  aq_json_number(steps_per_s(row) / row->torch_steps_per_s));
    }
    return object;
}

static json_t *result_json(const bench_request *request, const bench_result *result)
{
    json_t *rows = json_array(), *settings = json_array();
    for (size_t i = 0; i < request->settings.count; i++) {
        (void)json_array_append_new(settings, json_string(request->settings.texts[i]));
    }
    for (size_t i = 0; i < result->count; i++) {
        (void)json_array_append_new(rows, row_json(&result->rows[i], result->torch != NULL));
    }
    return json_pack(
        "{s:s, s:s, s:{s:s, s:o}, s:{s:s, s:s}, s:s, s:o, s:[o, o], s:o, s:o}", "benchmark",
        "learner", "version", AQ_VERSION, "cpu", "model", aq_machine_model(), "count",
        aq_json_count(aq_machine_cpu_count()), "blas", "version", aq_blas_config(), "core",
        aq_blas_core(), "passes", aq_passes_best()->name, "torch",
        result->torch != NULL ? json_copy(json_object_get(result->torch, "version")) : json_null(),
        "load", aq_json_number(result->load[0]), aq_json_number(result->load[1]), "settings",
        settings, "rows", rows);
}

static int print_result(const bench_result *result, aq_error *error)
{
    aq_table_column columns[] = {
        {"name", AQ_TABLE_LEFT},      {"threads", AQ_TABLE_RIGHT},
        {"steps/s", AQ_TABLE_RIGHT},  {"us a step", AQ_TABLE_RIGHT},
        {"products", AQ_TABLE_RIGHT}, {"GFLOP/s", AQ_TABLE_RIGHT},
        {"share", AQ_TABLE_RIGHT},    {"torch", AQ_TABLE_RIGHT},
        {"ratio", AQ_TABLE_RIGHT},    {NULL},
    };
    enum { TORCH_COLUMN = 7 }; /* it and those behind it are told with PyTorch alone */
    aq_text_table table;
    if (result->torch == NULL) {
        columns[TORCH_COLUMN].name = NULL;
    }
    aq_text_table_begin(&table, columns);
    for (size_t i = 0; i < result->count; i++) {
        const bench_row *row = &result->rows[i];
        aq_figure figure;
        aq_text_table_row(&table);
        aq_text_table_cell(&table, "%s", row->name.text);
        aq_text_table_cell(&table, "%u", row->threads);
        aq_text_table_cell(&table, "%s", aq_figure_number(&figure, steps_per_s(row)));
        aq_text_table_cell(&table, "%s", aq_figure_number(&figure, row->time.step_us));
        aq_text_table_cell(&table, "%s", aq_figure_number(&figure, row->time.products_us));
        aq_text_table_cell(&table, "%s",
                           aq_figure_number(&figure, row->flop / row->time.products_us / 1e3));
        aq_text_table_cell(&table, "%s", aq_figure_share(&figure, gemm_share(row)));
        if (result->torch != NULL) {
            aq_text_table_cell(&table, "%s", aq_figure_number(&figure, row->torch_steps_per_s));
            aq_text_table_cell(
                &table, "%s", aq_figure_number(&figure, steps_per_s(row) / row->torch_steps_per_s));
        }
    }
    aq_print_fact(stdout, "cpu", "%s, %u processors", aq_machine_model(), aq_machine_cpu_count());
    aq_print_fact(stdout, "OpenBLAS", "%s; core %s", aq_blas_config(), aq_blas_core());
    aq_print_fact(stdout, "passes", "%s", aq_passes_best()->name);
    aq_print_fact(stdout, "load", "%.2f before, %.2f after", result->load[0], result->load[1]);
    (void)fputc('\n', stdout);
    const int rc = aq_text_table_end(&table, stdout);
    return rc != 0 ? aq_fail(error, rc, "no memory for the table") : 0;
}

static int bench_learner(int argc, char **argv)
{
    int status;
    aq_error error = {0};
    bench_request request = {.only = ""};
    bench_result result = {0};
    if (!aq_command_begin(&options_page, argc, argv, &request, &status)) {
        return status;
    }
    int rc = measure(&request, &result, &error);
    if (rc == 0) {
        rc = request.json ? aq_print_json(result_json(&request, &result), request.json, &error)
                          : print_result(&result, &error);
    }
    json_decref(result.torch);
    return aq_command_end(&options_page, rc, &error);
}

int main(int argc, char **argv)
{
    if (aq_blas_settle(argv)) {
        return bench_learner(argc, argv);
    }
    (void)fputs("actorq bench learner: the program can't be started anew\n", stderr);
    return EXIT_FAILURE;
}
