/*
 * Bench pictures: the networks on pictures that are measured: the convolutions of two well-known
 * ones, each alone, and those networks whole. Constant; any thread.
 */
#ifndef AQ_BENCH_KERNELS_BENCH_PICTURES_H
#define AQ_BENCH_KERNELS_BENCH_PICTURES_H

#include "common/base/error.h"
#include "common/policy/netspec.h"

enum { AQ_BENCH_PICTURES = 9 };

const char *aq_bench_picture_name(uint32_t picture);
aq_net_spec aq_bench_picture_spec(uint32_t picture);

/* AQ_E_NOT_FOUND. */
int aq_bench_picture_find(const char *name, uint32_t *ret_picture) AQ_MUST_USE;

#endif
