/*
 * The trainer's thread: groups go through it once each, versions and checkpoints come out beside
 * them, and it ends when it is told.
 */
#include <stdatomic.h>

#include "common/base/assert.h"
#include "common/base/queue.h"
#include "learner/train/trainer.h"
#include "tests/support/test.h"
#include "tests/unit/learner/fake_algorithm.h"
#include "tests/unit/learner/stage_watcher.h"

enum { BATCH_ROWS = 4, GROUPS = 6, PERIOD = 1000000, PATIENCE_MS = 120000 };

typedef struct trainer_desk {
    stage_watcher watcher; /* its kit is the algorithm's */
    fake_algorithm algorithm;
    aq_trainer *trainer;
    aq_queue *done; /* groups that came back, as they came */
    aq_batch *groups[GROUPS];
} trainer_desk;

static void on_group_done(void *user, aq_batch *group)
{
    trainer_desk *desk = user;
    int rc = aq_queue_push(desk->done, group);
    AQ_ASSERT(rc == 0); /* not cmocka's: this is another thread */
}

static aq_trainer_config config_of(trainer_desk *desk, uint64_t period)
{
    return (aq_trainer_config){
        .core = {.publish_period = period, .error_rows = 16},
        .agent = desk->algorithm.agent,
        .stage = desk->watcher.stage,
        .groups_max = GROUPS,
        .group_done = on_group_done,
        .user = desk,
    };
}

static void trainer_desk_setup(trainer_desk *desk)
{
    stage_watcher_init(&desk->watcher, FAKE_STATE_COUNT);
    fake_algorithm_init(&desk->algorithm, &desk->watcher.kit, BATCH_ROWS);
    assert_int_equal(aq_queue_create(GROUPS, &desk->done), 0);
    for (int i = 0; i < GROUPS; i++) {
        desk->groups[i] = learner_kit_group(&desk->watcher.kit, 2 * BATCH_ROWS);
    }
    aq_trainer_config config = config_of(desk, PERIOD);
    assert_int_equal(aq_trainer_create(&config, &desk->trainer), 0);
}

/* In the daemon's order: the trainer offers to the stage until its last moment. */
static void trainer_desk_teardown(trainer_desk *desk)
{
    aq_trainer_stop(desk->trainer);
    aq_trainer_destroy(desk->trainer);
    fake_algorithm_fini(&desk->algorithm);
    stage_watcher_fini(&desk->watcher);
    for (int i = 0; i < GROUPS; i++) {
        aq_batch_destroy(desk->groups[i]);
    }
    aq_queue_destroy(desk->done);
}

static void give(trainer_desk *desk, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        assert_int_equal(aq_trainer_give(desk->trainer, desk->groups[i]), 0);
    }
}

static void start(trainer_desk *desk)
{
    assert_int_equal(aq_quantizer_stage_start(desk->watcher.stage), 0);
    assert_int_equal(aq_trainer_start(desk->trainer), 0);
    stage_watcher_wait(&desk->watcher, 1); /* the first version */
}

static aq_batch *wait_for_group(trainer_desk *desk)
{
    void *group = NULL;
    assert_int_equal(aq_queue_pop(desk->done, PATIENCE_MS, &group), 0);
    return group;
}

/* Two groups: when the second is done, all that followed the first has happened. */
static void train_a_little(trainer_desk *desk)
{
    for (int i = 0; i < 2; i++) {
        give(desk, i, 1);
        wait_for_group(desk);
    }
}

/* ---- groups -------------------------------------------------------------------------------- */

TEST_IN(trainer_desk, desk, there_is_a_version_before_any_training)
{
    start(desk);
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
    start(desk);
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
    start(desk);
    give(desk, 0, GROUPS);
    for (int round = 0; round < 200; round++) {
        aq_batch *group = wait_for_group(desk);
        assert_ptr_equal(group, desk->groups[round % GROUPS]);
        assert_int_equal(aq_trainer_give(desk->trainer, group), 0);
    }
    for (int i = 0; i < GROUPS; i++) {
        wait_for_group(desk);
    }
    assert_int_equal(aq_queue_count(desk->done), 0);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(desk->algorithm.steps, 2 * (200 + GROUPS));
    assert_int_equal(aq_trainer_step(desk->trainer), 2 * (200 + GROUPS));
}

TEST_IN(trainer_desk, desk, a_look_takes_the_sums_and_leaves_the_step)
{
    aq_trainer_progress progress;
    start(desk);
    give(desk, 0, 1);
    wait_for_group(desk);
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
    give(desk, 0, GROUPS); /* no thread takes them */
    assert_int_equal(aq_trainer_give(desk->trainer, more), AQ_E_FULL);
    aq_batch_destroy(more);
}

