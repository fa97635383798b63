/*
 * No group is lost and none is in two places, in whatever order and way the calls end.
 *
 * All orders of three calls and five ways to end them are tried, then ten thousand random moves
 * from one seed.
 */
#include "common/net/security/incarnation.h"
#include "common/wire/wire_sample.h"
#include "tests/support/test.h"
#include "tests/unit/learner/prefetch_stand.h"

enum { IN_FLIGHT = 3, GROUPS = 2 * IN_FLIGHT, SHARDS = 3, MOVES = 10000 };

enum ending { ENDING_FULL, ENDING_NOT_YET, ENDING_REFUSED, ENDING_BROKEN, ENDING_CORRUPT };
enum { ENDINGS = ENDING_CORRUPT + 1 };

typedef struct orders_desk {
    prefetch_stand stand; /* of one batch a group; shards say no incarnation at first */
    bool added[SHARDS];
    uint64_t lives; /* each add is another incarnation */
    uint64_t incarnation[SHARDS];
} orders_desk;

static void renew(prefetch_stand *stand, uint32_t in_flight)
{
    stand->config = (aq_prefetch_config){.run_id = 1,
                                         .batch_rows = STAND_ROWS,
                                         .batch_count = 1,
                                         .in_flight = in_flight,
                                         .wait_ms = 1,
                                         .timeout_ms = 2};
    prefetch_stand_renew(stand);
}

static void orders_desk_setup(orders_desk *desk)
{
    prefetch_stand_setup(&desk->stand);
    renew(&desk->stand, IN_FLIGHT);
    for (int i = 0; i < SHARDS; i++) {
        desk->stand.shards[i].incarnation = 0;
    }
}

static void remove_shard(orders_desk *desk, int index)
{
    aq_prefetch_remove_shard(desk->stand.prefetch, desk->incarnation[index]);
    desk->added[index] = false;
}

static void orders_desk_teardown(orders_desk *desk)
{
    for (int i = 0; i < SHARDS; i++) {
        remove_shard(desk, i);
    }
    prefetch_stand_teardown(&desk->stand);
}

static void add_shard(orders_desk *desk, int index)
{
    desk->incarnation[index] = ++desk->lives;
    desk->added[index] = true;
    assert_succeeds(aq_prefetch_add_shard(desk->stand.prefetch, desk->incarnation[index], "shard",
                                          &desk->stand.shards[index].channel));
}

static void end_call(orders_desk *desk, int index, size_t call, enum ending ending)
{
    Actorq__V1__SampleReply reply;
    ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX];
    switch (ending) {
    case ENDING_FULL:
        sample_shard_answer(&desk->stand.shards[index], call, desk->stand.good, 1);
        assert_true(desk->stand.progress == (desk->stand.progress_total > 0));
        break;
    case ENDING_NOT_YET:
        sample_shard_refuse(&desk->stand.shards[index], call, AQ_RPC_UNAVAILABLE);
        break;
    case ENDING_REFUSED:
        sample_shard_refuse(&desk->stand.shards[index], call, AQ_RPC_INTERNAL);
        break;
    case ENDING_BROKEN:
        sample_shard_break(&desk->stand.shards[index], call, AQ_E_TIMEOUT);
        break;
    case ENDING_CORRUPT:
        aq_wire_sample_view(desk->stand.good, 1, recorded, &reply);
        reply.reward.len--;
        reply.items = 1;
        reply.mass = 1;
        sample_shard_reply(&desk->stand.shards[index], call, &reply);
        break;
    }
}

static size_t calls_out(const orders_desk *desk)
{
    size_t out = 0;
    for (int i = 0; i < SHARDS; i++) {
        out += desk->stand.shards[i].count;
    }
    return out;
}

/* Gives all back and sees that every group there is can be filled once more. */
static void assert_all_groups_are_there(orders_desk *desk)
{
    while (desk->stand.ready_count > 0) {
        prefetch_stand_give_back(&desk->stand);
    }
    for (int i = 0; i < SHARDS; i++) {
        remove_shard(desk, i);
        while (desk->stand.shards[i].count > 0) {
            sample_shard_break(&desk->stand.shards[i], 0, AQ_E_CLOSED);
        }
    }
    assert_int_equal(desk->stand.ready_count, 0);
    add_shard(desk, 0);
    for (int round = 0; round < 2; round++) {
        aq_prefetch_tick(desk->stand.prefetch, desk->stand.now_ns);
        assert_int_equal(desk->stand.shards[0].count, IN_FLIGHT);
        while (desk->stand.shards[0].count > 0) {
            end_call(desk, 0, 0, ENDING_FULL);
        }
    }
    assert_int_equal(desk->stand.ready_count, GROUPS); /* on_ready saw that they differ */
    aq_prefetch_tick(desk->stand.prefetch, desk->stand.now_ns);
    assert_int_equal(desk->stand.shards[0].count, 0);
    while (desk->stand.ready_count > 0) {
        prefetch_stand_give_back(&desk->stand);
    }
    remove_shard(desk, 0);
}

