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

/* Something that a caller has to give, by its name. */
typedef struct aq_library_given {
    const char *name;
    const void *at;
} aq_library_given;

/* AQ_E_INVALID names the first that is NULL. A row without a name ends them. */
int aq_library_need(const aq_library_given *given, aq_error *error) AQ_MUST_USE;

/* To be used as AQ_NEED(&error, {"path", path}, {"ret_data", ret_data}). */
#define AQ_NEED(error, ...)                                                                        \
    aq_library_need((const aq_library_given[]){__VA_ARGS__, {NULL, NULL}}, error)

actorq_space aq_library_space(const aq_space *space);

#endif
