/*
 * The trace is FNV-1a over times, words and numbers.
 */
#include "tests/sim/sim_world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "tests/support/must.h"

/* Far more than ever wait at once; a growing number is a fault of somebody who is simulated. */
enum { EVENTS_MAX = 1 << 16 };

const char *sim_invariant_name(enum sim_invariant invariant)
{
    static const char *const names[] = {
        [SIM_ALL_HOLD] = "all hold",
        [SIM_STREAM] = "each transition is sent once and in order",
        [SIM_STORED_ONCE] = "each transition is stored once, in order, without holes",
        [SIM_ACKNOWLEDGED] = "what is acknowledged is stored",
        [SIM_RESTORED] = "a store that was started again is what it was",
        [SIM_CONTENT] = "what is sampled is what was produced",
        [SIM_VERSIONS] = "policy versions only grow",
        [SIM_POLICY] = "a version is the same wherever it is",
        [SIM_CREDIT] = "inserted steps stay in the band",
        [SIM_SAMPLES] = "sampled rows stay in the band",
        [SIM_LAG] = "steps are learned from in time, or counted",
        [SIM_RANKS] = "the ranks of a learner keep the same",
        [SIM_ENV_STEPS] = "each inserted step is counted once",
        [SIM_PROGRESS] = "without faults everything moves",
        [SIM_REFUSED] = "nobody who belongs to the run is turned away",
        [SIM_IDLE] = "whoever has nothing to do waits",
    };
    return names[invariant];
}

void sim_world_init(sim_world *world, uint64_t seed)
{
    *world = (sim_world){
        .agenda = sim_agenda_create(EVENTS_MAX),
        .trace = UINT64_C(0xcbf29ce484222325),
        .prints_trace = getenv("AQ_SIM_TRACE") != NULL,
    };
    aq_rng_init(&world->rng, seed, 0);
}

void sim_world_fini(sim_world *world)
{
    sim_agenda_destroy(world->agenda);
    world->agenda = NULL;
    aq_free(world->drawn);
    world->drawn = NULL;
}

int64_t sim_now_ns(const sim_world *world)
{
    return sim_agenda_now_ns(world->agenda);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 64; i += 8) {
        hash = (hash ^ (word >> i & 0xff)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

void sim_trace(sim_world *world, const char *what, uint64_t a, uint64_t b)
{
    int64_t now_ns = sim_now_ns(world);
    uint64_t hash = mix(world->trace, (uint64_t)now_ns);
    for (const char *at = what; *at != '\0'; at++) {
        hash = mix(hash, (unsigned char)*at);
    }
    world->trace = mix(mix(hash, a), b);
    if (world->prints_trace) {
        fprintf(stderr, "%12.6f %-24s %" PRIu64 " %" PRIu64 "\n",
                (double)now_ns / (double)AQ_NS_PER_S, what, a, b);
    }
}

void sim_broken(sim_world *world, enum sim_invariant invariant, const char *format, ...)
{
    va_list args;
    if (world->broken != SIM_ALL_HOLD) {
        return;
    }
    world->broken = invariant;
    world->broken_ns = sim_now_ns(world);
    va_start(args, format);
    vsnprintf(world->words, sizeof(world->words), format, args);
    va_end(args);
}

bool sim_chance(aq_rng *rng, double share)
{
    return share > 0.0 && aq_rng_uniform(rng) < share;
}

uint64_t sim_draw_number(aq_rng *rng, uint64_t low, uint64_t high)
{
    AQ_ASSERT(low <= high);
    return low + aq_rng_below(rng, high - low + 1);
}

int64_t sim_draw_ns(aq_rng *rng, int64_t low_ns, int64_t high_ns)
{
    AQ_ASSERT(low_ns <= high_ns);
    return low_ns + (int64_t)aq_rng_below(rng, (uint64_t)(high_ns - low_ns) + 1);
}

uint64_t sim_draw_incarnation(sim_world *world)
{
    must_grow(&world->drawn, &world->drawn_capacity, world->drawn_count, sizeof(*world->drawn));
    return world->drawn[world->drawn_count++] = aq_rng_next(&world->rng) | 1;
}

bool sim_was_drawn(const sim_world *world, uint64_t incarnation)
{
    size_t at = 0;
    while (at < world->drawn_count && world->drawn[at] != incarnation) {
        at++;
    }
    return at < world->drawn_count;
}
