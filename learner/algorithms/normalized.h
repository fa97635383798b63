/*
 * Normalized: any algorithm, on normalized observations. It stands between the trainer and the
 * algorithm: batches go in normalized by what was trained on so far, and the policy comes out as
 * one for observations as they are (obs_normalizer.h), so that actors, evaluators and exported
 * policies know nothing of it, and what they run is frozen with each version.
 */
#ifndef AQ_LEARNER_ALGORITHMS_NORMALIZED_H
#define AQ_LEARNER_ALGORITHMS_NORMALIZED_H

#include "learner/algorithms/algorithm.h"

/* The class around `inner`, whose instances are made for configurations of that algorithm; `inner`
 * is one of aq_algorithm_at. Its create refuses, beside what the algorithm does, observations that
 * are not floats and networks that don't begin with a linear layer: AQ_E_UNSUPPORTED. */
aq_algorithm_class aq_normalized_class(const aq_algorithm_class *inner);

#endif
