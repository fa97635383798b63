/*
 * Nobody waits for ever: actors with open chunks, several tables that each keep a proportion, and a
 * log that is slow, full and stuck now and then. As long as every table is sampled and the log goes
 * on in the end, steps come, are acknowledged and are drawn.
 */
#include <inttypes.h>

#include "tests/support/test.h"
#include "tests/unit/replay/durable_kit.h"
#include "tests/unit/replay/replay_kit.h"

enum { ACTORS_MAX = 4, LANES = 2, MESSAGES_MAX = 1000, PATIENCE_TICKS = 4000 };

typedef struct sender {
    uint64_t spent;       /* steps made */
    uint32_t open[LANES]; /* of them, in open chunks */
    uint64_t made;        /* messages */
    uint64_t next;        /* to be sent */
    uint8_t steps[MESSAGES_MAX + 1];
} sender;

typedef struct standstill {
    durable_kit *kit;
    aq_rng rng;
    size_t actors;
    sender senders[ACTORS_MAX];
    aq_batch *batch;
} standstill;

/* A proportion that is legal for requests of 16 rows, tight or loose. */
static void draw_proportion(aq_rng *rng, aq_table_spec *spec)
{
    spec->samples_per_insert = exp(aq_rng_range(rng, log(0.2), log(50.0)));
    spec->tolerance = ceil((16.0 / spec->samples_per_insert + 2.0) / 2.0);
    spec->tolerance *= exp(aq_rng_range(rng, 0.0, log(20.0)));
    spec->min_size = 1 + aq_rng_below(rng, 200);
}

static void make_steps(standstill *world, size_t index, uint64_t granted)
{
    sender *actor = &world->senders[index];
    while (actor->spent + LANES <= granted && actor->made < MESSAGES_MAX &&
           aq_rng_below(&world->rng, 8) != 0) {
        actor->spent += LANES;
        for (int lane = 0; lane < LANES && actor->made < MESSAGES_MAX; lane++) {
            actor->open[lane]++;
            if (actor->open[lane] == KIT_CHUNK_LENGTH || aq_rng_below(&world->rng, 40) == 0) {
                actor->steps[++actor->made] = (uint8_t)actor->open[lane];
                actor->open[lane] = 0;
            }
        }
    }
}

/* One call and what follows from it: go back to what is expected, make steps, send. */
static void run_actor(standstill *world, size_t index)
{
    sender *actor = &world->senders[index];
    durable_kit *kit = world->kit;
    aq_credit credit = durable_kit_ask(kit, index + 1, 0);
    assert_true(credit.acknowledged <= actor->made);
    actor->next = credit.expected;
    make_steps(world, index, credit.granted);
    while (actor->next <= actor->made) {
        enum aq_replay_verdict verdict =
            durable_kit_send(kit, index + 1, actor->next, actor->steps[actor->next]);
        if (verdict == AQ_REPLAY_DEFERRED) {
            return;
        }
        assert_int_equal(verdict, AQ_REPLAY_STORED);
        actor->next++;
    }
}

static void run_log(standstill *world)
{
    fake_log *fake = &world->kit->fake;
    if (aq_rng_below(&world->rng, 200) == 0) {
        fake->stuck = !fake->stuck;
    }
    if (!fake->stuck && aq_rng_below(&world->rng, 3) == 0) {
        fake->durable += aq_rng_below(&world->rng, fake->count - fake->durable + 1);
    }
}

static void run_samplers(standstill *world)
{
    durable_kit *kit = world->kit;
    for (size_t i = 0; i < kit->settings.table_count; i++) {
        while (aq_rng_below(&world->rng, 3) != 0) {
            if (aq_replay_core_sample(kit->core, kit->now_ns, i, 16, 0.9f, world->batch) != 0) {
                break;
            }
        }
    }
}

static uint64_t acknowledged_of(standstill *world)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < aq_replay_core_actors(world->kit->core); i++) {
        sum += aq_replay_core_actor(world->kit->core, i)->sequence.acknowledged;
    }
    return sum;
}

/* Runs until something was acknowledged and every table was sampled again. */
static void assert_goes_on(standstill *world)
{
    durable_kit *kit = world->kit;
    const aq_replay_tables *tables = aq_replay_core_tables(kit->core);
    uint64_t acknowledged = acknowledged_of(world);
    uint64_t sampled[AQ_TABLES_MAX];
    for (size_t i = 0; i < tables->count; i++) {
        sampled[i] = tables->shelves[i].sampled;
    }
    for (int tick = 0;; tick++) {
        bool all = acknowledged_of(world) > acknowledged;
        for (size_t i = 0; i < tables->count; i++) {
            all = all && tables->shelves[i].sampled > sampled[i];
        }
        if (all) {
            return;
        }
        if (tick == PATIENCE_TICKS) {
            fail_msg("nothing moves: %s", aq_replay_core_waiting(kit->core));
        }
        run_log(world);
        durable_kit_pass(kit, 1);
        for (size_t i = 0; i < world->actors; i++) {
            run_actor(world, i);
        }
        run_samplers(world);
    }
}

TEST_IN(durable_kit, kit, steps_and_samples_go_on_under_any_tables_and_any_log)
{
    uint64_t seed = test_seed();
    const uint64_t rounds = test_rounds(60);
    for (uint64_t round = 0; round < rounds; round++) {
        standstill world = {.kit = kit};
        aq_rng_init(&world.rng, seed, round);
        world.actors = 1 + aq_rng_below(&world.rng, ACTORS_MAX);
        kit->settings = kit_settings();
        kit->settings.table_count = 1 + (uint32_t)aq_rng_below(&world.rng, 3);
        kit->settings.tables[0].capacity = 100000;
        for (uint32_t i = 0; i < kit->settings.table_count; i++) {
            kit->settings.tables[i] = kit->settings.tables[0];
            (void)snprintf(kit->settings.tables[i].name, AQ_TABLE_NAME_MAX, "table%" PRIu32, i);
            draw_proportion(&world.rng, &kit->settings.tables[i]);
        }
        kit->fake.full_at = 1 + aq_rng_below(&world.rng, 40);
        kit->fake.records_per_segment = 50;
        kit->backlog_bytes = 100 + aq_rng_below(&world.rng, 20000);
        durable_kit_open(kit);
        assert_int_equal(aq_batch_create(aq_replay_core_layout(kit->core), 0, 16, &world.batch), 0);
        for (int turn = 0; turn < 5 && world.senders[0].made + 100 < MESSAGES_MAX; turn++) {
            assert_goes_on(&world);
        }
        aq_batch_destroy(world.batch);
        durable_kit_crash(kit);
        fake_log_fini(&kit->fake);
        fake_log_init(&kit->fake);
    }
}
