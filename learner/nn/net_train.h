/*
 * Forward and backward over a network description, with everything kept that the
 * backward pass needs, and quantization-aware where that is asked for. Sized once; a step allocates
 * nothing. One thread at a time.
 *
 *   X[0] = input (rows, inputs);  X[l+1] = layer[l](X[its sources])
 *   dX[v] = what comes in at the end, or the sum over the layers that take v of what they give back
 *
 * What each kind of layer does is train_layers.h. Quantized, a linear layer computes with what the
 * levels of its weights and of its input stand for (fake_quant.h), forward and backward; the
 * gradient at that point counts as the gradient of the real weights and of the real input.
 *
 * Ranks that share a network (net_split.h) make the same passes over the same rows, at once; what
 * comes out at the end, and the gradient of the input, is that of the whole network on all of them.
 */
#ifndef AQ_LEARNER_NN_NET_TRAIN_H
#define AQ_LEARNER_NN_NET_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/nn/params.h"
#include "learner/nn/fake_quant.h"
#include "learner/nn/net_split.h"
#include "learner/nn/thread_pool.h"

typedef struct aq_net_train aq_net_train;

/* Rows that are steps of sequences, the longest first: a step of all that have it, then the
 * next. */
typedef struct aq_net_sequences {
    uint32_t steps;         /* of the longest */
    const uint32_t *active; /* (steps): how many have that step; at least one */
    const float *state;     /* (active[0], aq_net_spec_state): what each begins with */
} aq_net_sequences;

typedef struct aq_net_train_config {
    const aq_net_spec *spec;    /* valid; copied */
    const aq_net_split *split;  /* of which that is the slice; lent; NULL: it is whole */
    uint32_t rows_max;          /* that go forward; not 0 */
    uint32_t backward_rows_max; /* of these, at most, back; not 0, not more */
    aq_fake_quant quant;        /* no bits: it can't be quantized */
    uint32_t bf16_threads;      /* of products in bf16; 0: they are in fp32 */
} aq_net_train_config;

/* AQ_E_NOMEM, or that of a thread. */
int aq_net_train_create(const aq_net_train_config *config, aq_net_train **ret_train,
                        aq_error *error) AQ_MUST_USE;
void aq_net_train_destroy(aq_net_train *train); /* NULL is fine */

/* The threads of its products, which others may use between passes. NULL: there are none. */
aq_thread_pool *aq_net_train_pool(const aq_net_train *train);

/* Whether the passes from now on are quantized; at first they are not. */
void aq_net_train_quantize(aq_net_train *train, bool is_quantized);

/* Draws the noise of the layers that take some (draw_source.h), for all rows of the passes from now
 * on: the number `draw` of what `whose` tells apart. At first there is none. */
void aq_net_train_draw(aq_net_train *train, uint64_t key, uint32_t whose, uint64_t draw);

/* What the network gives, (rows, outputs); it stays valid until the next forward of
 * this object. `params` and `input` must stay as they are until the backward pass is over. */
const float *aq_net_forward(aq_net_train *train, const aq_params *params, const float *input,
                            uint32_t rows);

/* The same of a network that keeps a state, over all steps of the sequences; `sequences` and what
 * it names stay likewise. A backward pass is then over all of their rows, counted. */
const float *aq_net_forward_through(aq_net_train *train, const aq_params *params,
                                    const float *input, const aq_net_sequences *sequences);

/* Of the last forward through sequences: the states behind the last step of each, (active[0],
 * aq_net_spec_state), from which they may go on. */
void aq_net_states_behind(const aq_net_train *train, float *ret_state);

/* Gradients of sum over the first `rows` rows of d_out . out, with respect to every parameter of
 * the last forward, into `gradient` (overwritten, but for arrays, which the loss knows). `d_out` is
 * (rows, outputs) and is used as scratch. Follows a forward of at least so many
 * rows: the rows beyond count as constants, at no cost. */
void aq_net_backward(aq_net_train *train, float *d_out, uint32_t rows, aq_params *gradient);

/* A backward pass in which rows differ in what they are for. */
typedef struct aq_net_backward_plan {
    float *d_out;          /* (rows, outputs); scratch */
    uint32_t rows;         /* through which gradients flow */
    uint32_t counted_rows; /* the first of them, which count in `gradient`; not 0 */
    aq_params *gradient;   /* overwritten */
    /* The gradient of the input, its rows and columns from these on, (rows - input_first_row,
     * inputs - input_first_column); NULL: not wanted. */
    float *d_input;
    uint32_t input_first_row, input_first_column;
} aq_net_backward_plan;

void aq_net_backward_as(aq_net_train *train, const aq_net_backward_plan *plan);

#endif
