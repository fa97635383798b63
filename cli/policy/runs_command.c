/*
 * actorq runs: which runs there are in a folder, and what came of them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/run_record.h"
#include "cli/run/run_paths.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/text_table.h"
#include "common/base/growing.h"
#include "common/base/memory.h"
#include "common/config/run_names.h"

enum { RUNS_MAX = 1000000, SHOWN_MAX = 10000 };

typedef struct runs_arguments {
    const char *folder;
    aq_json_form json;
} runs_arguments;

/* One line of the list. */
typedef struct listed_run {
    const char *path; /* lent */
    char task[AQ_RUN_WORD_BYTES], made[AQ_RUN_WORD_BYTES], state[32];
    const char *algorithm, *format; /* "": its configuration can't be read */
    uint64_t seed;
    double best, env_steps; /* NaN: none */
} listed_run;

typedef struct run_list {
    listed_run *rows;
    size_t count, capacity;
} run_list;

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(runs_arguments, json, "the list"),
};

static const aq_options options_page = {
    .program = "actorq runs",
    .usage = "[FOLDER] [options]",
    .summary = "Lists the runs in a folder (default ./runs), the oldest first: what was trained, "
               "what the best version returned, and how far it is.",
    .details = "Examples:\n"
               "  actorq runs\n"
               "  actorq runs compared --json\n"
               "\n"
               "'actorq inspect RUN' tells all about one of them.\n",
    AQ_OPTION_ROWS(option_rows),
    .operands = {AQ_OPTIONAL_OPERAND("FOLDER", runs_arguments, folder)},
};

/* ---- finding them --------------------------------------------------------------------------- */

static int list_run(run_list *list, const char *path, aq_error *error)
{
    aq_run_record *record;
    aq_error unread;
    if (aq_run_record_read(path, &record, &unread) != 0) {
        return 0; /* one that is damaged: 'actorq inspect' says how */
    }
    if (aq_grow(&list->rows, &list->capacity, list->count, sizeof(*list->rows), RUNS_MAX) != 0) {
        aq_run_record_free(record);
        return aq_fail(error, AQ_E_NOMEM, "out of memory");
    }
    listed_run *row = &list->rows[list->count++];
    *row = (listed_run){
        .path = path,
        .algorithm = record->has_config ? aq_algorithm_names[record->config.learner.algorithm] : "",
        .format = record->has_config ? aq_format_name(aq_run_config_format(&record->config)) : "",
        .seed = record->seed,
        .best = aq_json_number_of(record->metrics.best, "return_mean"),
        .env_steps = aq_json_number_of(record->metrics.end != NULL ? record->metrics.end
                                                                   : record->metrics.progress,
                                       "env_steps"),
    };
    (void)snprintf(row->task, sizeof(row->task), "%s", record->task);
    (void)snprintf(row->made, sizeof(row->made), "%s", record->made);
    (void)snprintf(row->state, sizeof(row->state), "%s", aq_run_record_state(record));
    aq_run_record_free(record);
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const listed_run *a = left, *b = right;
    const int order = strcmp(a->made, b->made);
    return order != 0 ? order : strcmp(a->path, b->path);
}

/* ---- showing them --------------------------------------------------------------------------- */

static json_t *list_json(const run_list *list)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < list->count; i++) {
        const listed_run *row = &list->rows[i];
        json_t *steps =
            isnan(row->env_steps) ? json_null() : aq_json_count((uint64_t)row->env_steps);
        aq_json_add(&runs,
                    json_pack("{s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:s}", "path",
                              aq_json_text(row->path), "task", row->task, "algorithm",
                              row->algorithm, "format", row->format, "seed",
                              aq_json_count(row->seed), "best_return", aq_json_number(row->best),
                              "env_steps", steps, "state", row->state, "made", row->made));
    }
    return json_pack("{s:o}", "runs", runs);
}

/* The newest, as many as anybody reads. */
static int print_list(const run_list *list, aq_error *error)
{
    const size_t older = list->count > SHOWN_MAX ? list->count - SHOWN_MAX : 0;
    static const aq_table_column columns[] = {
        {"made", AQ_TABLE_LEFT},   {"task", AQ_TABLE_LEFT},         {"algorithm", AQ_TABLE_LEFT},
        {"format", AQ_TABLE_LEFT}, {"best return", AQ_TABLE_RIGHT}, {"steps", AQ_TABLE_RIGHT},
        {"state", AQ_TABLE_LEFT},  {"run", AQ_TABLE_LEFT},          {NULL},
    };
    aq_text_table table;
    aq_text_table_begin(&table, columns);
    for (size_t i = older; i < list->count; i++) {
        const listed_run *row = &list->rows[i];
        aq_figure best, steps;
        aq_text_table_row(&table);
        aq_text_table_cell(&table, "%.16s", row->made);
        aq_text_table_cell(&table, "%s", row->task);
        aq_text_table_cell(&table, "%s", row->algorithm);
        aq_text_table_cell(&table, "%s", row->format);
        aq_text_table_cell(&table, "%s", aq_figure_return(&best, row->best));
        aq_text_table_cell(&table, "%s", aq_figure_count(&steps, row->env_steps));
        aq_text_table_cell(&table, "%s", aq_run_state_text(row->state));
        aq_text_table_whole(&table, row->path);
    }
    if (older > 0) {
        (void)printf("%zu older runs are left out; --json lists all.\n", older);
    }
    const int rc = aq_text_table_end(&table, stdout);
    return rc != 0 ? aq_fail(error, rc, "out of memory") : 0;
}

static int list_runs(void *given, aq_error *error)
{
    const runs_arguments *arguments = given;
    const char *folder = arguments->folder != NULL ? arguments->folder : "runs";
    aq_run_paths found = {0};
    run_list list = {0};
    int rc = aq_run_paths_add(&found, folder, RUNS_MAX, error);
    for (size_t i = 0; i < found.count && rc == 0; i++) {
        rc = list_run(&list, found.paths[i], error);
    }
    if (rc == 0 && list.count > 0) {
        qsort(list.rows, list.count, sizeof(*list.rows), by_time);
    }
    if (rc == 0 && arguments->json) {
        rc = aq_print_json(list_json(&list), arguments->json, error);
    } else if (rc == 0 && list.count == 0) {
        (void)printf("There are no runs in %s.\n", folder);
    } else if (rc == 0) {
        rc = print_list(&list, error);
    }
    aq_run_paths_fini(&found);
    aq_free(list.rows);
    return rc;
}

static const runs_arguments defaults = {0};

const aq_command aq_command_runs = {
    .name = "runs",
    .summary = "list the runs in a folder",
    AQ_COMMAND_TAKES(options_page, defaults),
    .act = list_runs,
};
