/*
 * From a group of batches to steps, and from steps to versions that are due.
 */
#include "learner/train/trainer_core.h"
#include "tests/support/test.h"
#include "tests/unit/learner/fake_algorithm.h"

enum { BATCH_ROWS = 8, PERIOD = 5, OFFERS_MAX = 64 };

typedef struct offer {
    uint64_t step;
    const float *obs;
    size_t rows;
    float first_parameter;
} offer;

typedef struct core_desk {
    learner_kit kit;
    fake_algorithm algorithm;
    aq_trainer_core *core;
    bool refuse, is_full;
    size_t count;
    offer offers[OFFERS_MAX];
} core_desk;

static bool on_policy_due(void *user, const aq_params *params, uint64_t step, const float *obs,
                          size_t rows)
{
    core_desk *desk = user;
    assert_true(desk->count < OFFERS_MAX);
    desk->offers[desk->count++] = (offer){step, obs, rows, params->weight[0][0]};
    return !desk->refuse;
}

static bool has_place(void *user)
{
    return !((core_desk *)user)->is_full;
}

static void create_core(core_desk *desk, uint64_t first_step, uint32_t error_rows)
{
    aq_trainer_core_config config = {.publish_period = PERIOD,
                                     .first_step = first_step,
                                     .error_rows = error_rows,
                                     .has_place = has_place};
    aq_trainer_core_destroy(desk->core);
    assert_int_equal(
        aq_trainer_core_create(&config, desk->algorithm.agent, on_policy_due, desk, &desk->core),
        0);
}

static void core_desk_setup(core_desk *desk)
{
    learner_kit_init(&desk->kit, 2);
    fake_algorithm_init(&desk->algorithm, &desk->kit, BATCH_ROWS);
    create_core(desk, 0, BATCH_ROWS);
}

static void core_desk_teardown(core_desk *desk)
{
    aq_trainer_core_destroy(desk->core);
    fake_algorithm_fini(&desk->algorithm);
    learner_kit_fini(&desk->kit);
}

static aq_trainer_settings settings_of(uint64_t publish_period)
{
    aq_trainer_settings settings = {.epsilon = 0.5};
    settings.config.quantizer.publish_period = publish_period;
    settings.config.learner.learning_rate = 2.0;
    settings.config.learner.critic_learning_rate = 3.0;
    settings.config.learner.learning_rate_end = 0.0;
    settings.config.limits.learner_steps = 100;
    settings.config.actor.explore_end = 0.0;
    settings.config.actor.explore_steps = 50;
    return settings;
}

static void configure(core_desk *desk, uint64_t publish_period)
{
    const aq_trainer_settings settings = settings_of(publish_period);
    aq_trainer_core_configure(desk->core, &settings);
}

static void train(core_desk *desk, uint32_t batches)
{
    aq_batch *group = learner_kit_group(&desk->kit, batches * BATCH_ROWS);
    aq_trainer_core_train(desk->core, group, 0);
    aq_batch_destroy(group);
}

/* ---- steps --------------------------------------------------------------------------------- */

TEST_IN(core_desk, desk, each_batch_of_a_group_is_one_step_on_its_own_rows)
{
    aq_batch *group = learner_kit_group(&desk->kit, 3 * BATCH_ROWS);
    aq_trainer_core_train(desk->core, group, 0);

    assert_int_equal(desk->algorithm.steps, 3);
    assert_int_equal(aq_trainer_core_step(desk->core), 3);
    for (uint32_t i = 0; i < 3; i++) {
        const fake_batch *seen = &desk->algorithm.seen[i];
        uint32_t first = i * BATCH_ROWS;
        float obs, next_obs;
        memcpy(&obs, group->obs + (size_t)first * group->obs_bytes, sizeof(obs));
        memcpy(&next_obs, group->next_obs + (size_t)first * group->obs_bytes, sizeof(next_obs));
        assert_int_equal(seen->rows, BATCH_ROWS);
        assert_true(seen->first_obs == obs);
        assert_true(seen->first_next_obs == next_obs);
        assert_int_equal(seen->first_action, first % KIT_ACTIONS);
        assert_true(seen->first_reward == (float)first);
        assert_true(seen->first_bootstrap == 0.5f);
        assert_int_equal(seen->first_item, first);
        assert_int_equal(seen->last_item, first + BATCH_ROWS - 1);
        assert_int_equal(seen->first_version, first);
    }
    aq_batch_destroy(group);
}

