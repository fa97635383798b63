/*
 * Processor time: what this process has used, and how busy the whole machine was. Both are needed
 * to share a machine's energy among those who caused it. Any thread.
 */
#ifndef AQ_COMMON_ENERGY_PROCESSOR_TIME_H
#define AQ_COMMON_ENERGY_PROCESSOR_TIME_H

#include "common/base/error.h"

/* Of all processors together, since the machine started. What a hypervisor gave to others is in
 * neither. */
typedef struct aq_machine_time {
    double busy_s;
    double idle_s;
} aq_machine_time;

/* Seconds of this process, user and system, of all its threads, of the children that it has waited
 * for, and of those that run (without their own running children). Never less than before, unless
 * another thread waits for a child meanwhile: its time may be missing then, until the next call. */
double aq_processor_time_own_s(const char *proc_dir);

/* Of the children that run alone; 0 where the kernel doesn't list them. */
double aq_processor_time_children_s(const char *proc_dir);

/* From `proc_dir`/stat. AQ_E_IO when it can't be read, AQ_E_CORRUPT when it is something else. */
int aq_processor_time_machine(const char *proc_dir, aq_machine_time *ret_time) AQ_MUST_USE;

#endif
