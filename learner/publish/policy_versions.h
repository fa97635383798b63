/*
 * Policy versions only grow, also over a crash: blocks of numbers are reserved on disk, in the file
 * `versions` of the run folder, before any of them is used. One process a run folder.
 */
#ifndef AQ_LEARNER_PUBLISH_POLICY_VERSIONS_H
#define AQ_LEARNER_PUBLISH_POLICY_VERSIONS_H

#include <stdint.h>

#include "common/base/error.h"

/* Returns the first of `count` fresh numbers, all above those ever reserved here and above
 * `at_least`; 1 at the earliest. AQ_E_CORRUPT when the file is not one of ours, AQ_E_TOO_BIG when
 * the numbers run out. */
int aq_version_reserve(const char *run_dir, uint64_t at_least, uint64_t count, uint64_t *ret_first,
                       aq_error *error) AQ_MUST_USE;

#endif