TEST_IN(core_desk, desk, steps_go_on_from_those_of_an_earlier_process)
{
    create_core(desk, 1000, BATCH_ROWS);
    assert_int_equal(aq_trainer_core_step(desk->core), 1000);
    train(desk, 4);
    assert_int_equal(aq_trainer_core_step(desk->core), 1004);
    assert_int_equal(desk->count, 0); /* a whole period from there */
    train(desk, 1);
    assert_int_equal(desk->count, 1);
    assert_int_equal(desk->offers[0].step, 1005);
}

/* Those of the greatest exponent to the power of what is due of it. */
TEST_IN(core_desk, desk, weights_count_for_as_much_as_is_due_at_a_step)
{
    aq_trainer_settings settings = {.epsilon = 0.5};
    settings.config.quantizer.publish_period = PERIOD;
    settings.config.learner.importance_end = 1;
    settings.config.limits.learner_steps = 100;
    for (uint64_t step = 0; step <= 100; step += 50) {
        aq_batch *group = learner_kit_group(&desk->kit, BATCH_ROWS);
        create_core(desk, step, BATCH_ROWS);
        aq_trainer_core_configure(desk->core, &settings);
        group->weight[1] = 0.25f;
        aq_trainer_core_train(desk->core, group, 0);
        assert_near(group->weight[1], pow(0.25, (double)step / 100), 1e-6);
        aq_batch_destroy(group);
    }
}

/* A core that goes on from step 20 has the rates of one that came there. */
TEST_IN(core_desk, desk, rates_fall_with_every_step_and_go_on_where_they_were)
{
    for (uint64_t first = 0; first <= 20; first += 20) {
        create_core(desk, first, BATCH_ROWS);
        configure(desk, PERIOD);
        for (uint64_t step = first; step < 25; step++) {
            train(desk, 1);
            const double left = 1.0 - (double)step / 100;
            assert_near(desk->algorithm.learning_rate, 2.0 * left, 1e-12);
            assert_near(desk->algorithm.critic_learning_rate, 3.0 * left, 1e-12);
            assert_near(desk->algorithm.epsilon, 0.5 * (1.0 - (double)step / 50), 1e-12);
        }
    }
}

TEST_IN(core_desk, desk, sums_add_up_until_they_are_taken)
{
    train(desk, 2);
    train(desk, 1);
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_int_equal(sums.steps, 3);
    assert_true(sums.metrics.values[0] == 6);
    assert_true(sums.metrics.values[1] == 30);
    assert_int_equal(sums.failed, 0);
    sums = aq_trainer_core_take_sums(desk->core);
    assert_int_equal(sums.steps + sums.version_rows, 0);
    assert_true(sums.metrics.values[0] == 0 && sums.metrics.values[1] == 0 && sums.behind_sum == 0);
}

TEST_IN(core_desk, desk, what_gradient_steps_take_of_the_exchange_is_told)
{
    aq_rank_link link = {.count = 2, .spent_ns = 1000};
    aq_trainer_core_config config = {.publish_period = PERIOD};
    assert_succeeds(aq_gradient_exchange_create(&link, AQ_GRADIENT_FP32, &config.exchange));
    aq_trainer_core_destroy(desk->core);
    assert_succeeds(
        aq_trainer_core_create(&config, desk->algorithm.agent, on_policy_due, desk, &desk->core));
    desk->algorithm.link = &link;
    desk->algorithm.more = 4;
    train(desk, 3);
    const aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    const size_t first = fake_algorithm_class.metrics.count;
    const aq_metric_list *metrics = aq_agent_metrics(desk->algorithm.agent);
    assert_int_equal(sums.exchange_ns, 3 * 5 * 7);
    assert_near(aq_metric_value(metrics, &sums.metrics, first + AQ_AGENT_EXCHANGE_MS), 7e-6, 1e-15);
    assert_true(aq_metric_value(metrics, &sums.metrics, first + AQ_AGENT_EXCHANGE_BYTES) == 100);
    assert_true(aq_metric_value(metrics, &sums.metrics, first + AQ_AGENT_RANKS) == 2);
    assert_true(isnan(aq_metric_value(metrics, &sums.metrics, first + AQ_AGENT_NOISE_SCALE)));
    aq_trainer_settings settings = settings_of(PERIOD);
    settings.config.learner.rank_rate = AQ_RANK_RATE_LINEAR;
    aq_trainer_core_configure(desk->core, &settings);
    train(desk, 1);
    assert_near(desk->algorithm.learning_rate, link.count * 2.0 * (1 - 15.0 / 100), 1e-12);
    aq_gradient_exchange_destroy(config.exchange);
}

