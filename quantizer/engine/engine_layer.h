/*
 * Engine layers: one layer of a snapshot made ready to run, and the table of the kinds of layers.
 * A kind joins by a row in engine_layer.c.
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

/* What layers write on the way, one after the other. Rows of q and of patches have room for what
 * the widest layer asks for. */
typedef struct aq_engine_scratch {
    uint8_t *q; /* (AQ_ENGINE_BLOCK, q_stride): quantized rows; conv2d: one image */
    size_t q_stride;
    aq_row_quant *quant;    /* AQ_ENGINE_BLOCK */
    unsigned char *patches; /* AQ_ENGINE_BLOCK patches of bytes or of floats */
} aq_engine_scratch;

/* What a layer needs of the scratch. */
typedef struct aq_engine_need {
    size_t q_row_bytes;   /* 0: none */
    size_t q_rows;        /* at most AQ_ENGINE_BLOCK */
    size_t patches_bytes; /* 0: none */
} aq_engine_need;

typedef struct aq_engine_layer aq_engine_layer;

/* y (rows, outputs) = layer(x (rows, inputs)), activation included; rows <= AQ_ENGINE_BLOCK. */
typedef void aq_engine_run(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                           const aq_const_rows *x, const aq_float_rows *y);

/* Pointers into the snapshot stay valid as long as the engine, which holds it. */
struct aq_engine_layer {
    const aq_layer_spec *spec;
    const aq_engine_tables *tables;
    aq_engine_run *run;

    const aq_linear_kernel *kernel; /* linear and conv2d */
    aq_packed_layer packed;
    aq_row_quant input_quant; /* a scale of 0: by the range of each row */
    int32_t weight_zero;

    const float *gain, *bias; /* norm */
    float *atoms;             /* categorical; owned */
};

/* `layer` and `spec` were validated; `tables` outlive the layer. AQ_E_UNSUPPORTED when there is no
 * kernel for the format, AQ_E_NOMEM. */
int aq_engine_layer_init(const aq_engine_tables *tables, const aq_layer_spec *spec,
                         const aq_snapshot_layer *layer, aq_engine_layer *ret_layer) AQ_MUST_USE;
void aq_engine_layer_fini(aq_engine_layer *layer);

/* Rows that go through together: at most `rows_max`. */
aq_engine_need aq_engine_layer_need(const aq_engine_layer *layer, size_t rows_max);

/* Quantizes rows of x into the scratch, as the layer's input is to be; the offsets are not set. */
void aq_engine_quantize(const aq_engine_layer *layer, const aq_engine_scratch *scratch,
                        const aq_const_rows *x, size_t rows, uint32_t width);

/* Sets the offsets of quantized rows, where the weights have a zero point. */
static inline void aq_engine_set_offsets(const aq_engine_layer *layer, const uint8_t *q,
                                         size_t q_stride, size_t rows, aq_row_quant *quant)
{
    if (layer->weight_zero == 0) {
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        const int32_t inputs = (int32_t)layer->packed.inputs;
        const int32_t sum = layer->tables->passes->level_sum(q + row * q_stride, (size_t)inputs);
        quant[row].offset = -layer->weight_zero * (sum - inputs * quant[row].zero_point);
    }
}

/* engine_conv.c */
aq_engine_run aq_engine_run_conv;
size_t aq_engine_patch_bytes(const aq_engine_layer *layer);

#endif
