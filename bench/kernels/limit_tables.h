/*
 * What each rung's file gives to the list of limit loops (limit_loops.h).
 */
#ifndef AQ_BENCH_KERNELS_LIMIT_TABLES_H
#define AQ_BENCH_KERNELS_LIMIT_TABLES_H

#include "bench/kernels/limit_loops.h"

extern const aq_limit_loops aq_limit_loops_avx2;
extern const aq_limit_loops aq_limit_loops_avxvnni;
extern const aq_limit_loops aq_limit_loops_avx512vnni;
extern const aq_limit_loops aq_limit_loops_amx;
extern const aq_limit_loops aq_limit_loops_neon;
extern const aq_limit_loops aq_limit_loops_neondot;

#endif