TEST_IN(core_desk, desk, rows_that_no_policy_chose_have_no_staleness)
{
    train(desk, 1); /* versions 0 to 7 */
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_int_equal(sums.version_rows, BATCH_ROWS - 1);
    assert_true(sums.behind_sum == 0);
    assert_int_equal(sums.staleness[0], BATCH_ROWS - 1); /* no newer version is known */
}

TEST_IN(core_desk, desk, a_failed_step_is_counted_and_the_next_is_made)
{
    aq_batch *group = learner_kit_group(&desk->kit, 3 * BATCH_ROWS);
    group->reward[BATCH_ROWS] = -1; /* the second batch */
    aq_trainer_core_train(desk->core, group, 0);
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_int_equal(sums.failed, 1);
    assert_int_equal(sums.steps, 2);
    assert_true(sums.metrics.values[0] == 4);
    assert_int_equal(aq_trainer_core_step(desk->core), 2);
    assert_int_equal(desk->algorithm.steps, 3);
    aq_batch_destroy(group);
}

TEST_IN(core_desk, desk, steps_before_the_one_that_failed_count)
{
    aq_batch *group = learner_kit_group(&desk->kit, BATCH_ROWS);
    group->reward[0] = -3; /* two steps were taken */
    aq_trainer_core_train(desk->core, group, 0);
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_int_equal(sums.failed, 1);
    assert_int_equal(sums.steps, 2);
    assert_int_equal(aq_trainer_core_step(desk->core), 2);
    aq_batch_destroy(group);
}

/* A checkpoint of what they made names them. */
TEST_IN(core_desk, desk, steps_before_a_rank_was_lost_count_and_no_more_are_made)
{
    aq_batch *group = learner_kit_group(&desk->kit, 2 * BATCH_ROWS);
    desk->algorithm.fault = AQ_E_PEER;
    group->reward[0] = -3;
    aq_trainer_core_train(desk->core, group, 0);
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_int_equal(sums.failed, 0);
    assert_int_equal(sums.steps, 2);
    assert_int_equal(aq_trainer_core_step(desk->core), 2);
    assert_int_equal(desk->algorithm.steps, 1);
    aq_batch_destroy(group);
}

TEST_IN(core_desk, desk, rows_are_counted_by_how_old_they_are)
{
    aq_batch *group = learner_kit_group(&desk->kit, BATCH_ROWS); /* versions 0 to 7 */
    aq_trainer_core_train(desk->core, group, 7);
    aq_batch_destroy(group);
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_true(sums.behind_sum == 0 + 1 + 2 + 3 + 4 + 5 + 6);
    assert_int_equal(sums.staleness[0], 1); /* 7 */
    assert_int_equal(sums.staleness[1], 1); /* 6 */
    assert_int_equal(sums.staleness[2], 2); /* 5 and 4 */
    assert_int_equal(sums.staleness[3], 3); /* 3, 2 and 1 */
    assert_int_equal(aq_staleness_bin(4), 3);
    assert_int_equal(aq_staleness_bin(7), 3);
    assert_int_equal(aq_staleness_bin(8), 4);
    assert_int_equal(aq_staleness_bin(UINT64_MAX), AQ_STALENESS_BINS - 1);
    assert_true(aq_staleness_bin(UINT32_MAX) < AQ_STALENESS_BINS - 1); /* no version is more */
}

