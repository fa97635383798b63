/*
 * Categorical: returns as a distribution over atoms, evenly spaced values between two ends
 * (Bellemare et al., 2017). Pure; any thread.
 *
 * What comes after a step, reward + bootstrap * Z', has its atoms elsewhere: each one's probability
 * is shared between the two atoms that it falls between, by how near they are, and what lies beyond
 * the ends counts as the end. Learned is how far the network's distribution is from that, as their
 * cross entropy.
 */
#ifndef AQ_LEARNER_NN_CATEGORICAL_H
#define AQ_LEARNER_NN_CATEGORICAL_H

#include <stdint.h>

#include "common/policy/layer_spec.h"

typedef struct aq_atoms {
    uint32_t count;
    float low, high, spacing;
    float value[AQ_NET_ATOMS_MAX];
} aq_atoms;

/* `count` is 2 to AQ_NET_ATOMS_MAX, and low < high. */
void aq_atoms_init(aq_atoms *atoms, uint32_t count, float low, float high);

/* Logits to begin with: of a distribution around 0, or around the end that is nearer to it, which
 * falls by a factor of e from atom to atom. With an even one, whose tails reach from end to end, it
 * takes some ten thousand steps until the mean tells small rewards apart. */
void aq_atoms_begin(const aq_atoms *atoms, float *ret_logits);

float aq_atoms_mean(const aq_atoms *atoms, const float *probabilities);

/* The distribution of reward + bootstrap * Z' over the atoms, from that of Z'; NaN where a number
 * that goes in is not finite. */
void aq_atoms_project(const aq_atoms *atoms, float reward, float bootstrap,
                      const float *next_probabilities, float *ret_probabilities);

/* Adds how much of that distribution lies below the first atom, and above the last, by more than
 * rounding: what counts as the ends. */
void aq_atoms_add_beyond(const aq_atoms *atoms, float reward, float bootstrap,
                         const float *next_probabilities, double *below, double *above);

/* - sum of target * log(probabilities), where `probabilities` is the softmax of `logits`. The
 * gradient with respect to the logits is probabilities - target. */
double aq_atoms_cross_entropy(const aq_atoms *atoms, const float *logits,
                              const float *probabilities, const float *target);

#endif
