/*
 * What was trained for its levels goes out as it was trained: version after version, with its
 * number of bits and scales of its own.
 */
#include "common/config/run_rules.h"
#include "common/sys/cpu.h"
#include "learner/nn/fake_quant.h"
#include "learner/publish/publication.h"
#include "tests/support/config_kit.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ROWS = 64, VERSIONS = 12 };

static aq_run_config config_of(const char *bits, const char *format)
{
    aq_run_config config = config_defaults();
    config_set(&config, bits);
    config_set(&config, format);
    assert_int_equal(aq_run_rules_check(&config, NULL), 0);
    return config;
}

static void assert_is(const aq_snapshot *snapshot, const aq_params *params)
{
    float weights[256];
    for (uint32_t i = 0; i < snapshot->spec.layer_count; i++) {
        const aq_layer_matrix_shape matrix = aq_layer_matrix(&snapshot->spec.layers[i]);
        const size_t count = (size_t)matrix.rows * matrix.columns;
        assert_true(count <= 256);
        aq_snapshot_layer_weights(snapshot, i, weights);
        assert_memory_equal(weights, params->weight[i], count * sizeof(float));
    }
}

/* Weights that shrink a little from version to version: a kept scale would do for each of them. */
static void check_published(const char *bits, const char *format)
{
    const aq_run_config config = config_of(bits, format);
    aq_publication_config plan;
    aq_publication_history history;
    learner_kit kit;
    aq_params trained;
    learner_kit_init(&kit, 3);
    const aq_fake_quant quant = aq_fake_quant_of(&config, &kit.spec);
    float *obs = learner_kit_observations(&kit, ROWS);
    assert_int_equal(aq_params_init(&kit.spec, &trained), 0);
    assert_int_equal(aq_publication_plan(&config, &kit.spec, aq_cpu_flags(), &plan, NULL), 0);
    aq_publication_history_init(&history, &plan);
    for (uint64_t version = 1; version <= VERSIONS; version++) {
        aq_publication made;
        kit.meta.version = version;
        aq_fake_quant_params(&quant, &kit.spec, &kit.params, &trained);
        assert_succeeds(aq_publication_make(&plan, &history, &kit.meta,
                                            learner_kit_exact(&kit.spec, &trained), obs, ROWS,
                                            &made, NULL));
        assert_false(made.fell_back);
        assert_int_equal(made.snapshot->layers[0].format, quant.format);
        assert_is(made.snapshot, &trained);
        assert_is(made.twin, &trained);
        aq_publication_fini(&made);
        for (size_t k = 0; k < kit.params.count; k++) {
            kit.params.block[k] *= 0.99f;
        }
    }
    aq_publication_history_fini(&history);
    aq_params_fini(&trained);
    aq_free(obs);
    learner_kit_fini(&kit);
}

TEST(int8_levels_of_any_bits_go_out_as_trained)
{
    static const char *const bits[] = {
        "learner.qat_bits=2", "learner.qat_bits=3", "learner.qat_bits=4", "learner.qat_bits=5",
        "learner.qat_bits=6", "learner.qat_bits=7", "learner.qat_bits=8"};
    EACH_ROW(i, bits) {
        check_published(bits[i], "quantizer.format=int8");
        check_published(bits[i], "quantizer.format=int8-tensor");
    }
}

/* With normalized observations the first layer acts in fp32. */
TEST(layers_are_trained_for_the_format_that_they_go_out_in)
{
    static const char *const normalized[] = {"learner.normalize_obs=false",
                                             "learner.normalize_obs=true"};
    learner_kit kit;
    learner_kit_init(&kit, 3);
    for (size_t on = 0; on < 2; on++) {
        aq_publication_config plan;
        aq_run_config config = config_of("learner.qat_bits=8", "quantizer.format=int8");
        config_set(&config, normalized[on]);
        const aq_fake_quant quant = aq_fake_quant_of(&config, &kit.spec);
        assert_int_equal(aq_publication_plan(&config, &kit.spec, aq_cpu_flags(), &plan, NULL), 0);
        for (uint32_t l = 0; l < kit.spec.layer_count; l++) {
            const bool acts_in_fp32 = plan.plan.layer_formats[l] == AQ_FORMAT_F32;
            assert_true(acts_in_fp32 == (on == 1 && l == 0));
            assert_true(aq_fake_quant_covers(&quant, &kit.spec, l) == !acts_in_fp32);
        }
    }
    learner_kit_fini(&kit);
}

TEST(packed_levels_go_out_as_trained)
{
    check_published("learner.qat_bits=4", "quantizer.format=int4");
    check_published("learner.qat_bits=2", "quantizer.format=int2");
}