TEST_IN(trainer_desk, desk, after_the_end_no_group_is_taken)
{
    start(desk);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(aq_trainer_give(desk->trainer, desk->groups[0]), AQ_E_CLOSED);
    aq_trainer_stop(desk->trainer); /* once more is fine */
}

TEST_IN(trainer_desk, desk, the_end_drops_what_waits)
{
    give(desk, 0, GROUPS);
    aq_trainer_stop(desk->trainer); /* it was never started */
    assert_int_equal(aq_queue_count(desk->done), 0);
    assert_int_equal(desk->algorithm.steps, 0);
}

TEST_IN(trainer_desk, desk, failed_steps_are_told)
{
    aq_trainer_progress progress;
    start(desk);
    desk->groups[0]->reward[0] = -1;
    give(desk, 0, 1);
    wait_for_group(desk);
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
    start(desk);
    for (int i = 0; i < 3; i++) {
        wait_for_group(desk);
    }
    aq_trainer_stop(desk->trainer); /* what is told comes after a group is done */
    assert_int_equal(aq_trainer_failed_in_row(desk->trainer), 6);
}

TEST_IN(trainer_desk, desk, a_step_that_succeeds_ends_a_row_of_failures)
{
    fail_group(desk, 0);
    give(desk, 0, 2);
    start(desk);
    wait_for_group(desk);
    wait_for_group(desk);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(aq_trainer_failed_in_row(desk->trainer), 0);
}

TEST_IN(trainer_desk, desk, its_time_is_training_waiting_and_publishing)
{
    int64_t begun_ns = aq_clock_monotonic_ns();
    start(desk);
    give(desk, 0, 1);
    wait_for_group(desk);
    aq_trainer_stop(desk->trainer);
    aq_trainer_times times = aq_trainer_spent(desk->trainer);
    assert_true(times.training_ns > 0 && times.publishing_ns > 0 && times.waiting_ns >= 0);
    assert_true(times.training_ns + times.publishing_ns + times.waiting_ns <=
                aq_clock_monotonic_ns() - begun_ns);
}

static void create_as(trainer_desk *desk, const aq_trainer_config *config)
{
    aq_trainer_destroy(desk->trainer);
    assert_int_equal(aq_trainer_create(config, &desk->trainer), 0);
}

/* It waits for somebody to take its versions, most of the time; that is counted once. Its thread
 * may come to that late, so the longer it is kept waiting the surer it is. */
