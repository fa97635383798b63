/*
 * What each peer's file gives to the list of peers (bench_peer.h); one file a library, which is
 * built where the library is there.
 */
#ifndef AQ_BENCH_KERNELS_PEER_TABLES_H
#define AQ_BENCH_KERNELS_PEER_TABLES_H

#include "bench/kernels/bench_peer.h"

extern const aq_bench_peer aq_bench_peer_openblas_fp32;
extern const aq_bench_peer aq_bench_peer_onednn_fp32;
extern const aq_bench_peer aq_bench_peer_onednn_int8;

#endif
