/*
 * Range method: how the range of a layer's input is found ahead of time, for static activations.
 */
#ifndef AQ_COMMON_POLICY_RANGE_METHOD_H
#define AQ_COMMON_POLICY_RANGE_METHOD_H

#include "common/base/choice.h"

#define AQ_RANGE_METHODS(X)                                                                        \
    X(AQ_RANGE_MOVING_AVERAGE, "moving-average") /* of each batch's least and greatest */          \
    X(AQ_RANGE_MIN_MAX, "min-max")               /* the least and the greatest ever seen */        \
    X(AQ_RANGE_PERCENTILE, "percentile") /* of each batch, cut at both ends; then as the average */

/* 0: ranges are not found ahead, but in each row as it comes (dynamic). */
enum aq_range_method { AQ_RANGE_NONE, AQ_RANGE_METHODS(AQ_CHOICE_CONSTANT) AQ_RANGE_METHOD_END };

#endif
