/*
 * Sobol's sequence: points that fill a cube more evenly than chance does. With I. Sobol's
 * recurrence and the direction numbers of S. Joe and F. Kuo, "Constructing Sobol sequences with
 * better two-dimensional projections" (2008), shifted by the seed's digits, which keeps it as even.
 * A pure function.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_SOBOL_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_SOBOL_H

#include <stddef.h>
#include <stdint.h>

/* Coordinates of point `index`, `count` <= AQ_SWEEP_DIMS_MAX of them, each in [0, 1). */
void aq_sweep_sobol(uint64_t seed, uint32_t index, size_t count, double *out);

#endif
