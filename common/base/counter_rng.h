/*
 * Random bits without a state: Philox4x32 with ten rounds (J. K. Salmon, M. A. Moraes, R. O. Dror
 * and D. E. Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). The bits are a function of
 * a key and a counter, so whoever knows both can repeat any draw, in any order, on any machine.
 *
 * Different counters of one key give different bits. Integers only; any thread.
 */
#ifndef AQ_COMMON_BASE_COUNTER_RNG_H
#define AQ_COMMON_BASE_COUNTER_RNG_H

#include <stdint.h>

void aq_counter_bits(const uint32_t key[2], const uint32_t counter[4], uint32_t ret_bits[4]);

#endif