TEST_IN(trainer_desk, desk, what_publishing_takes_is_not_training)
{
    enum { FIRST_MS = 50, LONGEST_MS = 25600, WAITING = 4 };
    aq_trainer_config config = config_of(desk, 1);
    config.is_paced = true;
    create_as(desk, &config);
    const int64_t begun_ns = aq_clock_monotonic_ns();
    assert_int_equal(aq_trainer_start(desk->trainer), 0);
    assert_int_equal(aq_quantizer_stage_start(desk->watcher.stage), 0);
    int64_t publishing_ns = 0, wait_ns = 0;
    for (int64_t ms = FIRST_MS; publishing_ns <= wait_ns * 4 / 5 && ms <= LONGEST_MS; ms *= 2) {
        const int64_t before_ns = aq_trainer_spent(desk->trainer).publishing_ns;
        stage_watcher_hold(&desk->watcher, true);
        give(desk, 0, WAITING);
        aq_clock_wait_until(aq_clock_monotonic_ns() + ms * AQ_NS_PER_MS);
        stage_watcher_hold(&desk->watcher, false);
        for (int i = 0; i < WAITING; i++) {
            wait_for_group(desk);
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
    aq_trainer_config config = config_of(desk, PERIOD);
    aq_trainer_progress progress;
    config.core.versions_max = 2;
    create_as(desk, &config);
    aq_trainer_tell_versions(desk->trainer, &(aq_trainer_versions){.newest = 7});
    start(desk);
    give(desk, 0, 1);
    wait_for_group(desk);
    aq_trainer_stop(desk->trainer);
    aq_trainer_look(desk->trainer, &progress);
    assert_int_equal(progress.sums.steps, 0);
    assert_int_equal(progress.sums.outdated, 2 * BATCH_ROWS);
}

/* ---- checkpoints --------------------------------------------------------------------------- */

TEST_IN(trainer_desk, desk, an_idle_trainer_serves_a_checkpoint_once)
{
    start(desk);
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
    start(desk);
    give(desk, 0, GROUPS);
    while (checkpoints < 20) { /* while training goes on */
        aq_trainer_request_checkpoint(desk->trainer);
        assert_int_equal(aq_trainer_give(desk->trainer, wait_for_group(desk)), 0);
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
    start(desk);
    give(desk, 0, 1);
    for (size_t i = 0; i < 100; i++) {
        /* Each is made as soon as the one before it is seen, while the trainer may still be busy
         * with that; a group keeps it from sleeping. */
        aq_trainer_request_checkpoint(desk->trainer);
        assert_int_equal(aq_trainer_give(desk->trainer, wait_for_group(desk)), 0);
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
    aq_trainer_config config = config_of(desk, 3);
    assert_int_equal(aq_trainer_create(&config, &desk->trainer), 0);
    start(desk);
    give(desk, 0, GROUPS);
    /* While the stage is busy, versions are left out: how many come is the scheduler's business. */
    for (int round = 0; round < 300 || stage_watcher_count(&desk->watcher) <= 2; round++) {
        assert_int_equal(aq_trainer_give(desk->trainer, wait_for_group(desk)), 0);
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
    aq_trainer_config config = config_of(desk, 1);
    aq_trainer *trainer;
    assert_made_despite_failures(trainer, aq_trainer_create(&config, &trainer));
    aq_trainer_destroy(trainer);
    aq_trainer_destroy(NULL);
}

/* ---- other ranks ---------------------------------------------------------------------------- */

/* Stands for another rank: it says what this one does, but for what the test wants. */
typedef struct other_rank {
    aq_rank_link link;
    atomic_int wanted; /* 0: the same, 1: it is not ready, 2: it ends, 3: it is lost */
    atomic_int unready;
} other_rank;

static int answer(aq_rank_link *link, void *block, size_t bytes, size_t piece)
{
    other_rank *other = link->state;
    aq_rank_word *words = block;
    AQ_ASSERT(bytes == 2 * sizeof(*words) && piece == sizeof(*words));
    words[1] = words[0];
    words[0].orders.schedules.learning_rate = 0.5;
    words[0].orders.newest_version = 7;
    words[0].orders.coming_versions = 2;
    words[1].is_ready = other->wanted != 1;
    words[1].ends = other->wanted == 2;
    other->unready += words[0].is_ready && other->wanted == 1;
    (void)snprintf(link->trouble, sizeof(link->trouble), "it is gone");
    return other->wanted == 3 ? -1 : 0;
}

static void start_with(trainer_desk *desk, other_rank *other, aq_rank_meeting **ret_meeting)
{
    other->link = (aq_rank_link){.count = 2, .state = other, .join = answer};
    assert_int_equal(aq_rank_meeting_create(&other->link, ret_meeting), 0);
    aq_trainer_config config = config_of(desk, PERIOD);
    config.meeting = *ret_meeting;
    create_as(desk, &config);
    start(desk);
}

static enum aq_trainer_state wait_until_it_ends(trainer_desk *desk, aq_error *ret_error)
{
    enum aq_trainer_state state;
    const int64_t end_ns = aq_clock_monotonic_ns() + PATIENCE_MS * AQ_NS_PER_MS;
    while ((state = aq_trainer_state_of(desk->trainer, ret_error)) == AQ_TRAINER_RUNS) {
        assert_true(aq_clock_monotonic_ns() < end_ns);
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
    return state;
}

TEST_IN(trainer_desk, desk, it_waits_for_a_rank_that_has_no_group_and_keeps_its_own)
{
    static other_rank other;
    aq_rank_meeting *meeting;
    other.wanted = 1;
    start_with(desk, &other, &meeting);
    give(desk, 0, 1);
    while (other.unready < 3) {
        aq_clock_wait_until(aq_clock_monotonic_ns() + AQ_NS_PER_MS);
    }
    assert_int_equal(aq_queue_count(desk->done), 0);
    other.wanted = 0;
    assert_ptr_equal(wait_for_group(desk), desk->groups[0]);
    aq_trainer_stop(desk->trainer);
    assert_int_equal(wait_until_it_ends(desk, &refusal), AQ_TRAINER_ENDED);
    assert_string_equal(refusal.text, "rank 0 has ended");
    assert_true(desk->algorithm.learning_rate == 0.5); /* the first rank's */
    assert_int_equal(aq_trainer_promised(desk->trainer), 9);
    aq_rank_meeting_destroy(meeting);
}

static void assert_ends(trainer_desk *desk, int wanted, enum aq_trainer_state state,
                        const char *words)
{
    static other_rank other;
    aq_rank_meeting *meeting;
    other.wanted = wanted;
    start_with(desk, &other, &meeting);
    assert_int_equal(wait_until_it_ends(desk, &refusal), state);
    assert_string_equal(refusal.text, words);
    aq_trainer_stop(desk->trainer);
    aq_rank_meeting_destroy(meeting);
}

TEST_IN(trainer_desk, desk, it_ends_with_another_rank)
{
    assert_ends(desk, 2, AQ_TRAINER_ENDED, "rank 1 has ended");
}

TEST_IN(trainer_desk, desk, it_ends_without_another_rank_and_says_why)
{
    assert_ends(desk, 3, AQ_TRAINER_LOST, "it is gone");
}
