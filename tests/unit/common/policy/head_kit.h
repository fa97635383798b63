/*
 * Head kit: for any head, a space of actions that it can act in, so that a test of all heads needs
 * no table of them.
 */
#ifndef AQ_TESTS_UNIT_COMMON_POLICY_HEAD_KIT_H
#define AQ_TESTS_UNIT_COMMON_POLICY_HEAD_KIT_H

#include <stdbool.h>

#include "common/policy/head.h"

/* Choices, a box with a bound for each element, or one of a single element: the first that the head
 * can act in by the network's outputs. */
bool head_kit_space(uint32_t head, const aq_net_spec *spec, aq_space *ret_space);

#endif
