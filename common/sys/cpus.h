/*
 * Sets of processors, written as taskset and cpusets write them: "0,2-3". Any thread.
 */
#ifndef AQ_COMMON_SYS_CPUS_H
#define AQ_COMMON_SYS_CPUS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"

enum { AQ_CPUS_MAX = 1024, AQ_CPUS_TEXT_MAX = 256 };

typedef struct aq_cpus {
    bool has[AQ_CPUS_MAX];
} aq_cpus;

/* Those that the calling thread may run on, by taskset, a cpuset or its parent's choice. */
void aq_cpus_allowed(aq_cpus *ret_cpus);

/* AQ_E_INVALID for what is no list, and for one with a processor that is not among `allowed`. */
int aq_cpus_read(const char *text, const aq_cpus *allowed, aq_cpus *ret_cpus,
                 aq_error *error) AQ_MUST_USE;

size_t aq_cpus_count(const aq_cpus *cpus);

/* As it is read; cut where there is no room. */
void aq_cpus_text(const aq_cpus *cpus, char *out, size_t size);

/* The calling thread, and what it starts from now on, runs on these alone. */
int aq_cpus_use(const aq_cpus *cpus, aq_error *error) AQ_MUST_USE;

#endif
