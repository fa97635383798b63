/*
 * The outbox against a shard behind a network that drops, doubles and reorders messages, breaks
 * connections and kills the shard. Whatever happens, when the storm is over:
 *   every message was stored, by one shard incarnation at most once, in order, and unchanged;
 *   one that was acknowledged to the actor is not sent again to anybody.
 * The seed of a failure is printed.
 */
#include <inttypes.h>

#include "actor/core/outbox.h"
#include "tests/support/test.h"
#include "tests/unit/actor/outbox_shard.h"

enum { FRAMES_MAX = 256, FRAME_BYTES = 4096, STORM_STEPS = 1500, CALM_ROUNDS = 400 };

typedef struct storm {
    aq_rng rng;
    int64_t now_ns;
    aq_layout layout;
    outbox_shard shard;
    aq_outbox *outbox;
    double reward;

    size_t frame_count; /* under way to the shard */
    size_t sizes[FRAMES_MAX];
    uint8_t frames[FRAMES_MAX][FRAME_BYTES];

    bool answer_under_way;
    aq_shard_mark answer;

    uint64_t drop_odds, double_odds, reorder_odds, break_odds, kill_odds;
} storm;

static bool happens(storm *all, uint64_t odds)
{
    return odds > 0 && aq_rng_below(&all->rng, odds) == 0;
}

static void offer_chunks(storm *all)
{
    uint64_t count = aq_rng_below(&all->rng, 4);
    for (uint64_t i = 0; i < count && aq_outbox_room(all->outbox, AQ_OUTBOX_BYTES_MAX); i++) {
        aq_outbox_put(all->outbox, outbox_shard_chunk(&all->layout, all->reward++), all->now_ns);
    }
}

static void send_one(storm *all, bool urgent)
{
    const uint8_t *frame;
    size_t size;
    if (all->frame_count == FRAMES_MAX ||
        !aq_outbox_next(all->outbox, all->now_ns, urgent, &frame, &size)) {
        return;
    }
    assert_true(size <= FRAME_BYTES);
    memcpy(all->frames[all->frame_count], frame, size);
    all->sizes[all->frame_count] = size;
    all->frame_count++;
    aq_outbox_sent(all->outbox, all->now_ns);
}

static void deliver_one(storm *all)
{
    if (all->frame_count == 0) {
        return;
    }
    size_t at = happens(all, all->reorder_odds) ? aq_rng_below(&all->rng, all->frame_count) : 0;
    if (!happens(all, all->drop_odds)) {
        outbox_shard_take(&all->shard, all->frames[at], all->sizes[at]);
    }
    if (happens(all, all->double_odds)) {
        return; /* stays under way: comes again */
    }
    size_t after = all->frame_count - at - 1;
    memmove(all->frames[at], all->frames[at + 1], after * sizeof(all->frames[0]));
    memmove(&all->sizes[at], &all->sizes[at + 1], after * sizeof(all->sizes[0]));
    all->frame_count--;
}

/* One Credit call is always outstanding: its answer is made at one moment and arrives at another.
 * */
static void answer(storm *all)
{
    if (!all->answer_under_way) {
        all->answer = outbox_shard_mark(&all->shard);
        all->answer_under_way = true;
    } else {
        aq_outbox_acknowledge(all->outbox, all->now_ns, &all->answer);
        all->answer_under_way = false;
    }
}

static void break_connection(storm *all)
{
    all->frame_count = 0;
    aq_outbox_resend(all->outbox, all->now_ns);
}

static void kill_shard(storm *all)
{
    outbox_shard_restart(&all->shard);
    break_connection(all);
}

