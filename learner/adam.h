/*
 * Adam (Kingma and Ba, 2015), with bias correction, over one flat block, fused into one pass; and
 * the clipping of a gradient by its norm.
 */
#ifndef AQ_LEARNER_ADAM_H
#define AQ_LEARNER_ADAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct aq_adam {
    float learning_rate, beta1, beta2, epsilon;
    uint64_t step;
    float *m, *v; /* lent; `count` floats each */
} aq_adam;

/* sqrt(sum g^2), summed in double. NaN or infinite when an element is. */
double aq_gradient_norm(const float *gradient, size_t count);

/* parameters -= lr * mhat / (sqrt(vhat) + epsilon), with g scaled by gradient_scale first. */
void aq_adam_step(aq_adam *adam, float *parameters, const float *gradient, size_t count,
                  float gradient_scale);

#endif
