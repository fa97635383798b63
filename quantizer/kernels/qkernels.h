/*
 * Kernels: the ladder. A scalar reference, never deleted, and faster rungs above it, chosen once by
 * what the processor (and ACTORQ_CPU) allow. A rung is one constant table; a format is one row of
 * every rung's table, so a new rung or a new format joins without touching the engine.
 *
 * A row of activations x[inputs] in fp32 is quantized to bytes q with a scale s and a zero point z:
 *
 *   a value that is NaN or infinite counts as 0
 *   low = min(0, min x), high = max(0, max x), s = high * (1/255) - low * (1/255)
 *   s < FLT_MIN: the whole row counts as zeros: s = 1, z = 0, q = 0
 *   z = rint(-low * (1/s)), q = clamp(rint(x * (1/s)) + z, 0, 255)
 *
 * so that |x - s * (q - z)| <= s / 2 but for rounding, and 0 is exact. With a static scale and zero
 * point, which the snapshot brings, only the last line is left.
 *
 * An int8 layer (per tensor, per channel, sparse) then computes
 *
 *   y[o] = (s * scale[o]) * (sum_i q[i] w[o][i] - z * sum[o] + offset) + bias[o]
 *
 * where `offset` is 0 but for weights with a zero point z_w of their own: -z_w sum_i (q[i] - z).
 * The bracket may wrap around on the way, its value does not. A layer of int4 or int2 weights has a
 * scale a group of AQ_FORMAT_GROUP inputs:
 *
 *   y[o] = s * (sum_g scale[o][g] * (sum_{i in g} q[i] w[o][i] - z * sum[o][g])) + bias[o]
 *
 * its groups added from 0.0f upwards in order, each product and each sum rounded once.
 *
 * An fp32, fp16 or bf16 layer computes y[o] = sum_i x[i] w[o][i] + bias[o]. The sum is made of 1, 2
 * or 4 chains (aq_float_chains) of fused multiply-adds, each of them from 0.0f upwards: of n chains
 * the c-th takes the inputs c, c + n, c + 2 n, ... as long as all of them have one, and the first
 * goes on with the inputs that are left. Then it is a, or a + b, or (a + b) + (c + d). Every result
 * is within (inputs + 1) * 2^-23 * (sum_i |x[i] w[o][i]| + |bias[o]|) of the exact one.
 *
 * All rungs give the same bits, whatever the number of rows and wherever a row stands among them:
 * one rounding rule (ties to even), dot products exact in int32, and operations on floats each
 * rounded once, in the order written. There are as many chains as keep a processor busy with one
 * row. Where it has no fused multiply-adds (the scalar reference) they are slow.
 *
 * No state; any thread.
 */
#ifndef AQ_QUANTIZER_KERNELS_QKERNELS_H
#define AQ_QUANTIZER_KERNELS_QKERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/policy/snapshot.h"

/* The largest `inputs` for which 255 * 127 * inputs stays in int32. */
#define AQ_QKERNEL_INPUTS_MAX UINT32_C(65536)

enum {
    AQ_QKERNEL_Q_PADDING = 64,      /* a row of q has room for `inputs` rounded up to this */
    AQ_QKERNEL_OUTPUT_PADDING = 16, /* scale, sum and bias have room for `outputs` rounded up */
    AQ_QKERNEL_FORMATS = AQ_FORMAT_COUNT + 1, /* a table is indexed by enum aq_format */
};

enum {
    AQ_FLOAT_CHAINS_MAX = 4,
    AQ_FLOAT_NARROW_MAX = 16,   /* outputs: a layer of no more has as many chains as there are */
    AQ_FLOAT_CHAINED_MIN = 32,  /* inputs: fewer take no time */
    AQ_FLOAT_CHAINED_MAX = 256, /* the weights of more come no faster than one chain goes */
};

/* How many chains the sums of a layer of floats are made of. */
static inline uint32_t aq_float_chains(uint32_t inputs, uint32_t outputs)
{
    if (inputs < AQ_FLOAT_CHAINED_MIN) {
        return 1;
    }
    if (outputs <= AQ_FLOAT_NARROW_MAX) {
        return AQ_FLOAT_CHAINS_MAX;
    }
    return inputs <= AQ_FLOAT_CHAINED_MAX ? 2 : 1;
}

