/*
 * Sine and cosine together, of one number or of rows of them, within 1 unit in the last place.
 *
 * Why not the C library's: it takes one number at a time, and its last bit differs from one library
 * to the next, so that the same seed would not give the same episode everywhere. These are plain
 * operations that each round once, with no branch that depends on the number, so a compiler turns
 * the loop over rows into vector code and a row's bits are those of a single call.
 *
 * No state; any thread.
 */
#ifndef AQ_ENVS_CLASSIC_SINCOS_H
#define AQ_ENVS_CLASSIC_SINCOS_H

#include <stddef.h>

/* Angles in radians. Numbers larger than 2^19 go to the C library; NaN for NaN and infinities. */
void aq_sincos(double angle, double *ret_sine, double *ret_cosine);

/* The same for angles[0 .. count), which neither output may overlap. */
void aq_sincos_rows(const double *restrict angles, size_t count, double *restrict ret_sines,
                    double *restrict ret_cosines);

#endif
