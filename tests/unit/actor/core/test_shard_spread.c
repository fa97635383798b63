/*
 * The spread: which shard gets the next chunk, how much credit there is, and that both are bounded.
 * Chunks are made by hand, or by a core with random grants, of which it is checked that they can
 * always be used up.
 */
#include "actor/core/actor_core.h"
#include "actor/core/shard_spread.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"

enum { BURST = 8, LENGTH_MAX = 8, MESSAGE_BYTES = 1 << 16 };

static aq_layout layout;

static int make_layout(void **state)
{
    (void)state;
    layout = chunk_layout(4, 2, 1, LENGTH_MAX);
    return 0;
}

TEST_GROUP(make_layout, NULL);

static aq_outbox_config config_of(const aq_layout *chunks, uint32_t message_bytes)
{
    return (aq_outbox_config){
        .run_id = 1,
        .actor = 2,
        .incarnation = 3,
        .layout = *chunks,
        .message_bytes = message_bytes,
        .burst_chunks = BURST,
        .hold_ns = 100,
        .resend_ns = 1000,
    };
}

static aq_shard_spread *spread_of(uint32_t shards)
{
    const aq_outbox_config config = config_of(&layout, MESSAGE_BYTES);
    aq_shard_spread *spread = NULL;
    assert_int_equal(aq_shard_spread_create(&config, &spread, NULL), 0);
    for (uint32_t i = 0; i < shards; i++) {
        uint32_t shard = UINT32_MAX;
        assert_int_equal(aq_shard_spread_open(spread, 100 + i, &shard), 0);
        assert_int_equal(shard, i);
        aq_shard_spread_set_taking(spread, i, true);
    }
    return spread;
}

#define TEST_OF_SPREAD(name, shards)                                                               \
    TEST_OF(name, aq_shard_spread *spread, spread_of(shards), aq_shard_spread_destroy)

static void grant(aq_shard_spread *spread, uint32_t shard, uint64_t granted)
{
    const aq_outbox_counters counters = aq_shard_spread_count_of(spread, shard);
    const aq_shard_mark mark = {.shard_incarnation = 1,
                                .acknowledged = counters.acknowledged,
                                .expected = counters.acknowledged + 1};
    aq_shard_spread_answered(spread, shard, 0, &mark, granted);
}

static aq_chunk *chunk_of(uint32_t length)
{
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(&layout, length, &chunk), 0);
    chunk->view.length = length;
    chunk->view.terminated = 1;
    return chunk;
}

static void put(aq_shard_spread *spread, uint32_t length)
{
    assert_true(aq_shard_spread_begin(spread) > 0);
    aq_shard_spread_put(spread, chunk_of(length), 0);
}

static uint64_t put_steps(const aq_shard_spread *spread, uint32_t shard)
{
    return aq_shard_spread_count_of(spread, shard).put_steps;
}

/* The shard takes all there is for it, and acknowledges it. */
static void serve(aq_shard_spread *spread, uint32_t shard)
{
    const uint8_t *frame;
    size_t size;
    while (aq_shard_spread_next(spread, shard, 0, true, &frame, &size)) {
        aq_shard_spread_sent(spread, shard, 0);
    }
    const uint64_t sent = aq_shard_spread_count_of(spread, shard).sent;
    const aq_shard_mark mark = {.shard_incarnation = 1, .acknowledged = sent, .expected = sent + 1};
    aq_shard_spread_answered(spread, shard, 0, &mark, 0);
}

/* ---- who gets it ---------------------------------------------------------------------------- */

/* Who had the most would be asked again and again: who is sent much is granted much. */
TEST_OF_SPREAD(turns_are_taken_whoever_has_the_most_credit, 3)
{
    grant(spread, 0, 100);
    grant(spread, 1, 10000);
    grant(spread, 2, 100);
    for (uint32_t i = 0; i < 30; i++) {
        put(spread, 4);
        assert_int_equal(put_steps(spread, i % 3), (i / 3 + 1) * 4);
    }
}

