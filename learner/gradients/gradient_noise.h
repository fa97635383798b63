/*
 * Gradient noise: how much of a gradient is chance. Now and then it looks at some gradients in a
 * row, g_1 to g_K, each a mean over B rows. With m their mean and s the mean of their squared
 * lengths,
 *
 *   d = (K |m|^2 - s) / (K - 1)      the mean product of two of them: |G|^2 without bias
 *   scale = B (s - d) / d            rows: the simple noise scale tr(S) / |G|^2 of McCandlish
 *                                    et al. (2018); S is the covariance of one row's gradient
 *   cosine = d / sqrt(s (d + (s - d) / (K - 1)))
 *                                    of a gradient with the mean of the others
 *
 * s and d are means over the last looks. Parameters move between the K steps: a step along the
 * chance of one gradient makes the next one point back, so that what they have in common seems less
 * than it is, and the noise more; where steps are large, d is below 0 and there is no scale at all.
 * Rows that come more than once within a look are not the independent ones that all this is about.
 * It reads gradients and changes none. One thread at a time.
 */
#ifndef AQ_LEARNER_GRADIENTS_GRADIENT_NOISE_H
#define AQ_LEARNER_GRADIENTS_GRADIENT_NOISE_H

#include <stddef.h>

#include "common/base/error.h"

/* So many gradients are looked at of so many. */
enum { AQ_NOISE_LOOK = 16, AQ_NOISE_PERIOD = 128 };

typedef struct aq_gradient_noise aq_gradient_noise;

/* NaN until there was a look. */
typedef struct aq_noise_figures {
    double scale;  /* NaN where chance is all that was seen (d <= 0) */
    double cosine; /* near 0 there, or below it */
} aq_noise_figures;

/* Of gradients of `count` parameters. AQ_E_NOMEM. */
int aq_gradient_noise_create(size_t count, aq_gradient_noise **ret_noise) AQ_MUST_USE;
void aq_gradient_noise_destroy(aq_gradient_noise *noise); /* NULL is fine */

/* The next gradient, a mean over `rows`. A look with one that is not finite counts for nothing. */
void aq_gradient_noise_take(aq_gradient_noise *noise, const float *gradient, double rows);

aq_noise_figures aq_gradient_noise_figures(const aq_gradient_noise *noise); /* of NULL: NaN */

#endif
