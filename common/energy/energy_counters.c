/*
 * Energy counters: see energy_counters.h.
 */
#include "common/energy/energy_counters.h"

#include <string.h>
#include <unistd.h>

#include "common/base/parse.h"

/* The clock is read before the counters are, and a busy machine may do other things in between. */
#define DELAY_S_MAX 1.0

bool aq_energy_domain_read(const aq_energy_domain *domain, uint64_t *ret_count)
{
    if (!domain->is_text) {
        /* perf's files have no place to read from: each read gives the count now. */
        uint64_t count;
        if (read(domain->file, &count, sizeof(count)) != (ssize_t)sizeof(count)) {
            return false;
        }
        *ret_count = count;
        return true;
    }
    char text[32];
    ssize_t length = pread(domain->file, text, sizeof(text) - 1, 0);
    if (length <= 0) {
        return false;
    }
    text[length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return aq_parse_u64(text, ret_count) == 0;
}

/* Joules from `before` to `now`, counts of this domain. The counter may have come round once. */
static double spent_j(const aq_energy_domain *domain, uint64_t before, uint64_t now)
{
    uint64_t counts = now - before;
    if (now < before) {
        counts = domain->range ? domain->range - before + now : 0;
    }
    return (double)counts * domain->count_j;
}

/* Whether the count tells how much was spent in that time. */
static bool is_certain(const aq_energy_domain *domain, double elapsed_s)
{
    return domain->range == 0 ||
           elapsed_s * AQ_ENERGY_WATTS_MAX < (double)domain->range * domain->count_j;
}

bool aq_energy_counters_advance(aq_energy_counters *counters, double elapsed_s,
                                aq_energy_spent *ret_spent)
{
    aq_energy_spent spent = {0};
    bool good = counters->count > 0;
    for (size_t i = 0; i < counters->count; i++) {
        aq_energy_domain *domain = &counters->domains[i];
        uint64_t now;
        if (!aq_energy_domain_read(domain, &now)) {
            good = false;
            continue;
        }
        /* A count beyond the range is no count of this domain, nor what it would come round to. */
        bool possible = domain->range == 0 || domain->last <= domain->range;
        good = good && possible && is_certain(domain, elapsed_s);
        double joules = possible ? spent_j(domain, domain->last, now) : 0;
        /* It began anew, or went on while the clock stood still, as in suspend. */
        good = good && joules <= (elapsed_s + DELAY_S_MAX) * AQ_ENERGY_WATTS_MAX;
        *(domain->is_dram ? &spent.dram_j : &spent.package_j) += joules;
        domain->last = now;
    }
    if (good) {
        *ret_spent = spent;
    }
    return good;
}

void aq_energy_counters_fini(aq_energy_counters *counters)
{
    for (size_t i = 0; i < counters->count; i++) {
        (void)close(counters->domains[i].file);
    }
    memset(counters, 0, sizeof(*counters));
}