TEST_OF_SPREAD(one_without_credit_for_all_of_a_chunk_is_passed_over, 3)
{
    grant(spread, 0, 3);
    grant(spread, 1, 10);
    grant(spread, 2, 7);
    put(spread, 4);
    assert_int_equal(put_steps(spread, 1), 4);
    put(spread, 4);
    assert_int_equal(put_steps(spread, 2), 4);
    put(spread, 4);
    assert_int_equal(put_steps(spread, 1), 8);
    put(spread, 4); /* 3, 2 and 3 are left: of equals, the next in turn */
    assert_int_equal(put_steps(spread, 2), 8);
    put(spread, 4);
    assert_int_equal(put_steps(spread, 0), 4);
    assert_int_equal(aq_shard_spread_credit(spread), 2);
}

TEST_OF_SPREAD(equals_take_turns, 4)
{
    for (uint32_t i = 0; i < 4; i++) {
        grant(spread, i, 1000);
    }
    for (uint32_t i = 0; i < 40; i++) {
        put(spread, 5);
        assert_int_equal(put_steps(spread, i % 4), (i / 4 + 1) * 5);
    }
}

TEST_OF_SPREAD(one_that_does_not_take_gets_nothing_and_lends_no_credit, 2)
{
    grant(spread, 0, 1000);
    grant(spread, 1, 10);
    aq_shard_spread_set_taking(spread, 0, false);
    assert_int_equal(aq_shard_spread_credit(spread), 10);
    put(spread, 8);
    put(spread, 8); /* less is left than it has */
    assert_int_equal(put_steps(spread, 0), 0);
    assert_int_equal(put_steps(spread, 1), 16);
    assert_int_equal(aq_shard_spread_begin(spread), 0);
    assert_false(aq_shard_spread_may_put(spread));
    aq_shard_spread_set_taking(spread, 0, true);
    assert_int_equal(aq_shard_spread_begin(spread), 1000);
}

TEST_OF_SPREAD(one_that_is_overdrawn_gets_no_more_before_it_has_granted_that, 1)
{
    grant(spread, 0, 3);
    put(spread, 8);
    assert_int_equal(aq_shard_spread_credit(spread), 0);
    grant(spread, 0, 8);
    assert_false(aq_shard_spread_may_put(spread));
    grant(spread, 0, 9);
    assert_int_equal(aq_shard_spread_begin(spread), 1);
}

TEST_OF_SPREAD(grants_beyond_any_number_do_not_wrap, 3)
{
    for (uint32_t i = 0; i < 3; i++) {
        grant(spread, i, UINT64_MAX - i);
    }
    assert_true(aq_shard_spread_credit(spread) == UINT64_MAX);
    assert_true(aq_shard_spread_begin(spread) == UINT64_MAX);
}

TEST_OF_SPREAD(the_last_chunks_find_a_place_without_credit, 3)
{
    aq_shard_spread_set_taking(spread, 0, false);
    aq_shard_spread_set_taking(spread, 2, false);
    grant(spread, 0, 100);
    aq_shard_spread_put_last(spread, chunk_of(4), 0);
    assert_int_equal(put_steps(spread, 1), 4); /* it is there, the others are not */
    aq_shard_spread_set_taking(spread, 1, false);
    aq_shard_spread_put_last(spread, chunk_of(4), 0);
    assert_int_equal(put_steps(spread, 0), 4);
    assert_false(aq_shard_spread_is_empty(spread));
    assert_true(aq_shard_spread_is_empty_of(spread, 2));
}

