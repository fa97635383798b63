/*
 * What a learner does with gradients that come: it follows, damps, drops or refuses them, counts
 * each, and goes on.
 */
#include <math.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/config/gradient_rows.h"
#include "common/config/pacing.h"
#include "learner/gradients/gradient_codes.h"
#include "learner/train/trainer_core.h"
#include "tests/unit/gradients/gradient_run.h"

enum { NEWEST = 100 };

typedef struct group_desk {
    aq_run_plan plan;
    aq_agent *agent;
    aq_trainer_core *core;
    aq_batch *group;
    uint64_t newest; /* version */
    uint64_t offers;
} group_desk;

static bool on_policy_due(void *user, const aq_params *params, uint64_t step, const float *obs,
                          size_t rows)
{
    group_desk *desk = user;
    (void)params;
    (void)step;
    assert_null(obs); /* a gradient has none */
    assert_int_equal(rows, 0);
    desk->offers++;
    return true;
}

/* Of a learner that had made `steps` before it was started again. */
static void begin_again(group_desk *desk, const char *more, uint64_t steps)
{
    const char *const assignments[] = {"learner.algorithm=a2c",
                                       "learner.hidden=4",
                                       "replay.selector=queue",
                                       "replay.sequence_length=16",
                                       "replay.sequence_period=16",
                                       "replay.chunk_length=16",
                                       "replay.samples_per_insert=0",
                                       "learner.group_steps=64",
                                       "seed=1",
                                       more,
                                       NULL};
    aq_run_config config;
    *desk = (group_desk){.newest = NEWEST};
    gradient_config(&config, assignments);
    config.actor.gradients = true;
    gradient_plan(&config, &desk->plan);
    desk->agent = gradient_agent(&desk->plan);
    assert_succeeds(
        aq_run_plan_take_gradients(&desk->plan, aq_agent_gradient_values(desk->agent), &refusal));
    const aq_run_config *settings = &desk->plan.config;
    const aq_trainer_core_config core = {
        .publish_period = 1,
        .first_step = steps,
        .error_rows = 8,
        .versions_max = aq_pacing_lag(settings),
        .gradients = aq_gradient_rules_of(settings, desk->plan.settings.gradient_values),
    };
    assert_succeeds(aq_trainer_core_create(&core, desk->agent, on_policy_due, desk, &desk->core));
    aq_trainer_core_configure(desk->core, &(aq_trainer_settings){.config = *settings});
    assert_succeeds(aq_batch_create(&desk->plan.layout, 0, 1, &desk->group));
}

static void end(group_desk *desk)
{
    aq_batch_destroy(desk->group);
    aq_trainer_core_destroy(desk->core);
    aq_agent_destroy(desk->agent);
}

static float first_parameter(const group_desk *desk)
{
    return aq_agent_policy(desk->agent)->block[0];
}

/* A gradient of ones times `size`, of that version; of NaN, the bytes are. */
static void give(group_desk *desk, float size, uint32_t version, float good)
{
    const size_t values = desk->plan.settings.gradient_values;
    float *gradient = aq_alloc(values, sizeof(float));
    float *residual = aq_alloc(values, sizeof(float));
    for (size_t i = 0; i < values; i++) {
        gradient[i] = isnan(size) ? 1.0f : size;
    }
    aq_gradient_pack((enum aq_gradient_format)desk->plan.config.learner.gradient_format, gradient,
                     values, residual, desk->group->columns[AQ_BATCH_RECORDED].bytes);
    if (isnan(size)) {
        memcpy(desk->group->columns[AQ_BATCH_RECORDED].bytes, &size, sizeof(size));
    }
    desk->group->rows = 1;
    desk->group->version[0] = version;
    desk->group->reward[0] = good;
    aq_trainer_core_train(desk->core, desk->group, desk->newest);
    aq_free(gradient);
    aq_free(residual);
}

/* Of one that has made all versions that there are; it has heard of its first. */
static void begin(group_desk *desk, const char *more)
{
    begin_again(desk, more, 0);
    desk->newest = 1;
    give(desk, 0.0f, 1, 0.0f);
    assert_int_equal(aq_trainer_core_take_sums(desk->core).failed, 1);
    desk->newest = NEWEST;
}

static double told(const group_desk *desk, const aq_trainer_sums *sums, size_t metric)
{
    const aq_metric_list *metrics = aq_agent_metrics(desk->agent);
    return aq_metric_value(metrics, &sums->metrics,
                           aq_agent_class(desk->agent)->metrics.count + metric);
}

TEST(each_gradient_is_a_step_and_counts_for_its_steps)
{
    group_desk desk;
    begin(&desk, "learner.lag_max=none");
    const float before = first_parameter(&desk);
    give(&desk, 1.0f, NEWEST, AQ_GRADIENT_GOOD);
    give(&desk, 1.0f, NEWEST - 5, AQ_GRADIENT_GOOD);
    assert_true(first_parameter(&desk) < before);
    const aq_trainer_sums sums = aq_trainer_core_take_sums(desk.core);
    assert_int_equal(sums.steps, 2);
    assert_int_equal(sums.staleness[0], 1);
    assert_int_equal(sums.staleness[aq_staleness_bin(5)], 1);
    end(&desk);
}

