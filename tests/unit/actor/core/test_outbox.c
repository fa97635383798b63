/*
 * The outbox, fact by fact: when a message goes out, what it holds, what makes it go again, limits.
 */
#include "actor/core/outbox.h"
#include "common/experience/experience.h"
#include "common/wire/wire_experience.h"
#include "tests/support/test.h"
#include "tests/unit/actor/outbox_shard.h"

enum { MESSAGE_BYTES = 4096 };
#define HOLD_NS   (20 * AQ_NS_PER_MS)
#define RESEND_NS AQ_NS_PER_S

typedef struct fixture {
    aq_layout layout;
    outbox_shard shard;
    aq_outbox *outbox;
    double reward; /* of the next chunk */
} fixture;

static fixture *open_outbox(void)
{
    static fixture all;
    memset(&all, 0, sizeof(all));
    all.layout = outbox_shard_layout(4);
    outbox_shard_init(&all.shard, &all.layout);
    const aq_outbox_config config = outbox_shard_config(&all.layout, MESSAGE_BYTES);
    assert_int_equal(aq_outbox_create(&config, &all.outbox), 0);
    return &all;
}

static void close_outbox(fixture *all)
{
    aq_outbox_destroy(all->outbox);
}

#define TEST_OF_OUTBOX(name) TEST_OF(name, fixture *all, open_outbox(), close_outbox)

static void put(fixture *all, int64_t since_ns)
{
    aq_outbox_put(all->outbox, outbox_shard_chunk(&all->layout, all->reward++), since_ns);
}

/* Sends what there is, into the shard or (with NULL) into nothing; returns how many messages. */
static int send_all(fixture *all, int64_t now_ns, bool urgent, outbox_shard *shard)
{
    const uint8_t *frame;
    size_t size;
    int sent = 0;
    while (aq_outbox_next(all->outbox, now_ns, urgent, &frame, &size)) {
        assert_true(size <= MESSAGE_BYTES);
        if (shard != NULL) {
            outbox_shard_take(shard, frame, size);
        }
        aq_outbox_sent(all->outbox, now_ns);
        sent++;
    }
    return sent;
}

/* One message for each of `count` chunks. */
static void send_singly(fixture *all, int64_t now_ns, int count, outbox_shard *shard)
{
    for (int i = 0; i < count; i++) {
        put(all, now_ns);
        assert_int_equal(send_all(all, now_ns, true, shard), 1);
    }
}

static void acknowledge(fixture *all, int64_t now_ns)
{
    aq_shard_mark mark = outbox_shard_mark(&all->shard);
    aq_outbox_acknowledge(all->outbox, now_ns, &mark);
}

/* ---- when a message goes out ---------------------------------------------------------------- */

TEST_OF_OUTBOX(an_empty_outbox_has_nothing_to_send)
{
    assert_int_equal(send_all(all, 0, true, NULL), 0);
    assert_int_equal(aq_outbox_due_ns(all->outbox, true), INT64_MAX);
}

TEST_OF_OUTBOX(a_small_chunk_waits_for_company_but_not_longer_than_its_time)
{
    put(all, 5);
    assert_int_equal(send_all(all, HOLD_NS + 4, false, &all->shard), 0);
    assert_int_equal(aq_outbox_due_ns(all->outbox, false), HOLD_NS + 5);
    put(all, 100); /* a younger one changes nothing */
    assert_int_equal(aq_outbox_due_ns(all->outbox, false), HOLD_NS + 5);
    assert_int_equal(send_all(all, HOLD_NS + 5, false, &all->shard), 1);
    assert_int_equal(all->shard.chunk_count[1], 2);
}

TEST_OF_OUTBOX(a_chunk_that_holds_an_older_step_goes_earlier)
{
    put(all, 100);
    put(all, 50);
    assert_int_equal(aq_outbox_due_ns(all->outbox, false), HOLD_NS + 50);
}

TEST_OF_OUTBOX(a_good_size_goes_at_once)
{
    int chunks = 0;
    while (aq_outbox_due_ns(all->outbox, false) != INT64_MIN) {
        put(all, 0);
        chunks++;
        assert_true(chunks < 1000);
    }
    assert_true(chunks > 1);
    assert_int_equal(send_all(all, 0, false, &all->shard), 1);
    assert_int_equal(all->shard.chunk_count[1], chunks);
}

TEST_OF_OUTBOX(the_urgent_goes_at_once)
{
    put(all, 0);
    assert_int_equal(aq_outbox_due_ns(all->outbox, true), INT64_MIN);
    assert_int_equal(send_all(all, 0, true, &all->shard), 1);
}

