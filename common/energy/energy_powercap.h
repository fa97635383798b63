/*
 * Energy counters through the kernel's power capping interface: /sys/class/powercap, where RAPL of
 * Intel's and, since Linux 5.8, AMD's processors is shown under the name intel-rapl.
 */
#ifndef AQ_COMMON_ENERGY_ENERGY_POWERCAP_H
#define AQ_COMMON_ENERGY_ENERGY_POWERCAP_H

#include "common/base/error.h"
#include "common/energy/energy_counters.h"

/* Opens every package below `dir`, and the dram in it. A package that is shown twice, through MSRs
 * and through MMIO, is taken once, from whichever can be read. AQ_E_NOT_FOUND when none is shown,
 * AQ_E_IO when one can't be read by this user, AQ_E_FULL with more than AQ_ENERGY_DOMAINS_MAX. A
 * sum of some packages of a machine would be none of the machine, so it is all or nothing. */
int aq_energy_powercap_open(const char *dir, aq_energy_counters *ret_counters,
                            aq_error *error) AQ_MUST_USE;

#endif
