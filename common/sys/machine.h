/*
 * The machine as people want to see it in reports: its name and the processor's, how many
 * processors there are and how loaded they are, how much memory this process has. What the
 * processor can do is cpu.h's. Any thread.
 */
#ifndef AQ_COMMON_SYS_MACHINE_H
#define AQ_COMMON_SYS_MACHINE_H

#include <stddef.h>
#include <stdint.h>

/* The processor's name as it gives it ("AMD EPYC …"), or "unknown". Static storage. */
const char *aq_machine_model(void);

/* What this host calls itself; "" when that does not fit, or can't be told. */
void aq_machine_host(char *out, size_t size);

/* Processors this process may run on, at least 1. */
unsigned aq_machine_cpu_count(void);

/* Of the last minute, in processors; 0 where that can't be told. */
double aq_machine_load(void);

/* Bytes of memory this process has resident, 0 where that can't be read. */
uint64_t aq_machine_resident_bytes(void);

#endif
