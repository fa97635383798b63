/*
 * What work most versions are spared.
 */
#include "common/sys/cpu.h"
#include "learner/publish/publication.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ROWS = 256 };

typedef struct spared_desk {
    learner_kit kit;
    float *obs; /* ROWS of them */
} spared_desk;

static void spared_desk_setup(spared_desk *desk)
{
    learner_kit_init(&desk->kit, 11);
    desk->obs = learner_kit_observations(&desk->kit, ROWS);
}

static void spared_desk_teardown(spared_desk *desk)
{
    aq_free(desk->obs);
    learner_kit_fini(&desk->kit);
}

static aq_publication_config config_of(double budget)
{
    return (aq_publication_config){.plan = {.format = AQ_FORMAT_INT8_CHANNEL},
                                   .full_period = 1,
                                   .error_budget = budget,
                                   .error_rows = ROWS,
                                   .cpu_flags = aq_cpu_flags()};
}

static aq_quant_error measure(spared_desk *desk, double budget)
{
    const aq_publication_config config = config_of(budget);
    aq_publication_history history;
    aq_publication made;
    aq_publication_history_init(&history, &config);
    assert_succeeds(aq_publication_make(&config, &history, &desk->kit.meta,
                                        learner_kit_exact(&desk->kit.spec, &desk->kit.params),
                                        desk->obs, ROWS, &made, &refusal));
    const aq_quant_error measured = made.measured;
    aq_publication_fini(&made);
    aq_publication_history_fini(&history);
    return measured;
}

/* Its outputs are actions themselves, which any rounding changes. */
static void make_numbers(learner_kit *kit)
{
    static const uint32_t widths[] = {16, 16};
    const float low[KIT_ACTIONS] = {-1, -1, -1}, high[KIT_ACTIONS] = {1, 1, 1};
    learner_kit_take_network(kit, widths, 2);
    aq_space_init_box(&kit->schema.action, KIT_ACTIONS, low, high);
    kit->spec.layers[2].activation = AQ_ACTIVATION_TANH;
    kit->meta.head = AQ_HEAD_TANH_BOX;
}

TEST_IN(spared_desk, desk, few_rows_show_that_a_policy_is_far_from_its_budget)
{
    make_numbers(&desk->kit);
    const aq_quant_error few = measure(desk, 1);
    assert_in_range(few.rows, 1, ROWS / 8);
    assert_true(few.cost > 0);
    assert_int_equal(measure(desk, 2 * (double)few.cost).rows, ROWS);
}

TEST_IN(spared_desk, desk, not_every_twin_is_packed)
{
    learner_kit *kit = &desk->kit;
    const aq_publication_config config = config_of(1);
    aq_publication_history history;
    size_t first = 0;
    bool differs = false;
    int version = 0;
    aq_publication_history_init(&history, &config);
    for (; version < 100 && !differs; version++) {
        aq_publication made;
        assert_succeeds(aq_publication_make(&config, &history, &kit->meta,
                                            learner_kit_exact(&kit->spec, &kit->params), desk->obs,
                                            ROWS, &made, &refusal));
        first = version == 0 ? made.packed_bytes_fp32 : first;
        differs = made.packed_bytes_fp32 != first;
        aq_publication_fini(&made);
        for (size_t k = 0; k < kit->params.count; k++) { /* which take fewer bytes */
            kit->params.weight[0][k] = 0.5f;
        }
        kit->meta.version++;
    }
    aq_publication_history_fini(&history);
    assert_in_range(version, 10, 99);
}

TEST_IN(spared_desk, desk, ranges_that_no_layer_takes_are_not_observed)
{
    aq_publication_config config = config_of(1);
    aq_publication_history history;
    config.range_method = AQ_RANGE_MIN_MAX;
    aq_publication_history_init(&history, &config);
    for (uint32_t i = 0; i < 2; i++) {
        aq_publication made;
        config.plan.format = i == 0 ? AQ_FORMAT_F32 : AQ_FORMAT_INT8_CHANNEL;
        desk->kit.meta.version = 1 + i;
        assert_succeeds(aq_publication_make(&config, &history, &desk->kit.meta,
                                            learner_kit_exact(&desk->kit.spec, &desk->kit.params),
                                            desk->obs, ROWS, &made, &refusal));
        assert_int_equal(history.ranges.batches, i);
        aq_publication_fini(&made);
    }
    aq_publication_history_fini(&history);
}
