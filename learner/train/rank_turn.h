/*
 * Rank turn: what a trainer says when ranks meet, and what it then goes by. It has no thread: the
 * trainer's calls it before each group, tests call it inline. One thread at a time.
 */
#ifndef AQ_LEARNER_TRAIN_RANK_TURN_H
#define AQ_LEARNER_TRAIN_RANK_TURN_H

#include "learner/train/rank_meeting.h"

typedef struct aq_rank_turn {
    aq_rank_meeting *meeting; /* lent, like what follows */
    aq_trainer_core *core;
    aq_agent *agent;
    uint64_t first_step;
    uint64_t checked_step; /* when parameters were compared with other ranks'; 0: not yet */
} aq_rank_turn;

/* Before anything is trained. */
void aq_rank_turn_init(aq_rank_turn *turn, aq_rank_meeting *meeting, aq_trainer_core *core,
                       aq_agent *agent);

typedef struct aq_turn_wish {
    const aq_batch *group; /* at hand; NULL: none */
    bool ends;
    uint64_t newest_version, coming_versions; /* as aq_rank_orders; of use from rank 0 */
} aq_turn_wish;

/* Meets, as aq_rank_meet; the core follows rank 0's schedules and period from then on. */
int aq_rank_turn_take(aq_rank_turn *turn, const aq_turn_wish *wish, aq_rank_outcome *ret_outcome,
                      aq_error *error) AQ_MUST_USE;

#endif
