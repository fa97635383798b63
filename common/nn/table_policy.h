/*
 * Table policy: what a table of values, the weights of a linear layer on one-hot states, is as a
 * policy. Not the values, but 1 for the greedy action of each state, and for the others how far
 * they fall short of it, as a share of what the worst one does, from 0 down to -1. No choice
 * depends on more. In int8 the values of one action would share a scale, and a cliff worth -100 in
 * one state round away the differences of all others. This way actors choose in any format, down
 * to two bits, what they would in fp32, in every state.
 */
#ifndef AQ_COMMON_NN_TABLE_POLICY_H
#define AQ_COMMON_NN_TABLE_POLICY_H

#include <stdint.h>

/* (actions, states) to (actions, states), which may be the same. */
void aq_table_policy(uint32_t actions, uint32_t states, const float *values, float *policy);

#endif
