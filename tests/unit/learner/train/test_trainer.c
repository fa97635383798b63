/*
 * The trainer's thread: groups go through it once each, versions and checkpoints come out beside
 * them, and it ends when it is told.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/trainer_desk.h"

enum { BATCH_ROWS = TRAINER_DESK_ROWS, GROUPS = TRAINER_DESK_GROUPS, PERIOD = 1000000 };

/* Two groups: when the second is done, all that followed the first has happened. */
static void train_a_little(trainer_desk *desk)
{
    for (int i = 0; i < 2; i++) {
        trainer_desk_give(desk, i, 1);
        trainer_desk_wait(desk);
    }
}

/* ---- groups -------------------------------------------------------------------------------- */

TEST_IN(trainer_desk, desk, there_is_a_version_before_any_training)
{
    trainer_desk_start(desk);
    stage_event event = stage_watcher_event(&desk->watcher, 0);
    assert_int_equal(event.kind, 'p');
    assert_int_equal(event.version, 1);
    assert_int_equal(event.step, 0);
}

static void fail_versions(trainer_desk *desk, int code)
{
    pthread_mutex_lock(&desk->watcher.mutex);
    desk->watcher.version_failure = code;
    pthread_mutex_unlock(&desk->watcher.mutex);
}

/* A paced run has nothing to train on before it. */
TEST_IN(trainer_desk, desk, a_first_version_that_failed_is_offered_again)
{
    fail_versions(desk, AQ_E_IO);
    trainer_desk_start(desk);
    aq_trainer_tell_versions(desk->trainer, &(aq_trainer_versions){.settled = 1});
    stage_watcher_wait(&desk->watcher, 2);
    fail_versions(desk, 0);
    aq_trainer_tell_versions(desk->trainer, &(aq_trainer_versions){.settled = 2});
    stage_watcher_wait(&desk->watcher, 3);
    assert_int_equal(stage_watcher_event(&desk->watcher, 2).version, 1);
    aq_trainer_tell_versions(desk->trainer, &(aq_trainer_versions){.newest = 1, .settled = 3});
    train_a_little(desk);
    assert_int_equal(aq_trainer_offered(desk->trainer), 3);
}

TEST_IN(trainer_desk, desk, each_group_comes_back_once_and_in_order)
{
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, GROUPS);
    for (int round = 0; round < 200; round++) {
        aq_batch *group = trainer_desk_wait(desk);
        assert_ptr_equal(group, desk->groups[round % GROUPS]);
        assert_int_equal(aq_trainer_give(desk->trainer, group), 0);
    }
    for (int i = 0; i < GROUPS; i++) {
        trainer_desk_wait(desk);
    }
    assert_int_equal(aq_queue_count(desk->done), 0);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(desk->algorithm.steps, 2 * (200 + GROUPS));
    assert_int_equal(aq_trainer_step(desk->trainer), 2 * (200 + GROUPS));
}

TEST_IN(trainer_desk, desk, a_look_takes_the_sums_and_leaves_the_step)
{
    aq_trainer_progress progress;
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, 1);
    trainer_desk_wait(desk);
    aq_trainer_stop(desk->trainer);
    aq_trainer_look(desk->trainer, &progress);
    assert_int_equal(progress.step, 2);
    assert_int_equal(progress.sums.steps, 2);
    assert_true(progress.sums.metrics.values[0] == 4);
    assert_true(progress.sums.metrics.values[1] == 20);
    assert_int_equal(progress.sums.version_rows, 2 * BATCH_ROWS - 1);
    assert_true(progress.waited_ns > 0);
    aq_trainer_look(desk->trainer, &progress);
    assert_int_equal(progress.step, 2);
    assert_int_equal(progress.sums.steps, 0);
    assert_int_equal(progress.waited_ns, 0);
}

TEST_IN(trainer_desk, desk, one_group_too_many_is_refused_and_stays_its_givers)
{
    aq_batch *more = learner_kit_group(&desk->watcher.kit, BATCH_ROWS);
    trainer_desk_give(desk, 0, GROUPS); /* no thread takes them */
    assert_int_equal(aq_trainer_give(desk->trainer, more), AQ_E_FULL);
    aq_batch_destroy(more);
}

TEST_IN(trainer_desk, desk, after_the_end_no_group_is_taken)
{
    trainer_desk_start(desk);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(aq_trainer_give(desk->trainer, desk->groups[0]), AQ_E_CLOSED);
    aq_trainer_stop(desk->trainer); /* once more is fine */
}

TEST_IN(trainer_desk, desk, the_end_drops_what_waits)
{
    trainer_desk_give(desk, 0, GROUPS);
    aq_trainer_stop(desk->trainer); /* it was never started */
    assert_int_equal(aq_queue_count(desk->done), 0);
    assert_int_equal(desk->algorithm.steps, 0);
}

