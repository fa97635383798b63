/*
 * Sampler: draws batches from a shard over RPC while it is killed and started again, as a learner
 * would, and checks each row against CartPole.
 */
#ifndef AQ_TESTS_CHAOS_CHAOS_SAMPLER_H
#define AQ_TESTS_CHAOS_CHAOS_SAMPLER_H

#include "common/net/rpc/rpc_client.h"
#include "learner/run/run_plan.h"
#include "proto/sampling.pb-c.h"

typedef struct chaos_sampler {
    const aq_run_plan *plan;
    aq_rpc_client *client;
    aq_rpc_stub stub;
    bool is_calling;
    uint64_t rows, corrupt;
} chaos_sampler;

void chaos_sampler_open(chaos_sampler *sampler, uv_loop_t *loop, const char *url,
                        const aq_run_plan *plan);
void chaos_sampler_close(chaos_sampler *sampler);

/* Asks for the next batch, if none is under way. `run_id` is the run's. */
void chaos_sampler_ask(chaos_sampler *sampler, uint64_t run_id);

#endif
