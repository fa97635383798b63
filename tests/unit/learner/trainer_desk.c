/*
 * See trainer_desk.h.
 */
#include "tests/unit/learner/trainer_desk.h"

#include "common/base/assert.h"
#include "tests/support/test.h"

enum { PERIOD = 1000000, PATIENCE_MS = 120000 };

static void on_group_done(void *user, aq_batch *group)
{
    trainer_desk *desk = user;
    int rc = aq_queue_push(desk->done, group);
    AQ_ASSERT(rc == 0); /* not cmocka's: this is another thread */
}

aq_trainer_config trainer_desk_config(trainer_desk *desk, uint64_t period)
{
    return (aq_trainer_config){
        .core = {.publish_period = period, .error_rows = 16},
        .agent = desk->algorithm.agent,
        .stage = desk->watcher.stage,
        .groups_max = TRAINER_DESK_GROUPS,
        .group_done = on_group_done,
        .user = desk,
    };
}

void trainer_desk_setup(trainer_desk *desk)
{
    stage_watcher_init(&desk->watcher, FAKE_STATE_COUNT);
    fake_algorithm_init(&desk->algorithm, &desk->watcher.kit, TRAINER_DESK_ROWS);
    assert_int_equal(aq_queue_create(TRAINER_DESK_GROUPS, &desk->done), 0);
    for (int i = 0; i < TRAINER_DESK_GROUPS; i++) {
        desk->groups[i] = learner_kit_group(&desk->watcher.kit, 2 * TRAINER_DESK_ROWS);
    }
    aq_trainer_config config = trainer_desk_config(desk, PERIOD);
    assert_int_equal(aq_trainer_create(&config, &desk->trainer), 0);
}

/* In the daemon's order: the trainer offers to the stage until its last moment. */
void trainer_desk_teardown(trainer_desk *desk)
{
    aq_trainer_stop(desk->trainer);
    aq_trainer_destroy(desk->trainer);
    fake_algorithm_fini(&desk->algorithm);
    stage_watcher_fini(&desk->watcher);
    for (int i = 0; i < TRAINER_DESK_GROUPS; i++) {
        aq_batch_destroy(desk->groups[i]);
    }
    aq_queue_destroy(desk->done);
}

void trainer_desk_give(trainer_desk *desk, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        assert_int_equal(aq_trainer_give(desk->trainer, desk->groups[i]), 0);
    }
}

void trainer_desk_start(trainer_desk *desk)
{
    assert_int_equal(aq_quantizer_stage_start(desk->watcher.stage), 0);
    assert_int_equal(aq_trainer_start(desk->trainer), 0);
    stage_watcher_wait(&desk->watcher, 1); /* the first version */
}

aq_batch *trainer_desk_wait(trainer_desk *desk)
{
    void *group = NULL;
    assert_int_equal(aq_queue_pop(desk->done, PATIENCE_MS, &group), 0);
    return group;
}

void trainer_desk_remake(trainer_desk *desk, const aq_trainer_config *config)
{
    aq_trainer_destroy(desk->trainer);
    assert_int_equal(aq_trainer_create(config, &desk->trainer), 0);
}
