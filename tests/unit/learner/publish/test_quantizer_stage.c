/*
 * Jobs are copied, carried out in order, never waited for, and finished before the end.
 */
#include "learner/publish/quantizer_stage.h"
#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"
#include "tests/unit/learner/stage_watcher.h"

enum { STATE_COUNT = 10 };

static void stage_watcher_setup(stage_watcher *watcher)
{
    stage_watcher_init(watcher, STATE_COUNT);
}

static void stage_watcher_teardown(stage_watcher *watcher)
{
    stage_watcher_fini(watcher);
}

/* The kit's parameters, of which the first tells them from others. */
static bool offer_policy(stage_watcher *watcher, uint64_t step)
{
    watcher->kit.params.weight[0][0] = (float)step;
    return aq_quantizer_stage_offer_policy(watcher->stage, &watcher->kit.params, step, NULL, 0);
}

static bool offer_checkpoint(stage_watcher *watcher, uint64_t step)
{
    float values[4][STATE_COUNT] = {{0}};
    uint64_t adam_step = step + 1;
    aq_named_arrays arrays;
    kept_arrays(STATE_COUNT, (float *const[4]){values[0], values[1], values[2], values[3]},
                &adam_step, &arrays);
    values[0][0] = (float)step;
    values[3][STATE_COUNT - 1] = (float)(step + 2);
    const aq_named_arrays *place = aq_quantizer_stage_checkpoint_place(watcher->stage);
    if (place == NULL) {
        return false;
    }
    aq_named_arrays_copy(&arrays, place);
    return aq_quantizer_stage_offer_checkpoint(watcher->stage, step, true);
}

static void assert_event(stage_watcher *watcher, size_t index, char kind, uint64_t step)
{
    stage_event event = stage_watcher_event(watcher, index);
    assert_int_equal(event.kind, kind);
    assert_int_equal(event.step, step);
    assert_true(event.first == (float)step);
    if (kind == 'c') {
        assert_true(event.last == (float)(step + 2));
        assert_int_equal(event.adam_step, step + 1);
    }
}

/* ---- without a thread ---------------------------------------------------------------------- */

TEST_IN(stage_watcher, watcher, an_offer_is_a_copy)
{
    assert_true(offer_policy(watcher, 100));
    watcher->kit.params.weight[0][0] = -1; /* the trainer goes on */
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    assert_event(watcher, 0, 'p', 100);
    assert_int_equal(stage_watcher_event(watcher, 0).version, 1);
}

TEST_IN(stage_watcher, watcher, nothing_to_do_is_said)
{
    assert_false(aq_quantizer_stage_run_one(watcher->stage));
    assert_int_equal(stage_watcher_count(watcher), 0);
}

TEST_IN(stage_watcher, watcher, two_policies_wait_at_most)
{
    assert_true(offer_policy(watcher, 1));
    assert_true(offer_policy(watcher, 2));
    assert_false(offer_policy(watcher, 3));
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    assert_true(offer_policy(watcher, 4));
    assert_false(offer_policy(watcher, 5));
}

TEST_IN(stage_watcher, watcher, one_checkpoint_waits_at_most)
{
    assert_true(offer_checkpoint(watcher, 1));
    assert_false(offer_checkpoint(watcher, 2));
    assert_true(offer_policy(watcher, 3)); /* policies have places of their own */
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    assert_true(offer_checkpoint(watcher, 4));
}

TEST_IN(stage_watcher, watcher, a_checkpoint_that_is_not_whole_is_none_and_leaves_its_place)
{
    assert_non_null(aq_quantizer_stage_checkpoint_place(watcher->stage));
    assert_null(aq_quantizer_stage_checkpoint_place(watcher->stage));
    assert_false(aq_quantizer_stage_offer_checkpoint(watcher->stage, 1, false));
    assert_false(aq_quantizer_stage_run_one(watcher->stage));
    assert_true(offer_checkpoint(watcher, 2));
}

