/*
 * Policy versions only grow, also over a crash: blocks of numbers are reserved on disk, in the file
 * `versions` of the run folder, before any of them is used. One process a run folder.
 */
#ifndef AQ_LEARNER_PUBLISH_POLICY_VERSIONS_H
#define AQ_LEARNER_PUBLISH_POLICY_VERSIONS_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/base/error.h"

/* Returns the first of `count` fresh numbers, all above those reserved here (those given back are
 * not) and above `at_least`; 1 at the earliest. AQ_E_CORRUPT when the file is not one of ours,
 * AQ_E_TOO_BIG when the numbers run out, which are of 32 bits as in steps. */
int aq_version_reserve(const char *run_dir, uint64_t at_least, uint64_t count, uint64_t *ret_first,
                       aq_error *error) AQ_MUST_USE;

/* The numbers that a process gives to its versions, one after the other. */
typedef struct aq_version_numbers {
    const char *run_dir; /* lent */
    _Atomic uint64_t next;
    uint64_t reserved_end;  /* of the block at hand */
    _Atomic uint64_t leaps; /* times that somebody had seen more than the folder knows of */
    _Atomic uint64_t seen;  /* the greatest that somebody has */
} aq_version_numbers;

/* After `last`, which an earlier process gave; 0: none did. */
void aq_version_numbers_init(aq_version_numbers *numbers, const char *run_dir, uint64_t last);

/* Somebody has this version of the run, so that the next is above it: the folder may be an older
 * copy, and who has a version takes none before it. One that is too far ahead is a lie, and so is
 * one after a few leaps, since all members of a run have nearly the same. Any thread. */
void aq_version_numbers_see(aq_version_numbers *numbers, uint64_t version);

/* As aq_version_reserve, of which it is one call in a thousand. */
int aq_version_numbers_take(aq_version_numbers *numbers, uint64_t *ret_version,
                            aq_error *error) AQ_MUST_USE;

/* Nobody takes numbers any more: the rest of the block is the next process's, so that no numbers
 * are skipped. It stays reserved where that can't be written, or where somebody has seen of it. */
void aq_version_numbers_give_back(aq_version_numbers *numbers);

/* The last that was given, by this process or an earlier one. */
uint64_t aq_version_numbers_last(const aq_version_numbers *numbers);

#endif
