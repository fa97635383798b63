/*
 * What versions of wide policies are spared.
 */
#include "common/sys/cpu.h"
#include "learner/publish/publication.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

enum { ROWS = 256 };

typedef struct wide_desk {
    learner_kit kit;
    float *obs; /* ROWS of them */
} wide_desk;

static void wide_desk_setup(wide_desk *desk)
{
    learner_kit_init(&desk->kit, 11);
    desk->obs = learner_kit_observations(&desk->kit, ROWS);
}

static void wide_desk_teardown(wide_desk *desk)
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

static aq_quant_error measure(wide_desk *desk, double budget)
{
    const aq_publication_config config = config_of(budget);
    aq_publication_history history;
    aq_publication made;
    aq_publication_history_init(&history, &config);
    assert_succeeds(aq_publication_make(&config, &history, &desk->kit.meta, &desk->kit.spec,
                                        &desk->kit.params, desk->obs, ROWS, &made, &refusal));
    const aq_quant_error measured = made.measured;
    aq_publication_fini(&made);
    aq_publication_history_fini(&history);
    return measured;
}

static const uint32_t beyond_a_mib[] = {600, 600};

/* Its outputs are actions themselves, which any rounding changes. */
static void make_numbers(learner_kit *kit)
{
    const float low[KIT_ACTIONS] = {-1, -1, -1}, high[KIT_ACTIONS] = {1, 1, 1};
    aq_space_init_box(&kit->schema.action, KIT_ACTIONS, low, high);
    kit->spec.layers[2].activation = AQ_ACTIVATION_TANH;
    kit->meta.head = AQ_HEAD_TANH_BOX;
}

TEST_IN(wide_desk, desk, few_rows_show_that_a_wide_policy_is_far_from_its_budget)
{
    assert_int_equal(measure(desk, 1).rows, ROWS);
    learner_kit_take_network(&desk->kit, beyond_a_mib, 2);
    make_numbers(&desk->kit);
    const aq_quant_error few = measure(desk, 1);
    assert_in_range(few.rows, 1, ROWS / 8);
    assert_true(few.cost > 0);
    assert_int_equal(measure(desk, 2 * (double)few.cost).rows, ROWS);
}

/* Whether the second version, of which all weights are alike, counts as what it takes. */
static bool knows_the_second_twin(learner_kit *kit, const float *obs)
{
    const aq_publication_config config = config_of(1);
    aq_publication_history history;
    size_t bytes[2];
    aq_publication_history_init(&history, &config);
    for (int i = 0; i < 2; i++) {
        aq_publication made;
        assert_succeeds(aq_publication_make(&config, &history, &kit->meta, &kit->spec, &kit->params,
                                            obs, ROWS, &made, &refusal));
        bytes[i] = made.packed_bytes_fp32;
        aq_publication_fini(&made);
        for (size_t k = 0; k < kit->params.count; k++) {
            kit->params.weight[0][k] = 0.5f;
        }
        kit->meta.version++;
    }
    aq_publication_history_fini(&history);
    return bytes[1] != bytes[0];
}

TEST_IN(wide_desk, desk, of_a_wide_policy_not_every_twin_is_packed)
{
    assert_true(knows_the_second_twin(&desk->kit, desk->obs));
    learner_kit_take_network(&desk->kit, beyond_a_mib, 2);
    assert_false(knows_the_second_twin(&desk->kit, desk->obs));
}