TEST_OF_OUTBOX(what_has_gathered_is_cut_into_messages_that_fit)
{
    for (int i = 0; i < 300; i++) {
        put(all, 0);
    }
    int sent = send_all(all, 0, false, &all->shard); /* asserts each one's size */
    sent += send_all(all, 0, true, &all->shard);
    uint32_t chunks = 0;
    for (int seq = 1; seq <= sent; seq++) {
        chunks += all->shard.chunk_count[seq];
    }
    assert_int_equal(chunks, 300);
    assert_true(sent > 2);
    assert_int_equal(all->shard.gaps, 0);
}

TEST_OF_OUTBOX(a_message_holds_no_more_chunks_than_any_may)
{
    const uint32_t chunks = AQ_EXPERIENCE_CHUNKS_MAX + 10;
    aq_outbox_config config = outbox_shard_config(&all->layout, 64 << 20);
    config.burst_chunks = chunks;
    aq_outbox_destroy(all->outbox);
    assert_int_equal(aq_outbox_create(&config, &all->outbox), 0);
    for (uint32_t i = 0; i < chunks; i++) {
        put(all, 0);
    }
    const uint8_t *frame;
    size_t size;
    assert_true(aq_outbox_next(all->outbox, 0, false, &frame, &size));
    outbox_shard_take(&all->shard, frame, size);
    assert_int_equal(all->shard.chunk_count[1], AQ_EXPERIENCE_CHUNKS_MAX);
    assert_int_equal(aq_outbox_count(all->outbox).waiting_chunks, 10);
}

TEST_OF_OUTBOX(a_refused_send_offers_the_same_frame_again_without_packing_it)
{
    const uint8_t *frame, *again;
    size_t size, again_size;
    put(all, 0);
    assert_true(aq_outbox_next(all->outbox, 0, true, &frame, &size));
    uint64_t before = aq_memory_allocation_count();
    assert_true(aq_outbox_next(all->outbox, 1, false, &again, &again_size));
    assert_int_equal(aq_memory_allocation_count(), before);
    assert_ptr_equal(frame, again);
    assert_int_equal(size, again_size);
    aq_outbox_sent(all->outbox, 1);
    assert_int_equal(aq_outbox_count(all->outbox).resent, 0);
}

/* ---- what makes it go again ----------------------------------------------------------------- */

TEST_OF_OUTBOX(what_is_acknowledged_is_forgotten)
{
    acknowledge(all, 0);
    send_singly(all, 0, 5, &all->shard);
    assert_int_equal(aq_outbox_count(all->outbox).unacknowledged, 5);
    assert_true(aq_outbox_count(all->outbox).bytes > 0);
    acknowledge(all, 1);
    assert_int_equal(aq_outbox_count(all->outbox).unacknowledged, 0);
    assert_int_equal(aq_outbox_count(all->outbox).bytes, 0);
    assert_int_equal(aq_outbox_count(all->outbox).acknowledged, 5);
}

TEST_OF_OUTBOX(a_new_connection_gets_everything_unacknowledged_from_the_first)
{
    acknowledge(all, 0);
    send_singly(all, 0, 2, &all->shard);
    acknowledge(all, 1);
    send_singly(all, 1, 3, NULL); /* lost with the connection */
    aq_outbox_resend(all->outbox, 2);
    assert_int_equal(send_all(all, 2, false, &all->shard), 3);
    assert_int_equal(all->shard.mark, 5);
    assert_int_equal(all->shard.gaps, 0);
    assert_int_equal(aq_outbox_count(all->outbox).resent, 3);
}

TEST_OF_OUTBOX(a_restarted_shard_gets_everything_with_the_mark_of_now)
{
    acknowledge(all, 0);
    send_singly(all, 0, 2, &all->shard); /* packed while 0 was acknowledged */
    put(all, 0);
    const uint8_t *frame;
    size_t size;
    assert_true(aq_outbox_next(all->outbox, 0, true, &frame, &size)); /* packed, not sent */
    acknowledge(all, 1);                                              /* 2 */
    assert_int_equal(aq_outbox_count(all->outbox).shard_steps, 2);
    outbox_shard_restart(&all->shard);
    acknowledge(all, 2);
    assert_int_equal(send_all(all, 2, true, &all->shard), 1);
    assert_int_equal(all->shard.last_seq, 3);
    assert_int_equal(all->shard.last_acknowledged, 2);
    assert_int_equal(all->shard.gaps, 0);
    assert_int_equal(all->shard.mark, 3);
    acknowledge(all, 3);
    assert_int_equal(aq_outbox_count(all->outbox).acknowledged_steps, 3);
    assert_int_equal(aq_outbox_count(all->outbox).shard_steps, 1);
}

