/*
 * Fake quantization: what training knows of the form in which the policy will act. Weights become
 * what their levels stand for, and the input of a layer what the actors' kernels make of it, both
 * still in fp32; gradients pass straight through (Jacob et al., 2018; Krishnan et al., 2022).
 *
 * The levels are those of the published policy, bit for bit: quantizing weights as `aq_quantize`
 * does, and reading them back, gives what this gives; and so it does for weights that were fake-
 * quantized before. Weights have `bits` bits. Activations have 8, in a range of each row's own,
 * whatever the weights have, since that is how actors run every integer format.
 *
 * No state; any thread.
 */
#ifndef AQ_LEARNER_NN_FAKE_QUANT_H
#define AQ_LEARNER_NN_FAKE_QUANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/config/run_config.h"
#include "common/nn/params.h"

typedef struct aq_fake_quant {
    uint32_t bits;                    /* of a weight; 0: nothing is quantized */
    uint32_t format;                  /* enum aq_format: which weights share a scale */
    bool is_exact[AQ_NET_LAYERS_MAX]; /* layers that act in fp32 whatever the format */
} aq_fake_quant;

/* As the run's settings say for a network; they are valid. */
aq_fake_quant aq_fake_quant_of(const aq_run_config *config, const aq_net_spec *spec);

/* Whether it is about that layer, its weights and its input. */
bool aq_fake_quant_covers(const aq_fake_quant *quant, const aq_net_spec *spec, uint32_t layer);

/* One layer's weights, as they lie in aq_params. The format holds such bits
 * (aq_format_holds_bits), and the layer is quantizable. */
void aq_fake_quant_weights(const aq_fake_quant *quant, const aq_layer_spec *layer,
                           const float *weights, float *out);

/* All parameters of a network: weights of the layers that it covers so, all others as they are. */
void aq_fake_quant_params(const aq_fake_quant *quant, const aq_net_spec *spec,
                          const aq_params *params, const aq_params *to);

/* What goes into a quantizable layer, (rows, width). A NaN or infinite value makes its row NaN. */
void aq_fake_quant_input(const float *x, size_t rows, size_t width, float *out);

#endif
