/*
 * Gradient codes: how formats that round store gradients. By buckets, a number is a level times its
 * bucket's unit; a level has a code. What rounding leaves over is kept by whoever rounded, and
 * given the next time (error feedback).
 *
 *   bf16   unit 1, sixteen bits of the number
 *   int8   unit = the greatest size in the bucket / 127, code = round(number / unit)
 *
 * Any thread; no state.
 */
#ifndef AQ_LEARNER_GRADIENTS_GRADIENT_CODES_H
#define AQ_LEARNER_GRADIENTS_GRADIENT_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/config/gradient_rows.h"

size_t aq_gradient_code_bytes(enum aq_gradient_format format); /* of one number; also of fp32 */

/* As bits, sizes are in the same order, and a NaN is the greatest. */
float aq_gradient_greatest(const float *values, size_t count);

/* Of a bucket whose greatest size is that; 0: it is nothing, as no number could be divided by its
 * unit. */
float aq_gradient_unit(enum aq_gradient_format format, float greatest);

/* Codes of a bucket's values, which become what the codes leave over. */
void aq_gradient_bucket_pack(enum aq_gradient_format format, float unit, float *values,
                             size_t count, uint8_t *codes);

/* And back: levels times the unit. */
void aq_gradient_bucket_unpack(enum aq_gradient_format format, float unit, const uint8_t *codes,
                               size_t count, float *ret_values);

/* A whole gradient of finite numbers into aq_gradient_bytes, aligned for floats: of int8 the units
 * come first. The residual is added before and is what is left over afterwards; fp32 has none. */
void aq_gradient_pack(enum aq_gradient_format format, const float *gradient, size_t count,
                      float *residual, uint8_t *packed);

/* And back. AQ_E_CORRUPT when a number is not finite. */
int aq_gradient_unpack(enum aq_gradient_format format, const uint8_t *packed, size_t count,
                       float *gradient) AQ_MUST_USE;

#endif
