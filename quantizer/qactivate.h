/*
 * Activation functions of the engine, for every rung the same code and the same bits: plain C that
 * compilers vectorize, built without any processor's flags, and no mathematics library, whose
 * results differ between its versions and between processors.
 *
 * Within AQ_QACTIVATE_ULP units in the last place of the exact tanh and expm1. NaN stays NaN.
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_QACTIVATE_H
#define AQ_QUANTIZER_QACTIVATE_H

#include <stddef.h>
#include <stdint.h>

#define AQ_QACTIVATE_ULP 3

/* values (rows, count), stride floats from row to row, in place. `activation` is one of
 * enum aq_activation; ReLU is the kernels' and, like none, leaves the values alone. */
void aq_qactivate(uint32_t activation, float *values, size_t rows, size_t count, size_t stride);

#endif
