/*
 * Head kit: for any head, a space of actions that it can act in, and the arrays that it wants of a
 * network, so that a test of all heads needs no table of them.
 */
#ifndef AQ_TESTS_UNIT_COMMON_POLICY_HEAD_KIT_H
#define AQ_TESTS_UNIT_COMMON_POLICY_HEAD_KIT_H

#include <stdbool.h>

#include "common/policy/head.h"

/* What tests go through: each head by its number, and behind them each once more for actions of
 * several choices at once. */
enum { HEAD_KIT_ROW = AQ_HEADS_END, HEAD_KIT_END = 2 * AQ_HEADS_END };

static inline uint32_t head_kit_number(uint32_t kind)
{
    return kind % HEAD_KIT_ROW;
}

/* Choices, or a box with a bound for each element, of one, of half as many elements as there are
 * outputs, or of all: the first that the head can act in by the network's outputs, to which the
 * arrays are added that it needs. Of the kinds from HEAD_KIT_ROW on two choices, which share the
 * outputs. False: it cannot. */
bool head_kit_fit(uint32_t kind, aq_net_spec *spec, aq_space *ret_space);

#endif