TEST_IN(trainer_desk, desk, failed_steps_are_told)
{
    aq_trainer_progress progress;
    trainer_desk_start(desk);
    desk->groups[0]->reward[0] = -1;
    trainer_desk_give(desk, 0, 1);
    trainer_desk_wait(desk);
    aq_trainer_stop(desk->trainer);
    aq_trainer_look(desk->trainer, &progress);
    assert_int_equal(progress.sums.failed, 1);
    assert_int_equal(progress.step, 1);
}

/* Both batches of the group. */
static void fail_group(trainer_desk *desk, int group)
{
    desk->groups[group]->reward[0] = -1;
    desk->groups[group]->reward[BATCH_ROWS] = -1;
}

TEST_IN(trainer_desk, desk, failures_in_a_row_are_counted_until_a_step_succeeds)
{
    for (int i = 0; i < 3; i++) {
        fail_group(desk, i);
        assert_int_equal(aq_trainer_give(desk->trainer, desk->groups[i]), 0);
    }
    trainer_desk_start(desk);
    for (int i = 0; i < 3; i++) {
        trainer_desk_wait(desk);
    }
    aq_trainer_stop(desk->trainer); /* what is told comes after a group is done */
    assert_int_equal(aq_trainer_failed_in_row(desk->trainer), 6);
}

TEST_IN(trainer_desk, desk, a_step_that_succeeds_ends_a_row_of_failures)
{
    fail_group(desk, 0);
    trainer_desk_give(desk, 0, 2);
    trainer_desk_start(desk);
    trainer_desk_wait(desk);
    trainer_desk_wait(desk);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(aq_trainer_failed_in_row(desk->trainer), 0);
}

TEST_IN(trainer_desk, desk, its_time_is_training_waiting_and_publishing)
{
    int64_t begun_ns = aq_clock_monotonic_ns();
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, 1);
    trainer_desk_wait(desk);
    aq_trainer_stop(desk->trainer);
    aq_trainer_times times = aq_trainer_spent(desk->trainer);
    assert_true(times.training_ns > 0 && times.publishing_ns > 0 && times.waiting_ns >= 0);
    assert_true(times.training_ns + times.publishing_ns + times.waiting_ns <=
                aq_clock_monotonic_ns() - begun_ns);
}

/* It waits for somebody to take its versions, most of the time; that is counted once. Its thread
 * may come to that late, so the longer it is kept waiting the surer it is. */
TEST_IN(trainer_desk, desk, what_publishing_takes_is_not_training)
{
    enum { FIRST_MS = 50, LONGEST_MS = 25600, WAITING = 4 };
    aq_trainer_config config = trainer_desk_config(desk, 1);
    config.is_paced = true;
    trainer_desk_remake(desk, &config);
    const int64_t begun_ns = aq_clock_monotonic_ns();
    assert_int_equal(aq_trainer_start(desk->trainer), 0);
    assert_int_equal(aq_quantizer_stage_start(desk->watcher.stage), 0);
    int64_t publishing_ns = 0, wait_ns = 0;
    for (int64_t ms = FIRST_MS; publishing_ns <= wait_ns * 4 / 5 && ms <= LONGEST_MS; ms *= 2) {
        const int64_t before_ns = aq_trainer_spent(desk->trainer).publishing_ns;
        stage_watcher_hold(&desk->watcher, true);
        trainer_desk_give(desk, 0, WAITING);
        aq_clock_wait_until(aq_clock_monotonic_ns() + ms * AQ_NS_PER_MS);
        stage_watcher_hold(&desk->watcher, false);
        for (int i = 0; i < WAITING; i++) {
            trainer_desk_wait(desk);
        }
        publishing_ns = aq_trainer_spent(desk->trainer).publishing_ns - before_ns;
        wait_ns = ms * AQ_NS_PER_MS;
    }
    assert_true(publishing_ns > wait_ns * 4 / 5);
    aq_trainer_stop(desk->trainer);
    const aq_trainer_times times = aq_trainer_spent(desk->trainer);
    assert_true(times.training_ns > 0);
    assert_true(times.training_ns + times.publishing_ns + times.waiting_ns <=
                aq_clock_monotonic_ns() - begun_ns);
}

TEST_IN(trainer_desk, desk, groups_of_old_versions_are_passed_over_and_told)
{
    aq_trainer_config config = trainer_desk_config(desk, PERIOD);
    aq_trainer_progress progress;
    config.core.versions_max = 2;
    trainer_desk_remake(desk, &config);
    aq_trainer_tell_versions(desk->trainer, &(aq_trainer_versions){.newest = 7});
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, 1);
    trainer_desk_wait(desk);
    aq_trainer_stop(desk->trainer);
    aq_trainer_look(desk->trainer, &progress);
    assert_int_equal(progress.sums.steps, 0);
    assert_int_equal(progress.sums.outdated, 2 * BATCH_ROWS);
}

/* ---- checkpoints --------------------------------------------------------------------------- */

