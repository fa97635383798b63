/*
 * Measuring the quantization error, a piece of rows at a time. Sums in double.
 */
#include "quantizer/qerror.h"

#include <float.h>
#include <math.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/nn/forward.h"

typedef struct tally {
    size_t disagreements;
    double squares;
    double greatest;
} tally;

/* Both are (rows, outputs). NaN makes `squares` NaN, so one look at the end is enough. */
static void tally_add(tally *sum, const float *got, const float *exact, size_t rows,
                      uint32_t outputs)
{
    for (size_t row = 0; row < rows; row++) {
        const float *a = got + row * outputs;
        const float *b = exact + row * outputs;
        for (uint32_t o = 0; o < outputs; o++) {
            const double difference = fabs((double)a[o] - (double)b[o]);
            sum->squares += difference * difference;
            sum->greatest = difference > sum->greatest ? difference : sum->greatest;
        }
        sum->disagreements += aq_argmax(a, outputs) != aq_argmax(b, outputs);
    }
}

int aq_quant_error_measure(aq_engine *engine, const aq_net_spec *spec, const aq_params *params,
                           const float *obs, size_t rows, aq_quant_error *ret_result)
{
    const uint32_t inputs = aq_net_spec_inputs(spec);
    const uint32_t outputs = aq_net_spec_outputs(spec);
    const aq_snapshot *snapshot = aq_engine_snapshot(engine);
    AQ_ASSERT(rows > 0);
    AQ_ASSERT(aq_net_spec_hash(spec) == aq_net_spec_hash(&snapshot->spec));
    if (rows > UINT32_MAX) {
        return AQ_E_TOO_BIG;
    }

    const size_t rows_max = aq_engine_rows_max(engine);
    const size_t piece_max = rows < rows_max ? rows : rows_max;
    float *scratch = aq_alloc(piece_max * 2, aq_net_spec_width_max(spec) * sizeof(float));
    float *got = aq_alloc(piece_max, outputs * sizeof(float));
    float *exact = aq_alloc(piece_max, outputs * sizeof(float));
    tally sum = {0};
    int rc = AQ_E_NOMEM;
    if (scratch == NULL || got == NULL || exact == NULL) {
        goto out;
    }
    for (size_t row = 0; row < rows; row += piece_max) {
        const size_t piece = rows - row < piece_max ? rows - row : piece_max;
        const float *in = obs + row * inputs;
        aq_engine_forward(engine, in, piece, got);
        aq_forward_reference(spec, params, in, piece, scratch, exact);
        tally_add(&sum, got, exact, piece, outputs);
    }
    if (!(sum.squares <= DBL_MAX) || sum.greatest > (double)FLT_MAX) {
        rc = AQ_E_CORRUPT;
        goto out;
    }
    const double count = (double)rows * outputs;
    const double share = (double)sum.disagreements / (double)rows;
    *ret_result = (aq_quant_error){
        .rows = (uint32_t)rows,
        .action_disagreement = snapshot->act_rule == AQ_ACT_ARGMAX ? (float)share : 0.0f,
        .output_rms = (float)sqrt(sum.squares / count),
        .output_max = (float)sum.greatest,
    };
    rc = 0;

out:
    aq_free(scratch);
    aq_free(got);
    aq_free(exact);
    return rc;
}
