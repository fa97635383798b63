/*
 * Measuring the quantization error, a piece of rows at a time. Sums in double.
 *
 * What is compared with is another engine, of the same policy in fp32: what would act in the
 * snapshot's place. Its rounding is far below any error that a budget could be about, and it takes
 * a twentieth of the time of the reference of common/nn, which for a wide policy is seconds.
 *
 * Of a policy that keeps a state, rows are steps of one episode, and each network goes on from its
 * own state: what is measured is how far they drift apart.
 */
#include "quantizer/engine/qerror.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/netspec.h"
#include "common/sys/cpu.h"

typedef struct tally {
    aq_head_cost cost;
    double squares;
    double greatest;
    double divergence; /* over rows, and over the choices of a categorical layer */
} tally;

/* What both networks say about a piece of rows. The logits are those of a categorical head, which
 * its outputs no longer show; none without one. */
typedef struct piece {
    size_t rows;
    float *got, *exact;               /* (rows, outputs) */
    float *got_logits, *exact_logits; /* (rows, choices, atoms) */
    float *got_state, *exact_state;   /* of a policy that keeps one: one episode's, each its own */
    void *block;                      /* what they lie in */
} piece;

/* NULL if the network ends in none. */
static const aq_head_shape *distributions(const aq_net_spec *spec)
{
    return aq_layer_distributions(&spec->layers[spec->layer_count - 1]);
}

/* ---- tallies -------------------------------------------------------------------------------- */

/* NaN makes `squares` NaN, so one look at the end is enough. */
static void tally_outputs(tally *sum, const piece *both, const aq_snapshot *snapshot)
{
    const aq_head_terms terms = aq_snapshot_terms(snapshot);
    const uint32_t outputs = aq_net_spec_outputs(&snapshot->spec);
    for (size_t row = 0; row < both->rows; row++) {
        const float *a = both->got + row * outputs;
        const float *b = both->exact + row * outputs;
        for (uint32_t o = 0; o < outputs; o++) {
            const double difference = fabs((double)a[o] - (double)b[o]);
            sum->squares += difference * difference;
            sum->greatest = difference > sum->greatest ? difference : sum->greatest;
        }
        const aq_head_cost cost = terms.head->cost(&terms, b, a);
        sum->cost.lost += cost.lost;
        sum->cost.at_stake += cost.at_stake;
        if (terms.head->drawing != NULL) {
            sum->divergence += terms.head->drawing->kl(&terms, b, &terms, a);
        }
    }
}

static void tally_logits(tally *sum, const piece *both, const aq_head_shape *head)
{
    for (size_t i = 0; i < both->rows * head->choices; i++) {
        const size_t first = i * head->atoms;
        sum->divergence +=
            aq_choices_kl(both->exact_logits + first, both->got_logits + first, head->atoms);
    }
}

/* ---- running both --------------------------------------------------------------------------- */

static void run(aq_engine *engine, const float *obs, float *state, size_t rows, float *out,
                float *logits)
{
    const aq_net_spec *spec = &aq_engine_snapshot(engine)->spec;
    const size_t inputs = aq_net_spec_inputs(spec), outputs = aq_net_spec_outputs(spec);
    const size_t at_once = aq_net_spec_state(spec) > 0 ? 1 : rows;
    for (size_t row = 0; row < rows; row += at_once) {
        memcpy(out + row * outputs, aq_engine_step(engine, obs + row * inputs, state, at_once),
               at_once * outputs * sizeof(*out));
    }
    if (distributions(spec) == NULL) {
        return;
    }
    const uint32_t source = aq_net_sources(spec, spec->layer_count - 1).values[0];
    if (source == 0) { /* a head alone: what it sees is what there is */
        memcpy(logits, obs, rows * aq_net_spec_inputs(spec) * sizeof(*obs));
    } else {
        aq_engine_forward_until(engine, obs, rows, source, logits);
    }
}

/* ---- the measurement ------------------------------------------------------------------------ */

static int piece_init(const aq_net_spec *spec, size_t rows_max, piece *ret_piece)
{
    const aq_head_shape *head = distributions(spec);
    const size_t outputs = aq_net_spec_outputs(spec);
    const size_t logits = head != NULL ? (size_t)head->choices * head->atoms : 0;
    const size_t state = aq_net_spec_state(spec);
    float *block = aq_alloc(rows_max * (outputs + logits) + state, 2 * sizeof(*block));
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    ret_piece->block = block;
    ret_piece->got = block;
    ret_piece->exact = ret_piece->got + rows_max * outputs;
    ret_piece->got_logits = ret_piece->exact + rows_max * outputs;
    ret_piece->exact_logits = ret_piece->got_logits + rows_max * logits;
    ret_piece->got_state = ret_piece->exact_logits + rows_max * logits;
    ret_piece->exact_state = ret_piece->got_state + state;
    return 0;
}

static int conclude(const tally *sum, const aq_snapshot *snapshot, size_t rows,
                    aq_quant_error *ret_result)
{
    const aq_head_shape *head = distributions(&snapshot->spec);
    const double values = (double)rows * aq_net_spec_outputs(&snapshot->spec);
    const double distributed = (double)rows * (head != NULL ? head->choices : 1);
    const double kl = sum->divergence / distributed;
    /* Written so that NaN fails it. */
    if (!(sum->squares <= DBL_MAX) || sum->greatest > (double)FLT_MAX || !(kl <= (double)FLT_MAX)) {
        return AQ_E_CORRUPT;
    }
    *ret_result = (aq_quant_error){
        .rows = (uint32_t)rows,
        /* Where nothing is at stake, nothing is lost; worse than by chance counts as that. */
        .cost = sum->cost.lost > 0.0 ? (float)fmin(sum->cost.lost / sum->cost.at_stake, 1.0) : 0.0f,
        .output_rms = (float)sqrt(sum->squares / values),
        .output_max = (float)sum->greatest,
        .kl = (float)kl,
    };
    return 0;
}

int aq_quant_error_measure(aq_engine *engine, aq_snapshot *exact, const float *obs, size_t rows,
                           aq_quant_error *ret_result)
{
    const aq_snapshot *snapshot = aq_engine_snapshot(engine);
    const aq_net_spec *spec = &snapshot->spec;
    const aq_head_shape *head = distributions(spec);
    AQ_ASSERT(rows > 0);
    AQ_ASSERT(aq_net_spec_hash(spec) == aq_net_spec_hash(&exact->spec));
    if (rows > UINT32_MAX) {
        return AQ_E_TOO_BIG;
    }

    const size_t rows_max = aq_engine_rows_max(engine);
    const size_t piece_max = rows < rows_max ? rows : rows_max;
    aq_engine *made = NULL;
    tally sum = {0};
    piece both = {0};
    int rc = piece_init(spec, piece_max, &both);
    if (rc == 0 && exact != snapshot) {
        rc = aq_engine_create(exact, piece_max, aq_cpu_flags(), &made, NULL);
    }
    for (size_t row = 0; rc == 0 && row < rows; row += piece_max) {
        const float *in = obs + row * aq_net_spec_inputs(spec);
        both.rows = rows - row < piece_max ? rows - row : piece_max;
        run(engine, in, both.got_state, both.rows, both.got, both.got_logits);
        run(made != NULL ? made : engine, in, both.exact_state, both.rows, both.exact,
            both.exact_logits);
        tally_outputs(&sum, &both, snapshot);
        if (head != NULL) {
            tally_logits(&sum, &both, head);
        }
    }
    aq_engine_destroy(made);
    aq_free(both.block);
    return rc == 0 ? conclude(&sum, snapshot, rows, ret_result) : rc;
}
