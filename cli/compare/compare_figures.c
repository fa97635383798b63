/*
 * Compare figures: see compare_figures.h.
 */
#include "cli/compare/compare_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/plot_band.h"
#include "cli/plot/plot_chart.h"
#include "common/base/memory.h"

enum { BAND_POINTS = 240 };

_Static_assert((int)AQ_COMPARE_ARMS_MAX <= AQ_PLOT_SERIES_MAX, "each arm is a line");
_Static_assert((int)AQ_COMPARE_ARMS_MAX <= AQ_PLOT_GROUPS_MAX, "and a group of bars");

const char *aq_compare_figure_name(enum aq_compare_figure figure)
{
    static const char *const names[AQ_FIGURE_COUNT] = {AQ_FIGURES(AQ_CHOICE_WORD)};
    return names[figure];
}

/* ---- curves --------------------------------------------------------------------------------- */

int aq_compare_band(const aq_compare_summary *summary, size_t arm, bool over_steps,
                    aq_plot_point *out, size_t points, size_t *ret_count)
{
    const enum aq_plot_x x = over_steps ? AQ_PLOT_X_ENV_STEPS : AQ_PLOT_X_TIME;
    aq_band_curve seeds[AQ_COMPARE_SEEDS_MAX];
    size_t count = 0;
    int rc = 0;
    bool is_short = false;
    const aq_compare_run *runs = aq_compare_summary_runs(summary, arm);
    for (size_t i = 0; rc == 0 && i < summary->plan->seeds; i++) {
        if (runs[i].outcome == AQ_OUTCOME_FINISHED && runs[i].curve.returns.count >= 2) {
            rc = aq_band_curve_of(&runs[i].curve.returns, x, AQ_RUNNING_WINDOW, &seeds[count]);
            count += rc != 0 ? 0 : 1;
        } else if (runs[i].outcome == AQ_OUTCOME_FINISHED) {
            is_short = true;
        }
    }
    size_t drawn = 0;
    if (rc == 0 && !is_short) {
        drawn = aq_plot_band(seeds, count, points, AQ_BAND_BOOTSTRAP, AQ_BAND_CUT, out);
    }
    for (size_t i = 0; i < count; i++) {
        aq_band_curve_fini(&seeds[i]);
    }
    if (rc == 0) {
        *ret_count = drawn;
    }
    return rc;
}

static void draw_returns(const aq_compare_summary *summary, bool over_steps, aq_long_text *out)
{
    aq_plot_series series[AQ_COMPARE_ARMS_MAX];
    const size_t count = summary->plan->arm_count;
    aq_plot_point *points = aq_alloc(count * BAND_POINTS, sizeof(*points));
    int rc = points ? 0 : AQ_E_NOMEM;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        series[i] = (aq_plot_series){.name = summary->plan->arms[i].name,
                                     .points = points + i * BAND_POINTS,
                                     .colour = (uint32_t)i};
        rc = aq_compare_band(summary, i, over_steps, points + i * BAND_POINTS, BAND_POINTS,
                             &series[i].count);
    }
    const aq_plot_lines chart = {
        .title = over_steps ? "Return against environment steps" : "Return against time",
        .x_label = over_steps ? "environment steps" : "time in s",
        .y_label = "return, mean of up to 10 evaluations",
        .series = series,
        .series_count = count,
        .level_name = isfinite(summary->threshold) ? "threshold" : NULL,
        .level = summary->threshold,
        .notes = {"mean of the seeds and its 95 % bootstrap interval, where all seeds have one"},
    };
    aq_long_text_fail(out, rc);
    if (rc == 0) {
        aq_plot_lines_draw(&chart, out);
    }
    aq_free(points);
}

/* ---- bars ----------------------------------------------------------------------------------- */

/* What each arm came to, of so many parts: `values` is (arms, parts). */
static void draw_parts(const aq_compare_summary *summary, const char *title, const char *y_label,
                       const char *const *parts, size_t part_count, const double *values,
                       aq_long_text *out)
{
    const char *groups[AQ_COMPARE_ARMS_MAX];
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        groups[i] = summary->plan->arms[i].name;
    }
    const aq_plot_bars chart = {
        .title = title,
        .y_label = y_label,
        .groups = groups,
        .group_count = summary->plan->arm_count,
        .parts = parts,
        .part_count = part_count,
        .values = values,
    };
    aq_plot_bars_draw(&chart, out);
}

