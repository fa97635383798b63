/*
 * Compare page: see compare_page.h.
 */
#include "cli/compare/compare_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/compare/compare_figures.h"
#include "cli/compare/compare_table.h"
#include "cli/compare/compare_words.h"
#include "cli/text/figure_text.h"
#include "cli/text/html_page.h"
#include "common/base/clock.h"
#include "common/sys/cpu.h"

enum { WORDS_BYTES_MAX = 1 << 20, YAML_BYTES_MAX = 1 << 20, STATE_BYTES = 512 };

/* ---- what else stands there ------------------------------------------------------------------ */

static void add_states(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_figure room;
    aq_long_text_add(out, "<h2>Where the time goes</h2>\n");
    aq_html_table_begin(out, "Seconds of a run, over all processes of a role.");
    aq_long_text_add(out, "<th>role</th><th class=\"words\">state</th>");
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        aq_long_text_add(out, "<th>%s</th>", summary->plan->arms[i].name);
    }
    aq_html_table_rows(out);
    for (int state = 0; state < AQ_TIME_STATES; state++) {
        const aq_compare_state_words *words = aq_compare_state_at(state);
        aq_long_text_add(out, "<tr><td>%s</td><td class=\"words\">%s</td>", words->role,
                         words->name);
        for (size_t i = 0; i < summary->plan->arm_count; i++) {
            aq_html_figure(out, aq_figure_number(&room, summary->rows[i].states[state]));
        }
        aq_long_text_add(out, "</tr>\n");
    }
    aq_html_table_end(out);
}

static void add_figure(const aq_compare_summary *summary, enum aq_compare_figure figure,
                       aq_long_text *out)
{
    if (!aq_compare_figure_has_data(summary, figure)) {
        return;
    }
    aq_long_text_add(out, "<figure id=\"%s\">\n", aq_compare_figure_name(figure));
    aq_compare_figure_draw(summary, figure, out);
    aq_long_text_add(out, "</figure>\n");
}

static void add_words(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_long_text words;
    aq_long_text_init(&words, WORDS_BYTES_MAX);
    aq_compare_words(summary, &words);
    aq_html_lines(out, &words, "<p>", "</p>\n");
    aq_long_text_fail(out, words.rc);
    aq_long_text_fini(&words);
}

static void add_config(const aq_compare_summary *summary, aq_long_text *out)
{
    aq_long_text yaml;
    aq_long_text_init(&yaml, YAML_BYTES_MAX);
    yaml.rc = aq_settings_print_yaml(aq_run_config_table(), &summary->plan->config, &yaml.bytes);
    aq_long_text_add(out,
                     "<details><summary>The configuration of every run, but for its %s "
                     "and seed</summary>\n<pre>",
                     aq_compare_subject_name(summary->plan->request.subject));
    aq_html_lines(out, &yaml, "", "\n");
    aq_long_text_add(out, "</pre></details>\n");
    aq_long_text_fail(out, yaml.rc);
    aq_long_text_fini(&yaml);
}

static void add_circumstances(const aq_compare_summary *summary, aq_long_text *out)
{
    const aq_compare_plan *plan = summary->plan;
    char when[32], flags[256];
    time_t now = (time_t)(aq_clock_wall_ns() / AQ_NS_PER_S);
    struct tm utc;
    (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    aq_long_text_add(out, "<h2>How it was made</h2>\n<p>");
    aq_long_text_add_html(out, summary->cpu);
    aq_long_text_add(out,
                     ", %u processors (%s); actorq %s; %s. One run at a time, the %ss in turn "
                     "for each seed, seeds %" PRIu64 " to %" PRIu64 ".</p>\n<pre>",
                     summary->cpus, aq_cpu_flags_text(aq_cpu_flags(), flags, sizeof(flags)),
                     AQ_VERSION, when, aq_compare_subject_name(plan->request.subject),
                     plan->seed_first, plan->seed_first + plan->seeds - 1);
    aq_long_text_add_html(out, plan->command);
    for (size_t i = 0; i < plan->arm_count; i++) {
        aq_long_text_add(out,
                         "\nactorq train --config config.yaml%s --set "
                         "evaluator.threshold=" AQ_COMPARE_THRESHOLD_NEVER " --seed %" PRIu64,
                         aq_compare_arm_flags(&plan->arms[i], flags, sizeof(flags)),
                         plan->seed_first);
    }
    aq_long_text_add(out, "</pre>\n");
    add_config(summary, out);
    aq_long_text_add(out, "<p class=\"soft\">Beside this page: compare.json, compare.csv, "
                          "curves.csv, the figures as SVG, and a folder for each run.</p>\n");
}

static void add_title(const aq_compare_summary *summary, aq_long_text *out)
{
    const aq_compare_plan *plan = summary->plan;
    static const char *const subjects[] = {
        [AQ_COMPARE_PRECISIONS] = "what the precision of the actors' policy changes",
        [AQ_COMPARE_MODES] = "ways of learning in parallel, side by side"};
    char title[STATE_BYTES];
    aq_figure room;
    char steps[32] = "any number of", actors[48] = "actors"; /* modes have their own numbers */
    if (plan->request.subject != AQ_COMPARE_MODES) {
        (void)snprintf(actors, sizeof(actors), "%" PRIu64 " actors", plan->config.actor.count);
    }
    if (plan->config.limits.env_steps > 0) {
        (void)snprintf(steps, sizeof(steps), "%" PRIu64, plan->config.limits.env_steps);
    }
    (void)snprintf(title, sizeof(title), "%s: %ss compared", plan->config.task,
                   aq_compare_subject_name(plan->request.subject));
    aq_html_begin(out, title);
    aq_long_text_add(out, "<h1>");
    aq_long_text_add_html(out, plan->config.task);
    aq_long_text_add(out, ": %s</h1>\n<p>Preset %s, ", subjects[plan->request.subject],
                     plan->config.preset);
    if (!aq_algorithm_has(plan->config.learner.algorithm, AQ_LEARNS_A_TABLE)) {
        const char *hidden = plan->config.learner.hidden;
        aq_long_text_add(out, "%s%s, ", hidden[0] != '\0' ? "networks of " : "no hidden layers",
                         hidden);
    }
    aq_long_text_add(out, "%s of %" PRIu64 " environments, ", actors, plan->config.actor.envs);
    aq_long_text_add(out, "%s environment steps a run. Threshold %s, %s.</p>\n", steps,
                     aq_figure_number(&room, summary->threshold),
                     aq_compare_threshold_words(summary));
}

void aq_compare_page(const aq_compare_summary *summary, aq_long_text *out)
{
    add_title(summary, out);
    aq_long_text_add(out, "<h2>In words</h2>\n");
    add_words(summary, out);
    aq_long_text_add(out, "<h2>Results</h2>\n");
    aq_compare_table_add(summary, out);
    aq_long_text_add(out, "<div class=\"figures\">\n");
    add_figure(summary, AQ_FIGURE_RETURN_TIME, out);
    add_figure(summary, AQ_FIGURE_RETURN_STEPS, out);
    add_figure(summary, AQ_FIGURE_ENERGY, out);
    aq_long_text_add(out, "</div>\n");
    add_states(summary, out);
    aq_long_text_add(out, "<div class=\"figures\">\n");
    add_figure(summary, AQ_FIGURE_ACTOR_TIME, out);
    add_figure(summary, AQ_FIGURE_LEARNER_TIME, out);
    add_figure(summary, AQ_FIGURE_REPLAY_TIME, out);
    aq_long_text_add(out, "</div>\n");
    add_circumstances(summary, out);
    aq_html_end(out);
}