TEST_IN(stage_watcher, watcher, jobs_are_carried_out_in_order)
{
    assert_true(offer_policy(watcher, 10));
    assert_true(offer_checkpoint(watcher, 20));
    assert_true(offer_policy(watcher, 30));
    while (aq_quantizer_stage_run_one(watcher->stage)) {
    }
    assert_event(watcher, 0, 'p', 10);
    assert_event(watcher, 1, 'c', 20);
    assert_event(watcher, 2, 'p', 30);
    assert_int_equal(stage_watcher_event(watcher, 2).version, 2);
}

TEST_IN(stage_watcher, watcher, what_is_set_anew_is_of_the_next_version)
{
    for (uint64_t step = 1; step <= 4; step++) {
        aq_quantizer_stage_configure(watcher->stage, step < 3 ? 1 : 100, 1);
        assert_true(offer_policy(watcher, step));
        assert_true(aq_quantizer_stage_run_one(watcher->stage));
        assert_int_equal(stage_watcher_event(watcher, step - 1).is_delta, step >= 3);
    }
}

TEST_IN(stage_watcher, watcher, observations_are_copied_as_many_as_are_measured_on)
{
    float *obs = learner_kit_observations(&watcher->kit, 32); /* all that is measured on */
    assert_true(aq_quantizer_stage_offer_policy(watcher->stage, &watcher->kit.params, 1, obs, 999));
    obs[0] = NAN;
    assert_true(
        aq_quantizer_stage_offer_policy(watcher->stage, &watcher->kit.params, 2, obs + 4, 5));
    aq_free(obs);
    while (aq_quantizer_stage_run_one(watcher->stage)) {
    }
    assert_int_equal(stage_watcher_event(watcher, 0).rows, 32);
    assert_int_equal(stage_watcher_event(watcher, 1).rows, 5);
}

TEST_IN(stage_watcher, watcher, without_a_version_nothing_is_published)
{
    watcher->version_failure = AQ_E_NO_SPACE;
    assert_true(offer_policy(watcher, 1));
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    assert_int_equal(stage_watcher_event(watcher, 0).kind, 't');
    assert_int_equal(stage_watcher_event(watcher, 0).code, AQ_E_NO_SPACE);
    watcher->version_failure = 0;
    for (uint64_t step = 2; step < 10; step++) { /* no place was lost */
        assert_true(offer_policy(watcher, step));
        assert_true(aq_quantizer_stage_run_one(watcher->stage));
        assert_event(watcher, step - 1, 'p', step);
    }
}

TEST_IN(stage_watcher, watcher, without_room_for_the_next_copy_nothing_is_published)
{
    assert_true(offer_policy(watcher, 1));
    aq_test_fail_first(true);
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    aq_test_fail_first(false);
    assert_int_equal(stage_watcher_event(watcher, 0).kind, 't');
    assert_int_equal(stage_watcher_event(watcher, 0).code, AQ_E_NOMEM);
    for (uint64_t step = 2; step < 6; step++) { /* no place was lost */
        assert_true(offer_policy(watcher, step));
        assert_true(aq_quantizer_stage_run_one(watcher->stage));
        assert_event(watcher, step - 1, 'p', step);
    }
}

TEST_IN(stage_watcher, watcher, what_can_not_be_published_is_trouble)
{
    watcher->kit.params.bias[1][0] = NAN;
    assert_true(offer_policy(watcher, 1));
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    assert_int_equal(stage_watcher_event(watcher, 0).kind, 't');
    assert_int_equal(stage_watcher_event(watcher, 0).code, AQ_E_CORRUPT);
    watcher->kit.params.bias[1][0] = 0;
    assert_true(offer_policy(watcher, 2));
    assert_true(aq_quantizer_stage_run_one(watcher->stage));
    assert_event(watcher, 1, 'p', 2);
}

TEST_IN(stage_watcher, watcher, without_a_thread_the_end_finishes_what_was_taken)
{
    assert_true(offer_policy(watcher, 1));
    assert_true(offer_checkpoint(watcher, 2));
    aq_quantizer_stage_stop(watcher->stage);
    assert_event(watcher, 0, 'p', 1);
    assert_event(watcher, 1, 'c', 2);
}

