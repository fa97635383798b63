/*
 * Which version a run that ends leaves behind.
 */
#include "learner/run/best_policy.h"
#include "tests/support/test.h"
#include "tests/unit/learner/learner_kit.h"

typedef struct end_desk {
    learner_kit kit;
    aq_policy_shelf *shelf;
    aq_coordinator *coordinator;
    aq_best_policy best;
} end_desk;

static void end_desk_setup(end_desk *desk)
{
    const aq_coordinator_config config = {.member_timeout_ns = 1, .threshold = NAN};
    learner_kit_init(&desk->kit, 3);
    desk->best = (aq_best_policy){0};
    assert_int_equal(aq_policy_shelf_create(&desk->shelf), 0);
    assert_int_equal(aq_coordinator_create(&config, 0, &desk->coordinator), 0);
}

static void end_desk_teardown(end_desk *desk)
{
    aq_best_policy_fini(&desk->best);
    aq_coordinator_destroy(desk->coordinator);
    aq_policy_shelf_destroy(desk->shelf);
    learner_kit_fini(&desk->kit);
}

static void put(end_desk *desk, uint64_t version)
{
    const uint32_t formats[] = {AQ_FORMAT_F32, AQ_FORMAT_F32};
    uint8_t *bytes = NULL;
    aq_publication publication = {0};
    assert_int_equal(aq_snapshot_create(&desk->kit.spec, formats, NULL, &publication.snapshot), 0);
    publication.snapshot->version = version;
    publication.twin = aq_snapshot_ref(publication.snapshot);
    aq_buffer_init(&publication.frame, 1);
    assert_int_equal(aq_buffer_extend(&publication.frame, 1, &bytes), 0);
    aq_policy_shelf_put(desk->shelf, &publication);
}

static void evaluate(end_desk *desk, uint64_t version, double mean, bool confirmed)
{
    const aq_evaluation_result result = {
        .version = version, .episodes = 10, .return_mean = mean, .confirmed = confirmed};
    if (aq_coordinator_evaluated(desk->coordinator, &result, true)) {
        assert_true(
            aq_best_policy_keep(&desk->best, desk->shelf, aq_coordinator_best(desk->coordinator)));
    }
}

static uint64_t version_left(end_desk *desk)
{
    aq_best_policy_settle(&desk->best, desk->shelf, desk->coordinator);
    return desk->best.snapshot->version;
}

TEST_IN(end_desk, desk, what_was_never_evaluated_leaves_its_newest_version)
{
    put(desk, 1);
    put(desk, 2);
    assert_int_equal(version_left(desk), 2);
    assert_true(isnan(desk->best.result.return_mean));
}

TEST_IN(end_desk, desk, each_end_without_evaluations_leaves_the_newest_version_of_then)
{
    put(desk, 1);
    assert_int_equal(version_left(desk), 1);
    desk->best.is_unwritten = false; /* the run was resumed with it */
    put(desk, 2);
    assert_int_equal(version_left(desk), 2);
    assert_true(desk->best.is_unwritten);
}

TEST_IN(end_desk, desk, a_screening_far_above_the_best_is_left_and_told)
{
    put(desk, 1);
    put(desk, 2);
    evaluate(desk, 1, 100, true);
    desk->best.is_unwritten = false; /* it has been, long ago */
    evaluate(desk, 2, 200, false);
    assert_int_equal(version_left(desk), 1); /* it goes on when it is resumed */
    assert_false(desk->best.is_unwritten);
    aq_coordinator_stop(desk->coordinator);
    assert_int_equal(version_left(desk), 2);
    assert_true(desk->best.is_unwritten);
    assert_int_equal(aq_coordinator_best(desk->coordinator)->version, 2);
    assert_false(aq_coordinator_best(desk->coordinator)->confirmed);
}

TEST_IN(end_desk, desk, what_more_episodes_say_of_the_best_is_told_with_it)
{
    put(desk, 1);
    evaluate(desk, 1, 100, true);
    evaluate(desk, 1, 70, true);
    assert_int_equal(version_left(desk), 1);
    assert_int_equal(desk->best.result.episodes, 20);
    assert_near(desk->best.result.return_mean, 85, 1e-9);
}

TEST_IN(end_desk, desk, one_that_has_left_the_shelf_is_not)
{
    put(desk, 1);
    evaluate(desk, 1, 100, true);
    evaluate(desk, 2, 200, false);
    aq_coordinator_stop(desk->coordinator);
    assert_int_equal(version_left(desk), 1);
    assert_int_equal(aq_coordinator_best(desk->coordinator)->version, 1);
}
