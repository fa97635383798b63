/*
 * The reference forward pass in fp32: plain loops, the definition of what every faster path (the
 * learner's on OpenBLAS, the actor's kernels) must compute. Only tests and benchmarks run it. No
 * state: any thread.
 */
#ifndef AQ_COMMON_NN_FORWARD_H
#define AQ_COMMON_NN_FORWARD_H

#include <stddef.h>

#include "common/nn/params.h"

/* relu: max(x,0); tanh; elu: x > 0 ? x : exp(x) - 1. In place over `count` values; NaN stays NaN.
 * `activation` is one of enum aq_activation. */
void aq_activate(uint32_t activation, float *values, size_t count);

/* Floats of scratch that a pass takes: for a chain 2 * rows * width_max, for one layer none; a row
 * of the state on top. */
size_t aq_forward_scratch(const aq_net_spec *spec, size_t rows);

/* out (rows, outputs) = net(in (rows, inputs)). None of `in`, `scratch` and `out` overlap. */
void aq_forward_reference(const aq_net_spec *spec, const aq_params *params, const float *in,
                          size_t rows, float *scratch, float *out);

/* One step of a network that keeps a state: `state`, (rows, aq_net_spec_state), is what it was and
 * becomes what it is. Without one, as above, each row is the first step. */
void aq_forward_step(const aq_net_spec *spec, const aq_params *params, const float *in,
                     float *state, size_t rows, float *scratch, float *out);

/* As the first, showing the first value that goes into each layer, (rows, its width), on the way,
 * but for those that keep a state. */
typedef struct aq_forward_visitor {
    void *user;
    void (*visit)(void *user, uint32_t layer, const float *in, size_t rows);
} aq_forward_visitor;
void aq_forward_visit(const aq_net_spec *spec, const aq_params *params, const float *in,
                      size_t rows, float *scratch, float *out, const aq_forward_visitor *visitor);

#endif