/* So that the cost of versions does not grow with the number of actors. */
TEST(a_version_is_made_of_as_many_gradients_as_there_are_actors)
{
    static const char *const counts[] = {"actor.count=1", "actor.count=3"};
    EACH_ROW(i, counts) {
        group_desk desk;
        begin(&desk, counts[i]);
        for (int k = 0; k < 7; k++) {
            give(&desk, 1.0f, NEWEST, AQ_GRADIENT_GOOD);
        }
        assert_int_equal(desk.offers, i == 0 ? 7 : 2);
        end(&desk);
    }
}

TEST(what_is_too_old_is_dropped_and_counted)
{
    group_desk desk;
    begin(&desk, "learner.lag_max=4");
    const float before = first_parameter(&desk);
    give(&desk, 1.0f, NEWEST - 5, AQ_GRADIENT_GOOD);
    assert_float_equal(first_parameter(&desk), before, 0);
    give(&desk, 1.0f, NEWEST - 4, AQ_GRADIENT_GOOD);
    assert_true(first_parameter(&desk) < before);
    const aq_trainer_sums sums = aq_trainer_core_take_sums(desk.core);
    assert_int_equal(sums.outdated, 64);
    assert_int_equal(sums.steps, 1);
    assert_near(told(&desk, &sums, AQ_AGENT_GRADIENTS_DROPPED), 1, 0);
    end(&desk);
}

/* It skips numbers of versions. */
TEST(a_learner_that_goes_on_drops_none_for_versions_that_nobody_had)
{
    enum { LAST_BEFORE = NEWEST - 40 };
    group_desk desk;
    begin_again(&desk, "learner.lag_max=4", 7);
    give(&desk, 1.0f, LAST_BEFORE, AQ_GRADIENT_GOOD);
    give(&desk, 1.0f, LAST_BEFORE - 3, AQ_GRADIENT_GOOD);
    give(&desk, 1.0f, LAST_BEFORE - 4, AQ_GRADIENT_GOOD);
    const aq_trainer_sums sums = aq_trainer_core_take_sums(desk.core);
    assert_int_equal(sums.steps, 2);
    assert_int_equal(sums.outdated, 64);
    end(&desk);
}

/* Adam's first step is as long as its rate, whatever the gradient. */
TEST(what_is_old_is_damped_by_its_age_and_counted)
{
    double moved[2];
    for (uint32_t behind = 0; behind < 2; behind++) {
        group_desk desk;
        begin(&desk, "learner.lag_damping=true");
        const float before = first_parameter(&desk);
        give(&desk, 1.0f, NEWEST - 3 * behind, AQ_GRADIENT_GOOD);
        moved[behind] = (double)before - (double)first_parameter(&desk);
        const aq_trainer_sums sums = aq_trainer_core_take_sums(desk.core);
        assert_near(told(&desk, &sums, AQ_AGENT_GRADIENTS_DAMPED), behind, 0);
        end(&desk);
    }
    assert_near(moved[1], moved[0] / 4, 1e-3 * moved[0]);
}

TEST(what_cannot_be_is_refused_and_counted)
{
    static const struct {
        const char *format;
        float size;
        uint32_t version;
    } cases[] = {
        {"learner.gradient_format=fp32", NAN, NEWEST},
        {"learner.gradient_format=bf16", NAN, NEWEST},
        {"learner.gradient_format=int8", NAN, NEWEST},
        {"learner.gradient_format=fp32", 1.0f, 0},
        {"learner.gradient_format=fp32", 1.0f, NEWEST + 65},
        {"learner.gradient_format=fp32", 1.0f, UINT32_MAX},
    };
    EACH_ROW(i, cases) {
        group_desk desk;
        begin(&desk, cases[i].format);
        const float before = first_parameter(&desk);
        give(&desk, cases[i].size, cases[i].version, AQ_GRADIENT_GOOD);
        assert_float_equal(first_parameter(&desk), before, 0);
        give(&desk, 1.0f, NEWEST, AQ_GRADIENT_GOOD);
        assert_true(first_parameter(&desk) < before);
        const aq_trainer_sums sums = aq_trainer_core_take_sums(desk.core);
        assert_near(told(&desk, &sums, AQ_AGENT_GRADIENTS_REFUSED), 1, 0);
        assert_int_equal(sums.failed, 0);
        end(&desk);
    }
}

TEST(an_actor_for_whom_nothing_is_finite_says_so)
{
    group_desk desk;
    begin(&desk, "learner.lag_max=none");
    const float before = first_parameter(&desk);
    give(&desk, 0.0f, NEWEST, 0.0f);
    assert_float_equal(first_parameter(&desk), before, 0);
    assert_int_equal(aq_trainer_core_take_sums(desk.core).failed, 1);
    end(&desk);
}
