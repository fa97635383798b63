/*
 * The quantizer tests' network. Failures are assertions of the test that asked.
 */
#include "tests/unit/quantizer/quantizer_fixture.h"
#include "common/sys/cpu.h"
#include "quantizer/kernels/qkernels.h"
#include "tests/support/test.h"

static aq_net_spec spec_of(uint32_t inputs, const uint32_t *hidden, uint32_t outputs,
                           enum aq_activation activation)
{
    uint32_t hidden_count = 0;
    while (hidden != NULL && hidden[hidden_count] != 0) {
        hidden_count++;
    }
    aq_net_spec spec;
    assert_int_equal(
        aq_net_spec_init_mlp(inputs, hidden, hidden_count, outputs, activation, &spec, NULL), 0);
    return spec;
}

void quantizer_fixture_init(quantizer_fixture *fixture, uint32_t inputs, const uint32_t *hidden,
                            uint32_t outputs, enum aq_activation activation)
{
    const aq_net_spec spec = spec_of(inputs, hidden, outputs, activation);
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
                                       .head = AQ_HEAD_ARGMAX};
}

static void drop_fixture(void *fixture)
{
    quantizer_fixture_teardown(fixture);
    aq_free(fixture);
}

quantizer_fixture *quantizer_fixture_of_spec(const aq_net_spec *spec)
{
    quantizer_fixture *fixture = aq_alloc(1, sizeof(*fixture));
    assert_non_null(fixture);
    quantizer_fixture_init_spec(fixture, spec);
    at_end(drop_fixture, fixture);
    return fixture;
}

quantizer_fixture *quantizer_fixture_of(uint32_t inputs, const uint32_t *hidden, uint32_t outputs,
                                        enum aq_activation activation)
{
    const aq_net_spec spec = spec_of(inputs, hidden, outputs, activation);
    return quantizer_fixture_of_spec(&spec);
}

void quantizer_fixture_teardown(quantizer_fixture *fixture)
{
    aq_params_fini(&fixture->params);
}

TEST_ENDING(unref_snapshot, aq_snapshot_unref);

aq_snapshot *quantizer_fixture_snapshot(const quantizer_fixture *fixture, uint32_t format)
{
    return quantizer_fixture_planned(fixture, &(aq_quantize_plan){.format = format});
}

aq_snapshot *quantizer_fixture_planned(const quantizer_fixture *fixture,
                                       const aq_quantize_plan *plan)
{
    aq_snapshot *snapshot = NULL;
    assert_succeeds(
        aq_quantize(&fixture->spec, &fixture->params, plan, &fixture->meta, &snapshot, &refusal));
    at_end(unref_snapshot, snapshot);
    return snapshot;
}

float *quantizer_fixture_floats(size_t count)
{
    float *values = aq_alloc(count, sizeof(*values));
    assert_non_null(values);
    at_end(aq_free, values);
    return values;
}

float *quantizer_fixture_observations(quantizer_fixture *fixture, size_t rows)
{
    const size_t count = rows * aq_net_spec_inputs(&fixture->spec);
    float *obs = quantizer_fixture_floats(count);
    fill_normal(obs, count, 1, &fixture->rng);
    return obs;
}

uint32_t quantizer_fixture_rungs(uint32_t flags[QUANTIZER_RUNGS_MAX])
{
    const aq_qkernels *rung;
    uint32_t count = 0;
    for (uint32_t i = 0; (rung = aq_qkernels_rung(i)) != NULL; i++) {
        if ((rung->cpu_flags & ~aq_cpu_flags()) == 0) {
            assert_true(count < QUANTIZER_RUNGS_MAX);
            flags[count++] = rung->cpu_flags;
        }
    }
    assert_int_equal(flags[count - 1], 0);
    return count;
}

TEST_ENDING(destroy_engine, aq_engine_destroy);

aq_engine *quantizer_fixture_engine(aq_snapshot *snapshot, size_t rows_max, uint32_t cpu_flags)
{
    aq_engine *engine = NULL;
    assert_succeeds(aq_engine_create(snapshot, rows_max, cpu_flags, &engine, &refusal));
    at_end(destroy_engine, engine);
    return engine;
}