TEST_IN(stage_watcher, watcher, after_the_end_nothing_is_taken)
{
    aq_quantizer_stage_stop(watcher->stage);
    for (uint64_t i = 0; i < 10; i++) {
        assert_false(offer_policy(watcher, i));
        assert_false(offer_checkpoint(watcher, i));
    }
    aq_quantizer_stage_stop(watcher->stage);
    assert_int_equal(stage_watcher_count(watcher), 0);
}

/* ---- with one ------------------------------------------------------------------------------ */

TEST_IN(stage_watcher, watcher, the_end_waits_for_what_was_taken)
{
    assert_true(offer_policy(watcher, 1));
    assert_true(offer_checkpoint(watcher, 2));
    assert_true(offer_policy(watcher, 3));
    assert_int_equal(aq_quantizer_stage_start(watcher->stage), 0);
    aq_quantizer_stage_stop(watcher->stage);
    assert_int_equal(stage_watcher_count(watcher), 3);
    assert_event(watcher, 0, 'p', 1);
    assert_event(watcher, 1, 'c', 2);
    assert_event(watcher, 2, 'p', 3);
}

TEST_IN(stage_watcher, watcher, an_offer_does_not_wait_for_a_publication)
{
    stage_watcher_hold(watcher, true);
    assert_int_equal(aq_quantizer_stage_start(watcher->stage), 0);
    assert_true(offer_policy(watcher, 1));
    stage_watcher_wait_holding(watcher);
    /* The stage's thread is held; were one of these to wait for it, this test would not end. */
    assert_true(offer_policy(watcher, 2));
    assert_true(offer_checkpoint(watcher, 3));
    for (uint64_t i = 0; i < 100; i++) {
        assert_false(offer_policy(watcher, i));
        assert_false(offer_checkpoint(watcher, i));
    }
    assert_int_equal(stage_watcher_count(watcher), 0);
    stage_watcher_hold(watcher, false);
    stage_watcher_wait(watcher, 3);
    assert_event(watcher, 0, 'p', 1);
    assert_event(watcher, 1, 'p', 2);
    assert_event(watcher, 2, 'c', 3);
}

TEST_IN(stage_watcher, watcher, under_load_what_was_taken_is_carried_out_once_and_in_order)
{
    uint64_t taken_policies = 0, taken_checkpoints = 0;
    uint64_t last = 0, last_version = 0;
    assert_int_equal(aq_quantizer_stage_start(watcher->stage), 0);
    for (uint64_t step = 1; taken_policies < 300 || taken_checkpoints < 100; step++) {
        taken_policies += offer_policy(watcher, step % 10000000);
        if (step % 3 == 0 && taken_checkpoints < 1000) {
            taken_checkpoints += offer_checkpoint(watcher, step % 10000000);
        }
    }
    aq_quantizer_stage_stop(watcher->stage);
    assert_int_equal(stage_watcher_count_of(watcher, 'p'), taken_policies);
    assert_int_equal(stage_watcher_count_of(watcher, 'c'), taken_checkpoints);
    for (size_t i = 0; i < stage_watcher_count(watcher); i++) {
        stage_event event = stage_watcher_event(watcher, i);
        assert_event(watcher, i, event.kind, event.step); /* the copy is of that step */
        assert_true(event.step >= last);
        last = event.step;
        if (event.kind == 'p') {
            assert_int_equal(event.version, last_version + 1);
            last_version = event.version;
        }
    }
}

TEST_IN(stage_watcher, watcher, create_survives_every_failed_allocation)
{
    aq_named_arrays arrays;
    kept_arrays(3, (float *const[4]){NULL}, NULL, &arrays);
    aq_stage_config config = {
        .publication = {.plan = {.format = AQ_FORMAT_F32}, .full_period = 1, .error_rows = 4},
        .meta = watcher->kit.meta,
        .spec = &watcher->kit.spec,
        .arrays = &arrays};
    aq_stage_owner owner = {.user = NULL};
    aq_quantizer_stage *stage;
    assert_made_despite_failures(stage, aq_quantizer_stage_create(&config, &owner, &stage));
    aq_quantizer_stage_destroy(stage);
    aq_quantizer_stage_destroy(NULL);
}
