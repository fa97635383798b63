/*
 * Training: the trainer's thread and the quantizer stage's, what feeds them and what they bring to
 * the loop.
 *
 *   shards -> prefetch -> [groups] -> trainer -> [policies, checkpoints] -> stage -> broadcast
 *                ^                                                            |
 *                +--- loop: groups to fill again, versions, what was written -+
 *
 * Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_TRAINING_H
#define AQ_LEARNER_DAEMON_TRAINING_H

#include "learner/daemon/ranks.h"
#include "learner/sampling/prefetch.h"
#include "learner/train/trainer.h"

struct aq_learner_parts;
typedef struct aq_training aq_training;

/* Of these parts, which are lent, once there is `checkpointer`; `first_step`: gradient steps of
 * earlier processes. */
int aq_training_create(struct aq_learner_parts *parts, uint64_t first_step,
                       aq_training **ret_training, aq_error *error) AQ_MUST_USE;
int aq_training_start(aq_training *training, aq_error *error) AQ_MUST_USE;

/* Shards are followed, batches asked for, step sizes and limits looked at: every few ms. */
void aq_training_tick(aq_training *training, int64_t now_ns);

/* What the table of a shard holds, as the shard told it. */
void aq_training_tell_mass(aq_training *training, uint64_t shard_incarnation, double mass);

/* The settings of the live plan hold from the next group and the next version on. */
void aq_training_configure(aq_training *training);

/* A checkpoint is written as soon as the trainer has a moment. */
void aq_training_checkpoint(aq_training *training);

/* No more groups are asked for or trained on, and both threads end. */
void aq_training_stop(aq_training *training);

/* After it was stopped: the last checkpoint, written here and now, until it is (`again`: after a
 * failure it is tried again). AQ_E_PEER, once and for all, where ranks shared the networks and one
 * of them is lost, with what it had of them. */
int aq_training_checkpoint_last(aq_training *training, bool again, aq_error *error) AQ_MUST_USE;

/* Stopped, and the loop's calls to shards have ended. NULL is fine. */
void aq_training_destroy(aq_training *training);

/* Closes the links to shards and the mailboxes; the loop must run before it is destroyed. */
void aq_training_close(aq_training *training);

/* Why a version could not go out or a checkpoint not be written, the last time that it was tried;
 * "": it could. */
const char *aq_training_trouble(const aq_training *training);

/* As aq_trainer_state_of. */
enum aq_trainer_state aq_training_state(const aq_training *training, aq_error *ret_error);

uint64_t aq_training_step(const aq_training *training); /* gradient steps, in all */
void aq_training_look(aq_training *training, aq_trainer_progress *ret_progress);

/* Since the start of this process. */
typedef struct aq_training_figures {
    aq_trainer_times times;
    int64_t quantizing_ns;
    aq_prefetch_counts sampling;
} aq_training_figures;
void aq_training_figures_of(const aq_training *training, aq_training_figures *ret_figures);

#endif
