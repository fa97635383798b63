/*
 * Compare words: see compare_words.h.
 */
#include "cli/compare/compare_words.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/compare/compare_mode_words.h"
#include "cli/text/figure_text.h"
#include "common/policy/format.h"

#define FALLBACKS_NOTABLE 0.05

/* Of the time in which actors do not wait. */
static double inference_share(const aq_compare_row *row)
{
    return row->states[AQ_TIME_ACTOR_INFERENCE] /
           (row->states[AQ_TIME_ACTOR_INFERENCE] + row->states[AQ_TIME_ACTOR_ENVIRONMENT] +
            row->states[AQ_TIME_ACTOR_OTHER]);
}

static double learner_wait_share(const aq_compare_row *row)
{
    double waiting = row->states[AQ_TIME_LEARNER_WAITING];
    return waiting / (waiting + row->states[AQ_TIME_LEARNER_TRAINING] +
                      row->states[AQ_TIME_LEARNER_PUBLISHING]);
}

static void say_actors(const aq_compare_row *base, const aq_compare_row *row, aq_long_text *out)
{
    double inference = inference_share(base);
    if (!isfinite(inference) || !isfinite(row->actor_ratio)) {
        aq_long_text_add(out, " Where the actors' time went was not told, as in runs of less than "
                              "a second.");
        return;
    }
    aq_long_text_add(out,
                     " An actor that does not wait makes %.2f times the steps of %s: inference is "
                     "%.0f %% of that time in %s and %.0f %% in %s.",
                     row->actor_ratio, base->arm->name, 100 * inference, base->arm->name,
                     100 * inference_share(row), row->arm->name);
    if (row->actor_ratio >= AQ_COMPARE_NOTABLE) {
        aq_long_text_add(out, " Inference is where %s helps.", row->arm->name);
    } else if (inference < 0.5) {
        aq_long_text_add(out, " Most of it goes elsewhere, so that %s has little to gain here.",
                         row->arm->name);
    } else {
        aq_long_text_add(out,
                         " The network is too small, or this processor too quick at %s, for "
                         "%s to gain.",
                         base->arm->name, row->arm->name);
    }
}

static void say_throughput(const aq_compare_row *base, const aq_compare_row *row, aq_long_text *out)
{
    double idle = learner_wait_share(row);
    double waiting = aq_compare_actors_wait(row);
    aq_long_text_add(out, " The whole run makes %.2f times the environment steps a second of %s.",
                     row->throughput_ratio, base->arm->name);
    if (!isfinite(idle) || !isfinite(waiting)) {
        return;
    }
    aq_long_text_add(out,
                     " In it, actors wait for replay %.0f %% of their time, and the learner for "
                     "samples %.0f %% of its own",
                     100 * waiting, 100 * idle);
    if (waiting > 0.25 && waiting > idle) {
        aq_long_text_add(out, ": the learner sets the pace, and faster actors would only wait.");
    } else if (idle > 0.25) {
        aq_long_text_add(out, ": the actors set the pace, and what they gain, the run gains.");
    } else {
        aq_long_text_add(out, ": the two share the processors and keep each other busy.");
    }
}

static void say_threshold(const aq_compare_summary *summary, const aq_compare_row *base,
                          const aq_compare_row *row, aq_long_text *out)
{
    const aq_compare_crossing *its = &row->crossing, *other = &base->crossing;
    aq_figure its_time, other_time;
    if (!isfinite(summary->threshold)) {
        return;
    }
    if (its->missing == NULL) {
        aq_long_text_add(out,
                         " Its mean of %d evaluations reaches %.4g after %s instead of %s, %.2f "
                         "times as fast.",
                         AQ_RUNNING_WINDOW, summary->threshold,
                         aq_figure_duration(&its_time, its->time_s.mean),
                         aq_figure_duration(&other_time, other->time_s.mean), its->speedup);
        return;
    }
    aq_long_text_add(out,
                     " Within these limits, the mean of %d evaluations reached %.4g for %zu of %zu "
                     "seeds in %s and for %zu of %zu in %s; no speed-up is said: %s.",
                     AQ_RUNNING_WINDOW, summary->threshold, other->reached, base->finished,
                     base->arm->name, its->reached, row->finished, row->arm->name, its->missing);
}

