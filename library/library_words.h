/*
 * Library words: our errors and spaces in the public ones (include/actorq/actorq.h).
 *
 * Pure functions, any thread.
 */
#ifndef AQ_LIBRARY_LIBRARY_WORDS_H
#define AQ_LIBRARY_LIBRARY_WORDS_H

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "include/actorq/actorq.h"

/* Tells the caller, who may not want to know, what `problem` says when `rc` is a failure. Returns
 * `rc`. */
int aq_library_tell(int rc, const aq_error *problem, actorq_error *error) AQ_MUST_USE;

actorq_space aq_library_space(const aq_space *space);

#endif
