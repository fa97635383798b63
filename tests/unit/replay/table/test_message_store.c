/*
 * The store: what is counted, when a message leaves, what goes out of memory, which segments are
 * needed no more.
 */
#include "replay/table/message_store.h"
#include "tests/support/test.h"
#include "tests/unit/replay/table_kit.h"

TEST_ENDING(destroy, aq_message_store_destroy);

static aq_message_store *store_of(uint64_t memory_bytes)
{
    aq_message_store *store = NULL;
    assert_int_equal(aq_message_store_create(memory_bytes, &store), 0);
    return store;
}

#define TEST_OF_STORE(name)                                                                        \
    TEST_OF(name, aq_message_store *store, store_of(0), aq_message_store_destroy)

static aq_arrival *arrival_of(uint64_t step)
{
    aq_layout layout = table_kit_layout();
    const table_kit_piece piece = {.step = step, .length = 8, .terminated = true};
    return table_kit_arrival(&layout, &piece, 1);
}

static aq_stored_message *add(aq_message_store *store, uint64_t number, uint64_t segment)
{
    assert_int_equal(aq_message_store_reserve(store), 0);
    aq_stored_message *message =
        aq_message_store_add(store, arrival_of(10 * number), number, segment, false);
    aq_message_store_hold(message);
    return message;
}

TEST_OF_STORE(a_message_leaves_with_its_last_hold)
{
    aq_stored_message *message = add(store, 1, 0);
    aq_message_store_hold(message);
    aq_message_store_release(store, message);
    assert_int_equal(aq_message_store_counts_of(store).messages, 1);
    aq_message_store_release(store, message);
    assert_int_equal(aq_message_store_counts_of(store).messages, 0);
    assert_null(aq_message_store_oldest(store));
}

TEST_OF_STORE(a_message_that_leaves_lets_go_of_its_arrival_and_segment)
{
    aq_arrival *arrival = aq_arrival_ref(arrival_of(1));
    assert_int_equal(aq_message_store_reserve(store), 0);
    aq_stored_message *message = aq_message_store_add(store, arrival, 1, 3, false);
    assert_int_equal(arrival->references, 2);
    aq_message_store_hold(message);
    aq_message_store_release(store, message);
    assert_int_equal(arrival->references, 1);
    aq_arrival_unref(arrival);
    uint64_t segment = 0;
    assert_true(aq_message_store_dead_segment(store, 4, &segment));
    assert_int_equal(segment, 3);
}

TEST_OF_STORE(bytes_are_those_of_the_arrivals)
{
    aq_stored_message *a = add(store, 1, 0);
    aq_stored_message *b = add(store, 2, 0);
    assert_int_equal(aq_message_store_counts_of(store).resident_bytes,
                     aq_arrival_bytes(a->arrival) + aq_arrival_bytes(b->arrival));
    assert_int_equal(aq_message_store_counts_of(store).mapped_bytes, 0);
    aq_message_store_release(store, a);
    assert_int_equal(aq_message_store_counts_of(store).resident_bytes,
                     aq_arrival_bytes(b->arrival));
    aq_message_store_release(store, b);
}

TEST_OF_STORE(the_oldest_is_the_oldest_that_is_held)
{
    aq_stored_message *messages[3];
    for (uint64_t i = 0; i < 3; i++) {
        messages[i] = add(store, 5 + i, 0);
    }
    aq_message_store_release(store, messages[1]);
    assert_int_equal(aq_message_store_oldest(store)->number, 5);
    aq_message_store_release(store, messages[0]);
    assert_int_equal(aq_message_store_oldest(store)->number, 7);
    aq_message_store_release(store, messages[2]);
}

/* ---- segments ------------------------------------------------------------------------------ */

static uint64_t number_after(aq_message_store *store, uint64_t number)
{
    const aq_stored_message *message = aq_message_store_after(store, number);
    return message != NULL ? message->number : 0;
}

TEST_OF_STORE(the_next_one_is_found_whatever_left_meanwhile)
{
    enum { COUNT = 6 };
    aq_stored_message *messages[COUNT];
    assert_int_equal(number_after(store, 0), 0);
    for (uint64_t i = 0; i < COUNT; i++) {
        messages[i] = add(store, 10 * (i + 1), 0);
    }
    assert_int_equal(number_after(store, 0), 10);
    assert_int_equal(number_after(store, 20), 30);
    aq_message_store_release(store, messages[2]); /* where the search ended */
    assert_int_equal(number_after(store, 20), 40);
    aq_message_store_release(store, messages[0]);
    assert_int_equal(number_after(store, 5), 20); /* backwards */
    assert_int_equal(number_after(store, 59), 60);
    aq_message_store_release(store, messages[5]);
    assert_int_equal(number_after(store, 50), 0);
    assert_int_equal(number_after(store, 49), 50);
    for (size_t i = 1; i < COUNT - 1; i++) {
        if (i != 2) {
            aq_message_store_release(store, messages[i]);
        }
    }
}

