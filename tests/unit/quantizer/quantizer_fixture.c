/*
 * The quantizer tests' network. Failures are assertions of the test that asked.
 */
#include <string.h>

#include "common/base/memory.h"
#include "tests/support/test.h"
#include "tests/unit/quantizer/quantizer_fixture.h"

void quantizer_fixture_init(quantizer_fixture *fixture, uint32_t inputs, const uint32_t *hidden,
                            uint32_t outputs, enum aq_activation activation)
{
    uint32_t hidden_count = 0;
    while (hidden != NULL && hidden[hidden_count] != 0) {
        hidden_count++;
    }
    aq_net_spec spec;
    assert_int_equal(
        aq_net_spec_init_mlp(inputs, hidden, hidden_count, outputs, activation, &spec, NULL), 0);
    quantizer_fixture_init_spec(fixture, &spec);
}

void quantizer_fixture_init_spec(quantizer_fixture *fixture, const aq_net_spec *spec)
{
    const uint32_t inputs = aq_net_spec_inputs(spec);
    const uint32_t outputs = aq_net_spec_outputs(spec);
    memset(fixture, 0, sizeof(*fixture));
    aq_rng_init(&fixture->rng, 20240607, 0);
    fixture->spec = *spec;
    assert_int_equal(aq_params_init(&fixture->spec, &fixture->params), 0);
    aq_params_randomize(&fixture->spec, &fixture->params, &fixture->rng);

    fixture->schema.obs = (aq_space){.kind = AQ_SPACE_BOX,
                                     .dtype = AQ_DTYPE_F32,
                                     .rank = 1,
                                     .shape = {inputs},
                                     .bound_count = 1,
                                     .low = {-100.0f},
                                     .high = {100.0f}};
    aq_space_init_discrete(&fixture->schema.action, outputs);
    fixture->meta = (aq_quantize_meta){.run_id = 7,
                                       .version = 3,
                                       .learner_step = 1000,
                                       .task = "random",
                                       .schema = &fixture->schema,
                                       .act_rule = AQ_ACT_ARGMAX};
}

void quantizer_fixture_fini(quantizer_fixture *fixture)
{
    aq_params_fini(&fixture->params);
}

aq_snapshot *quantizer_fixture_snapshot(const quantizer_fixture *fixture, uint32_t format)
{
    return quantizer_fixture_planned(fixture, &(aq_quantize_plan){.format = format});
}

aq_snapshot *quantizer_fixture_planned(const quantizer_fixture *fixture,
                                       const aq_quantize_plan *plan)
{
    aq_snapshot *snapshot = NULL;
    aq_error error = {0};
    const int rc =
        aq_quantize(&fixture->spec, &fixture->params, plan, &fixture->meta, &snapshot, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(rc, 0);
    return snapshot;
}

float *quantizer_fixture_floats(size_t count)
{
    float *values = aq_alloc(count, sizeof(*values));
    assert_non_null(values);
    return values;
}

float *quantizer_fixture_observations(quantizer_fixture *fixture, size_t rows)
{
    const size_t count = rows * aq_net_spec_inputs(&fixture->spec);
    float *obs = quantizer_fixture_floats(count);
    for (size_t i = 0; i < count; i++) {
        obs[i] = (float)aq_rng_normal(&fixture->rng);
    }
    return obs;
}
