/*
 * What the tests of training a network share: small networks with random parameters, and their
 * gradients by central finite differences.
 *
 * The differences are taken of a forward pass of the fixture's own in double precision, with
 * h = 1e-6, so they are exact to about 1e-9; the tolerance, 2e-5 of the gradient's largest element,
 * is what sums in single precision leave.
 *
 * Where training is quantized, "straight through" is made a function that can be differentiated:
 * what quantizing adds to each weight and to each layer's input is taken as a constant.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_NET_FIXTURE_H
#define AQ_TESTS_UNIT_LEARNER_NET_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/rng.h"
#include "common/nn/params.h"
#include "learner/nn/net_train.h"

enum { NET_ROWS = 9, NET_WIDTH_MAX = 24, NET_PARAMETERS_MAX = 4096 };

typedef struct net_fixture {
    aq_net_spec spec;
    aq_fake_quant quant;
    aq_params params, gradient;
    aq_net_train *train;
    float input[NET_ROWS * NET_WIDTH_MAX];
    float d_out[NET_ROWS * NET_WIDTH_MAX];
} net_fixture;

/* Any of the settings' networks: hidden layers, each with a norm or not, dueling or not. */
typedef struct net_shape {
    uint32_t inputs, outputs;
    uint32_t hidden[4];
    uint32_t hidden_count;
    enum aq_activation activation;
    bool has_norm, is_dueling;
} net_shape;

net_shape net_random_shape(enum aq_activation activation, uint64_t seed);

/* Quantized from the start when `quant` has bits. It goes when the test ends. */
net_fixture *net_fixture_of(const aq_net_spec *spec, aq_fake_quant quant, uint64_t seed);
aq_net_spec net_spec_of(const net_shape *shape);

/* An activation by its definition. */
double exact_activation(uint32_t activation, double z);

/* Fails the test unless backward over the first `rows` of NET_ROWS rows agrees with differences of
 * those rows alone. */
void net_fixture_check_gradient(net_fixture *fixture, uint32_t rows);

/* The same, of a backward pass through `rows` rows of which the first `counted` count, and of the
 * input from a row and a column on. */
void net_fixture_check_input_gradient(net_fixture *fixture, uint32_t rows, uint32_t counted,
                                      uint32_t first_row, uint32_t first_column);

#endif
