/*
 * Gaussian: one number of a normal distribution, and what heads that draw actions of such numbers
 * have in common. Deviations are given by their logarithms, and held between bounds. Beyond these
 * only the slope that leads back counts: what has come there would otherwise stay, or go on.
 *
 * The same bits everywhere. No state; any thread.
 */
#ifndef AQ_COMMON_POLICY_GAUSSIAN_H
#define AQ_COMMON_POLICY_GAUSSIAN_H

#include "common/policy/head.h"

#define AQ_LOG_DEVIATION_MIN (-5.0)
#define AQ_LOG_DEVIATION_MAX 2.0

/* Of gSDE, so that features of 0 have a density. */
#define AQ_GSDE_LEAST_VARIANCE 1e-6

typedef struct aq_gaussian {
    double mean;
    double log_deviation; /* held */
    double deviation;
    int beyond; /* -1 or 1 where it was held, by which bound; else 0 */
} aq_gaussian;

/* What a gradient is, by mean and by logarithm of the deviation. */
typedef struct aq_gaussian_slope {
    double mean, log_deviation;
} aq_gaussian_slope;

/* `slope`, along which a learner goes down, or 0 where it leads further out of the bounds. */
double aq_log_deviation_slope(double log_deviation, double slope);

/* ---- for heads ------------------------------------------------------------------------------ */

/* In what such heads differ. */
typedef struct aq_gaussian_rule {
    /* Of an action's element, from a row of outputs. Without a function, means are outputs. */
    double (*mean)(const aq_head_terms *terms, const float *outputs, uint32_t i);
    double (*log_deviation)(const aq_head_terms *terms, const float *outputs, uint32_t i);
    bool has_any_deviation; /* it is not held: what is drawn isn't either */

    /* What noise makes of the mean. NULL: noise[i] times the deviation is added. */
    double (*drawn)(const aq_head_terms *terms, const float *outputs, const float *noise,
                    uint32_t i);

    /* Brings what was drawn, or greedily the mean, to between -1 and 1, before it is spread between
     * the element's bounds. NULL: it is spread, and held there, as it is. */
    double (*squash)(double drawn);

    /* Adds what `by` is worth, `scale` times, to the gradients of outputs and arrays. */
    void (*add)(const aq_head_terms *terms, const float *outputs, uint32_t i,
                const aq_gaussian_slope *by, float scale, const aq_head_slope *slope);

    /* The same of a divergence, for heads whose `add` keeps from the outputs what their deviations
     * are made of: to a divergence nothing is constant, or it would have no second derivative to
     * go by. NULL: it is `add`. */
    void (*add_kl)(const aq_head_terms *terms, const float *outputs, uint32_t i,
                   const aq_gaussian_slope *by, float scale, const aq_head_slope *slope);

    /* What the log-density of the action is more than that of what was drawn, since the one is
     * made of the other. NULL: nothing. */
    double (*log_stretch)(double drawn);
} aq_gaussian_rule;

/* The distribution of an action's element. */
aq_gaussian aq_gaussian_element(const aq_head_terms *terms, const float *outputs, uint32_t i);

void aq_gaussian_head_act(const aq_head_terms *terms, const float *outputs, uint32_t rows,
                          void *actions);
float aq_gaussian_head_draw(const aq_head_terms *terms, const float *outputs, const float *noise,
                            void *action, float *drawn);
float aq_gaussian_head_log_prob(const aq_head_terms *terms, const float *outputs,
                                const aq_head_draw *draw);
double aq_gaussian_head_kl(const aq_head_terms *from, const float *from_outputs,
                           const aq_head_terms *to, const float *to_outputs);
double aq_gaussian_head_slopes(const aq_head_terms *terms, const float *outputs,
                               const aq_head_draw *draw, aq_head_scales scales,
                               const aq_head_slope *slope);
void aq_gaussian_head_kl_slope(const aq_head_terms *from, const float *from_outputs,
                               const aq_head_terms *to, const float *to_outputs, float scale,
                               const aq_head_slope *slope);

/* How much probability moves, at most, between distributions that far apart (Bretagnolle and Huber,
 * 1979); of 1. */
aq_head_cost aq_gaussian_head_cost(const aq_head_terms *terms, const float *exact,
                                   const float *outputs);

/* Parts of their aq_head_code. The helpers: @_normal, @_log_density(mean, log_deviation, drawn),
 * and for those whose outputs are means, @_held(log_deviation) and
 * @_drawn(mean, log_deviation, noise). */
extern const char aq_gaussian_draw_prototype[], aq_gaussian_text[], aq_gaussian_drawn_text[];

/* How their @_draw ends, which has added up log-densities to `sum`. */
#define AQ_GAUSSIAN_DRAW_END                                                                       \
    "    if (log_prob != NULL) {\n"                                                                \
    "        *log_prob = (float)sum;\n"                                                            \
    "    }\n"                                                                                      \
    "    @_scale(@_bounds, $elements, action);\n"                                                  \
    "}\n"

/* What all of them have in common of their drawing. */
#define AQ_GAUSSIAN_HEAD                                                                           \
    .noise = AQ_DRAWS_FROM_NORMAL, .draw = aq_gaussian_head_draw,                                  \
    .log_prob = aq_gaussian_head_log_prob, .kl = aq_gaussian_head_kl,                              \
    .slopes = aq_gaussian_head_slopes, .kl_slope = aq_gaussian_head_kl_slope

#endif