/* It begins with version 1025, and the process before ended with 5: rows of 3 are behind 4 and 5,
 * and this one's. */
static void count_skipped(core_desk *desk, uint64_t first_step)
{
    create_core(desk, first_step, BATCH_ROWS);
    aq_batch *group = learner_kit_group(&desk->kit, BATCH_ROWS);
    for (uint32_t i = 0; i < BATCH_ROWS; i++) {
        group->version[i] = i == 0 ? 5 : 3;
    }
    aq_trainer_core_train(desk->core, group, 1025);
    aq_trainer_sums sums = aq_trainer_core_take_sums(desk->core);
    assert_true(sums.behind_sum == 1 + (BATCH_ROWS - 1) * 3);
    group->version[0] = 1026;
    group->version[1] = 1025;
    aq_trainer_core_train(desk->core, group, 1027);
    sums = aq_trainer_core_take_sums(desk->core);
    assert_true(sums.behind_sum == 1 + 2 + (BATCH_ROWS - 2) * 5);
    aq_batch_destroy(group);
}

TEST_IN(core_desk, desk, versions_that_were_skipped_make_no_row_older)
{
    count_skipped(desk, 1000);
    count_skipped(desk, 0); /* the one before had no checkpoint */
}

/* Of the newest two versions; and of none, as long as there are fewer. */
TEST_IN(core_desk, desk, what_is_of_too_old_a_version_is_passed_over_and_counted)
{
    enum { STEPS = 3, OLDEST = 4 };
    const aq_trainer_core_config config = {.publish_period = PERIOD, .versions_max = 2};
    aq_batch *group = NULL;
    aq_trainer_core_destroy(desk->core);
    assert_succeeds(
        aq_trainer_core_create(&config, desk->algorithm.agent, on_policy_due, desk, &desk->core));
    assert_int_equal(aq_trainer_core_fresh_from(desk->core, 1), 0);
    assert_int_equal(aq_trainer_core_fresh_from(desk->core, 2), 1);
    assert_succeeds(aq_batch_create(&desk->kit.layout, STEPS, BATCH_ROWS, &group));
    group->rows = BATCH_ROWS;
    for (uint32_t row = 0; row < BATCH_ROWS; row++) {
        group->length[row] = 1 + row % STEPS;
        group->version[row * STEPS] = OLDEST + row;
    }
    aq_trainer_core_train(desk->core, group, OLDEST + 1);
    assert_int_equal(desk->algorithm.steps, 1);
    assert_int_equal(aq_trainer_core_take_sums(desk->core).outdated, 0);
    aq_trainer_core_train(desk->core, group, OLDEST + 2);
    assert_int_equal(desk->algorithm.steps, 1);
    assert_int_equal(aq_trainer_core_take_sums(desk->core).outdated, 15); /* steps of 8 rows */
    aq_batch_destroy(group);
}

/* The parts of a group of sequences begin where their own rows do. */
TEST_IN(core_desk, desk, batches_of_sequences_are_cut_at_whole_sequences)
{
    enum { STEPS = 3 };
    aq_batch *group = NULL;
    assert_int_equal(aq_batch_create(&desk->kit.layout, STEPS, 2 * BATCH_ROWS, &group), 0);
    group->rows = 2 * BATCH_ROWS;
    for (uint32_t row = 0; row < group->rows; row++) {
        float obs = (float)row;
        memcpy(group->obs + (size_t)row * (STEPS + 1) * group->obs_bytes, &obs, sizeof(obs));
        group->item[row] = row;
        group->version[row * STEPS] = row;
        group->reward[row * STEPS] = (float)row;
    }
    aq_trainer_core_train(desk->core, group, 0);
    assert_int_equal(desk->algorithm.steps, 2);
    assert_true(desk->algorithm.seen[1].first_obs == BATCH_ROWS);
    assert_true(desk->algorithm.seen[1].first_reward == BATCH_ROWS);
    assert_int_equal(desk->algorithm.seen[1].first_item, BATCH_ROWS);
    assert_int_equal(desk->algorithm.seen[1].first_version, BATCH_ROWS);
    aq_batch_destroy(group);
}

/* ---- versions ------------------------------------------------------------------------------ */

