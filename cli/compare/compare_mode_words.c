/*
 * Compare mode words: see compare_mode_words.h.
 */
#include "cli/compare/compare_mode_words.h"

#include <math.h>

#include "cli/text/figure_text.h"

#define WAITS_MUCH   0.25
#define WAITS_LITTLE 0.1

/* The cosine of a gradient with the mean of 15 others where its noise is as large as what they have
 * in common: 1 / sqrt(2 (1 + 1 / 15)). */
#define EVEN_COSINE 0.685

enum { FLAGS_BYTES = 256, STATE_BYTES = 512 };

/* ---- what each was -------------------------------------------------------------------------- */

static void say_arms(const aq_compare_summary *summary, aq_long_text *out)
{
    char flags[FLAGS_BYTES], state[STATE_BYTES];
    for (size_t i = 0; i < summary->plan->arm_count; i++) {
        const aq_compare_row *row = &summary->rows[i];
        aq_long_text_add(out, "%s is actorq train%s.", row->arm->name,
                         aq_compare_arm_flags(row->arm, flags, sizeof(flags)));
        if (aq_compare_row_has_state(summary, row)) {
            aq_long_text_add(out, " %s.", aq_compare_row_state(summary, row, state, sizeof(state)));
        }
        aq_long_text_add(out, "\n");
    }
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* Modes that were asked for and finished, but for the baseline; NULL after the last. */
static const aq_compare_row *next_row(const aq_compare_summary *summary, size_t *at)
{
    while (*at < summary->plan->request.name_count) {
        const aq_compare_row *row = &summary->rows[(*at)++];
        if (row != &summary->rows[summary->baseline] && row->finished > 0) {
            return row;
        }
    }
    return NULL;
}

enum verdict { UNKNOWN, ALIKE, LESS, MORE };

/* Of the first beside the second, by the intervals over seeds. */
static enum verdict judge(const aq_mean_ci *mean, const aq_mean_ci *other)
{
    const double half = sqrt(mean->ci95 * mean->ci95 + other->ci95 * other->ci95);
    const double apart = mean->mean - other->mean;
    return !isfinite(apart) || !isfinite(half) ? UNKNOWN
           : fabs(apart) <= half               ? ALIKE
           : apart < 0                         ? LESS
                                               : MORE;
}

static const char *ratio_words(double ratio)
{
    return ratio >= AQ_COMPARE_NOTABLE       ? "more"
           : ratio <= 1 / AQ_COMPARE_NOTABLE ? "fewer"
                                             : "about as many";
}

/* ---- the questions -------------------------------------------------------------------------- */

static void say_scaling(const aq_compare_summary *summary, aq_long_text *out)
{
    const aq_compare_row *base = &summary->rows[summary->baseline], *row;
    aq_figure steps, updates;
    size_t at = 0;
    aq_long_text_add(out,
                     "Scalability and efficiency: %s makes %s environment steps and %s updates a "
                     "second",
                     base->arm->name, aq_figure_count(&steps, base->env_steps_per_s),
                     aq_figure_count(&updates, base->learner_steps_per_s));
    if (isfinite(base->efficiency)) {
        aq_long_text_add(out, ", with an efficiency of %.2f over one learner with one actor",
                         base->efficiency);
    }
    aq_long_text_add(out, ".");
    while ((row = next_row(summary, &at)) != NULL) {
        const double ratio = row->env_steps_per_s / base->env_steps_per_s;
        aq_long_text_add(out, " %s makes %.2f times the steps (%s) and %.2f times the updates",
                         row->arm->name, ratio, ratio_words(ratio),
                         row->learner_steps_per_s / base->learner_steps_per_s);
        if (isfinite(row->efficiency)) {
            aq_long_text_add(out, ", with an efficiency of %.2f", row->efficiency);
        }
        aq_long_text_add(out, ".");
    }
    if (!isfinite(base->efficiency)) {
        aq_long_text_add(out, " One learner with one actor was not run (--scaling 1): no "
                              "efficiency was measured.");
    }
    aq_long_text_add(out, "\n");
}

static void say_steps(const aq_compare_row *base, const aq_compare_row *row, aq_long_text *out)
{
    const double steps = row->crossing.env_steps.mean / base->crossing.env_steps.mean;
    const double time = row->crossing.time_s.mean / base->crossing.time_s.mean;
    if (!isfinite(steps)) {
        aq_long_text_add(out,
                         " %s reached the score for %zu of %zu seeds, %s for %zu of %zu: no "
                         "times are compared.",
                         row->arm->name, row->crossing.reached, row->finished, base->arm->name,
                         base->crossing.reached, base->finished);
        return;
    }
    const enum verdict by_steps = judge(&row->crossing.env_steps, &base->crossing.env_steps);
    const enum verdict by_time = judge(&row->crossing.time_s, &base->crossing.time_s);
    aq_long_text_add(out,
                     " To the score %s takes %.2f times the steps and %.2f times the time of "
                     "%s",
                     row->arm->name, steps, time, base->arm->name);
    if (by_steps == UNKNOWN) {
        aq_long_text_add(out, "; one seed does not tell whether by chance.");
    } else if (by_steps == ALIKE && by_time == ALIKE) {
        aq_long_text_add(out, ": neither is beyond what seeds differ by, so these figures do not "
                              "tell the two apart.");
    } else if (by_steps == ALIKE) {
        aq_long_text_add(out, ": %s by throughput, as the steps are alike.",
                         by_time == LESS ? "faster" : "slower");
    } else if (by_time == ALIKE) {
        aq_long_text_add(out, ": it learns %s from a step, and its time is alike all the same.",
                         by_steps == LESS ? "more" : "less");
    } else {
        aq_long_text_add(out, ": it learns %s from a step, and is %s.",
                         by_steps == LESS ? "more" : "less", by_time == LESS ? "faster" : "slower");
    }
}

static void say_end(const aq_compare_row *row, aq_long_text *out)
{
    if (!isfinite(row->last.mean)) {
        aq_long_text_add(out, " was not evaluated for each seed");
        return;
    }
    aq_long_text_add(out, " ends at %.4g", row->last.mean);
    if (isfinite(row->last.std)) {
        aq_long_text_add(out, " with a deviation of %.3g over seeds", row->last.std);
    }
}

static void say_convergence(const aq_compare_summary *summary, aq_long_text *out)
{
    static const char *const words[] = {[UNKNOWN] = "which one seed cannot compare",
                                        [ALIKE] = "no difference beyond the seeds'",
                                        [LESS] = "lower by more than the seeds differ",
                                        [MORE] = "higher by more than the seeds differ"};
    const aq_compare_row *base = &summary->rows[summary->baseline], *row;
    size_t at = 0;
    aq_long_text_add(out, "Convergence and stability: %s", base->arm->name);
    say_end(base, out);
    aq_long_text_add(out, ".");
    while ((row = next_row(summary, &at)) != NULL) {
        say_steps(base, row, out);
        aq_long_text_add(out, " It");
        say_end(row, out);
        aq_long_text_add(out, ", %s.",
                         isfinite(row->last.mean - base->last.mean)
                             ? words[judge(&row->last, &base->last)]
                             : "and the two are not compared");
        if (isfinite(row->staleness)) {
            aq_long_text_add(out, " What it learns from is %.3g versions behind.", row->staleness);
        }
    }
    aq_long_text_add(out, "\n");
}

/* Short runs do not tell where their time went. */
static void say_use(const aq_compare_row *row, aq_long_text *out)
{
    aq_figure waits, bytes, share;
    const double all = row->edge_bytes[AQ_EDGE_EXPERIENCE] + row->edge_bytes[AQ_EDGE_POLICY] +
                       row->edge_bytes[AQ_EDGE_GRADIENTS];
    aq_long_text_add(out, " %s:", row->arm->name);
    if (isfinite(row->waiting_share)) {
        aq_long_text_add(out, " the learner waits %s of its time;",
                         aq_figure_share(&waits, row->waiting_share));
    }
    if (isfinite(row->update_bytes)) {
        aq_long_text_add(out, " an update moves %s, of which gradients are %s;",
                         aq_figure_bytes(&bytes, row->update_bytes),
                         aq_figure_share(&share, row->edge_bytes[AQ_EDGE_GRADIENTS] / all));
    }
    aq_long_text_add(out, " the run takes %s s of processors",
                     aq_figure_number(&waits, row->role_cpu_s[0] + row->role_cpu_s[1] +
                                                  row->role_cpu_s[2] + row->role_cpu_s[3]));
}

static void say_resources(const aq_compare_summary *summary, aq_long_text *out)
{
    const aq_compare_row *base = &summary->rows[summary->baseline], *row;
    size_t at = 0;
    aq_long_text_add(out, "Use of resources:");
    say_use(base, out);
    aq_long_text_add(out, ".");
    while ((row = next_row(summary, &at)) != NULL) {
        say_use(row, out);
        if (isfinite(row->energy_ratio)) {
            aq_long_text_add(out, ", and %.2f times the energy", 1 / row->energy_ratio);
        }
        aq_long_text_add(out, ".");
    }
    aq_long_text_add(out, "\n");
}

static void say_batch(const aq_compare_row *row, aq_long_text *out)
{
    if (row->arm->mode == AQ_MODE_MODEL || row->arm->learners <= 1 ||
        !isfinite(row->gradient_cosine)) {
        return;
    }
    aq_long_text_add(out, " Its gradients have a cosine of %.2g with those beside them: %s.",
                     row->gradient_cosine,
                     row->gradient_cosine <= 0
                         ? "one step undoes the other, so smaller steps or more ranks would help"
                     : row->gradient_cosine < EVEN_COSINE
                         ? "most of each is still chance, so more ranks would make it better"
                         : "little of each is chance, so more ranks would not make it better");
}

/* Who waits for whom with one learner; NaN, of short runs, says nothing. */
static void say_pace(const aq_compare_row *base, aq_long_text *out)
{
    const double actors = aq_compare_actors_wait(base);
    const double learner = base->waiting_share;
    if (base->arm->learners > 1) { /* ranks wait for each other as well */
        return;
    }
    if (learner > WAITS_MUCH && actors < learner) {
        aq_long_text_add(out,
                         " the learner of %s waits more than its actors: they set the pace here, "
                         "and more experience in parallel would make it faster.",
                         base->arm->name);
    } else if (learner < WAITS_LITTLE) {
        aq_long_text_add(out,
                         " the learner of %s hardly waits: it sets the pace here, and more actors "
                         "would wait for it; ranks or gradients of actors take work off it.",
                         base->arm->name);
    } else if (isfinite(learner) && isfinite(actors)) {
        aq_long_text_add(out,
                         " actors and learner of %s wait for each other, replay and processors.",
                         base->arm->name);
    }
}

static void say_suits(const aq_compare_summary *summary, aq_long_text *out)
{
    const aq_compare_row *base = &summary->rows[summary->baseline], *row;
    size_t at = 0;
    aq_long_text_add(out, "Which problems each suits:");
    say_pace(base, out);
    while ((row = next_row(summary, &at)) != NULL) {
        const enum verdict by_time = judge(&row->crossing.time_s, &base->crossing.time_s);
        aq_long_text_add(out, " %s: %s.", row->arm->name,
                         by_time == LESS ? "suits this one, as it reaches the score sooner"
                         : by_time == MORE
                             ? "does not suit this one, as it reaches the score later"
                             : "these figures do not say that it suits this one better "
                               "or worse");
        say_batch(row, out);
        if (row->arm->learners > 1 && row->waiting_share > WAITS_MUCH) {
            aq_long_text_add(out,
                             " It waits %.0f %% of its time: larger networks or batches would "
                             "give it more to do.",
                             100 * row->waiting_share);
        }
    }
    aq_long_text_add(out, "\n");
}

void aq_compare_mode_words(const aq_compare_summary *summary, aq_long_text *out)
{
    say_arms(summary, out);
    if (summary->rows[summary->baseline].finished == 0) {
        aq_long_text_add(out, "No run of %s finished, so there is nothing to compare with.\n",
                         summary->plan->arms[summary->baseline].name);
        return;
    }
    say_scaling(summary, out);
    say_convergence(summary, out);
    say_resources(summary, out);
    say_suits(summary, out);
}
