/*
 * Gaussian: see gaussian.h.
 */
#include "common/policy/gaussian.h"

#include <math.h>

#include "common/base/exact_math.h"

#define HALF_LOG_TWO_PI 0.91893853320467274178

static int beyond(double log_deviation)
{
    return !(log_deviation >= AQ_LOG_DEVIATION_MIN) ? -1 : log_deviation > AQ_LOG_DEVIATION_MAX;
}

static aq_gaussian gaussian_of(double mean, double log_deviation, int beyond_by)
{
    aq_gaussian made = {
        .mean = mean,
        .log_deviation = beyond_by < 0   ? AQ_LOG_DEVIATION_MIN
                         : beyond_by > 0 ? AQ_LOG_DEVIATION_MAX
                                         : log_deviation,
        .beyond = beyond_by,
    };
    made.deviation = aq_exact_exp(made.log_deviation);
    return made;
}

static double leading_back(int beyond_by, double slope)
{
    const bool leads_on = beyond_by < 0 ? slope > 0.0 : beyond_by > 0 && slope < 0.0;
    return leads_on ? 0.0 : slope;
}

double aq_log_deviation_slope(double log_deviation, double slope)
{
    return leading_back(beyond(log_deviation), slope);
}

static double log_density_of(const aq_gaussian *of, double at)
{
    const double z = (at - of->mean) / of->deviation;
    return -0.5 * z * z - of->log_deviation - HALF_LOG_TWO_PI;
}

static double entropy_of(const aq_gaussian *of)
{
    return 0.5 + HALF_LOG_TWO_PI + of->log_deviation;
}

static double kl_of(const aq_gaussian *from, const aq_gaussian *to)
{
    const double ratio = from->deviation / to->deviation;
    const double apart = (from->mean - to->mean) / to->deviation;
    return to->log_deviation - from->log_deviation + 0.5 * (ratio * ratio + apart * apart - 1.0);
}

static aq_gaussian_slope log_density_slope_of(const aq_gaussian *of, double at)
{
    const double z = (at - of->mean) / of->deviation;
    return (aq_gaussian_slope){z / of->deviation, z * z - 1.0};
}

static aq_gaussian_slope kl_slope_of(const aq_gaussian *from, const aq_gaussian *to)
{
    const double ratio = from->deviation / to->deviation;
    const double apart = (to->mean - from->mean) / to->deviation;
    return (aq_gaussian_slope){apart / to->deviation,
                               to->beyond == 0 ? 1.0 - ratio * ratio - apart * apart : 0.0};
}

/* ---- for heads ------------------------------------------------------------------------------ */

static const aq_gaussian_rule *rule_of(const aq_head_terms *terms)
{
    return terms->head->drawing->gaussian;
}

static double mean_of(const aq_head_terms *terms, const float *outputs, uint32_t i)
{
    const aq_gaussian_rule *rule = rule_of(terms);
    return rule->mean != NULL ? rule->mean(terms, outputs, i) : (double)outputs[i];
}

aq_gaussian aq_gaussian_element(const aq_head_terms *terms, const float *outputs, uint32_t i)
{
    const aq_gaussian_rule *rule = rule_of(terms);
    const double log_deviation = rule->log_deviation(terms, outputs, i);
    return gaussian_of(mean_of(terms, outputs, i), log_deviation,
                       rule->has_any_deviation ? 0 : beyond(log_deviation));
}

/* The action's element, of what was drawn for it. */
static float placed(const aq_head_terms *terms, uint32_t i, float drawn)
{
    const aq_gaussian_rule *rule = rule_of(terms);
    return aq_head_spread(terms->action, i,
                          rule->squash != NULL ? (float)rule->squash((double)drawn) : drawn);
}

void aq_gaussian_head_act(const aq_head_terms *terms, const float *outputs, uint32_t rows,
                          void *actions)
{
    const uint32_t count = aq_head_elements(terms);
    float *elements = actions;
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t i = 0; i < count; i++) {
            const double mean = mean_of(terms, outputs + row * terms->width, i);
            elements[row * count + i] = placed(terms, i, (float)mean);
        }
    }
}

static double noisy(const aq_head_terms *terms, const float *outputs, const float *noise,
                    uint32_t i)
{
    const aq_gaussian of = aq_gaussian_element(terms, outputs, i);
    return of.mean + of.deviation * (double)noise[i];
}

float aq_gaussian_head_draw(const aq_head_terms *terms, const float *outputs, const float *noise,
                            void *action, float *drawn)
{
    const aq_gaussian_rule *rule = rule_of(terms);
    float *elements = action;
    for (uint32_t i = 0; i < aq_head_elements(terms); i++) {
        drawn[i] = (float)(rule->drawn != NULL ? rule->drawn : noisy)(terms, outputs, noise, i);
        elements[i] = placed(terms, i, drawn[i]);
    }
    return aq_gaussian_head_log_prob(terms, outputs, &(aq_head_draw){action, drawn});
}

