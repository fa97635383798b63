/*
 * Rank turn: see rank_turn.h.
 */
#include "learner/train/rank_turn.h"

#include "learner/algorithms/agent_ranks.h"

/* How often ranks compare what they keep, in steps. */
enum { CHECK_STEPS = 1000 };

void aq_rank_turn_init(aq_rank_turn *turn, aq_rank_meeting *meeting, aq_trainer_core *core,
                       aq_agent *agent)
{
    *turn = (aq_rank_turn){
        .meeting = meeting, .core = core, .agent = agent, .first_step = aq_trainer_core_step(core)};
}

/* After the first update, too, by which an algorithm shows that it has forgotten other ranks. */
static uint64_t hash_now_and_then(aq_rank_turn *turn, uint64_t step)
{
    if (step == turn->first_step ||
        (turn->checked_step > 0 && step / CHECK_STEPS == turn->checked_step / CHECK_STEPS)) {
        return 0;
    }
    turn->checked_step = step;
    return aq_agent_hash(turn->agent);
}

int aq_rank_turn_take(aq_rank_turn *turn, const aq_turn_wish *wish, aq_rank_outcome *ret_outcome,
                      aq_error *error)
{
    const uint64_t step = aq_trainer_core_step(turn->core);
    const aq_rank_word word = {
        .is_ready = wish->group != NULL && !wish->ends,
        .ends = wish->ends,
        .step = step,
        .hash = hash_now_and_then(turn, step),
        .oldest_version = wish->group != NULL ? aq_trainer_core_oldest_version(wish->group) : 0,
        .orders = {.schedules = aq_trainer_core_schedules(turn->core),
                   .publish_period = aq_trainer_core_publish_period(turn->core),
                   .newest_version = wish->newest_version,
                   .coming_versions = wish->coming_versions,
                   .fresh_from = aq_trainer_core_fresh_from(turn->core, wish->newest_version)},
    };
    int rc = aq_rank_meet(turn->meeting, &word, ret_outcome, error);
    if (rc == 0) {
        aq_trainer_core_hold_schedules(turn->core, &ret_outcome->orders.schedules);
        aq_trainer_core_set_publish_period(turn->core, ret_outcome->orders.publish_period);
    }
    return rc;
}