typedef struct aq_row_quant {
    float scale;
    int32_t zero_point;
    int32_t offset; /* of every dot product of the row */
} aq_row_quant;

/* A layer packed for one rung (packed_layer.h makes it). The arrays are aligned to
 * AQ_ALIGNMENT_BYTES and padded with zeros; those that the format has no use for are zero. A scale
 * of the whole tensor stands here once an output; scales of groups are among the packed weights. */
typedef struct aq_packed_layer {
    uint32_t inputs, outputs;
    uint32_t activation;
    const void *weights; /* in the rung's own layout */
    const float *scale;  /* [outputs] */
    const int32_t *sum;  /* [outputs] */
    const float *bias;   /* [outputs] */
    void *block;         /* what all of it lies in */
} aq_packed_layer;

/* Rows of activations, as the format's `quantizes_input` asks for them: x alone, or q and quant. A
 * row of q may be in `pieces` pieces, which is how a patch of an image lies: then rows may overlap,
 * and a piece is the layer's inputs by their number, a multiple of four bytes. Such rows come in
 * `lines` of so many rows each, as the patches of an image do, and all have the one `quant`. */
typedef struct aq_kernel_input {
    const float *x;
    size_t x_stride; /* floats from row to row */
    const uint8_t *q;
    size_t q_stride;     /* bytes from row to row */
    uint32_t pieces;     /* 0: one */
    size_t piece_stride; /* bytes from one to the next */
    uint32_t lines;      /* 0: one, whose rows have a quant each */
    size_t line_stride;  /* bytes from one to the next */
    const aq_row_quant *quant;
    size_t rows;
} aq_kernel_input;

typedef struct aq_linear_kernel {
    bool quantizes_input;
    bool takes_pieces; /* of rows */

    /* Bytes that the packed weights take, and the packing itself, from the weights as a valid
     * snapshot stores them. `packed` is aligned to AQ_ALIGNMENT_BYTES, and zeroed unless the
     * packing writes every byte of it, padding included. */
    bool pack_writes_all;
    size_t (*packed_bytes)(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs);
    void (*pack)(const aq_snapshot_layer *layer, uint32_t inputs, uint32_t outputs, void *packed);

    /* y (rows, outputs), y_stride floats from row to row; writes nothing beyond `outputs`. ReLU
     * (v < 0 ? 0 : v; NaN stays NaN) is applied on the way out, other activations are the
     * caller's (float_passes.h). */
    void (*run)(const aq_packed_layer *layer, const aq_kernel_input *input, float *y,
                size_t y_stride);
} aq_linear_kernel;

typedef struct aq_qkernels {
    const char *name;   /* "scalar", "avx2", "avxvnni", "avx512vnni", "amx", "neon", "neondot" */
    uint32_t cpu_flags; /* what it needs, of enum aq_cpu_flag */

    /* Each row's q, scale and zero point. The room of each row of q is written whole; bytes beyond
     * `inputs` hold the zero point. q_stride >= the room. */
    void (*quantize_rows)(const float *x, size_t x_stride, size_t rows, uint32_t inputs, uint8_t *q,
                          size_t q_stride, aq_row_quant *ret_quant);

    /* The same with a scale and zero point that are known beforehand: a value beyond their range
     * becomes its end, one that is NaN or infinite counts as 0. `quant` is what each row gets. */
    void (*quantize_rows_static)(const float *x, size_t x_stride, size_t rows, uint32_t inputs,
                                 aq_row_quant quant, uint8_t *q, size_t q_stride,
                                 aq_row_quant *ret_quant);

    /* By enum aq_format. NULL: the rung has nothing better than the scalar reference. */
    const aq_linear_kernel *linear[AQ_QKERNEL_FORMATS];
} aq_qkernels;

/* The best rung under `cpu_flags` (aq_cpu_flags()). Static storage. */
const aq_qkernels *aq_qkernels_select(uint32_t cpu_flags);

/* The rungs that this build has, best first; NULL past the last, which is the scalar reference. */
const aq_qkernels *aq_qkernels_rung(uint32_t index);

/* The scalar reference. */
const aq_qkernels *aq_qkernels_scalar(void);

/* The rung's kernel of a format, else the scalar reference's; NULL for an unknown format. */
const aq_linear_kernel *aq_qkernels_linear(const aq_qkernels *kernels, uint32_t format);

#endif