TEST_OF_STORE(a_segment_is_told_once_and_only_when_nothing_of_it_is_held)
{
    uint64_t segment = 0;
    aq_stored_message *a = add(store, 1, 1);
    aq_stored_message *b = add(store, 2, 1);
    aq_stored_message *c = add(store, 3, 2);
    assert_false(aq_message_store_dead_segment(store, 3, &segment));
    aq_message_store_release(store, a);
    assert_false(aq_message_store_dead_segment(store, 3, &segment));
    aq_message_store_release(store, b);
    assert_true(aq_message_store_dead_segment(store, 3, &segment));
    assert_int_equal(segment, 1);
    assert_false(aq_message_store_dead_segment(store, 3, &segment));
    aq_message_store_release(store, c);
}

TEST_OF_STORE(the_segment_that_is_written_is_not_told)
{
    uint64_t segment = 0;
    aq_message_store_release(store, add(store, 1, 7));
    assert_false(aq_message_store_dead_segment(store, 7, &segment));
    assert_true(aq_message_store_dead_segment(store, 8, &segment));
    assert_int_equal(segment, 7);
}

TEST_OF_STORE(a_segment_in_the_middle_may_go_first)
{
    uint64_t segment = 0;
    aq_stored_message *messages[40];
    for (uint64_t i = 0; i < 40; i++) {
        messages[i] = add(store, 1 + i, 1 + i);
    }
    aq_message_store_release(store, messages[20]);
    assert_true(aq_message_store_dead_segment(store, 40, &segment));
    assert_int_equal(segment, 21);
    for (uint64_t i = 0; i < 40; i++) {
        if (i != 20) {
            aq_message_store_release(store, messages[i]);
        }
    }
    for (uint64_t i = 0; i < 38; i++) {
        assert_true(aq_message_store_dead_segment(store, 40, &segment));
        assert_int_equal(segment, i < 20 ? i + 1 : i + 2);
    }
    assert_false(aq_message_store_dead_segment(store, 40, &segment));
}

TEST_OF_STORE(a_segment_that_never_held_anything_is_told_too)
{
    uint64_t segment = 0;
    assert_int_equal(aq_message_store_reserve(store), 0);
    aq_message_store_open_segment(store, 4);
    aq_message_store_open_segment(store, 4);
    aq_message_store_open_segment(store, 5);
    assert_true(aq_message_store_dead_segment(store, 5, &segment));
    assert_int_equal(segment, 4);
    assert_false(aq_message_store_dead_segment(store, 5, &segment));
}

/* ---- larger than memory -------------------------------------------------------------------- */

/* A log that gives back a copy of the frame it is asked for. */
typedef struct fake_log {
    aq_replay_log base;
    aq_message_store *store;
    int rc;
    uint64_t rc_of; /* of this message alone; 0: of all */
    int asked;
} fake_log;

static int fake_map(aq_replay_log *log, uint64_t number, uint64_t segment, aq_lease **ret_frame)
{
    fake_log *fake = (fake_log *)log;
    const aq_stored_message *message = aq_message_store_oldest(fake->store);
    fake->asked++;
    if (fake->rc != 0 && (fake->rc_of == 0 || fake->rc_of == number)) {
        return fake->rc;
    }
    while (message->number != number) {
        message = message->newer;
    }
    assert_int_equal(message->segment, segment);
    const aq_lease *frame = message->arrival->frame;
    assert_int_equal(aq_lease_copy(frame->bytes, frame->size, ret_frame), 0);
    return 0;
}

static const aq_replay_log_class fake_class = {.map = fake_map};

typedef struct demotion {
    aq_message_store *store;
    fake_log log;
    aq_stored_message *messages[6];
    uint64_t each; /* bytes */
} demotion;

/* Six messages, of which four fit. */
static void demotion_setup(demotion *it)
{
    aq_arrival *arrival = arrival_of(0);
    it->each = aq_arrival_bytes(arrival);
    aq_arrival_unref(arrival);
    it->store = store_of(4 * it->each);
    it->log = (fake_log){.base.class = &fake_class, .store = it->store};
    for (uint64_t i = 0; i < 6; i++) {
        it->messages[i] = add(it->store, 1 + i, 1);
    }
}

static void demotion_teardown(demotion *it)
{
    for (int i = 0; i < 6; i++) {
        if (it->messages[i] != NULL) {
            aq_message_store_release(it->store, it->messages[i]);
        }
    }
    assert_int_equal(aq_message_store_counts_of(it->store).mapped_bytes, 0);
    assert_int_equal(aq_message_store_counts_of(it->store).resident_bytes, 0);
    aq_message_store_destroy(it->store);
}

static int demote(demotion *it, uint64_t durable, uint32_t count_max)
{
    return aq_message_store_demote(it->store, &it->log.base, durable, count_max, NULL);
}