TEST_IN(trainer_desk, desk, an_idle_trainer_serves_a_checkpoint_once)
{
    trainer_desk_start(desk);
    aq_trainer_request_checkpoint(desk->trainer);
    stage_watcher_wait(&desk->watcher, 2);
    stage_event event = stage_watcher_event(&desk->watcher, 1);
    assert_int_equal(event.kind, 'c');
    assert_int_equal(event.step, 0);
    train_a_little(desk);
    aq_trainer_stop(desk->trainer);
    aq_quantizer_stage_stop(desk->watcher.stage);
    assert_int_equal(stage_watcher_count_of(&desk->watcher, 'c'), 1);
}

TEST_IN(trainer_desk, desk, a_checkpoint_holds_the_step_that_it_names)
{
    size_t checkpoints = 0;
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, GROUPS);
    while (checkpoints < 20) { /* while training goes on */
        aq_trainer_request_checkpoint(desk->trainer);
        assert_int_equal(aq_trainer_give(desk->trainer, trainer_desk_wait(desk)), 0);
        checkpoints = stage_watcher_count_of(&desk->watcher, 'c');
    }
    aq_trainer_stop(desk->trainer);
    aq_quantizer_stage_stop(desk->watcher.stage);
    for (size_t i = 1; i < stage_watcher_count(&desk->watcher); i++) {
        stage_event event = stage_watcher_event(&desk->watcher, i);
        assert_int_equal(event.kind, 'c');
        assert_true(event.first == (float)event.step);
        assert_true(event.last == (float)event.step);
        assert_int_equal(event.adam_step, event.step);
    }
}

TEST_IN(trainer_desk, desk, a_checkpoint_that_finds_no_place_is_offered_again)
{
    stage_watcher_hold(&desk->watcher, true);
    assert_int_equal(aq_quantizer_stage_start(desk->watcher.stage), 0);
    assert_int_equal(aq_trainer_start(desk->trainer), 0);
    stage_watcher_wait_holding(&desk->watcher);
    for (int i = 0; i < 2; i++) { /* the first takes the only place, the second finds none */
        aq_trainer_request_checkpoint(desk->trainer);
        train_a_little(desk); /* training does not wait */
    }
    assert_int_equal(stage_watcher_count(&desk->watcher), 0);
    stage_watcher_hold(&desk->watcher, false);
    stage_watcher_wait(&desk->watcher, 3); /* the first version, and both checkpoints */
    assert_int_equal(stage_watcher_count_of(&desk->watcher, 'c'), 2);
    assert_int_equal(stage_watcher_event(&desk->watcher, 2).step, 8);
}

TEST_IN(trainer_desk, desk, no_request_for_a_checkpoint_is_lost)
{
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, 1);
    for (size_t i = 0; i < 100; i++) {
        /* Each is made as soon as the one before it is seen, while the trainer may still be busy
         * with that; a group keeps it from sleeping. */
        aq_trainer_request_checkpoint(desk->trainer);
        assert_int_equal(aq_trainer_give(desk->trainer, trainer_desk_wait(desk)), 0);
        stage_watcher_wait(&desk->watcher, 2 + i);
    }
    aq_trainer_stop(desk->trainer);
    aq_quantizer_stage_stop(desk->watcher.stage);
    assert_int_equal(stage_watcher_count_of(&desk->watcher, 'c'), 100);
}

/* ---- versions ------------------------------------------------------------------------------ */

TEST_IN(trainer_desk, desk, versions_are_of_the_steps_they_name_while_training_goes_on)
{
    uint64_t last = 0;
    aq_trainer_destroy(desk->trainer);
    aq_trainer_config config = trainer_desk_config(desk, 3);
    assert_int_equal(aq_trainer_create(&config, &desk->trainer), 0);
    trainer_desk_start(desk);
    trainer_desk_give(desk, 0, GROUPS);
    /* While the stage is busy, versions are left out: how many come is the scheduler's business. */
    for (int round = 0; round < 300 || stage_watcher_count(&desk->watcher) <= 2; round++) {
        assert_int_equal(aq_trainer_give(desk->trainer, trainer_desk_wait(desk)), 0);
    }
    aq_trainer_stop(desk->trainer);
    aq_quantizer_stage_stop(desk->watcher.stage);
    for (size_t i = 1; i < stage_watcher_count(&desk->watcher); i++) {
        stage_event event = stage_watcher_event(&desk->watcher, i);
        assert_int_equal(event.kind, 'p');
        assert_true(event.step >= last + 3);
        assert_true(event.first == (float)event.step);
        assert_int_equal(event.rows, 2 * BATCH_ROWS);
        last = event.step;
    }
}

TEST_IN(trainer_desk, desk, create_survives_every_failed_allocation)
{
    aq_trainer_config config = trainer_desk_config(desk, 1);
    aq_trainer *trainer;
    assert_made_despite_failures(trainer, aq_trainer_create(&config, &trainer));
    aq_trainer_destroy(trainer);
    aq_trainer_destroy(NULL);
}