TEST_IN(orders_desk, desk, three_calls_may_end_in_any_order_and_way)
{
    for (int order = 0; order < 6; order++) {
        for (int endings = 0; endings < ENDINGS * ENDINGS * ENDINGS; endings++) {
            /* The order as places in a list that shrinks. */
            size_t places[IN_FLIGHT] = {(size_t)order % 3, (size_t)order / 3, 0};
            int rest = endings;
            unsigned full = 0;
            desk->stand.ready_total = 0;
            add_shard(desk, 0);
            prefetch_stand_pass(&desk->stand, 1000);
            for (int i = 0; i < IN_FLIGHT; i++) {
                full += rest % ENDINGS == ENDING_FULL;
                end_call(desk, 0, places[i], (enum ending)(rest % ENDINGS));
                rest /= ENDINGS;
            }
            assert_int_equal(desk->stand.ready_total, full);
            assert_all_groups_are_there(desk);
        }
    }
}

static void move(orders_desk *desk, aq_rng *rng)
{
    int index = (int)aq_rng_below(rng, SHARDS);
    sample_shard *shard = &desk->stand.shards[index];
    switch (aq_rng_below(rng, 8)) {
    case 0:
        if (!desk->added[index]) {
            add_shard(desk, index);
        }
        break;
    case 1:
        if (aq_rng_below(rng, 4) == 0) {
            remove_shard(desk, index);
        }
        break;
    case 2:
    case 3:
    case 4:
        if (shard->count > 0) {
            end_call(desk, index, aq_rng_below(rng, shard->count),
                     (enum ending)aq_rng_below(rng, ENDINGS));
        }
        break;
    case 5:
        if (desk->stand.ready_count > 0) {
            prefetch_stand_give_back_at(&desk->stand, aq_rng_below(rng, desk->stand.ready_count));
        }
        break;
    case 6:
        shard->send_failure = aq_rng_below(rng, 8) == 0 ? AQ_E_FULL : 0;
        break;
    default:
        prefetch_stand_pass(&desk->stand, (int64_t)aq_rng_below(rng, 60));
    }
}

TEST_IN(orders_desk, desk, ten_thousand_random_moves_lose_no_group)
{
    uint64_t seed = 20260701;
    print_message("seed %llu\n", (unsigned long long)seed);
    aq_rng rng = rng_of(seed, 0);
    for (int i = 0; i < MOVES; i++) {
        move(desk, &rng);
        assert_true(calls_out(desk) <= IN_FLIGHT);
        assert_true(calls_out(desk) + desk->stand.ready_count <= GROUPS);
    }
    assert_true(desk->stand.ready_total > 100);
    for (int i = 0; i < SHARDS; i++) {
        desk->stand.shards[i].send_failure = 0;
    }
    assert_all_groups_are_there(desk);
}

TEST_IN(orders_desk, desk, steps_of_another_process_at_the_address_are_not_counted)
{
    add_shard(desk, 0);
    aq_prefetch_tick(desk->stand.prefetch, ++desk->stand.now_ns);
    desk->stand.shards[0].incarnation = aq_incarnation_name(desk->incarnation[0] + 1);
    end_call(desk, 0, 0, ENDING_FULL);
    assert_int_equal(desk->stand.progress_total, 0);
    desk->stand.shards[0].incarnation = aq_incarnation_name(desk->incarnation[0]);
    end_call(desk, 0, 0, ENDING_FULL);
    assert_int_equal(desk->stand.progress_total, 1);
    assert_int_equal(desk->stand.ready_total, 2);
}

/* Four requests, three shards: two that are slow hold three of them at most. */
TEST_IN(orders_desk, desk, slow_shards_leave_the_last_one_its_share)
{
    renew(&desk->stand, 4);
    for (int i = 0; i < SHARDS; i++) {
        add_shard(desk, i);
    }
    aq_prefetch_tick(desk->stand.prefetch, ++desk->stand.now_ns);
    for (int round = 0; round < 5; round++) {
        assert_true(desk->stand.shards[2].count >= 1);
        assert_int_equal(calls_out(desk), 4);
        end_call(desk, 2, 0, ENDING_FULL);
        prefetch_stand_give_back(&desk->stand);
        prefetch_stand_pass(&desk->stand, 30); /* the others should have answered by now */
    }
}