TEST_IN(demotion, it, the_oldest_go_out_of_memory_until_the_rest_fits)
{
    assert_int_equal(demote(it, 6, 100), 0);
    aq_message_store_counts counts = aq_message_store_counts_of(it->store);
    assert_true(counts.resident_bytes <= 4 * it->each);
    assert_true(it->messages[0]->mapped && it->messages[1]->mapped);
    assert_false(it->messages[5]->mapped);
    assert_int_equal(counts.resident_bytes + counts.mapped_bytes, 6 * it->each);
    assert_true(aq_chunk_view_reward(&it->messages[0]->arrival->chunks[0], 3) == 13.0f);
}

TEST_IN(demotion, it, what_is_not_durable_stays_in_memory)
{
    assert_int_equal(demote(it, 1, 100), 0);
    assert_true(it->messages[0]->mapped);
    assert_false(it->messages[1]->mapped);
}

TEST_IN(demotion, it, one_call_moves_no_more_than_it_is_told)
{
    assert_int_equal(demote(it, 6, 1), 0);
    assert_int_equal(it->log.asked, 1);
    assert_int_equal(demote(it, 6, 1), 0);
    assert_true(it->messages[1]->mapped);
}

TEST_IN(demotion, it, a_log_that_fails_is_asked_once_a_call)
{
    it->log.rc = AQ_E_IO;
    assert_refused(aq_message_store_demote(it->store, &it->log.base, 6, 100, &refusal), AQ_E_IO,
                   "message 1 ");
    assert_int_equal(it->log.asked, 1);
    it->log.rc = 0;
    assert_int_equal(demote(it, 6, 100), 0);
    assert_true(it->messages[0]->mapped);
}

TEST_IN(demotion, it, a_message_that_cannot_be_moved_stays_and_the_others_go)
{
    it->log.rc = AQ_E_CORRUPT;
    it->log.rc_of = 1;
    assert_refused(aq_message_store_demote(it->store, &it->log.base, 6, 100, &refusal),
                   AQ_E_CORRUPT, "message 1 ");
    assert_false(it->messages[0]->mapped);
    assert_true(it->messages[1]->mapped && it->messages[2]->mapped);
    assert_true(aq_message_store_counts_of(it->store).resident_bytes <= 4 * it->each);
}

TEST_IN(demotion, it, messages_that_left_are_not_asked_for)
{
    assert_int_equal(demote(it, 6, 1), 0);
    aq_message_store_release(it->store, it->messages[1]);
    it->messages[1] = NULL;
    aq_stored_message *more = add(it->store, 7, 1);
    assert_int_equal(demote(it, 7, 100), 0);
    assert_true(it->messages[2]->mapped);
    aq_message_store_release(it->store, more);
}

TEST_IN(demotion, it, what_comes_out_of_a_file_is_not_moved_again)
{
    assert_int_equal(aq_message_store_reserve(it->store), 0);
    aq_stored_message *message = aq_message_store_add(it->store, arrival_of(70), 7, 1, true);
    aq_message_store_hold(message);
    assert_int_equal(aq_message_store_counts_of(it->store).mapped_bytes,
                     message->arrival->frame->size);
    it->log.rc = AQ_E_CORRUPT; /* of all that it is asked for: none stays in turn */
    assert_int_equal(demote(it, 7, 100), AQ_E_CORRUPT);
    assert_int_equal(it->log.asked, 6);
    aq_message_store_release(it->store, message);
}

TEST_OF_STORE(without_a_budget_nothing_moves)
{
    aq_stored_message *message = add(store, 1, 1);
    assert_int_equal(aq_message_store_demote(store, NULL, 1, 100, NULL), 0);
    aq_message_store_release(store, message);
}

TEST(what_is_in_no_log_stays_in_memory)
{
    aq_message_store *store = store_of(1);
    at_end(destroy, store);
    fake_log log = {.base.class = &fake_class, .store = store};
    aq_stored_message *message = add(store, 1, 0);
    assert_int_equal(aq_message_store_demote(store, &log.base, 1, 100, NULL), 0);
    assert_int_equal(log.asked, 0);
    assert_false(message->mapped);
    aq_message_store_release(store, message);
}

TEST(without_memory_nothing_changes)
{
    aq_message_store *store;
    int rc;
    assert_made_despite_failures(store, aq_message_store_create(0, &store));
    for (uint64_t i = 1; i <= 16; i++) { /* fills the room for segments */
        assert_int_equal(aq_message_store_reserve(store), 0);
        aq_message_store_open_segment(store, i);
    }
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(aq_message_store_counts_of(store).messages, 0);
        rc = aq_message_store_reserve(store);
    }
    aq_arrival *arrival = arrival_of(1);
    aq_memory_fail_at(1, 0);
    aq_stored_message *message = aq_message_store_add(store, arrival, 1, 17, false);
    aq_memory_fail_at(0, 0);
    aq_message_store_hold(message);
    aq_message_store_release(store, message);
    aq_message_store_destroy(store);
    aq_message_store_destroy(NULL);
}
