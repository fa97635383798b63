/*
 * Export: a policy as one freestanding C file, for machines that cannot run the engine. C99, no
 * headers but <stdint.h>, <stddef.h> and <string.h>, no allocation, no state, no mathematics
 * library; weights in any integers, and in floats where a layer is linear; every kind of layer and
 * every head. It gives the same bits as the engine and the heads (except which NaN, where they give
 * one) under any compiler that rounds each operation, which the file's first lines see to.
 *
 *   void PREFIX_forward(const float *obs, float *out);    the network's outputs
 *   uint32_t PREFIX_act(const float *obs);                the greedy choice; discrete actions
 *   void PREFIX_act(const float *obs, int32_t *action);   the same of several choices at once
 *   void PREFIX_act(const float *obs, float *action);     the greedy action of numbers
 *   PREFIX_draw                                           of policies that draw: see docs/export.md
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_C_H
#define AQ_QUANTIZER_EXPORT_EXPORT_C_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/policy/snapshot.h"

enum { AQ_EXPORT_PREFIX_MAX = 31 };
#define AQ_EXPORT_BYTES_MAX ((size_t)1 << 28) /* of the file */

typedef struct aq_export_figures {
    size_t weights_bytes; /* of all constants, where pointers have 32 bits */
    size_t stack_bytes;   /* that a call takes for arrays of values */
} aq_export_figures;

/* Validates the snapshot and appends the file's text to `out`; on failure `out` is as before.
 * `prefix`: a letter, then letters, digits and underscores. AQ_E_INVALID for another prefix,
 * AQ_E_UNSUPPORTED for weights of another format and for bounds that an action can't be scaled to,
 * in words that say what to do; what aq_snapshot_validate refuses, AQ_E_TOO_BIG, AQ_E_NOMEM. */
int aq_export_c(const aq_snapshot *snapshot, const char *prefix, aq_buffer *out,
                aq_export_figures *ret_figures, aq_error *error) AQ_MUST_USE;

/* Likewise the header of that file, for C and C++: its functions, and the widths of its arrays as
 * macros, which begin with the prefix in capitals. */
int aq_export_c_header(const aq_snapshot *snapshot, const char *prefix, aq_buffer *out,
                       aq_error *error) AQ_MUST_USE;

#endif
