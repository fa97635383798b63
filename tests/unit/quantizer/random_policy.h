/*
 * Random policies of every format and every kind of layer, whose values stay of the size that they
 * have in trained ones. They don't come from the quantizer, so its tests and those that run
 * policies don't depend on one another. Failures are assertions of the test that asked.
 */
#ifndef AQ_TESTS_UNIT_QUANTIZER_RANDOM_POLICY_H
#define AQ_TESTS_UNIT_QUANTIZER_RANDOM_POLICY_H

#include <stdbool.h>

#include "common/base/rng.h"
#include "common/policy/snapshot.h"

enum random_policy_net {
    NET_RELU,    /* 4-64r-64r-2 */
    NET_TANH,    /* 17-256t-6t */
    NET_ELU,     /* 13-37e-65e-5 */
    NET_NORM,    /* norms between layers, and at the end */
    NET_CONV,    /* two convolutions with stride and padding over an image of odd sides */
    NET_DUELING, /* without a distribution */
    NET_HEADS,   /* dueling, then categorical */
    NET_SIMBA,   /* a residual block: no chain */
    NET_IMPALA,  /* a pool, a block of convolutions, and another pool */
    NET_COUNT,
    NET_GRU = NET_COUNT, /* keeps a state, twice */
};

enum { NET_WIDTH_MAX = 1024 }; /* of all of them */

typedef struct random_policy_how {
    uint64_t seed;
    uint32_t format; /* of every quantizable layer */
    uint32_t last;   /* of the last one; 0: the same */
    bool is_static;  /* the inputs' scales are known beforehand; integer formats */
    uint32_t head;   /* a kind of head_kit.h */
} random_policy_how;

aq_net_spec random_policy_spec(enum random_policy_net net);

/* A valid snapshot, until the test ends. */
aq_snapshot *random_policy_create(const aq_net_spec *layers, const random_policy_how *how);

/* (rows, inputs) normal values, until the test ends. */
float *random_policy_observations(const aq_net_spec *spec, uint64_t seed, size_t rows);

#endif
