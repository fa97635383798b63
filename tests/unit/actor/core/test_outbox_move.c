/*
 * The outbox and the store that it is numbered for: what changes when its shard restarts, when it
 * is moved to another store, and what is known to have arrived.
 */
#include "actor/core/outbox.h"
#include "common/experience/experience.h"
#include "tests/support/test.h"
#include "tests/unit/actor/outbox_shard.h"
#include "tests/unit/common/wire/experience_read.h"

enum { STORE = 0x51, NEXT_STORE = 0x52 };

typedef struct fixture {
    aq_layout layout;
    aq_outbox *outbox;
    outbox_shard shard;
} fixture;

static fixture all;

static int set_up(void **state)
{
    (void)state;
    all.layout = outbox_shard_layout(1);
    aq_outbox_config config = outbox_shard_config(&all.layout, 4096);
    config.store = STORE;
    outbox_shard_init(&all.shard, &all.layout);
    return aq_outbox_create(&config, &all.outbox);
}

static int tear_down(void **state)
{
    (void)state;
    aq_outbox_destroy(all.outbox);
    return 0;
}

static void put(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        aq_outbox_put(all.outbox, outbox_shard_chunk(&all.layout, 0.0), 0);
    }
}

/* Sends one message; the store that it names. */
static uint64_t send_one(bool arrives)
{
    const uint8_t *frame;
    size_t size;
    aq_experience experience;
    assert_true(aq_outbox_next(all.outbox, 0, true, &frame, &size));
    assert_int_equal(experience_read(frame, size, SHARD_RUN, &all.layout, &experience, NULL), 0);
    const uint64_t store = experience.store;
    experience_fini(&experience);
    if (arrives) {
        outbox_shard_take(&all.shard, frame, size);
    }
    aq_outbox_sent(all.outbox, 0);
    return store;
}

static void acknowledge(void)
{
    const aq_shard_mark mark = outbox_shard_mark(&all.shard);
    aq_outbox_acknowledge(all.outbox, 0, &mark);
}

TEST_WITH(a_message_names_the_store_that_it_is_for, set_up, tear_down)
{
    put(1);
    assert_int_equal(send_one(true), STORE);
}

TEST_WITH(a_move_sends_what_is_unacknowledged_to_the_next_store, set_up, tear_down)
{
    put(1);
    (void)send_one(true);
    acknowledge();
    put(1);
    (void)send_one(false);
    put(1);
    (void)send_one(false);
    outbox_shard_restart(&all.shard);
    aq_outbox_move(all.outbox, 0, NEXT_STORE);
    assert_int_equal(aq_outbox_count(all.outbox).shard_steps, 0);
    assert_int_equal(send_one(true), NEXT_STORE);
    assert_int_equal(all.shard.last_seq, 2);
    assert_int_equal(all.shard.last_acknowledged, 1);
    acknowledge(); /* by an incarnation that is new, but nothing goes again for that */
    assert_int_equal(send_one(true), NEXT_STORE);
    assert_int_equal(all.shard.last_seq, 3);
    acknowledge();
    assert_int_equal(all.shard.gaps + all.shard.duplicates, 0);
    assert_int_equal(aq_outbox_count(all.outbox).unacknowledged, 0);
    assert_int_equal(aq_outbox_count(all.outbox).acknowledged_steps, 3);
    assert_int_equal(aq_outbox_count(all.outbox).shard_steps, 2);
}

TEST_WITH(a_frame_that_was_packed_before_a_move_is_packed_again, set_up, tear_down)
{
    const uint8_t *frame;
    size_t size;
    put(1);
    assert_true(aq_outbox_next(all.outbox, 0, true, &frame, &size));
    aq_outbox_move(all.outbox, 0, NEXT_STORE);
    assert_int_equal(send_one(true), NEXT_STORE);
}

TEST_WITH(a_store_keeps_its_steps_over_a_restart, set_up, tear_down)
{
    put(1);
    (void)send_one(true);
    acknowledge();
    assert_int_equal(aq_outbox_count(all.outbox).shard_steps, 1);
    all.shard.incarnation++; /* the same store: it remembers its mark */
    acknowledge();
    assert_int_equal(aq_outbox_count(all.outbox).shard_steps, 1);
}

TEST_WITH(what_the_shard_has_taken_has_arrived_acknowledged_or_not, set_up, tear_down)
{
    for (int i = 0; i < 3; i++) {
        put(1);
        (void)send_one(false);
    }
    assert_int_equal(aq_outbox_count(all.outbox).unarrived, 3);
    const aq_shard_mark taken = {.shard_incarnation = 1, .acknowledged = 0, .expected = 3};
    aq_outbox_acknowledge(all.outbox, 0, &taken);
    assert_int_equal(aq_outbox_count(all.outbox).unacknowledged, 3);
    assert_int_equal(aq_outbox_count(all.outbox).unarrived, 1);
    const aq_shard_mark kept = {.shard_incarnation = 1, .acknowledged = 3, .expected = 4};
    aq_outbox_acknowledge(all.outbox, 0, &kept);
    assert_int_equal(aq_outbox_count(all.outbox).unarrived, 0);
    assert_int_equal(aq_outbox_count(all.outbox).put_steps, 3);
}

TEST_WITH(room_ends_where_the_owner_says, set_up, tear_down)
{
    assert_true(aq_outbox_room(all.outbox, 1));
    put(1);
    assert_false(aq_outbox_room(all.outbox, 1));
    assert_true(aq_outbox_room(all.outbox, AQ_OUTBOX_BYTES_MAX));
}
