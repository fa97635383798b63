/*
 * Gradient noise: see gradient_noise.h. Of the gradients of a look their sum is kept alone.
 */
#include "learner/gradients/gradient_noise.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "common/base/memory.h"
#include "learner/nn/passes.h"

/* Looks whose mean is told: older ones fade. */
enum { LOOKS = 32 };

struct aq_gradient_noise {
    size_t count;
    uint64_t taken; /* gradients, of all looks and between them */
    uint64_t looks;
    float *sum;                       /* (count), of the look at hand */
    double squares, rows;             /* likewise */
    double square_mean, product_mean; /* s and d */
    double row_mean;                  /* B */
};

int aq_gradient_noise_create(size_t count, aq_gradient_noise **ret_noise)
{
    aq_gradient_noise *noise = aq_alloc(1, sizeof(*noise));
    if (noise == NULL) {
        return AQ_E_NOMEM;
    }
    *noise = (aq_gradient_noise){.count = count};
    noise->sum = aq_alloc_large(count, sizeof(*noise->sum));
    if (noise->sum == NULL) {
        aq_free(noise);
        return AQ_E_NOMEM;
    }
    *ret_noise = noise;
    return 0;
}

void aq_gradient_noise_destroy(aq_gradient_noise *noise)
{
    if (noise != NULL) {
        aq_free(noise->sum);
        aq_free(noise);
    }
}

static void end_look(aq_gradient_noise *noise)
{
    const double squares = noise->squares / AQ_NOISE_LOOK;
    const double of_sum = aq_passes_best()->sum_squares(noise->sum, noise->count);
    const double product = (of_sum / AQ_NOISE_LOOK - squares) / (AQ_NOISE_LOOK - 1);
    if (!isfinite(squares) || !isfinite(product)) {
        return;
    }
    noise->looks++;
    const double share = 1.0 / (double)(noise->looks < LOOKS ? noise->looks : LOOKS);
    noise->square_mean += share * (squares - noise->square_mean);
    noise->product_mean += share * (product - noise->product_mean);
    noise->row_mean += share * (noise->rows / AQ_NOISE_LOOK - noise->row_mean);
}

void aq_gradient_noise_take(aq_gradient_noise *noise, const float *gradient, double rows)
{
    const uint64_t at = noise->taken++ % AQ_NOISE_PERIOD;
    if (at >= AQ_NOISE_LOOK) {
        return;
    }
    if (at == 0) {
        memcpy(noise->sum, gradient, noise->count * sizeof(*gradient));
        noise->squares = noise->rows = 0;
    } else {
        aq_passes_best()->add(noise->sum, gradient, noise->count);
    }
    noise->squares += aq_passes_best()->sum_squares(gradient, noise->count);
    noise->rows += rows;
    if (at == AQ_NOISE_LOOK - 1) {
        end_look(noise);
    }
}

aq_noise_figures aq_gradient_noise_figures(const aq_gradient_noise *noise)
{
    if (noise == NULL || noise->looks == 0) {
        return (aq_noise_figures){.scale = NAN, .cosine = NAN};
    }
    const double s = noise->square_mean, d = noise->product_mean;
    const double others = d + (s - d) / (AQ_NOISE_LOOK - 1);
    return (aq_noise_figures){.scale = d > 0 ? noise->row_mean * (s - d) / d : (double)NAN,
                              .cosine = others > 0 ? d / sqrt(s * others) : (double)NAN};
}
