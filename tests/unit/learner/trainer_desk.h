/*
 * A trainer with a stage, an algorithm that counts, and groups for it, each of two batches.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_TRAINER_DESK_H
#define AQ_TESTS_UNIT_LEARNER_TRAINER_DESK_H

#include "common/base/queue.h"
#include "learner/train/trainer.h"
#include "tests/unit/learner/fake_algorithm.h"
#include "tests/unit/learner/stage_watcher.h"

enum { TRAINER_DESK_ROWS = 4 /* of a batch */, TRAINER_DESK_GROUPS = 6 };

typedef struct trainer_desk {
    stage_watcher watcher; /* its kit is the algorithm's */
    fake_algorithm algorithm;
    aq_trainer *trainer;
    aq_queue *done; /* groups that came back, as they came */
    aq_batch *groups[TRAINER_DESK_GROUPS];
} trainer_desk;

void trainer_desk_setup(trainer_desk *desk); /* a period that never ends; nothing is started */
void trainer_desk_teardown(trainer_desk *desk);

/* For a trainer in place of the one that it has. */
aq_trainer_config trainer_desk_config(trainer_desk *desk, uint64_t period);
void trainer_desk_remake(trainer_desk *desk, const aq_trainer_config *config);

void trainer_desk_start(trainer_desk *desk); /* until the first version is out */
void trainer_desk_give(trainer_desk *desk, int first, int count);

/* For the next group that is done. */
aq_batch *trainer_desk_wait(trainer_desk *desk);

#endif
