/*
 * Run page: see run_page.h. Which quantities there are, the runs' own lines say: each number of the
 * last line of progress that is no axis and no count of something said elsewhere.
 */
#include "cli/plot/run_page.h"

#include <string.h>

#include "cli/plot/run_plot.h"
#include "cli/policy/run_record.h"
#include "cli/text/command.h"
#include "cli/text/figure_text.h"
#include "cli/text/html_page.h"
#include "common/base/choice.h"
#include "common/base/memory.h"
#include "common/config/algorithm_rows.h"
#include "common/config/run_names.h"

enum { QUANTITIES_MAX = 64 };

typedef struct page_runs {
    const char **paths; /* lent */
    aq_run_record **records;
    size_t count;
} page_runs;

/* ---- the runs ------------------------------------------------------------------------------- */

static int read_runs(const char *const *paths, size_t count, void (*say)(const char *words),
                     page_runs *runs, aq_error *error)
{
    aq_error problem = {0};
    runs->paths = aq_alloc(count, sizeof(*runs->paths));
    runs->records = aq_alloc(count, sizeof(*runs->records));
    int rc = runs->paths && runs->records ? 0 : aq_fail(&problem, AQ_E_NOMEM, "out of memory");
    for (size_t i = 0; rc != AQ_E_NOMEM && i < count; i++) {
        rc = aq_run_record_read(paths[i], &runs->records[runs->count], &problem);
        if (rc == 0) {
            runs->paths[runs->count++] = paths[i];
        } else if (rc != AQ_E_NOMEM && count > 1) {
            say(problem.text);
        }
    }
    return rc == AQ_E_NOMEM || runs->count == 0 ? aq_fail(error, rc, "%s", problem.text) : 0;
}

static void end_runs(page_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        aq_run_record_free(runs->records[i]);
    }
    aq_free(runs->records);
    aq_free(runs->paths);
}

/* ---- a row for each ------------------------------------------------------------------------- */

static void add_run(aq_long_text *out, const char *path, const aq_run_record *record)
{
    const aq_run_config *config = &record->config;
    const json_t *told = record->metrics.end ? record->metrics.end : record->metrics.progress;
    aq_figure room;
    aq_long_text_add(out, "<tr>");
    aq_html_words(out, path);
    aq_html_words(out, record->task);
    aq_html_words(out, record->has_config ? aq_algorithm_names[config->learner.algorithm] : "-");
    aq_html_words(out, record->has_config ? aq_format_name(aq_run_config_format(config)) : "-");
    aq_html_words(out, aq_run_state_text(aq_run_record_state(record)));
    aq_html_figure(out,
                   aq_figure_return(&room, aq_json_number_of(record->metrics.best, "return_mean")));
    aq_html_figure(out, aq_figure_share(&room, aq_json_number_of(told, "policy_fallbacks") /
                                                   aq_json_number_of(told, "policy_versions")));
    aq_html_figure(out, aq_figure_count(&room, aq_json_number_of(told, "env_steps")));
    aq_html_figure(out, aq_figure_count(&room, aq_json_number_of(told, "learner_steps")));
    aq_html_figure(out, aq_figure_duration(&room, aq_json_number_of(told, "wall_s")));
    aq_long_text_add(out, "</tr>\n");
}

static void add_table(aq_long_text *out, const page_runs *runs)
{
    aq_html_table_begin(out, "Best: what the best version reached in fresh episodes, or in its "
                             "screening while there are none. Fell back: the share of the versions "
                             "that went out in fp32 instead.");
    aq_long_text_add(out, "<th>run</th>"
                          "<th class=\"words\">task</th><th class=\"words\">algorithm</th>"
                          "<th class=\"words\">format</th><th class=\"words\">state</th>"
                          "<th>best</th><th>fell back</th><th>environment steps</th>"
                          "<th>learner steps</th><th>time</th>");
    aq_html_table_rows(out);
    for (size_t i = 0; i < runs->count; i++) {
        add_run(out, runs->paths[i], runs->records[i]);
    }
    aq_html_table_end(out);
}

/* ---- a picture for each quantity ------------------------------------------------------------ */

/* Along the axes, or of what is on the page or in `actorq inspect` already. */
static bool is_drawn(const char *key, const json_t *value)
{
    static const char *const others[] = {"wall_s",
                                         "env_steps",
                                         "learner_steps",
                                         "policy_version",
                                         "policy_versions",
                                         "policy_deltas",
                                         "policy_fallbacks",
                                         "broadcast_bytes",
                                         "broadcast_bytes_fp32",
                                         "broadcast_packed_bytes_fp32",
                                         "actors",
                                         "evaluators",
                                         "shards",
                                         NULL};
    return json_is_number(value) && aq_choice_find(others, key) < 0;
}

/* The return, then what any run tells of; lent by the records. */
static size_t choose_quantities(const page_runs *runs, const char **quantities)
{
    size_t count = 0;
    quantities[count++] = "return";
    for (size_t i = 0; i < runs->count; i++) {
        const char *key;
        json_t *value;
        json_object_foreach(runs->records[i]->metrics.progress, key, value)
        {
            size_t known = 0;
            while (known < count && strcmp(quantities[known], key) != 0) {
                known++;
            }
            if (known == count && count < QUANTITIES_MAX && is_drawn(key, value)) {
                quantities[count++] = key;
            }
        }
    }
    return count;
}

static int add_charts(aq_long_text *out, const page_runs *runs, const char *by,
                      void (*say)(const char *words), size_t *charts, aq_error *error)
{
    const char *quantities[QUANTITIES_MAX];
    aq_run_plot_options options[QUANTITIES_MAX];
    aq_run_plots *plots = NULL;
    const size_t count = choose_quantities(runs, quantities);
    for (size_t i = 0; i < count; i++) {
        options[i] = (aq_run_plot_options){.y = quantities[i], .by = by, .title = quantities[i]};
    }
    options[0].skip = say;
    int rc = aq_run_plots_create(runs->paths, runs->count, options, count, &plots, error);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const aq_run_plot *plot = aq_run_plots_at(plots, i);
        if (aq_run_plot_has_points(plot)) {
            aq_long_text_add(out, "<figure>\n");
            aq_run_plot_draw(plot, out);
            aq_long_text_add(out, "</figure>\n");
            (*charts)++;
        }
    }
    aq_run_plots_destroy(plots);
    return rc;
}

static int add_page(aq_long_text *out, const page_runs *runs, const char *by,
                    void (*say)(const char *words), aq_run_page *page, aq_error *error)
{
    aq_html_begin(out, runs->count == 1 ? runs->paths[0] : "Runs");
    aq_html_heading(out, runs->count == 1 ? runs->paths[0] : "Runs");
    add_table(out, runs);
    aq_long_text_add(out, "<div class=\"figures\">\n");
    const int rc = add_charts(out, runs, by, say, &page->charts, error);
    aq_long_text_add(out, "</div>\n");
    aq_html_end(out);
    page->runs = runs->count;
    return rc;
}

int aq_run_page_make(const char *const *paths, size_t count, const char *by,
                     void (*say)(const char *words), aq_long_text *out, aq_run_page *ret_page,
                     aq_error *error)
{
    page_runs runs = {.count = 0};
    aq_run_page page = {.charts = 0};
    int rc = read_runs(paths, count, say, &runs, error);
    if (rc == 0) {
        rc = add_page(out, &runs, by, say, &page, error);
    }
    end_runs(&runs);
    if (rc == 0) {
        *ret_page = page;
    }
    return rc;
}
