/*
 * ONNX read: the layers of a model that others wrote, as far as it is a chain of what policies here
 * have: linear layers (Gemm, MatMul), layer norms, relu, tanh and elu, and scales and shifts by
 * constants. Any bytes may come. No state; any thread.
 */
#ifndef AQ_INTERCHANGE_IMPORT_ONNX_READ_H
#define AQ_INTERCHANGE_IMPORT_ONNX_READ_H

#include <stddef.h>

#include "interchange/import/foreign_net.h"

/* Adds the layers from the model's input to the output of that name to an empty net; NULL: its only
 * one, or "outputs". AQ_E_FOREIGN for what is no model, AQ_E_UNSUPPORTED for an operator that is
 * not known, AQ_E_CORRUPT, AQ_E_TOO_BIG, in words; as of foreign_net.h. */
int aq_onnx_read(const uint8_t *bytes, size_t size, const char *output, aq_foreign_net *net,
                 aq_error *error) AQ_MUST_USE;

#endif
