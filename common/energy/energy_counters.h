/*
 * Energy counters of a machine's processors: the domains that may be added up, read as one. Where
 * they come from is energy_powercap.h's or energy_perf.h's; the two count the same joules, so one
 * of them is opened, never both.
 *
 * Domains overlap: psys holds the package, and the package holds core and uncore. Only packages are
 * here, and dram, which lies beside them. One thread at a time.
 */
#ifndef AQ_COMMON_ENERGY_ENERGY_COUNTERS_H
#define AQ_COMMON_ENERGY_ENERGY_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AQ_ENERGY_DOMAINS_MAX = 64, AQ_ENERGY_NAME_MAX = 48 };

/* No package takes as much for longer than an instant. A counter that could have come round twice
 * at this power, or tells of more, tells nothing. */
#define AQ_ENERGY_WATTS_MAX 1000.0

typedef struct aq_energy_domain {
    char name[AQ_ENERGY_NAME_MAX]; /* "package-0", "package-0/dram" */
    bool is_dram;
    bool is_text;   /* a decimal number, else 8 bytes of this machine's order */
    int file;       /* owned */
    double count_j; /* joules of one count */
    uint64_t range; /* the largest count, after which it begins at 0 again; 0: it never does */
    uint64_t last;
} aq_energy_domain;

typedef struct aq_energy_counters {
    char source[8]; /* "rapl" or "perf"; "": nothing is open */
    aq_energy_domain domains[AQ_ENERGY_DOMAINS_MAX];
    size_t count;
} aq_energy_counters;

/* Joules between two readings. */
typedef struct aq_energy_spent {
    double package_j;
    double dram_j;
} aq_energy_spent;

/* The count now; false when it can't be read. */
bool aq_energy_domain_read(const aq_energy_domain *domain, uint64_t *ret_count);

/* Reads all domains, `elapsed_s` after the last time (or after opening). False when one can't be
 * read any more, may have come round more than once, or tells of more than can be: the time since
 * then is lost, and the reading begins anew. */
bool aq_energy_counters_advance(aq_energy_counters *counters, double elapsed_s,
                                aq_energy_spent *ret_spent);

void aq_energy_counters_fini(aq_energy_counters *counters); /* a zeroed one is fine */

#endif
