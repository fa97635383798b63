/*
 * The end of a run, when nothing moves any more: what everybody has against what everybody says.
 */
#include <inttypes.h>

#include "tests/sim/sim_cluster.h"

/* Steps that the learner has counted for a store. */
static uint64_t counted_for(const sim_cluster *cluster, const sim_book *book)
{
    aq_shard_count counts[AQ_SHARDS_MAX];
    uint64_t base;
    size_t count = aq_coordinator_shard_counts(cluster->learner.coordinator, counts, &base);
    for (size_t i = 0; i < count; i++) {
        if (counts[i].store == book->store) {
            return counts[i].inserted;
        }
    }
    return 0;
}

bool sim_counts_are_told(sim_cluster *cluster)
{
    const sim_ledger *ledger = &cluster->site.ledger;
    for (size_t i = 0; i < ledger->book_count; i++) {
        const sim_book *book = ledger->books[i];
        if (book->alive && counted_for(cluster, book) < book->inserted) {
            return false;
        }
    }
    return true;
}

void sim_check_counts(sim_cluster *cluster)
{
    const sim_ledger *ledger = &cluster->site.ledger;
    for (size_t i = 0; i < ledger->book_count; i++) {
        const sim_book *book = ledger->books[i];
        uint64_t counted = counted_for(cluster, book);
        if ((book->alive && counted < book->inserted) || counted > book->most_inserted) {
            sim_broken(&cluster->site.world, SIM_ENV_STEPS,
                       "the learner counts %" PRIu64 " steps of a %s store that has %" PRIu64
                       " and had %" PRIu64,
                       counted, book->alive ? "living" : "dead", book->inserted,
                       book->most_inserted);
        }
    }
}

void sim_check_actor(sim_cluster *cluster, const sim_actor *actor, uint64_t steps)
{
    const aq_run_settings *settings = &cluster->site.plan.settings;
    sim_ledger *ledger = &cluster->site.ledger;
    const sim_source *source = sim_ledger_source(ledger, actor->incarnation);
    uint64_t rest = (uint64_t)settings->config.actor.envs * (settings->n_step - 1);
    uint64_t sent = 0;
    uint64_t missing = 0;
    for (size_t i = 0; i < ledger->stream_count; i++) {
        const sim_stream *stream = ledger->streams[i];
        if (stream->source == source) {
            sent += sim_stream_fresh(stream, stream->count);
            missing += stream->count - stream->acknowledged;
        }
    }
    if (sim_inherits_lies(&cluster->site.scenario)) {
        return;
    }
    if (missing > 0 || sent > steps || sent + rest < steps) {
        sim_broken(&cluster->site.world, SIM_ACKNOWLEDGED,
                   "an actor that left in order made %" PRIu64 " steps, sent %" PRIu64
                   " of them, and %" PRIu64 " messages were not acknowledged",
                   steps, sent, missing);
    }
    sim_source_check_whole(source);
}
