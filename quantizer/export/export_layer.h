/*
 * Export layers: one layer of a policy as C, and what a kind of layer needs for it as a row. A kind
 * joins by a row in a file of layers/ (docs/adding-a-layer.md).
 *
 * Private to the export. No state; any thread.
 */
#ifndef AQ_QUANTIZER_EXPORT_EXPORT_LAYER_H
#define AQ_QUANTIZER_EXPORT_EXPORT_LAYER_H

#include <stdbool.h>

#include "common/policy/snapshot.h"
#include "quantizer/export/export_runtime.h"
#include "quantizer/export/export_text.h"

typedef struct aq_export_layer {
    const aq_layer_spec *spec;
    const aq_snapshot_layer *stored;
    const struct aq_export_kind *kind;
    uint32_t index;                          /* part of its constants' names */
    uint32_t width;                          /* of what meets its matrix */
    const char *x[1 + AQ_LAYER_SOURCES_MAX]; /* the arrays that it reads, behind that of a state */
    const char *y;                           /* the one that it writes */
} aq_export_layer;

typedef struct aq_export_kind {
    const char *text;           /* C of the kind's own, once in a file that has such layers */
    uint32_t needs;             /* pieces that it builds on */
    enum aq_export_piece after; /* the piece, needed or not, that its text follows */
    bool has_relu;              /* its function applies a ReLU that the matrix asks for */
    bool has_patches;           /* its rows meet what it lays out in `patch` */

    /* By format, of layers that are quantizable but stored in floats; NULL: none, or refused. */
    const struct aq_export_kind *const *in_floats;

    /* Constants besides the matrix of a quantizable kind; without memory, to->rc. NULL: none. */
    void (*put_constants)(aq_export_text *to, const aq_export_layer *layer);

    /* The call, from x to y, before an activation that is not the function's. What meets a
     * quantized matrix is in `levels`, with `scale`. */
    void (*call)(aq_export_text *to, const aq_export_layer *layer);
} aq_export_kind;

/* NULL: the layer's weights are in a format that no file holds. */
const aq_export_kind *aq_export_kind_of(const aq_layer_spec *spec, uint32_t format);

/* Whether it takes levels. */
bool aq_export_layer_is_quantized(const aq_export_layer *layer);

/* The pieces that the layer needs, as a set. */
uint32_t aq_export_layer_pieces(const aq_export_layer *layer);

void aq_export_layer_put_constants(const aq_export_layer *layer, aq_export_text *to);
void aq_export_layer_put_call(const aq_export_layer *layer, aq_export_text *to);

/* A constant of the type `name`: the images that the layer reads and gives. */
void aq_export_layer_put_image(const aq_export_layer *layer, const char *name, aq_export_text *to);

#endif
