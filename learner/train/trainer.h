/*
 * Trainer: the thread that trains. Groups come in through a queue and go back through the owner;
 * policies that are due and checkpoints that were asked for go to the quantizer stage. Where there
 * are other ranks it trains when all of them do, and ends when one does.
 */
#ifndef AQ_LEARNER_TRAIN_TRAINER_H
#define AQ_LEARNER_TRAIN_TRAINER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"
#include "learner/publish/quantizer_stage.h"
#include "learner/train/rank_turn.h"
#include "learner/train/trainer_core.h"

typedef struct aq_trainer aq_trainer;

typedef struct aq_trainer_config {
    aq_trainer_core_config core;
    aq_agent *agent;           /* lent; the thread's alone while it runs */
    aq_quantizer_stage *stage; /* lent; NULL: nothing is published, and no checkpoint asked for */
    aq_rank_meeting *meeting;  /* lent; NULL: there are no other ranks */
    size_t groups_max;         /* that can be under way */
    bool is_paced;             /* a version that is due is waited for, rather than passed over */
    /* On the trainer's thread: the group is trained on and may be filled again. */
    void (*group_done)(void *user, aq_batch *group);
    void *user;
} aq_trainer_config;

/* Where the thread's time went since the start. */
typedef struct aq_trainer_times {
    int64_t training_ns;
    int64_t exchange_ns;   /* meeting other ranks' gradients, waiting for them included */
    int64_t waiting_ns;    /* for groups, and for other ranks to be ready */
    int64_t publishing_ns; /* handing policies and checkpoints to the stage */
} aq_trainer_times;

typedef struct aq_trainer_progress {
    aq_trainer_sums sums; /* since the last look */
    uint64_t step;        /* in all */
    int64_t waited_ns;    /* for groups, since the last look */
} aq_trainer_progress;

int aq_trainer_create(const aq_trainer_config *config, aq_trainer **ret_trainer) AQ_MUST_USE;
int aq_trainer_start(aq_trainer *trainer) AQ_MUST_USE;

/* Ends the thread after the group it is at; groups that wait are dropped (their owner has them). */
void aq_trainer_stop(aq_trainer *trainer);

/* Whether the other ranks still train with it: AQ_TRAINER_ENDED when one of them has to end, and
 * AQ_TRAINER_LOST when one is lost or differs, in words. The thread has ended then. Any thread. */
enum aq_trainer_state { AQ_TRAINER_RUNS, AQ_TRAINER_ENDED, AQ_TRAINER_LOST };
enum aq_trainer_state aq_trainer_state_of(aq_trainer *trainer, aq_error *ret_error);
void aq_trainer_destroy(aq_trainer *trainer); /* NULL is fine; stopped */

/* Any thread; never waits. AQ_E_FULL beyond groups_max, AQ_E_CLOSED once stopped: the group is
 * still the caller's. A checkpoint that was asked for is offered to the stage after the group that
 * is being trained on, again and again until it is taken. */
int aq_trainer_give(aq_trainer *trainer, aq_batch *group) AQ_MUST_USE;
void aq_trainer_request_checkpoint(aq_trainer *trainer);

/* Any thread: holds from the next group on. */
void aq_trainer_configure(aq_trainer *trainer, const aq_trainer_settings *settings);
uint64_t aq_trainer_step(aq_trainer *trainer); /* gradient steps done, in all */

/* Policies that the stage has taken so far, that of the start included; those of a group before
 * group_done is called for it. Any thread. */
uint64_t aq_trainer_offered(const aq_trainer *trainer);

/* How publishing goes. */
typedef struct aq_trainer_versions {
    uint64_t newest;  /* against which rows are old */
    uint64_t settled; /* offers that the stage took, and of which no more will come */
    double changed;   /* aq_publication.changed of the newest, which is only told */
} aq_trainer_versions;
void aq_trainer_tell_versions(aq_trainer *trainer, const aq_trainer_versions *versions);

/* Of a rank that is not the first: the version that will be the newest once rank 0 has published
 * what has been trained, so that groups can be asked for by then; 0: nobody has said. Those of a
 * group before group_done is called for it. Any thread. */
uint64_t aq_trainer_promised(const aq_trainer *trainer);
void aq_trainer_look(aq_trainer *trainer, aq_trainer_progress *ret_progress);
aq_trainer_times aq_trainer_spent(aq_trainer *trainer); /* any thread */

/* Updates that failed, as loss or gradient was not finite, since the last group in which one
 * succeeded. A failed step leaves the parameters as they were. Any thread. */
uint64_t aq_trainer_failed_in_row(aq_trainer *trainer);

#endif
