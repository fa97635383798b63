/*
 * Compare columns: see compare_columns.h.
 */
#include "cli/compare/compare_columns.h"

#include <math.h>
#include <stdio.h>

#include "cli/text/figure_text.h"

/* A row ends with what it needs. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define AT(member)  offsetof(aq_compare_row, member)
#define CPU_S(role) (AT(role_cpu_s) + (role) * sizeof(double))
#define BYTES(edge) (AT(edge_bytes) + (edge) * sizeof(double))

_Static_assert(AQ_RUNNING_WINDOW == 10 && AQ_SPEEDUP_SEEDS == 3, "the methods say so");

/* A column whose order or table is not the same in all places has two rows. The method that
 * broadcast_ratio has is that of every ratio. */
static const aq_compare_column precisions[] = {
    {AQ_PRECISION_REACHED, NULL, "seeds", NULL, AQ_KIND_SIZE, AT(finished),
     .places = AQ_ON_PAGE | AQ_ON_TERMINAL},
    {AQ_PRECISION_COST, "wall_s", "wall", NULL, AQ_KIND_DURATION, AT(wall_s),
     .places = AQ_ON_PAGE | AQ_IN_CSV | AQ_IN_JSON},
    {AQ_PRECISION_COST, "env_steps_per_s", "env steps/s", NULL, AQ_KIND_RATE, AT(env_steps_per_s),
     .short_title = "steps/s"},
    {AQ_PRECISION_COST, "learner_steps_per_s", NULL, NULL, AQ_KIND_RATE, AT(learner_steps_per_s),
     .places = AQ_IN_JSON},
    {AQ_PRECISION_COST, "throughput_ratio", "ratio", NULL, AQ_KIND_TIMES, AT(throughput_ratio)},
    {AQ_PRECISION_COST, "actor_steps_per_s", "one actor's steps/s", NULL, AQ_KIND_RATE,
     AT(actor_steps_per_s), .short_title = "actor/s"},
    {AQ_PRECISION_COST, "actor_throughput_ratio", "ratio", NULL, AQ_KIND_TIMES, AT(actor_ratio)},
    {AQ_PRECISION_REACHED, "return_mean", "return",
     "mean of the evaluations in the last tenth of the steps; +- 95 % over seeds", AQ_KIND_RETURN,
     AT(last), .ci95_key = "return_ci95"},
    {AQ_PRECISION_REACHED, "return_best_mean", "best policy",
     "the best policy of each run, over 100 fresh episodes", AQ_KIND_RETURN, AT(fresh),
     .ci95_key = "return_best_ci95"},
    {AQ_PRECISION_REACHED, "fp32_gap_mean", "less fp32", NULL, AQ_KIND_RETURN, AT(gap),
     .ci95_key = "fp32_gap_ci95", .places = AQ_ON_PAGE | AQ_IN_JSON},
    {AQ_PRECISION_REACHED, NULL, "fell back",
     "share of the versions that went out in fp32 instead; they count in no return", AQ_KIND_SHARE,
     AT(fallback_share), .places = AQ_ON_TERMINAL},
    {AQ_PRECISION_REACHED, "time_to_threshold_s", "to threshold",
     "when the mean of 10 evaluations in a row reached it; never by a single one", AQ_KIND_CROSSING,
     AT(crossing.time_s.mean)},
    {AQ_PRECISION_REACHED, "env_steps_to_threshold", NULL, NULL, AQ_KIND_COUNT,
     AT(crossing.env_steps.mean), .places = AQ_IN_JSON},
    {AQ_PRECISION_REACHED, "seeds_reached", NULL, NULL, AQ_KIND_SIZE, AT(crossing.reached),
     .places = AQ_IN_JSON},
    {AQ_PRECISION_REACHED, "speedup", "speed-up",
     "the baseline's time to the threshold over this one; from 3 seeds of each on", AQ_KIND_SPEEDUP,
     AT(crossing.speedup)},
    {AQ_PRECISION_REACHED, "speedup_missing", NULL, NULL, AQ_KIND_MISSING, .places = AQ_IN_JSON},
    {AQ_PRECISION_REACHED, NULL, "", NULL, AQ_KIND_STATE, .places = AQ_ON_PAGE},
    {AQ_PRECISION_COST, "broadcast_bytes", "broadcast", NULL, AQ_KIND_BYTES, AT(broadcast_bytes)},
    {AQ_PRECISION_COST, "broadcast_bytes_fp32", NULL, NULL, AQ_KIND_BYTES, AT(broadcast_bytes_fp32),
     .places = AQ_IN_JSON},
    {AQ_PRECISION_COST, "broadcast_ratio", "ratio", "to the baseline, of means over whole runs",
     AQ_KIND_TIMES, AT(broadcast_ratio), .places = AQ_IN_JSON},
    {AQ_PRECISION_COST, "fallback_share", "fell back", NULL, AQ_KIND_SHARE, AT(fallback_share),
     .places = AQ_ON_PAGE | AQ_IN_CSV | AQ_IN_JSON},
    {AQ_PRECISION_COST, "staleness", NULL, NULL, AQ_KIND_NUMBER, AT(staleness),
     .places = AQ_IN_JSON},
    {AQ_PRECISION_COST, "energy_j", "energy", NULL, AQ_KIND_JOULES, AT(energy_j)},
    {AQ_PRECISION_COST, "energy_source", NULL, NULL, AQ_KIND_SOURCE, .places = AQ_IN_JSON},
    {AQ_PRECISION_COST, "gco2", "gCO\u2082", NULL, AQ_KIND_AMOUNT, AT(gco2), .short_title = "gCO2"},
    {AQ_PRECISION_COST, "energy_source", "source", NULL, AQ_KIND_SOURCE,
     .places = AQ_ON_PAGE | AQ_ON_TERMINAL | AQ_IN_CSV},
    {AQ_PRECISION_REACHED, "speedup_missing", NULL, NULL, AQ_KIND_MISSING, .places = AQ_IN_CSV},
    {AQ_PRECISION_COST, "energy_ratio", NULL, NULL, AQ_KIND_TIMES, AT(energy_ratio),
     .places = AQ_IN_JSON},
    {AQ_PRECISION_COST, "energy_idle_j", NULL, NULL, AQ_KIND_AMOUNT, AT(idle_j),
     .places = AQ_IN_JSON},
};

