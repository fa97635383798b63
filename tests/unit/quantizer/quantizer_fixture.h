/*
 * A random network with everything that a snapshot of it needs, for the quantizer's tests.
 */
#ifndef AQ_TESTS_UNIT_QUANTIZER_QUANTIZER_FIXTURE_H
#define AQ_TESTS_UNIT_QUANTIZER_QUANTIZER_FIXTURE_H

#include "common/base/rng.h"
#include "common/nn/params.h"
#include "quantizer/engine/engine.h"
#include "quantizer/quantize/quantize.h"

typedef struct quantizer_fixture {
    aq_net_spec spec;
    aq_params params;
    aq_schema schema;
    aq_quantize_meta meta; /* points at `schema`: don't copy the fixture */
    aq_rng rng;
} quantizer_fixture;

/* All that is given out here goes when the test ends. */

/* inputs -> hidden, ended by a 0 -> outputs; random parameters. */
quantizer_fixture *quantizer_fixture_of(uint32_t inputs, const uint32_t *hidden, uint32_t outputs,
                                        enum aq_activation activation);
quantizer_fixture *quantizer_fixture_of_spec(const aq_net_spec *spec);

/* The same in place. */
void quantizer_fixture_init(quantizer_fixture *fixture, uint32_t inputs, const uint32_t *hidden,
                            uint32_t outputs, enum aq_activation activation);
void quantizer_fixture_init_spec(quantizer_fixture *fixture, const aq_net_spec *spec);
void quantizer_fixture_teardown(quantizer_fixture *fixture);

aq_snapshot *quantizer_fixture_snapshot(const quantizer_fixture *fixture, uint32_t format);
aq_snapshot *quantizer_fixture_planned(const quantizer_fixture *fixture,
                                       const aq_quantize_plan *plan);

/* (rows, inputs) normal values. */
float *quantizer_fixture_observations(quantizer_fixture *fixture, size_t rows);

/* Zeroed. */
float *quantizer_fixture_floats(size_t count);

enum { QUANTIZER_RUNGS_MAX = 12 };

/* Flags that select each rung that this processor has in turn, the scalar one last; how many. */
uint32_t quantizer_fixture_rungs(uint32_t flags[QUANTIZER_RUNGS_MAX]);

aq_engine *quantizer_fixture_engine(aq_snapshot *snapshot, size_t rows_max, uint32_t cpu_flags);

#endif
