/*
 * Functions of a double that give the same bits on every machine, whatever its mathematics library:
 * what a draw and its probability are computed with where another processor has to find the same
 * numbers. They use additions, multiplications, divisions and square roots, each rounded once (the
 * build contracts none), and no table.
 *
 * Largest error seen in units in the last place, over the ranges of test_exact_math.c, against
 * glibc's functions of long double:
 *
 *   exp 1.0   log 1.0   tanh 2.5   softplus 1.9   normal 3.2
 *
 * A NaN that is passed in comes back. The processor must round to nearest and must not flush
 * subnormal numbers to zero, which is what every process starts with. Any thread.
 */
#ifndef AQ_COMMON_BASE_EXACT_MATH_H
#define AQ_COMMON_BASE_EXACT_MATH_H

#include <stdint.h>

double aq_exact_exp(double x);

/* -infinity at zero, NaN below it. */
double aq_exact_log(double x);

double aq_exact_tanh(double x);

/* log(1 + exp(x)); the logarithm of a logistic function is -aq_exact_softplus(-x). */
double aq_exact_softplus(double x);

/* log of the sum of exp(values); count > 0 */
double aq_exact_log_sum_exp(const float *values, uint32_t count);

/* A standard normal number from 128 random bits, by Box and Muller's transform of the upper 53 of
 * both: u = (a + 1) / 2^53, v = b / 2^53, sqrt(-2 log u) cos(2 pi v). At most 8.6 from zero. */
double aq_exact_normal(uint64_t bits_a, uint64_t bits_b);

#endif