static const aq_compare_column modes[] = {
    {AQ_MODE_REACHED, "seeds_reached", NULL, NULL, AQ_KIND_SIZE, AT(crossing.reached),
     .places = AQ_IN_CSV},
    {AQ_MODE_REACHED, "return_mean", "return",
     "mean of the evaluations in the last tenth of the steps", AQ_KIND_RETURN, AT(last),
     .ci95_key = "return_mean_ci95"},
    {AQ_MODE_REACHED, "return_best_mean", "best policy",
     "the best policy of each run, over 100 fresh episodes", AQ_KIND_RETURN, AT(fresh),
     .ci95_key = "return_best_mean_ci95"},
    {AQ_MODE_REACHED, "time_to_score_s", "time to score",
     "when the mean of 10 evaluations in a row reached it; of no run unless all seeds did",
     AQ_KIND_TIME, AT(crossing.time_s), .ci95_key = "time_to_score_s_ci95"},
    {AQ_MODE_REACHED, "steps_to_score", "steps to score", "environment steps by then, likewise",
     AQ_KIND_STEPS, AT(crossing.env_steps), .ci95_key = "steps_to_score_ci95"},
    {AQ_MODE_COST, "env_steps_per_s", "steps/s", "environment steps a second of the whole run",
     AQ_KIND_RATE, AT(env_steps_per_s)},
    {AQ_MODE_COST, "updates_per_s", "updates/s",
     "steps of the parameters; one of n ranks learns from n batches", AQ_KIND_RATE,
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
    {AQ_MODE_USE, "actors_cpu_s", "actors", NULL, AQ_KIND_DURATION, CPU_S(0)},
    {AQ_MODE_USE, "learner_cpu_s", "learner", "of all ranks", AQ_KIND_DURATION, CPU_S(1)},
    {AQ_MODE_USE, "replay_cpu_s", "replay", NULL, AQ_KIND_DURATION, CPU_S(2)},
    {AQ_MODE_USE, "evaluator_cpu_s", "evaluator", NULL, AQ_KIND_DURATION, CPU_S(3)},
    {AQ_MODE_USE, "energy_j", "energy", "of the run's processes", AQ_KIND_JOULES, AT(energy_j)},
    {AQ_MODE_GRADIENTS, "gradient_noise_scale", "noise scale, rows",
     "rows from which on a larger batch gains less; geometric mean of the seconds that have one",
     AQ_KIND_COUNT, AT(noise_scale)},
    {AQ_MODE_GRADIENTS, "gradient_cosine", "cosine",
     "of a gradient with the mean of the 15 beside it; below 0 steps undo each other",
     AQ_KIND_NUMBER, AT(gradient_cosine)},
    {AQ_MODE_GRADIENTS, "staleness", "staleness",
     "versions by which what was learned from was behind, mean", AQ_KIND_NUMBER, AT(staleness)},
};

static const struct {
    const aq_compare_column *columns;
    size_t count;
} lists[] = {
    [AQ_COMPARE_PRECISIONS] = {precisions, sizeof(precisions) / sizeof(precisions[0])},
    [AQ_COMPARE_MODES] = {modes, sizeof(modes) / sizeof(modes[0])},
};

const aq_compare_column *aq_compare_column_next(enum aq_compare_subject subject, unsigned places,
                                                const aq_compare_column *last)
{
    const aq_compare_column *column = last != NULL ? last + 1 : lists[subject].columns;
    const aq_compare_column *end = lists[subject].columns + lists[subject].count;
    while (column < end && column->places != 0 && (column->places & places) == 0) {
        column++;
    }
    return column < end ? column : NULL;
}

enum aq_compare_stored aq_compare_kind_stored(enum aq_compare_kind kind)
{
    switch (kind) {
    case AQ_KIND_RETURN:
    case AQ_KIND_TIME:
    case AQ_KIND_STEPS:
        return AQ_STORED_MEAN_CI;
    case AQ_KIND_SIZE:
        return AQ_STORED_SIZE;
    case AQ_KIND_SOURCE:
    case AQ_KIND_MISSING:
    case AQ_KIND_STATE:
        return AQ_STORED_WORDS;
    default:
        return AQ_STORED_DOUBLE;
    }
}

double aq_compare_column_value(const aq_compare_column *column, const aq_compare_row *row,
                               double *ret_ci95)
{
    const void *at = (const char *)row + column->offset;
    *ret_ci95 = NAN;
    switch (aq_compare_kind_stored(column->kind)) {
    case AQ_STORED_MEAN_CI:
        *ret_ci95 = ((const aq_mean_ci *)at)->ci95;
        return ((const aq_mean_ci *)at)->mean;
    case AQ_STORED_DOUBLE:
        return *(const double *)at;
    case AQ_STORED_SIZE:
        return (double)*(const size_t *)at;
    default:
        return NAN;
    }
}

const char *aq_compare_column_words(const aq_compare_column *column, const aq_compare_row *row)
{
    switch (column->kind) {
    case AQ_KIND_SPEEDUP:
    case AQ_KIND_MISSING:
        return row->crossing.missing;
    case AQ_KIND_SOURCE:
        return row->energy_source != NULL ? row->energy_source : "not measured";
    default:
        return NULL;
    }
}

static const char *plain_text(enum aq_compare_kind kind, double value, enum aq_compare_place place,
                              aq_figure *room)
{
    switch (kind) {
    case AQ_KIND_RETURN:
        return aq_figure_return(room, value);
    case AQ_KIND_TIME:
    case AQ_KIND_DURATION:
        return aq_figure_duration(room, value);
    case AQ_KIND_JOULES:
        return aq_figure_joules(room, value);
    case AQ_KIND_RATE:
        return aq_figure_rate(room, value);
    case AQ_KIND_NUMBER:
        (void)snprintf(room->text, sizeof(room->text), "%.3g", value);
        break;
    case AQ_KIND_AMOUNT:
    case AQ_KIND_SIZE:
        return aq_figure_number(room, value);
    case AQ_KIND_BYTES:
        return aq_figure_bytes(room, value);
    case AQ_KIND_SHARE:
        return aq_figure_share(room, value);
    case AQ_KIND_RATIO:
        (void)snprintf(room->text, sizeof(room->text), "%.2f", value);
        break;
    case AQ_KIND_TIMES:
    case AQ_KIND_SPEEDUP:
        (void)snprintf(room->text, sizeof(room->text), place == AQ_ON_PAGE ? "%.2f\u00d7" : "%.2fx",
                       value);
        break;
    default:
        return aq_figure_count(room, value);
    }
    return isfinite(value) ? room->text : "-";
}

void aq_compare_column_text(const aq_compare_column *column, const aq_compare_summary *summary,
                            const aq_compare_row *row, enum aq_compare_place place, char *out,
                            size_t size)
{
    aq_figure centre, spread;
    double ci95;
    const enum aq_compare_kind kind = column->kind;
    const double value = aq_compare_column_value(column, row, &ci95);
    const char *words = aq_compare_column_words(column, row);
    const bool is_crossing = kind == AQ_KIND_TIME || kind == AQ_KIND_STEPS;
    if (kind == AQ_KIND_STATE) {
        out[0] = '\0';
        if (aq_compare_row_has_state(summary, row)) {
            (void)aq_compare_row_state(summary, row, out, size);
        }
    } else if (kind == AQ_KIND_CROSSING || (is_crossing && !isfinite(value))) {
        (void)aq_compare_crossing_text(row, out, size);
    } else if (words == NULL && isfinite(ci95)) {
        (void)snprintf(out, size, place == AQ_ON_PAGE ? "%s \u00b1 %s" : "%s +- %s",
                       plain_text(kind, value, place, &centre),
                       plain_text(kind, ci95, place, &spread));
    } else {
        (void)snprintf(out, size, "%s",
                       words != NULL ? words : plain_text(kind, value, place, &centre));
    }
}
