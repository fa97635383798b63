/*
 * Compare mode figures: see compare_mode_figures.h.
 */
#include "cli/compare/compare_mode_figures.h"

#include <math.h>
#include <stdio.h>

#include "cli/text/figure_text.h"

const char *aq_mode_table_caption(enum aq_mode_table table)
{
    static const char *const captions[] = {AQ_MODE_TABLES(AQ_CHOICE_WORD)};
    return captions[table];
}

#define AT(member)  offsetof(aq_compare_row, member)
#define CPU_S(role) (AT(role_cpu_s) + (role) * sizeof(double))
#define BYTES(edge) (AT(edge_bytes) + (edge) * sizeof(double))

static const aq_mode_figure figures[] = {
    {AQ_MODE_REACHED, "return_mean", "return",
     "mean of the evaluations in the last tenth of the steps", AQ_KIND_RETURN, AT(last)},
    {AQ_MODE_REACHED, "return_best_mean", "best policy",
     "the best policy of each run, over 100 fresh episodes", AQ_KIND_RETURN, AT(fresh)},
    {AQ_MODE_REACHED, "time_to_score_s", "time to score",
     "when the mean of 10 evaluations in a row reached it; of no run unless all seeds did",
     AQ_KIND_TIME, AT(crossing.time_s)},
    {AQ_MODE_REACHED, "steps_to_score", "steps to score", "environment steps by then, likewise",
     AQ_KIND_STEPS, AT(crossing.env_steps)},
    {AQ_MODE_COST, "env_steps_per_s", "steps/s", "environment steps a second of the whole run",
     AQ_KIND_COUNT, AT(env_steps_per_s)},
    {AQ_MODE_COST, "updates_per_s", "updates/s",
     "steps of the parameters; one of n ranks learns from n batches", AQ_KIND_COUNT,
     AT(learner_steps_per_s)},
    {AQ_MODE_COST, "efficiency", "efficiency",
     "measured: steps/s over as many times those of one learner with one actor (--scaling 1)",
     AQ_KIND_RATIO, AT(efficiency)},
    {AQ_MODE_COST, "waiting_share", "waits",
     "share of a rank's time: exchanging gradients, or with nothing to learn from; of the one "
     "of the first 8 that waits most",
     AQ_KIND_SHARE, AT(waiting_share)},
    {AQ_MODE_COST, "bytes_per_update", "bytes/update", "of all three edges", AQ_KIND_BYTES,
     AT(update_bytes)},
    {AQ_MODE_COST, "experience_bytes", "experience in", "of the run's steps, as shards hold them",
     AQ_KIND_BYTES, BYTES(AQ_EDGE_EXPERIENCE)},
    {AQ_MODE_COST, "policy_bytes", "policy out", "of all versions, to each actor", AQ_KIND_BYTES,
     BYTES(AQ_EDGE_POLICY)},
    {AQ_MODE_COST, "gradient_bytes", "gradients", "between ranks, or from actors; 0: none are sent",
     AQ_KIND_BYTES, BYTES(AQ_EDGE_GRADIENTS)},
    {AQ_MODE_USE, "actors_cpu_s", "actors", NULL, AQ_KIND_NUMBER, CPU_S(0)},
    {AQ_MODE_USE, "learner_cpu_s", "learner", "of all ranks", AQ_KIND_NUMBER, CPU_S(1)},
    {AQ_MODE_USE, "replay_cpu_s", "replay", NULL, AQ_KIND_NUMBER, CPU_S(2)},
    {AQ_MODE_USE, "evaluator_cpu_s", "evaluator", NULL, AQ_KIND_NUMBER, CPU_S(3)},
    {AQ_MODE_USE, "energy_j", "energy J", "of the run's processes", AQ_KIND_NUMBER, AT(energy_j)},
    {AQ_MODE_GRADIENTS, "gradient_noise_scale", "noise scale, rows",
     "rows from which on a larger batch gains less; geometric mean of the seconds that have one",
     AQ_KIND_COUNT, AT(noise_scale)},
    {AQ_MODE_GRADIENTS, "gradient_cosine", "cosine",
     "of a gradient with the mean of the 15 beside it; below 0 steps undo each other",
     AQ_KIND_NUMBER, AT(gradient_cosine)},
    {AQ_MODE_GRADIENTS, "staleness", "staleness",
     "versions by which what was learned from was behind, mean", AQ_KIND_NUMBER, AT(staleness)},
};

size_t aq_mode_figure_count(void)
{
    return sizeof(figures) / sizeof(figures[0]);
}

const aq_mode_figure *aq_mode_figure_at(size_t i)
{
    return &figures[i];
}

double aq_mode_figure_value(const aq_mode_figure *figure, const aq_compare_row *row,
                            double *ret_ci95)
{
    const void *at = (const char *)row + figure->offset;
    if (figure->kind > AQ_KIND_STEPS) {
        *ret_ci95 = NAN;
        return *(const double *)at;
    }
    *ret_ci95 = ((const aq_mean_ci *)at)->ci95;
    return ((const aq_mean_ci *)at)->mean;
}

static const char *plain_text(const aq_mode_figure *figure, double value, aq_figure *room)
{
    switch (figure->kind) {
    case AQ_KIND_RETURN:
        return aq_figure_return(room, value);
    case AQ_KIND_TIME:
        (void)snprintf(room->text, sizeof(room->text), "%.3g s", value);
        return room->text;
    case AQ_KIND_NUMBER:
        (void)snprintf(room->text, sizeof(room->text), "%.3g", value);
        return isfinite(value) ? room->text : "-";
    case AQ_KIND_BYTES:
        return aq_figure_bytes(room, value);
    case AQ_KIND_SHARE:
        return aq_figure_share(room, value);
    case AQ_KIND_RATIO:
        (void)snprintf(room->text, sizeof(room->text), "%.2f", value);
        return isfinite(value) ? room->text : "-";
    default:
        return aq_figure_count(room, value);
    }
}

const char *aq_mode_figure_text(const aq_mode_figure *figure, const aq_compare_row *row, char *out,
                                size_t size)
{
    aq_figure centre, spread;
    double ci95;
    const double value = aq_mode_figure_value(figure, row, &ci95);
    const bool is_crossing = figure->kind == AQ_KIND_TIME || figure->kind == AQ_KIND_STEPS;
    if (is_crossing && !isfinite(value)) {
        return aq_compare_crossing_text(row, out, size);
    }
    const char *text = plain_text(figure, value, &centre);
    if (isfinite(ci95)) {
        (void)snprintf(out, size, "%s +- %s", text, plain_text(figure, ci95, &spread));
    } else {
        (void)snprintf(out, size, "%s", text);
    }
    return out;
}
