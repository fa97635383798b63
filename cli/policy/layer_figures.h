/*
 * Layer figures: what can be said about the numbers of one layer, whether they come from a policy
 * or from a checkpoint's parameters.
 */
#ifndef AQ_CLI_POLICY_LAYER_FIGURES_H
#define AQ_CLI_POLICY_LAYER_FIGURES_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "common/base/error.h"
#include "common/policy/snapshot.h"

/* Of no values at all (`count` 0) the rest says nothing. */
typedef struct aq_value_range {
    size_t count;
    double min, max;
    double rms;
    double zero_share; /* of the values that are exactly 0 */
} aq_value_range;

typedef struct aq_layer_figures {
    aq_layer_spec spec;
    aq_layer_matrix_shape matrix;
    uint32_t format;
    size_t bytes;           /* as stored */
    size_t bytes_fp32;      /* in fp32 */
    aq_value_range weights; /* in their own unit: what the levels stand for */
    aq_value_range bias;
    aq_value_range scale; /* of rows, or of groups of columns; none in floats */
    size_t blocks;        /* int8-sparse: stored, of all; 0 elsewhere */
    size_t blocks_all;
    int32_t weight_zero; /* int8-tensor */

    /* Integer formats: how the layer's input is quantized. 0: by the range of each row. */
    float input_scale;
    int32_t input_zero;
} aq_layer_figures;

/* Of a valid snapshot. AQ_E_NOMEM. */
int aq_layer_figures_of_snapshot(const aq_snapshot *snapshot, uint32_t layer,
                                 aq_layer_figures *ret_figures) AQ_MUST_USE;

/* Of the parameter block of `spec`, in its canonical order (params.h). */
void aq_layer_figures_of_block(const aq_net_spec *spec, const float *block, uint32_t layer,
                               aq_layer_figures *ret_figures);

/* An array with one object a layer; NULL when out of memory. */
json_t *aq_layer_figures_json(const aq_layer_figures *figures, size_t count);

/* A table with one row a layer. AQ_E_NOMEM. */
int aq_layer_figures_print(FILE *out, const aq_layer_figures *figures, size_t count) AQ_MUST_USE;

#endif
