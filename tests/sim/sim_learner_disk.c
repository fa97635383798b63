/*
 * The learner's disk: one checkpoint and the versions that are reserved. A write happens at once or
 * not at all, as the real ones do (they replace files).
 */
#include <math.h>
#include <stdio.h>

#include "common/wire/wire_checkpoint.h"
#include "tests/sim/sim_learner.h"
#include "tests/support/must.h"

uint64_t sim_learner_reserve(sim_learner *learner, uint64_t at_least, uint64_t count)
{
    uint64_t first =
        learner->disk.versions_unused > at_least ? learner->disk.versions_unused : at_least + 1;
    if (learner->site->scenario.plant == SIM_PLANT_VERSION) {
        return at_least + 1; /* and nothing is written down */
    }
    learner->disk.versions_unused = first + count;
    return first;
}

void sim_learner_write(sim_learner *learner, const aq_named_arrays *arrays, uint64_t step)
{
    const aq_run_plan *plan = &learner->site->plan;
    aq_checkpoint checkpoint = {
        .run_id = learner->site->run_id,
        .schema = plan->settings.schema,
        .spec = *aq_agent_spec(learner->ranks[0].agent),
        .learner_step = step,
        .env_steps = aq_coordinator_env_steps(learner->coordinator),
        .policy_version = learner->next_version - 1,
        .policies = aq_policy_shelf_totals(learner->shelf),
        .arrays = *arrays,
        .wall_s = aq_coordinator_wall_s(learner->coordinator, sim_now_ns(&learner->site->world)),
        .best_policy = learner->best,
        .best_return = learner->best != NULL ? learner->best_result.return_mean : (double)NAN,
        .best_std = learner->best_result.return_std,
        .best_episodes = learner->best_result.episodes,
        .best_confirmed = learner->best_result.confirmed,
        .config = "",
    };
    (void)snprintf(checkpoint.task, sizeof(checkpoint.task), "%s", plan->settings.task);
    (void)snprintf(checkpoint.algorithm, sizeof(checkpoint.algorithm), "%s",
                   plan->algorithm_class->name);
    checkpoint.shard_count = (uint32_t)aq_coordinator_shard_counts(
        learner->coordinator, checkpoint.shards, &checkpoint.env_steps_base);
    aq_buffer_clear(&learner->disk.checkpoint);
    must(aq_wire_checkpoint_pack(&checkpoint, &learner->disk.checkpoint));
    learner->checkpoint_step = step;
    sim_trace(&learner->site->world, "checkpoint", step, checkpoint.env_steps);
}

static void restore_run(sim_learner *learner, aq_checkpoint *checkpoint)
{
    if (learner->site->scenario.plant == SIM_PLANT_ENV_STEPS) {
        checkpoint->env_steps_base += checkpoint->env_steps;
    }
    aq_coordinator_restore_counts(learner->coordinator, checkpoint->shards, checkpoint->shard_count,
                                  checkpoint->env_steps_base);
    aq_coordinator_restore_wall(learner->coordinator, checkpoint->wall_s);
    if (isfinite(checkpoint->best_return)) {
        learner->best_result = (aq_evaluation_result){
            .version = checkpoint->best_policy->version,
            .return_mean = checkpoint->best_return,
            .return_std = checkpoint->best_std,
            .episodes = checkpoint->best_episodes,
            .confirmed = checkpoint->best_confirmed,
        };
        learner->best = aq_snapshot_ref(checkpoint->best_policy);
        aq_coordinator_restore_best(learner->coordinator, &learner->best_result);
    }
    aq_policy_shelf_restore_totals(learner->shelf, &checkpoint->policies);
    learner->first_step = checkpoint->learner_step;
    learner->checkpoint_step = checkpoint->learner_step;
    learner->next_version = checkpoint->policy_version + 1;
}

void sim_learner_restore(sim_learner *learner)
{
    aq_checkpoint checkpoint;
    aq_error error = {0};
    learner->first_step = 0;
    learner->checkpoint_step = 0;
    learner->next_version = 1;
    if (learner->disk.checkpoint.size > 0) {
        must(aq_wire_checkpoint_unpack(learner->disk.checkpoint.data, learner->disk.checkpoint.size,
                                       &checkpoint, &error));
        must(aq_agent_restore(learner->ranks[0].agent, &checkpoint.arrays, &error));
        restore_run(learner, &checkpoint);
        aq_checkpoint_fini(&checkpoint);
    }
    learner->reserved_end = learner->next_version; /* a fresh block is reserved before use */
    sim_trace(&learner->site->world, "learner resumes", learner->first_step, learner->next_version);
}
