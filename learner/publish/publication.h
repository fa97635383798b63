/*
 * Publication: the quantizer stage as one pure step. A policy in fp32 goes in; out come what is
 * broadcast of it, its measured error and its frames. The publisher's thread runs it; tests run it
 * inline.
 *
 * The gate: when quantizing costs more than the budget allows, or there are no levels for its
 * weights (an output whose weights are all zero), this version goes out in fp32, and says so. NaN
 * never goes out at all.
 *
 * A version goes out as a change of the one before it, or in full: the first, every full_period-th,
 * one in other formats, and one whose change would not be smaller. Whoever misses one fetches the
 * newest in full, so that each version has both frames.
 */
#ifndef AQ_LEARNER_PUBLISH_PUBLICATION_H
#define AQ_LEARNER_PUBLISH_PUBLICATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/buffer.h"
#include "common/config/run_config.h"
#include "common/policy/snapshot.h"
#include "quantizer/engine/range_observer.h"
#include "quantizer/quantize/quantize.h"

typedef struct aq_publication_config {
    aq_quantize_plan plan; /* but for `ranges` and `previous`, which follow from the history */
    bool has_own_scales;   /* each version; those of the one before are never kept */
    uint32_t range_method; /* enum aq_range_method */
    uint32_t full_period;  /* versions; 1: every one goes out in full */
    double error_budget;   /* of aq_quant_error.cost */
    uint32_t error_rows;   /* observations to measure on, at most; few are enough of a policy that
                              is far from its budget */
    uint32_t cpu_flags;
} aq_publication_config;

/* What a valid configuration says, for the network that is really trained. AQ_E_INVALID, naming
 * quantizer.layer_formats, for a layer that the network has not. */
int aq_publication_plan(const aq_run_config *config, const aq_net_spec *spec, uint32_t cpu_flags,
                        aq_publication_config *ret_plan, aq_error *error) AQ_MUST_USE;

/* Of the last twin that was packed. */
typedef struct aq_twin_size {
    size_t bytes; /* 0: none yet */
    uint64_t at;  /* which one it was */
} aq_twin_size;

/* What went out before. Begins anew with each process, whose first version goes out in full. */
typedef struct aq_publication_history {
    aq_snapshot *newest; /* NULL: none yet */
    uint32_t deltas;     /* since the last one in full */
    /* The same for the fp32 forms, which are packed now and then to know their size. */
    aq_snapshot *twin;
    uint32_t twin_deltas;
    aq_twin_size twin_sizes[2]; /* in full, and as a change */
    uint64_t twins;             /* so far */
    aq_range_observer ranges;
} aq_publication_history;

void aq_publication_history_init(aq_publication_history *history,
                                 const aq_publication_config *config);
void aq_publication_history_fini(aq_publication_history *history);

/* Bytes that making a version takes for a moment. */
size_t aq_publication_room_bytes(const aq_net_spec *spec);

typedef struct aq_publication {
    aq_snapshot *snapshot; /* as it goes out */
    aq_snapshot *twin;     /* the same version in fp32, to compare with; may be `snapshot` itself */
    aq_buffer frame;       /* all of it, for those who fetch */
    aq_buffer delta;       /* empty when it goes out in full */
    size_t frame_bytes_fp32;  /* what the same version takes in fp32, in full and as it is */
    size_t packed_bytes_fp32; /* and compressed, or as a change, as a run in fp32 would send it */
    bool fell_back;           /* it is in fp32, which was not asked for */
    /* Share of the bytes of quantized weights that are not as in the version before. NaN: there are
     * none, or they were in another format. */
    double changed;
    char fallback[AQ_ERROR_TEXT_MAX]; /* why, in words; "" where it did not */
    aq_quant_error measured; /* of the quantized form, also when it was not the one to go out */
} aq_publication;

/* What quantizing costs, of what is at stake. NaN: it was not measured; NULL has none, either. */
double aq_publication_cost(const aq_publication *publication);

/* Takes `exact`, the caller's alone: the parameters in fp32, to which `meta` is given. The receiver
 * owns one reference to each snapshot. `obs` (rows, inputs) are recent observations; rows may be 0:
 * nothing is measured then. The version becomes the newest of `history`. AQ_E_CORRUPT for
 * parameters, or outputs on the observations, that are not finite, and what aq_quantize refuses;
 * nothing is left behind but observed ranges. */
int aq_publication_make(const aq_publication_config *config, aq_publication_history *history,
                        const aq_quantize_meta *meta, aq_snapshot *exact, const float *obs,
                        size_t rows, aq_publication *ret_publication, aq_error *error) AQ_MUST_USE;
void aq_publication_fini(aq_publication *publication);

/* The frame that is broadcast. */
const aq_buffer *aq_publication_broadcast(const aq_publication *publication);

#endif