static void say_return(const aq_compare_row *base, const aq_compare_row *row, aq_long_text *out)
{
    double difference = row->last.mean - base->last.mean;
    double half = sqrt(row->last.ci95 * row->last.ci95 + base->last.ci95 * base->last.ci95);
    if (!isfinite(difference)) {
        return;
    }
    aq_long_text_add(out, " Its return in the last tenth of the steps is %.4g, against %.4g",
                     row->last.mean, base->last.mean);
    if (!isfinite(half)) {
        aq_long_text_add(out, "; a single seed says little about the difference.");
    } else if (fabs(difference) <= half) {
        aq_long_text_add(out, ": no difference beyond what the seeds differ by (+- %.3g).", half);
    } else {
        aq_long_text_add(out, ": %s by more than what the seeds differ by (+- %.3g).",
                         difference > 0 ? "higher" : "lower", half);
    }
}

static void say_cost(const aq_compare_row *base, const aq_compare_row *row, aq_long_text *out)
{
    const double ratio = row->broadcast_ratio;
    if (isfinite(ratio)) {
        const bool is_fewer = ratio >= AQ_COMPARE_NOTABLE;
        aq_long_text_add(out, " Its policies take %.3g times %s bytes on the way to the actors.",
                         is_fewer ? ratio : 1 / ratio, is_fewer ? "fewer" : "the");
    }
    if (isfinite(row->energy_ratio)) {
        aq_figure its, other;
        aq_long_text_add(out, " The run takes %s instead of %s, %.2f times as much, by %s.",
                         aq_figure_joules(&its, row->energy_j),
                         aq_figure_joules(&other, base->energy_j), 1 / row->energy_ratio,
                         row->energy_source);
    } else {
        aq_long_text_add(out, " Energy was not measured, or not by the same means for both.");
    }
}

/* What a version in fp32 costs is in the row's figures all the same, but not what it returns. */
static void say_fallbacks(const aq_compare_row *row, aq_long_text *out)
{
    if (row->fallback_share >= FALLBACKS_NOTABLE) {
        aq_figure share;
        aq_long_text_add(out,
                         " %s of its versions went out in fp32, as quantized they changed too "
                         "much: bytes, times and energy are with those.",
                         aq_figure_share(&share, row->fallback_share));
    }
}

/* As of a network that is its last layer alone, where that stays in fp32. */
static bool plays_fp32(const aq_compare_summary *summary, const aq_compare_row *row)
{
    const aq_compare_run *runs = aq_compare_summary_runs(summary, (size_t)(row - summary->rows));
    bool is_so = row->fallback_share == 0;
    for (size_t i = 0; i < summary->plan->seeds; i++) {
        is_so = is_so && (runs[i].outcome != AQ_OUTCOME_FINISHED ||
                          strcmp(runs[i].format, aq_format_name(AQ_FORMAT_F32)) == 0);
    }
    return is_so;
}

void aq_compare_words(const aq_compare_summary *summary, aq_long_text *out)
{
    char state[512];
    if (summary->plan->request.subject == AQ_COMPARE_MODES) {
        aq_compare_mode_words(summary, out);
        return;
    }
    const aq_compare_row *base = &summary->rows[summary->baseline];
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        if (row == base && summary->plan->arm_count > 1 && base->finished > 0) {
            continue;
        }
        aq_long_text_add(out, "%s:", row->arm->name);
        if (aq_compare_row_has_state(summary, row)) {
            aq_long_text_add(out, " %s.", aq_compare_row_state(summary, row, state, sizeof(state)));
        }
        if (row->finished > 0 && base->finished > 0 && row != base && plays_fp32(summary, row)) {
            aq_long_text_add(out, " No layer of this network is quantized; both play fp32.");
        } else if (row->finished > 0 && base->finished > 0 && row != base) {
            say_actors(base, row, out);
            say_throughput(base, row, out);
            say_threshold(summary, base, row, out);
            say_return(base, row, out);
            say_cost(base, row, out);
            say_fallbacks(row, out);
        } else if (row->finished > 0) {
            aq_long_text_add(out, " there is no %s to compare it with.",
                             row != base ? base->arm->name : "other precision");
        }
        aq_long_text_add(out, "\n");
    }
}