/* Of one source, the baseline's where it has one: what others measured is no figure beside it. */
static const char *source_drawn(const aq_compare_summary *summary)
{
    const char *source = summary->rows[summary->baseline].energy_source;
    for (size_t i = 0; source == NULL && i < summary->plan->arm_count; i++) {
        source = summary->rows[i].energy_source;
    }
    return source;
}

static void draw_energy(const aq_compare_summary *summary, aq_long_text *out)
{
    const char *parts[AQ_COMPARE_ROLES];
    double values[AQ_COMPARE_ARMS_MAX * AQ_COMPARE_ROLES];
    char label[96];
    const char *source = source_drawn(summary);
    for (unsigned role = 0; role < AQ_COMPARE_ROLES; role++) {
        parts[role] = aq_compare_role_name(role);
    }
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        const bool is_drawn =
            source && row->energy_source && strcmp(row->energy_source, source) == 0;
        for (unsigned role = 0; role < AQ_COMPARE_ROLES; role++) {
            values[i * AQ_COMPARE_ROLES + role] = is_drawn ? row->role_joules[role] : (double)NAN;
        }
    }
    (void)snprintf(label, sizeof(label), "J a run (%s)", source ? source : "not measured");
    draw_parts(summary, "Energy of a run by role", label, parts, AQ_COMPARE_ROLES, values, out);
}

/* Of the states of a role, which stand together. */
typedef struct state_chart {
    const char *title;
    enum aq_compare_state first, end; /* the latter is the next role's */
} state_chart;

static const state_chart *chart_of(enum aq_compare_figure figure)
{
    static const state_chart charts[] = {
        {"Where the actors' time goes", AQ_TIME_ACTOR_INFERENCE, AQ_TIME_LEARNER_TRAINING},
        {"Where the learner's time goes", AQ_TIME_LEARNER_TRAINING, AQ_TIME_REPLAY_INSERTING},
        {"Where replay's time goes", AQ_TIME_REPLAY_INSERTING, AQ_TIME_STATES},
    };
    return &charts[figure - AQ_FIGURE_ACTOR_TIME];
}

static void draw_states(const aq_compare_summary *summary, const state_chart *states,
                        aq_long_text *out)
{
    const char *parts[AQ_TIME_STATES];
    double values[AQ_COMPARE_ARMS_MAX * AQ_TIME_STATES];
    const size_t part_count = states->end - states->first;
    for (size_t i = 0; i < part_count; i++) {
        parts[i] = aq_compare_state_at((int)(states->first + i))->name;
    }
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        memcpy(&values[i * part_count], &summary->rows[i].states[states->first],
               part_count * sizeof(*values));
    }
    draw_parts(summary, states->title, "s a run, over all processes", parts, part_count, values,
               out);
}

/* ---- all ------------------------------------------------------------------------------------ */

bool aq_compare_figure_has_data(const aq_compare_summary *summary, enum aq_compare_figure figure)
{
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        if (figure <= AQ_FIGURE_RETURN_STEPS && row->finished > 0) {
            return true;
        }
        if (figure == AQ_FIGURE_ENERGY && row->energy_source) {
            return true;
        }
        if (figure >= AQ_FIGURE_ACTOR_TIME && isfinite(row->states[chart_of(figure)->first])) {
            return true;
        }
    }
    return false;
}

void aq_compare_figure_draw(const aq_compare_summary *summary, enum aq_compare_figure figure,
                            aq_long_text *out)
{
    if (figure == AQ_FIGURE_RETURN_TIME || figure == AQ_FIGURE_RETURN_STEPS) {
        draw_returns(summary, figure == AQ_FIGURE_RETURN_STEPS, out);
    } else if (figure == AQ_FIGURE_ENERGY) {
        draw_energy(summary, out);
    } else {
        draw_states(summary, chart_of(figure), out);
    }
}