TEST_OF_OUTBOX(another_shard_incarnation_is_reason_enough_to_go_again)
{
    acknowledge(all, 0);
    send_singly(all, 0, 2, NULL); /* into a shard that died with them */
    outbox_shard_restart(&all->shard);
    acknowledge(all, 1);
    assert_int_equal(send_all(all, 1, false, &all->shard), 2);
    assert_int_equal(all->shard.mark, 2);
}

TEST_OF_OUTBOX(a_gap_makes_it_go_back_at_once_and_once)
{
    acknowledge(all, 0);
    send_singly(all, 0, 1, &all->shard);
    send_singly(all, 0, 1, NULL); /* lost */
    send_singly(all, 0, 1, &all->shard);
    acknowledge(all, 1); /* the mark moved, and there is a gap */
    assert_int_equal(all->shard.gaps, 1);
    outbox_shard late = all->shard;
    assert_int_equal(send_all(all, 1, false, &all->shard), 2);
    assert_int_equal(all->shard.mark, 3);
    /* An answer from before that arrived, with one more gap of the first time, changes nothing. */
    late.gaps = 2;
    aq_shard_mark mark = outbox_shard_mark(&late);
    aq_outbox_acknowledge(all->outbox, 2, &mark);
    assert_int_equal(send_all(all, 2, false, &all->shard), 0);
}

TEST_OF_OUTBOX(a_mark_that_stands_still_makes_it_go_again_with_growing_patience)
{
    int64_t now_ns = 10;
    acknowledge(all, now_ns);
    send_singly(all, now_ns, 2, NULL);
    for (int64_t factor = 1; factor <= 8; factor *= 2) {
        acknowledge(all, now_ns + factor * RESEND_NS - 1);
        assert_int_equal(send_all(all, now_ns + factor * RESEND_NS - 1, true, NULL), 0);
        now_ns += factor * RESEND_NS;
        acknowledge(all, now_ns);
        assert_int_equal(send_all(all, now_ns, true, NULL), 2);
    }
    now_ns += 8 * RESEND_NS; /* not more than that */
    acknowledge(all, now_ns);
    assert_int_equal(send_all(all, now_ns, true, &all->shard), 2);
    acknowledge(all, now_ns);
    assert_int_equal(aq_outbox_count(all->outbox).unacknowledged, 0);
}

TEST_OF_OUTBOX(progress_restores_the_first_patience)
{
    acknowledge(all, 0);
    send_singly(all, 0, 2, NULL);
    acknowledge(all, RESEND_NS);
    assert_int_equal(send_all(all, RESEND_NS, true, NULL), 2); /* patience is 2 now */
    aq_outbox_resend(all->outbox, RESEND_NS);
    assert_int_equal(send_all(all, RESEND_NS, true, &all->shard), 2);
    acknowledge(all, RESEND_NS);
    send_singly(all, RESEND_NS, 1, NULL);
    acknowledge(all, 2 * RESEND_NS);
    assert_int_equal(send_all(all, 2 * RESEND_NS, true, &all->shard), 1);
}

TEST_OF_OUTBOX(what_the_shard_has_but_not_yet_acknowledges_is_not_sent_again)
{
    acknowledge(all, 0);
    send_singly(all, 0, 3, &all->shard);
    aq_shard_mark mark = outbox_shard_mark(&all->shard);
    mark.acknowledged = 1; /* stored up to 3, safe up to 1 */
    aq_outbox_acknowledge(all->outbox, 0, &mark);
    aq_outbox_acknowledge(all->outbox, 10 * RESEND_NS, &mark);
    assert_int_equal(send_all(all, 10 * RESEND_NS, true, NULL), 0);
    mark.expected = 3; /* the last one did not arrive after all */
    aq_outbox_acknowledge(all->outbox, 10 * RESEND_NS, &mark);
    assert_int_equal(send_all(all, 10 * RESEND_NS, true, &all->shard), 1);
    assert_int_equal(all->shard.last_seq, 3);
}

TEST_OF_OUTBOX(numbers_that_cannot_be_are_ignored)
{
    acknowledge(all, 0);
    send_singly(all, 0, 2, NULL);
    const aq_shard_mark mad = {
        .shard_incarnation = 1, .acknowledged = 3, .expected = UINT64_MAX, .gaps = 0};
    aq_outbox_acknowledge(all->outbox, 1, &mad);
    assert_int_equal(aq_outbox_count(all->outbox).unacknowledged, 2);
    assert_int_equal(aq_outbox_count(all->outbox).acknowledged, 0);
    aq_outbox_resend(all->outbox, 1);
    assert_int_equal(send_all(all, 1, false, &all->shard), 2);
    acknowledge(all, 1);
    const aq_shard_mark back = {.shard_incarnation = 1, .acknowledged = 1, .expected = 2};
    aq_outbox_acknowledge(all->outbox, 1, &back); /* a mark never goes back */
    assert_int_equal(aq_outbox_count(all->outbox).acknowledged, 2);
}