static void rage(storm *all)
{
    for (int step = 0; step < STORM_STEPS && all->reward < SHARD_MESSAGES_MAX - 8; step++) {
        all->now_ns += (int64_t)aq_rng_below(&all->rng, 30 * AQ_NS_PER_MS);
        switch (aq_rng_below(&all->rng, 5)) {
        case 0:
            offer_chunks(all);
            break;
        case 1:
            send_one(all, happens(all, 2));
            break;
        case 2:
            deliver_one(all);
            break;
        case 3:
            answer(all);
            break;
        default:
            if (happens(all, all->break_odds)) {
                break_connection(all);
            } else if (happens(all, all->kill_odds)) {
                kill_shard(all);
            }
            break;
        }
    }
}

/* The weather clears: everything arrives. Returns whether the outbox got empty. */
static bool calm(storm *all)
{
    all->drop_odds = all->double_odds = all->reorder_odds = 0;
    for (int round = 0; round < CALM_ROUNDS; round++) {
        aq_outbox_counters counters = aq_outbox_count(all->outbox);
        if (counters.unacknowledged == 0 && counters.waiting_chunks == 0) {
            return true;
        }
        all->now_ns += 100 * AQ_NS_PER_MS;
        send_one(all, true);
        while (all->frame_count > 0) {
            deliver_one(all);
        }
        answer(all);
    }
    return false;
}

static void check(const storm *all, bool killed)
{
    aq_outbox_counters counters = aq_outbox_count(all->outbox);
    uint64_t last = counters.acknowledged;
    uint32_t chunks = 0;
    uint32_t shard_chunks = 0; /* in the shard that lives */
    double reward = 0.0;
    for (uint64_t seq = 1; seq <= last; seq++) {
        assert_true(all->shard.stored[seq] >= 1);
        assert_true(killed || all->shard.stored[seq] == 1);
        assert_true(all->shard.first_reward[seq] == reward);
        reward += all->shard.chunk_count[seq];
        chunks += all->shard.chunk_count[seq];
        if (all->shard.stored_by[seq] == all->shard.incarnation) {
            shard_chunks += all->shard.chunk_count[seq];
        }
    }
    assert_true((double)chunks == all->reward);
    assert_int_equal(all->shard.stored[last + 1], 0);
    assert_int_equal(counters.bytes, 0);
    assert_int_equal(counters.acknowledged_steps, chunks); /* each chunk is one transition */
    /* The late word of a dead shard makes the count of the living one smaller, never larger. */
    assert_true(counters.shard_steps <= shard_chunks);
    assert_true(killed || counters.shard_steps == shard_chunks);
}

static void ride_out(uint64_t seed)
{
    static storm all;
    memset(&all, 0, sizeof(all));
    aq_rng_init(&all.rng, seed, 0);
    all.layout = outbox_shard_layout(4);
    outbox_shard_init(&all.shard, &all.layout);
    const aq_outbox_config config = outbox_shard_config(&all.layout, FRAME_BYTES);
    assert_int_equal(aq_outbox_create(&config, &all.outbox), 0);
    const uint64_t odds[] = {0, 3, 10, 50};
    all.drop_odds = odds[aq_rng_below(&all.rng, 4)];
    all.double_odds = odds[aq_rng_below(&all.rng, 4)];
    all.reorder_odds = odds[aq_rng_below(&all.rng, 4)];
    all.break_odds = odds[aq_rng_below(&all.rng, 4)];
    all.kill_odds = odds[aq_rng_below(&all.rng, 4)];
    rage(&all);
    bool over = calm(&all);
    if (!over) {
        print_error("seed %" PRIu64 ": not calm in time\n", seed);
    }
    assert_true(over);
    for (int i = 0; i < 3; i++) {
        answer(&all); /* the one under way arrives, the one after it is made and arrives */
    }
    check(&all, all.shard.incarnation > 1);
    aq_outbox_destroy(all.outbox);
}

TEST(every_storm_ends_with_everything_stored)
{
    const uint64_t first = test_number("AQ_SEED", 1), storms = test_rounds(400);
    for (uint64_t seed = first; seed < first + storms; seed++) {
        ride_out(seed);
    }
}
