/*
 * Bench peers: the list. A peer whose library is absent keeps its place, so that its absence can be
 * told.
 */
#include "bench/kernels/bench_peer.h"

#include "bench/kernels/peer_tables.h"
#include "common/base/assert.h"

#if !AQ_BENCH_HAS_OPENBLAS
static const aq_bench_peer no_openblas_fp32 = {.name = "openblas-fp32", .library = "openblas"};
#endif
#if !AQ_BENCH_HAS_ONEDNN
static const aq_bench_peer no_onednn_fp32 = {.name = "onednn-fp32", .library = "onednn"};
static const aq_bench_peer no_onednn_int8 = {.name = "onednn-int8", .library = "onednn"};
#endif

static const aq_bench_peer *const peers[AQ_BENCH_PEERS] = {
#if AQ_BENCH_HAS_OPENBLAS
    &aq_bench_peer_openblas_fp32,
#else
    &no_openblas_fp32,
#endif
#if AQ_BENCH_HAS_ONEDNN
    &aq_bench_peer_onednn_fp32,
    &aq_bench_peer_onednn_int8,
#else
    &no_onednn_fp32,
    &no_onednn_int8,
#endif
};

const aq_bench_peer *aq_bench_peer_at(size_t index)
{
    AQ_ASSERT(index < AQ_BENCH_PEERS);
    return peers[index];
}
