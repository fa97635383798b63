/*
 * Run groups: which of several runs are of one kind: those whose configurations agree but for the
 * seed. A kind is called by the settings in which it differs from the others. One owner.
 */
#ifndef AQ_CLI_PLOT_RUN_GROUPS_H
#define AQ_CLI_PLOT_RUN_GROUPS_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/config/run_config.h"

enum { AQ_GROUP_NAME_BYTES = 128 /* longer ones are cut, between two settings */ };

typedef struct aq_run_group {
    char name[AQ_GROUP_NAME_BYTES];
    size_t run_count;
} aq_run_group;

typedef struct aq_run_groups {
    aq_run_group *groups; /* in the order in which their first runs came */
    size_t count;
    size_t *group_of; /* of each run */
} aq_run_groups;

/* `by`: NULL finds the settings that differ, of those that tell what is learned and how: not the
 * seed, and not log, net and energy, which change nothing about a run's course; "run" takes each
 * for itself, called by names[i]; else the keys of the settings that count, with commas between.
 * `count` >= 1.
 * AQ_E_INVALID for a key that is none, AQ_E_NOMEM. */
int aq_run_groups_make(const aq_run_config *configs, const char *const *names, size_t count,
                       const char *by, aq_run_groups *ret_groups, aq_error *error) AQ_MUST_USE;
void aq_run_groups_fini(aq_run_groups *groups); /* a zeroed one is fine */

#endif
