/*
 * Engine layers: one layer of a snapshot made ready to run, and what a kind of layer needs for it
 * as a row of functions. A kind joins by a row in a file of layers/ (docs/adding-a-layer.md).
 *
 * Private to the engine; one thread at a time.
 */
#ifndef AQ_QUANTIZER_ENGINE_ENGINE_LAYER_H
#define AQ_QUANTIZER_ENGINE_ENGINE_LAYER_H

#include "quantizer/engine/packed_layer.h"
#include "quantizer/kernels/float_passes.h"

enum {
    AQ_ENGINE_BLOCK = 64, /* rows that go through the network together, and patches of an image */
};

/* What a processor has for us. */
typedef struct aq_engine_tables {
    const aq_qkernels *kernels;
    const aq_float_passes *passes;
} aq_engine_tables;

/* What layers write on the way, one after the other: there is as much of each as the layer asks
 * for that asks for most. */
typedef struct aq_engine_scratch {
    uint8_t *q; /* (q_rows, q_stride): quantized rows */
    size_t q_stride;
    aq_row_quant *quant; /* AQ_ENGINE_BLOCK */
    unsigned char *room; /* for whatever else, on a cache line */
} aq_engine_scratch;

typedef struct aq_engine_need {
    size_t q_row_bytes; /* 0: none */
    size_t q_rows;      /* at most AQ_ENGINE_BLOCK */
    size_t room_bytes;
} aq_engine_need;

typedef struct aq_engine_layer aq_engine_layer;

typedef struct aq_engine_kind {
    /* Makes what running takes. NULL: nothing. AQ_E_NOMEM; what was made until then is freed with
     * the layer. */
    int (*init)(aq_engine_layer *layer);

    /* For at most `rows_max` rows that go through together. NULL: nothing. */
    aq_engine_need (*need)(const aq_engine_layer *layer, size_t rows_max);

    /* y (rows, outputs) = layer(x[0] (rows, width), ...), activation included, for the values that
     * it takes, behind the state of a kind that keeps one; rows <= AQ_ENGINE_BLOCK. */
    void (*run)(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                const aq_const_rows *x, const aq_float_rows *y);

    /* Whether it may be given bytes, with the results of the floats that they stand for. NULL: no.
     */
    bool (*takes_bytes)(const aq_engine_layer *layer);
} aq_engine_kind;

/* A matrix in its format. */
typedef struct aq_engine_matrix {
    const aq_linear_kernel *kernel;
    aq_packed_layer packed;
    uint32_t pieces; /* that rows are given to the kernel in; 0: they are whole */
} aq_engine_matrix;

struct aq_engine_layer {
    const aq_layer_spec *spec;
    const aq_snapshot_layer *stored; /* both in the snapshot, which the engine holds */
    const aq_engine_tables *tables;
    const aq_engine_kind *kind;
    aq_engine_matrix matrix; /* of kinds that make one */
    float *own;              /* what a kind made for itself; NULL: nothing */
};

/* `spec` and `stored` were validated; `tables` outlive the layer. Fails as the kind's init does. */
int aq_engine_layer_init(const aq_engine_tables *tables, const aq_layer_spec *spec,
                         const aq_snapshot_layer *stored, aq_engine_layer *ret_layer) AQ_MUST_USE;
void aq_engine_layer_fini(aq_engine_layer *layer);
aq_engine_need aq_engine_layer_need(const aq_engine_layer *layer, size_t rows_max);

/* ---- for rows that have a matrix ------------------------------------------------------------ */

/* Packs the layer's weights. The product is to be followed by this activation, of which ReLU is the
 * kernels' own and any other is left to the kind. Fails as init does. */
int aq_engine_matrix_init(aq_engine_layer *layer, uint32_t activation) AQ_MUST_USE;

/* What aq_engine_matrix_run needs. */
aq_engine_need aq_engine_matrix_need(const aq_engine_layer *layer, size_t rows_max);

/* The layer's activation, where it is none of the kernels'. */
static inline void aq_engine_activate(const aq_engine_layer *layer, const aq_float_rows *y)
{
    if (layer->spec->activation > AQ_ACTIVATION_RELU) {
        layer->tables->passes->activate(layer->spec->activation, y, layer->spec->outputs);
    }
}

/* Quantizes rows of x into the scratch, as the layer's input is to be; the offsets are not set. */
void aq_engine_quantize(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                        const aq_const_rows *x, size_t rows, uint32_t width);

/* Sets the offsets of quantized rows, where the weights have a zero point. */
void aq_engine_set_offsets(const aq_engine_layer *layer, const uint8_t *q, size_t q_stride,
                           size_t rows, aq_row_quant *quant);

/* y (rows, matrix rows) = W x + b, with x (rows, matrix columns) quantized if the format asks. */
static inline void aq_engine_matrix_run(const aq_engine_layer *layer,
                                        const aq_engine_scratch *scratch, const aq_const_rows *x,
                                        const aq_float_rows *y)
{
    const aq_engine_matrix *matrix = &layer->matrix;
    const aq_kernel_input input = {
        .x = x->values,
        .x_stride = x->stride,
        .q = scratch->q,
        .q_stride = scratch->q_stride,
        .quant = scratch->quant,
        .rows = y->rows,
    };
    if (matrix->kernel->quantizes_input) {
        aq_engine_quantize(layer, scratch, x, y->rows, matrix->packed.inputs);
        if (layer->stored->weight_zero != 0) {
            aq_engine_set_offsets(layer, scratch->q, scratch->q_stride, y->rows, scratch->quant);
        }
    }
    matrix->kernel->run(&matrix->packed, &input, y->values, y->stride);
}

#endif