TEST_OF_SPREAD(what_is_urgent_for_one_does_not_wait_for_a_fuller_message, 2)
{
    const uint8_t *frame;
    size_t size;
    grant(spread, 0, 8);
    put(spread, 8); /* all it granted: nothing more comes for now */
    grant(spread, 1, 100);
    put(spread, 8);
    assert_true(aq_shard_spread_due_ns(spread, 0, false) == INT64_MIN);
    assert_true(aq_shard_spread_next(spread, 0, 0, false, &frame, &size));
    assert_false(aq_shard_spread_next(spread, 1, 0, false, &frame, &size));
    assert_int_equal(aq_shard_spread_due_ns(spread, 1, false), 100);
    aq_shard_spread_set_taking(spread, 1, false);
    assert_true(aq_shard_spread_next(spread, 1, 0, false, &frame, &size));
}

/* ---- bounds --------------------------------------------------------------------------------- */

/* Puts until there is no room; the bytes that are held then. */
static size_t fill(aq_shard_spread *spread)
{
    for (uint32_t i = 0; i < aq_shard_spread_count(spread); i++) {
        grant(spread, i, UINT64_C(1) << 40);
    }
    while (aq_shard_spread_begin(spread) > 0) {
        for (int i = 0; i < BURST; i++) {
            aq_shard_spread_put(spread, chunk_of(LENGTH_MAX), 0);
        }
        for (uint32_t i = 0; i < aq_shard_spread_count(spread); i++) {
            const uint8_t *frame;
            size_t size;
            while (aq_shard_spread_next(spread, i, 0, false, &frame, &size)) {
                aq_shard_spread_sent(spread, i, 0);
            }
        }
    }
    return aq_shard_spread_count_all(spread).bytes;
}

TEST(what_all_hold_is_bounded_whatever_their_number)
{
    static const uint32_t counts[] = {1, 2, 4, 16, AQ_SPREAD_SHARDS_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        aq_shard_spread *spread = spread_of(counts[i]);
        const size_t bytes = fill(spread);
        assert_true(bytes > (1 << 20));
        assert_true(bytes <= AQ_SPREAD_BYTES_MAX + counts[i] * BURST * 4096);
        aq_shard_spread_destroy(spread);
    }
}

TEST_OF_SPREAD(one_that_is_full_leaves_room_for_the_others, 8)
{
    (void)fill(spread);
    serve(spread, 3);
    assert_true(aq_shard_spread_may_put(spread));
    const uint64_t before = put_steps(spread, 3);
    put(spread, 4);
    assert_int_equal(put_steps(spread, 3), before + 4);
    assert_true(aq_shard_spread_credit(spread) > 0); /* of all, whether there is room or not */
}

TEST_OF_SPREAD(those_that_are_away_and_owe_nothing_have_no_share, AQ_SPREAD_SHARDS_MAX)
{
    for (uint32_t i = 1; i < AQ_SPREAD_SHARDS_MAX; i++) {
        aq_shard_spread_set_taking(spread, i, false);
    }
    assert_true(fill(spread) > 2 * AQ_SPREAD_BYTES_MAX / AQ_SPREAD_SHARDS_MAX);
    aq_shard_spread_set_taking(spread, 1, true);
    assert_true(aq_shard_spread_may_put(spread));
}

TEST_OF_SPREAD(more_shards_than_there_can_be_are_refused, AQ_SPREAD_SHARDS_MAX)
{
    uint32_t shard = 77;
    assert_int_equal(aq_shard_spread_open(spread, 1, &shard), AQ_E_FULL);
    assert_int_equal(shard, 77);
}

TEST(a_chunk_that_fits_in_no_message_is_refused_in_words)
{
    const aq_outbox_config config = config_of(&layout, 256);
    aq_shard_spread *spread = NULL;
    assert_refused(aq_shard_spread_create(&config, &spread, &refusal), AQ_E_TOO_BIG,
                   "net.message_bytes");
    assert_null(spread);
}

