/*
 * Measuring the quantization error, a piece of rows at a time. Sums in double.
 */
#include "quantizer/qerror.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/nn/forward.h"

typedef struct tally {
    size_t disagreements;
    double squares;
    double greatest;
    double divergence; /* over rows and choices */
} tally;

/* What both networks say about a piece of rows. The logits are those of a categorical head, which
 * its outputs no longer show; none without one. */
typedef struct piece {
    size_t rows;
    float *got, *exact;               /* (rows, outputs) */
    float *got_logits, *exact_logits; /* (rows, choices, atoms) */
    float *scratch;
} piece;

/* NULL if the network ends in none. */
static const aq_layer_spec *categorical_head(const aq_net_spec *spec)
{
    const aq_layer_spec *last = &spec->layers[spec->layer_count - 1];
    return last->kind == AQ_LAYER_CATEGORICAL ? last : NULL;
}

/* ---- tallies -------------------------------------------------------------------------------- */

/* NaN makes `squares` NaN, so one look at the end is enough. */
static void tally_outputs(tally *sum, const piece *both, uint32_t outputs)
{
    for (size_t row = 0; row < both->rows; row++) {
        const float *a = both->got + row * outputs;
        const float *b = both->exact + row * outputs;
        for (uint32_t o = 0; o < outputs; o++) {
            const double difference = fabs((double)a[o] - (double)b[o]);
            sum->squares += difference * difference;
            sum->greatest = difference > sum->greatest ? difference : sum->greatest;
        }
        sum->disagreements += aq_argmax(a, outputs) != aq_argmax(b, outputs);
    }
}

/* log sum_k exp(logits[k]) */
static double log_total(const float *logits, uint32_t atoms)
{
    double greatest = (double)logits[0];
    double sum = 0.0;
    for (uint32_t k = 1; k < atoms; k++) {
        greatest = (double)logits[k] > greatest ? (double)logits[k] : greatest;
    }
    for (uint32_t k = 0; k < atoms; k++) {
        sum += exp((double)logits[k] - greatest);
    }
    return greatest + log(sum);
}

/* sum_k p[k] log(p[k] / pq[k]) by logarithms, so that no probability is too small for it. Rounding
 * may bring it below 0, which it cannot be; NaN stays. */
static double divergence(const float *exact, const float *got, uint32_t atoms)
{
    const double exact_total = log_total(exact, atoms);
    const double got_total = log_total(got, atoms);
    double sum = 0.0;
    for (uint32_t k = 0; k < atoms; k++) {
        const double log_p = (double)exact[k] - exact_total;
        const double log_q = (double)got[k] - got_total;
        sum += exp(log_p) * (log_p - log_q);
    }
    return sum < 0.0 ? 0.0 : sum;
}

static void tally_logits(tally *sum, const piece *both, const aq_head_shape *head)
{
    for (size_t i = 0; i < both->rows * head->choices; i++) {
        const size_t first = i * head->atoms;
        sum->divergence +=
            divergence(both->exact_logits + first, both->got_logits + first, head->atoms);
    }
}

/* ---- running both --------------------------------------------------------------------------- */

typedef struct logits_visit {
    uint32_t layer;
    size_t row_floats;
    float *to;
} logits_visit;

static void keep_logits(void *user, uint32_t layer, const float *in, size_t rows)
{
    const logits_visit *visit = user;
    if (layer == visit->layer) {
        memcpy(visit->to, in, rows * visit->row_floats * sizeof(*in));
    }
}

static void run(aq_engine *engine, const aq_net_spec *spec, const aq_params *params,
                const float *obs, piece *both)
{
    const aq_layer_spec *head = categorical_head(spec);
    const uint32_t before_head = spec->layer_count - 1;
    aq_engine_forward(engine, obs, both->rows, both->got);
    if (head == NULL) {
        aq_forward_reference(spec, params, obs, both->rows, both->scratch, both->exact);
        return;
    }
    logits_visit visit = {before_head, head->inputs, both->exact_logits};
    const aq_forward_visitor visitor = {.user = &visit, .visit = keep_logits};
    aq_forward_visit(spec, params, obs, both->rows, both->scratch, both->exact, &visitor);
    if (before_head == 0) { /* a head alone: what it sees is what there is */
        memcpy(both->got_logits, obs, both->rows * head->inputs * sizeof(*obs));
    } else {
        aq_engine_forward_until(engine, obs, both->rows, before_head, both->got_logits);
    }
}

