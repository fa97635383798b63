/*
 * Foreign net: a network that others trained, put together layer by layer as a file tells it:
 * linear layers, layer norms and activations, one after the other. What scales and shifts a value,
 * as normalized observations do, becomes part of the linear layer before or behind it. What no
 * layer does may stand at the end alone, where the policy's head does it.
 *
 * One owner, no locking.
 */
#ifndef AQ_INTERCHANGE_IMPORT_FOREIGN_NET_H
#define AQ_INTERCHANGE_IMPORT_FOREIGN_NET_H

#include "common/nn/params.h"

/* What became of the outputs, if anything; no layer follows it. */
enum aq_foreign_ending {
    AQ_FOREIGN_OPEN = 0,
    AQ_FOREIGN_CLIPPED, /* held between two numbers */
    AQ_FOREIGN_SHARES,  /* softmax, or its logarithm */
    AQ_FOREIGN_CHOICE,  /* which is the greatest */
};

typedef struct aq_foreign_net {
    aq_net_spec spec; /* its layers so far */
    float *weight[AQ_NET_LAYERS_MAX];
    float *bias[AQ_NET_LAYERS_MAX];
    /* Of the value so far, until a linear layer takes it: gain * x + shift. NULL: it is x. Count 1:
     * the same for all. */
    float *gain, *shift;
    uint32_t scaled;
    enum aq_foreign_ending ending;
    float low, high;      /* of what is clipped */
    float *log_deviation; /* one for each output; NULL: the file has none */
    uint32_t log_deviations;
} aq_foreign_net;

/* A zeroed one is empty. */
void aq_foreign_net_fini(aq_foreign_net *net);

/* y = W x + b: weight (rows, columns), and one bias a row, or NULL for none. Each of these is
 * AQ_E_INVALID, in words, where the sizes or the order are no policy's; AQ_E_CORRUPT for numbers
 * that are not finite, AQ_E_NOMEM. */
int aq_foreign_linear(aq_foreign_net *net, const float *weight, const float *bias, uint32_t rows,
                      uint32_t columns, aq_error *error) AQ_MUST_USE;

/* A layer norm over `width` values. */
int aq_foreign_norm(aq_foreign_net *net, const float *gain, const float *bias, uint32_t width,
                    aq_error *error) AQ_MUST_USE;

int aq_foreign_activate(aq_foreign_net *net, enum aq_activation activation,
                        aq_error *error) AQ_MUST_USE;

/* gain * x + shift of `count` values, or with 1 of all; NULL: 1, and 0. */
int aq_foreign_scale(aq_foreign_net *net, const float *gain, const float *shift, uint32_t count,
                     aq_error *error) AQ_MUST_USE;

/* Values are held between two numbers. */
int aq_foreign_clip(aq_foreign_net *net, float low, float high, aq_error *error) AQ_MUST_USE;

/* Shares, or the choice, which may be of shares. */
int aq_foreign_end(aq_foreign_net *net, enum aq_foreign_ending ending, aq_error *error) AQ_MUST_USE;

/* The logarithms of deviations of what the outputs are means of. */
int aq_foreign_deviate(aq_foreign_net *net, const float *log_deviation, uint32_t count,
                       aq_error *error) AQ_MUST_USE;

/* That no scale waits for a layer. */
int aq_foreign_check_end(const aq_foreign_net *net, aq_error *error) AQ_MUST_USE;

/* That all outputs are scaled and shifted by what spreads -1 to 1 between bounds, one for each of
 * them; the scale is taken away. AQ_E_INVALID, in words. */
int aq_foreign_take_spread(aq_foreign_net *net, const float *low, const float *high,
                           aq_error *error) AQ_MUST_USE;

/* What it takes, 0 for nothing yet; and what it gives. */
uint32_t aq_foreign_inputs(const aq_foreign_net *net);
uint32_t aq_foreign_outputs(const aq_foreign_net *net);

/* Without its activation. NULL: there is no layer. */
const aq_layer_spec *aq_foreign_last(const aq_foreign_net *net);

#endif
