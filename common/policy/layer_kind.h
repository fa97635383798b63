/*
 * Layer kind: what a kind of layer is, as a row of functions. Each row stands in a file of layers/,
 * and is found by AQ_LAYER_KINDS.
 *
 * Private to descriptions of networks and the reference pass. Constant; any thread.
 */
#ifndef AQ_COMMON_POLICY_LAYER_KIND_H
#define AQ_COMMON_POLICY_LAYER_KIND_H

#include "common/base/rng.h"
#include "common/policy/layer_spec.h"

typedef struct aq_layer_kind {
    const char *name;
    uint32_t shape_words; /* of aq_layer_spec.shape, that the kind uses */
    bool is_quantizable;
    bool is_affine;
    bool takes_image; /* of a height, width and channels, with which its shape begins */
    bool has_distributions;
    bool keeps_state;  /* what it gave in the step before comes first among what it takes */
    bool joins_branch; /* its first value goes on as it is; its second is a branch's end */

    /* Whether the sizes are possible and are those that the shape makes. */
    int (*check)(const aq_layer_spec *layer, uint32_t index, aq_error *error);

    /* Whether it can take values of these widths, which are its inputs together. The first value is
     * what meets the matrix of a quantizable kind, and is quantized for it. NULL: it takes one. */
    int (*check_sources)(const aq_layer_spec *layer, const uint32_t *widths, uint32_t count,
                         uint32_t index, aq_error *error);

    /* What stands between the dash and the activation in a network's text. */
    void (*text)(const aq_layer_spec *layer, char *out, size_t size);

    /* NULL: it has no parameters. */
    aq_layer_matrix_shape (*matrix)(const aq_layer_spec *layer);

    /* Initial parameters, weights and then biases. NULL: uniform in +-sqrt(1 / columns). An affine
     * kind's are others where layers are added to each other, see aq_params_randomize. */
    void (*reset)(const aq_layer_spec *layer, float *parameters, aq_rng *rng);

    /* The definition of what it computes but for the activation: one row of y from one of each
     * source, x[0] and so on, behind the state of a kind that keeps one, with sums in double. */
    void (*forward)(const aq_layer_spec *layer, const float *weight, const float *bias,
                    const float *const *x, float *y);
} aq_layer_kind;

#define AQ_LAYER_KIND(number, NAME, name) extern const aq_layer_kind aq_layer_kind_##name;
AQ_LAYER_KINDS(AQ_LAYER_KIND)
#undef AQ_LAYER_KIND

/* NULL for a number that is no kind's. */
const aq_layer_kind *aq_layer_kind_of(uint32_t kind);

/* ---- for the rows --------------------------------------------------------------------------- */

/* AQ_E_INVALID unless `size`, which the layer calls `what`, is 1 to size_max. */
int aq_layer_check_size(uint32_t size, uint32_t size_max, uint32_t index, const char *what,
                        aq_error *error) AQ_MUST_USE;

/* AQ_E_INVALID unless both ends are 1 to size_max, and those of `made`, which is the layer made
 * anew from its shape; NULL: its ends are its shape. */
int aq_layer_check_ends(const aq_layer_spec *layer, const aq_layer_spec *made, uint32_t size_max,
                        uint32_t index, aq_error *error) AQ_MUST_USE;

/* AQ_E_INVALID unless the shape's patches are possible, and `made` is as above. */
int aq_layer_check_patches(const aq_layer_spec *layer, const aq_layer_spec *made, uint32_t index,
                           aq_error *error) AQ_MUST_USE;

/* a * b * c, UINT32_MAX when it does not fit. */
uint32_t aq_layer_volume(uint32_t a, uint32_t b, uint32_t c);

#endif