TEST(without_memory_nothing_changes)
{
    const aq_outbox_config config = config_of(&layout, MESSAGE_BYTES);
    aq_shard_spread *untouched = (aq_shard_spread *)(void *)&state;
    aq_shard_spread *spread = untouched;
    uint32_t shard = 77;
    assert_fails_without_memory(aq_shard_spread_create(&config, &spread, NULL));
    assert_ptr_equal(spread, untouched);
    spread = spread_of(1);
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(aq_shard_spread_count(spread), 1);
        assert_int_equal(shard, 77);
        rc = aq_shard_spread_open(spread, 5, &shard);
    }
    assert_int_equal(shard, 1);
    aq_shard_spread_destroy(spread);
    aq_shard_spread_destroy(NULL);
}

/* ---- a core over several shards ------------------------------------------------------------- */

enum { SHARDS = 5 };

typedef struct random_run {
    aq_run_settings settings;
    aq_actor_core *core;
    aq_shard_spread *spread;
    aq_rng rng;
    int64_t now_ns;
    uint64_t granted[SHARDS];
    bool takes[SHARDS];
} random_run;

/* The rest that replay/shard/replay_credit.h expects an actor with one shard to be left with. */
static uint64_t rest_steps(const random_run *run)
{
    return (uint64_t)run->settings.config.actor.envs * run->settings.n_step - 1;
}

static uint64_t left(const random_run *run, uint32_t shard)
{
    const uint64_t put = put_steps(run->spread, shard);
    return run->granted[shard] > put ? run->granted[shard] - put : 0;
}

static void serve_all(random_run *run)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        const uint8_t *frame;
        size_t size;
        while (run->takes[i] && aq_actor_core_next(run->core, i, run->now_ns, &frame, &size)) {
            aq_shard_spread_sent(run->spread, i, run->now_ns);
        }
        if (run->takes[i]) {
            serve(run->spread, i);
        }
        assert_true(put_steps(run->spread, i) <
                    run->granted[i] + run->settings.config.replay.chunk_length);
    }
}

/* Steps for as long as it may, and gives it the time to close what it can. */
static void use_up(random_run *run)
{
    for (int quiet = 0; quiet < 4;) {
        quiet = aq_actor_core_step(run->core, run->now_ns) > 0 ? 0 : quiet + 1;
        run->now_ns += quiet > 0 ? run->settings.config.actor.flush_ms * AQ_NS_PER_MS : 1000;
        serve_all(run);
    }
}

static void change_something(random_run *run)
{
    const uint32_t shard = (uint32_t)aq_rng_below(&run->rng, SHARDS);
    if (aq_rng_below(&run->rng, 4) == 0) {
        run->takes[shard] = !run->takes[shard];
        aq_shard_spread_set_taking(run->spread, shard, run->takes[shard]);
    }
    run->granted[shard] += aq_rng_below(&run->rng, 40);
    grant(run->spread, shard, run->granted[shard]);
}

/* Whatever was granted by whom, and whoever left: what a shard that is there has granted and not
 * got is no more than what it expects an actor to be left with. */
TEST(no_combination_of_grants_leaves_more_than_the_rest)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        random_run run = {.settings = kit_settings(), .now_ns = 1};
        aq_rng_init(&run.rng, seed, 0);
        run.settings.config.actor.envs = 1 + (uint32_t)aq_rng_below(&run.rng, 6);
        const aq_actor_core_config config = {.run_id = KIT_RUN, .member = 1, .incarnation = seed};
        assert_int_equal(aq_actor_core_create(&run.settings, &config, &run.core, NULL), 0);
        run.spread = aq_actor_core_spread(run.core);
        for (uint32_t i = 0; i < SHARDS; i++) {
            uint32_t shard;
            assert_int_equal(aq_shard_spread_open(run.spread, 100 + i, &shard), 0);
        }
        for (int round = 0; round < 200; round++) {
            uint64_t sum = 0;
            change_something(&run);
            use_up(&run);
            for (uint32_t i = 0; i < SHARDS; i++) {
                sum += run.takes[i] ? left(&run, i) : 0;
            }
            assert_true(sum <= rest_steps(&run));
        }
        assert_true(aq_actor_core_counters(run.core).env_steps > 500);
        aq_actor_core_destroy(run.core);
    }
}