/* ---- limits --------------------------------------------------------------------------------- */

TEST_OF_OUTBOX(there_is_no_room_when_too_many_messages_are_out)
{
    acknowledge(all, 0);
    send_singly(all, 0, AQ_OUTBOX_MESSAGES_MAX - 1, &all->shard);
    assert_true(aq_outbox_room(all->outbox, AQ_OUTBOX_BYTES_MAX));
    send_singly(all, 0, 1, &all->shard);
    assert_false(aq_outbox_room(all->outbox, AQ_OUTBOX_BYTES_MAX));
    put(all, 0); /* what comes all the same waits in no message */
    assert_int_equal(send_all(all, 0, true, &all->shard), 0);
    assert_int_equal(aq_outbox_due_ns(all->outbox, true), INT64_MAX);
    acknowledge(all, 1);
    assert_true(aq_outbox_room(all->outbox, AQ_OUTBOX_BYTES_MAX));
    assert_int_equal(send_all(all, 1, true, &all->shard), 1);
}

TEST_OF_OUTBOX(there_is_no_room_when_the_chunks_take_too_much_memory)
{
    aq_layout large = outbox_shard_layout(AQ_CHUNK_LENGTH_MAX); /* 1 MiB each */
    int chunks = 0;
    while (aq_outbox_room(all->outbox, AQ_OUTBOX_BYTES_MAX)) {
        aq_outbox_put(all->outbox, outbox_shard_chunk(&large, 0.0), 0);
        chunks++;
        assert_true(chunks < 100);
    }
    assert_true(aq_outbox_count(all->outbox).bytes >= AQ_OUTBOX_BYTES_MAX);
}

TEST_OF_OUTBOX(there_is_no_room_without_a_place_for_every_chunk_of_a_burst)
{
    uint32_t chunks = 0;
    while (aq_outbox_room(all->outbox, AQ_OUTBOX_BYTES_MAX)) {
        put(all, 0);
        chunks++;
        assert_true(chunks < 100000);
    }
    for (int i = 0; i < 3; i++) { /* the burst of 4, one of which was put above */
        put(all, 0);
    }
    assert_int_equal(aq_outbox_count(all->outbox).waiting_chunks, chunks + 3);
}

TEST_OF_OUTBOX(a_chunk_too_long_for_a_message_is_refused_in_words)
{
    aq_layout layout = outbox_shard_layout(1000);
    aq_outbox_config config = outbox_shard_config(&layout, MESSAGE_BYTES);
    assert_int_equal(aq_outbox_check(&config, &refusal), AQ_E_TOO_BIG);
    assert_says(refusal.text, "net.message_bytes");
    config.message_bytes = 1 << 20;
    assert_succeeds(aq_outbox_check(&config, &refusal));
}

TEST_OF_OUTBOX(without_memory_for_a_frame_it_goes_later)
{
    put(all, 0);
    aq_memory_fail_at(1, 1);
    assert_int_equal(send_all(all, 0, true, &all->shard), 0);
    aq_memory_fail_at(0, 0);
    assert_int_equal(send_all(all, 0, true, &all->shard), 1);
    assert_int_equal(all->shard.mark, 1);
}

TEST_OF_OUTBOX(a_warm_outbox_allocates_nothing)
{
    aq_chunk *chunks[8];
    const uint8_t *frame;
    size_t size;
    for (int i = 0; i < 8; i++) {
        chunks[i] = outbox_shard_chunk(&all->layout, i);
    }
    acknowledge(all, 0);
    aq_outbox_put(all->outbox, chunks[0], 0);
    aq_outbox_put(all->outbox, chunks[1], 0);
    assert_true(aq_outbox_next(all->outbox, 0, true, &frame, &size));
    aq_outbox_sent(all->outbox, 0);
    uint64_t before = aq_memory_allocation_count();
    for (int i = 2; i < 8; i++) {
        aq_outbox_put(all->outbox, chunks[i], 0);
        assert_true(aq_outbox_next(all->outbox, 0, true, &frame, &size));
        aq_outbox_sent(all->outbox, 0);
    }
    assert_int_equal(aq_memory_allocation_count(), before);
}

TEST_OF_OUTBOX(create_survives_every_failed_allocation)
{
    const aq_outbox_config config = outbox_shard_config(&all->layout, MESSAGE_BYTES);
    aq_outbox *outbox = NULL;
    assert_made_despite_failures(outbox, aq_outbox_create(&config, &outbox));
    aq_outbox_destroy(outbox);
}

TEST_OF_OUTBOX(destroy_takes_null)
{
    aq_outbox_destroy(NULL);
}
