/*
 * Which weights share a scale is all that the formats differ in here: a row of them, all of them,
 * or a group of a row. The arithmetic is a pass (passes.h).
 */
#include "learner/nn/fake_quant.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/config/layer_plan.h"
#include "common/policy/format.h"
#include "learner/nn/passes.h"

/* How many consecutive weights share a scale, in a matrix that lies as (rows, columns). */
typedef struct sharing {
    size_t rows, columns, group;
} sharing;

static sharing sharing_of(uint32_t format, aq_layer_matrix_shape matrix)
{
    const size_t count = (size_t)matrix.rows * matrix.columns;

    switch (format) {
    case AQ_FORMAT_INT8_TENSOR:
        return (sharing){1, count, count};
    case AQ_FORMAT_INT4:
    case AQ_FORMAT_INT2:
        return (sharing){matrix.rows, matrix.columns, AQ_FORMAT_GROUP};
    default:
        return (sharing){matrix.rows, matrix.columns, matrix.columns};
    }
}

aq_fake_quant aq_fake_quant_of(const aq_run_config *config, const aq_net_spec *spec)
{
    aq_fake_quant quant = {.bits = (uint32_t)config->learner.qat_bits,
                           .format = aq_run_config_format(config)};
    uint32_t formats[AQ_NET_LAYERS_MAX];
    if (quant.bits == 0) {
        return quant;
    }
    int rc = aq_layer_plan(config, spec, formats, NULL);
    AQ_ASSERT(rc == 0); /* quantizer.layer_formats is empty beside learner.qat_bits */
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        quant.is_exact[l] = formats[l] == AQ_FORMAT_F32;
    }
    return quant;
}

bool aq_fake_quant_covers(const aq_fake_quant *quant, const aq_net_spec *spec, uint32_t layer)
{
    return quant->bits != 0 && !quant->is_exact[layer] &&
           aq_layer_is_quantizable(&spec->layers[layer]);
}

void aq_fake_quant_weights(const aq_fake_quant *quant, const aq_layer_spec *layer,
                           const float *weights, float *out)
{
    const sharing share = sharing_of(quant->format, aq_layer_matrix(layer));
    const float levels = (float)((1 << (quant->bits - 1)) - 1);

    AQ_ASSERT(aq_format_holds_bits(quant->format, quant->bits));
    aq_passes_best()->fake_quant_weights(weights, share.rows, share.columns, share.group, levels,
                                         out);
}

void aq_fake_quant_params(const aq_fake_quant *quant, const aq_net_spec *spec,
                          const aq_params *params, const aq_params *to)
{
    AQ_ASSERT(to->count == params->count);
    memcpy(to->block, params->block, params->count * sizeof(*params->block));
    for (uint32_t l = 0; l < spec->layer_count; l++) {
        if (aq_fake_quant_covers(quant, spec, l)) {
            aq_fake_quant_weights(quant, &spec->layers[l], params->weight[l], to->weight[l]);
        }
    }
}

void aq_fake_quant_input(const float *x, size_t rows, size_t width, float *out)
{
    aq_passes_best()->fake_quant_rows(x, rows, width, out);
}