TEST_IN(core_desk, desk, the_first_version_is_the_parameters_as_they_are)
{
    aq_trainer_core_offer_first(desk->core);
    assert_int_equal(desk->count, 1);
    assert_int_equal(desk->offers[0].step, 0);
    assert_true(desk->offers[0].first_parameter == 0);
    assert_null(desk->offers[0].obs); /* there are none to measure on yet */
    assert_int_equal(desk->offers[0].rows, 0);
}

TEST_IN(core_desk, desk, a_version_is_due_after_each_period)
{
    train(desk, PERIOD - 1);
    assert_int_equal(desk->count, 0);
    train(desk, 2 * PERIOD + 1);
    assert_int_equal(desk->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(desk->offers[i].step, (i + 1) * PERIOD);
        assert_true(desk->offers[i].first_parameter == (float)((i + 1) * PERIOD));
    }
}

TEST_IN(core_desk, desk, another_period_counts_from_the_last_version_on)
{
    train(desk, PERIOD + 1);
    assert_int_equal(desk->count, 1);
    configure(desk, 2);
    train(desk, 1);
    assert_int_equal(desk->count, 2);
    assert_int_equal(desk->offers[1].step, PERIOD + 2);
    configure(desk, PERIOD);
    train(desk, PERIOD - 1);
    assert_int_equal(desk->count, 2);
    train(desk, 1);
    assert_int_equal(desk->offers[2].step, 2 * PERIOD + 2);
}

TEST_IN(core_desk, desk, a_version_that_was_not_taken_is_offered_after_every_step)
{
    desk->refuse = true;
    train(desk, PERIOD + 3);
    assert_int_equal(desk->count, 4);
    desk->refuse = false;
    train(desk, 1); /* step 9: taken */
    assert_int_equal(desk->count, 5);
    train(desk, PERIOD - 1);
    assert_int_equal(desk->count, 5);
    train(desk, 1); /* a period after that step */
    assert_int_equal(desk->count, 6);
    assert_int_equal(desk->offers[5].step, PERIOD + 4 + PERIOD);
}

TEST_IN(core_desk, desk, a_version_is_not_even_gathered_before_there_is_a_place)
{
    desk->is_full = true;
    train(desk, PERIOD + 3);
    assert_int_equal(desk->count, 0);
    desk->is_full = false;
    train(desk, 1);
    assert_int_equal(desk->count, 1);
    assert_int_equal(desk->offers[0].step, PERIOD + 4);
}

TEST_IN(core_desk, desk, a_version_is_measured_on_the_whole_group)
{
    aq_batch *group = learner_kit_group(&desk->kit, PERIOD * BATCH_ROWS);
    aq_trainer_core_train(desk->core, group, 0);
    assert_int_equal(desk->count, 1);
    assert_ptr_equal(desk->offers[0].obs, group->obs);
    assert_int_equal(desk->offers[0].rows, PERIOD * BATCH_ROWS);
    aq_batch_destroy(group);
}

TEST_IN(core_desk, desk, on_observations_of_bytes_nothing_is_measured)
{
    create_core(desk, 0, 0);
    train(desk, PERIOD);
    assert_int_equal(desk->count, 1);
    assert_null(desk->offers[0].obs);
    assert_int_equal(desk->offers[0].rows, 0);
}

TEST_IN(core_desk, desk, failed_steps_make_no_version_due)
{
    aq_batch *group = learner_kit_group(&desk->kit, 2 * PERIOD * BATCH_ROWS);
    for (uint32_t i = 0; i < group->rows; i++) {
        group->reward[i] = -1;
    }
    aq_trainer_core_train(desk->core, group, 0);
    assert_int_equal(desk->count, 0);
    aq_batch_destroy(group);
}

TEST_IN(core_desk, desk, create_survives_a_failed_allocation)
{
    aq_trainer_core_config config = {.publish_period = 1};
    aq_trainer_core *core = desk->core;
    assert_fails_without_memory(
        aq_trainer_core_create(&config, desk->algorithm.agent, on_policy_due, desk, &core));
    assert_ptr_equal(core, desk->core); /* untouched */
    aq_trainer_core_destroy(NULL);
}
