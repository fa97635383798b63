/*
 * Finite: the scan that every float from a peer goes through before it is believed. One NaN in a
 * weight or a reward would spread to the whole policy, so nothing is sampled, none is skipped.
 *
 * Any thread.
 */
#ifndef AQ_COMMON_EXPERIENCE_FINITE_H
#define AQ_COMMON_EXPERIENCE_FINITE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/experience/schema.h"

enum { AQ_ROW_FAULT_MAX = 96 };

/* Index of the first of `count` floats that is NaN or infinite; `count` when there is none. The
 * floats may lie at any alignment, as those of a message do. */
size_t aq_find_nonfinite(const void *values, size_t count);

/* Whether the row is no observation of the space, and then why, in text[size], as what was done:
 * "shows ...". */
bool aq_space_row_fault(const aq_space *space, const void *row, char *text, size_t size);

#endif