/* ---- the measurement ------------------------------------------------------------------------ */

/* One block, which begins with `scratch`; aq_free that. */
static int piece_init(const aq_net_spec *spec, size_t rows_max, piece *ret_piece)
{
    const aq_layer_spec *head = categorical_head(spec);
    const size_t width = aq_net_spec_width_max(spec);
    const size_t outputs = aq_net_spec_outputs(spec);
    const size_t logits = head != NULL ? head->inputs : 0;
    float *block = aq_alloc(rows_max, 2 * (width + outputs + logits) * sizeof(*block));
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    ret_piece->scratch = block;
    ret_piece->got = ret_piece->scratch + 2 * rows_max * width;
    ret_piece->exact = ret_piece->got + rows_max * outputs;
    ret_piece->got_logits = ret_piece->exact + rows_max * outputs;
    ret_piece->exact_logits = ret_piece->got_logits + rows_max * logits;
    return 0;
}

static int conclude(const tally *sum, const aq_snapshot *snapshot, size_t rows,
                    aq_quant_error *ret_result)
{
    const aq_layer_spec *head = categorical_head(&snapshot->spec);
    const double values = (double)rows * aq_net_spec_outputs(&snapshot->spec);
    const double choices = head != NULL ? (double)rows * head->head.choices : 1.0;
    const double kl = sum->divergence / choices;
    /* Written so that NaN fails it. */
    if (!(sum->squares <= DBL_MAX) || sum->greatest > (double)FLT_MAX || !(kl <= (double)FLT_MAX)) {
        return AQ_E_CORRUPT;
    }
    const double share = (double)sum->disagreements / (double)rows;
    *ret_result = (aq_quant_error){
        .rows = (uint32_t)rows,
        .action_disagreement = snapshot->act_rule == AQ_ACT_ARGMAX ? (float)share : 0.0f,
        .output_rms = (float)sqrt(sum->squares / values),
        .output_max = (float)sum->greatest,
        .kl = (float)kl,
    };
    return 0;
}

int aq_quant_error_measure(aq_engine *engine, const aq_net_spec *spec, const aq_params *params,
                           const float *obs, size_t rows, aq_quant_error *ret_result)
{
    const aq_layer_spec *head = categorical_head(spec);
    const aq_snapshot *snapshot = aq_engine_snapshot(engine);
    AQ_ASSERT(rows > 0);
    AQ_ASSERT(aq_net_spec_hash(spec) == aq_net_spec_hash(&snapshot->spec));
    if (rows > UINT32_MAX) {
        return AQ_E_TOO_BIG;
    }

    const size_t rows_max = aq_engine_rows_max(engine);
    const size_t piece_max = rows < rows_max ? rows : rows_max;
    tally sum = {0};
    piece both = {0};
    int rc = piece_init(spec, piece_max, &both);
    if (rc != 0) {
        return rc;
    }
    for (size_t row = 0; row < rows; row += piece_max) {
        both.rows = rows - row < piece_max ? rows - row : piece_max;
        run(engine, spec, params, obs + row * aq_net_spec_inputs(spec), &both);
        tally_outputs(&sum, &both, aq_net_spec_outputs(spec));
        if (head != NULL) {
            tally_logits(&sum, &both, &head->head);
        }
    }
    aq_free(both.scratch);
    return conclude(&sum, snapshot, rows, ret_result);
}

float aq_quant_error_share(const aq_quant_error *measured, uint32_t act_rule)
{
    return act_rule == AQ_ACT_ARGMAX ? measured->action_disagreement : measured->output_rms / 2.0f;
}