float aq_gaussian_head_log_prob(const aq_head_terms *terms, const float *outputs,
                                const aq_head_draw *draw)
{
    const aq_gaussian_rule *rule = rule_of(terms);
    double sum = 0.0;
    for (uint32_t i = 0; i < aq_head_elements(terms); i++) {
        const aq_gaussian of = aq_gaussian_element(terms, outputs, i);
        const double drawn = (double)draw->drawn[i];
        sum += log_density_of(&of, drawn);
        sum += rule->log_stretch != NULL ? rule->log_stretch(drawn) : 0.0;
    }
    return (float)sum;
}

double aq_gaussian_head_kl(const aq_head_terms *from, const float *from_outputs,
                           const aq_head_terms *to, const float *to_outputs)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < aq_head_elements(from); i++) {
        const aq_gaussian before = aq_gaussian_element(from, from_outputs, i);
        const aq_gaussian after = aq_gaussian_element(to, to_outputs, i);
        sum += kl_of(&before, &after);
    }
    return sum < 0.0 ? 0.0 : sum; /* by rounding; NaN stays */
}

double aq_gaussian_head_slopes(const aq_head_terms *terms, const float *outputs,
                               const aq_head_draw *draw, aq_head_scales scales,
                               const aq_head_slope *slope)
{
    const aq_gaussian_rule *rule = rule_of(terms);
    const double times = (double)scales.log_prob;
    double entropy = 0.0;
    for (uint32_t i = 0; i < aq_head_elements(terms); i++) {
        const aq_gaussian of = aq_gaussian_element(terms, outputs, i);
        const aq_gaussian_slope log_density = log_density_slope_of(&of, (double)draw->drawn[i]);
        const aq_gaussian_slope by = {
            .mean = times * log_density.mean,
            .log_deviation =
                leading_back(of.beyond, times * log_density.log_deviation + (double)scales.entropy),
        };
        rule->add(terms, outputs, i, &by, 1.0f, slope);
        entropy += entropy_of(&of);
    }
    return entropy;
}

void aq_gaussian_head_kl_slope(const aq_head_terms *from, const float *from_outputs,
                               const aq_head_terms *to, const float *to_outputs, float scale,
                               const aq_head_slope *slope)
{
    const aq_gaussian_rule *rule = rule_of(to);
    for (uint32_t i = 0; i < aq_head_elements(from); i++) {
        const aq_gaussian before = aq_gaussian_element(from, from_outputs, i);
        const aq_gaussian after = aq_gaussian_element(to, to_outputs, i);
        const aq_gaussian_slope by = kl_slope_of(&before, &after);
        (rule->add_kl != NULL ? rule->add_kl : rule->add)(to, to_outputs, i, &by, scale, slope);
    }
}

aq_head_cost aq_gaussian_head_cost(const aq_head_terms *terms, const float *exact,
                                   const float *outputs)
{
    const double kl = aq_gaussian_head_kl(terms, exact, terms, outputs);
    return (aq_head_cost){kl > 0.0 ? sqrt(1.0 - aq_exact_exp(-kl)) : 0.0, 1.0};
}

/* ---- as exported ---------------------------------------------------------------------------- */

/* clang-format off */
const char aq_gaussian_draw_prototype[] =
    "\n"
    "/* A standard normal number of 128 random bits. */\n"
    "float @_normal(const uint32_t words[4]);\n"
    "\n"
    "/* action[$elements], drawn by noise[$noise] of standard normal numbers, as actors draw it.\n"
    "   *log_prob, unless it is NULL, becomes the logarithm of its probability density. */\n"
    "void @_draw(const float *obs, const float *noise, float *action, float *log_prob);\n";

const char aq_gaussian_text[] =
    "\n"
    "float @_normal(const uint32_t words[4])\n"
    "{\n"
    "    return (float)@_exact_normal((uint64_t)words[1] << 32 | words[0],\n"
    "                                 (uint64_t)words[3] << 32 | words[2]);\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static double @_log_density(double mean, double log_deviation, float drawn)\n"
    "{\n"
    "    const double z = ((double)drawn - mean) / @_exact_exp(log_deviation);\n"
    "    return -0.5 * z * z - log_deviation - 0.91893853320467274178;\n"
    "}\n";

const char aq_gaussian_drawn_text[] =
    "\n"
    "/* Log-deviations are held between -5 and 2. */\n"
    "static double @_held(float log_deviation)\n"
    "{\n"
    "    return !(log_deviation >= -5.0f)  ? -5.0\n"
    "           : log_deviation > 2.0f ? 2.0\n"
    "                                  : (double)log_deviation;\n"
    "}\n"
    "\n"
    "@_APART\n"
    "static float @_drawn(double mean, double log_deviation, float noise)\n"
    "{\n"
    "    return (float)(mean + @_exact_exp(log_deviation) * (double)noise);\n"
    "}\n";
/* clang-format on */
