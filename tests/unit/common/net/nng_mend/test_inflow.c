/*
 * Whom of those who came in is cut, when too much is held or somebody is too slow.
 */
#include "common/net/nng_mend/inflow.h"
#include "tests/support/test.h"

enum { GUESTS = 8, STALL_MS = 1000, RATE = 1000, CROWD = 60 };

static int cut_order[GUESTS]; /* the last ones */
static size_t cut_count;

static void remember_cut(int descriptor)
{
    cut_order[cut_count++ % GUESTS] = descriptor;
}

static int unread = -1; /* a descriptor */

static bool has_more(int descriptor)
{
    return descriptor == unread;
}

static aq_inflow *open_inflow(void)
{
    aq_inflow *inflow = calloc(1, sizeof(*inflow));
    assert_non_null(inflow);
    cut_count = 0;
    unread = -1;
    inflow->cut = remember_cut;
    inflow->has_more = has_more;
    inflow->limits = (aq_tcp_limits){.connections_max = GUESTS,
                                     .connections_per_address_max = GUESTS,
                                     .message_ms = STALL_MS,
                                     .message_bytes_per_s = RATE,
                                     .held_bytes_max = 10000,
                                     .held_bytes_per_address_max = 10000};
    return inflow;
}

static void close_inflow(aq_inflow *inflow)
{
    free(inflow);
}

#define TEST_OF_INFLOW(name) TEST_OF(name, aq_inflow *i, open_inflow(), close_inflow)

static bool hear(aq_inflow *inflow, int guest, const void *bytes, size_t size, int64_t at_ms)
{
    return aq_inflow_hears(inflow, guest, bytes, size, at_ms * AQ_NS_PER_MS);
}

/* From the host of that number. */
static bool come(aq_inflow *inflow, int guest, uint8_t host, int64_t at_ms)
{
    const struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = host}};
    return aq_inflow_enters(inflow, guest, &address, at_ms * AQ_NS_PER_MS);
}

/* It has greeted, too. */
static void enter(aq_inflow *inflow, int guest, uint8_t host, int64_t at_ms)
{
    assert_true(come(inflow, guest, host, at_ms));
    assert_true(hear(inflow, guest, "\0SP\0\0\x50\0\0", 8, at_ms));
}

static bool announce(aq_inflow *inflow, int guest, uint16_t length, int64_t at_ms)
{
    const uint8_t bytes[8] = {[6] = (uint8_t)(length >> 8), [7] = (uint8_t)length};
    return hear(inflow, guest, bytes, sizeof(bytes), at_ms);
}

TEST_OF_INFLOW(who_holds_the_most_goes_and_not_who_comes_last)
{
    enter(i, 1, 1, 0);
    enter(i, 2, 1, 0);
    enter(i, 3, 1, 0);
    assert_true(announce(i, 1, 3000, 0));
    assert_true(announce(i, 2, 6000, 0));
    assert_true(announce(i, 3, 2000, 0));
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 2);
    assert_int_equal(i->held_bytes, 5000);
    assert_int_equal(i->counters.cut_full, 1);
    assert_false(hear(i, 2, "x", 1, 0)); /* nobody gets any more of it */
}

TEST_OF_INFLOW(an_announcement_counts_before_a_byte_of_it_has_come)
{
    enter(i, 1, 1, 0);
    assert_true(announce(i, 1, 10000, 0));
    enter(i, 2, 1, 0);
    assert_true(announce(i, 2, 2000, 0));
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 1);
    aq_inflow_leaves(i, 2, 0);
    assert_int_equal(i->held_bytes, 0);
}

TEST_OF_INFLOW(who_alone_asks_for_too_much_goes)
{
    enter(i, 1, 1, 0);
    assert_false(announce(i, 1, 60000, 0));
    assert_int_equal(cut_count, 1);
    assert_int_equal(i->held_bytes, 0);
}

TEST_OF_INFLOW(of_several_the_one_that_was_silent_for_longest_goes)
{
    for (int guest = 1; guest <= 5; guest++) {
        enter(i, guest, 1, 0);
        assert_true(announce(i, guest, 2000, guest == 3 ? 1 : 5));
    }
    enter(i, 6, 1, 1003);
    assert_true(announce(i, 6, 2000, 1003));
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 3);
}

/* More than there is room for at once, from one address and over a slow line, forty pieces a
 * message; whoever was cut comes again. */
TEST_OF_INFLOW(of_many_that_are_slow_those_that_have_begun_come_to_an_end)
{
    enum { PIECE = 50, PIECES = 40, STEP_MS = 20, STEPS = 1000, AT_ONCE = 5 };
    static const uint8_t piece[PIECE];
    unsigned came[GUESTS] = {0}, done = 0;
    for (int64_t step = 0; step < STEPS; step++) {
        for (int guest = 0; guest < GUESTS; guest++) {
            const int64_t at_ms = step * STEP_MS + guest;
            const aq_inflow_guest *known = aq_inflow_guest_of(i, guest);
            if (known == NULL || known->cut) {
                enter(i, guest, 1, at_ms);
                came[guest] = 0;
            }
            if (came[guest] == 0) {
                aq_inflow_goes_on(i, &i->guests[guest]);
                (void)announce(i, guest, PIECE * PIECES + (uint16_t)guest, at_ms);
            }
            came[guest] += hear(i, guest, piece, PIECE, at_ms);
            if (came[guest] == PIECES && hear(i, guest, piece, (size_t)guest, at_ms)) {
                came[guest] = 0;
                done++;
            }
        }
    }
    assert_true(done > AT_ONCE * STEPS / PIECES / 2);
}

/* Its largest message is smaller than others', but there are many. */
TEST_OF_INFLOW(the_address_that_holds_the_most_is_cut_first)
{
    enter(i, 1, 1, 0);
    assert_true(announce(i, 1, 3000, 0));
    for (int guest = 2; guest <= 4; guest++) {
        enter(i, guest, 2, 0);
        assert_true(announce(i, guest, 2000, guest));
    }
    enter(i, 5, 3, 5);
    assert_true(announce(i, 5, 2500, 5));
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 2);
}

TEST_OF_INFLOW(an_address_has_a_bound_of_its_own)
{
    i->limits.held_bytes_per_address_max = 5000;
    enter(i, 1, 1, 0);
    enter(i, 2, 2, 0);
    enter(i, 3, 2, 0);
    assert_true(announce(i, 1, 5000, 0));
    assert_true(announce(i, 2, 3000, 0));
    assert_true(announce(i, 3, 2500, 0)); /* 10500 in all; its address has 5500 */
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 2);
}

TEST_OF_INFLOW(a_small_message_is_never_in_the_way)
{
    enter(i, 1, 1, 0);
    enter(i, 2, 1, 0);
    assert_true(announce(i, 1, 10000, 0));
    assert_true(announce(i, 2, AQ_INFLOW_SMALL_BYTES, 0));
    assert_int_equal(cut_count, 0);
}

TEST_OF_INFLOW(what_came_whole_is_held_until_it_is_taken)
{
    static const uint8_t body[6000];
    enter(i, 1, 1, 0);
    enter(i, 2, 1, 0);
    assert_true(announce(i, 1, sizeof(body), 0));
    assert_true(hear(i, 1, body, sizeof(body), 0));
    assert_int_equal(i->held_bytes, sizeof(body));
    assert_false(announce(i, 2, 5000, 0)); /* what came whole is not lost */
    aq_inflow_goes_on(i, aq_inflow_guest_of(i, 1));
    assert_int_equal(i->held_bytes, 0);
    assert_false(i->guests[1].cut);
}

/* Sent at once, and a byte every 900 ms after it: the stall counts, not what came before. */
TEST_OF_INFLOW(who_has_said_much_may_stall_no_longer_than_others)
{
    static const uint8_t much[9000];
    enter(i, 1, 1, 0);
    assert_true(announce(i, 1, 9999, 0));
    assert_true(hear(i, 1, much, sizeof(much), 0));
    aq_inflow_look(i, 1000 * AQ_NS_PER_MS);
    assert_int_equal(cut_count, 0);
    assert_true(hear(i, 1, "x", 1, 1000));
    aq_inflow_look(i, 2002 * AQ_NS_PER_MS);
    assert_int_equal(cut_count, 1);
    assert_int_equal(i->counters.cut_slow, 1);
}

TEST_OF_INFLOW(what_came_in_time_and_was_not_read_is_no_delay)
{
    enter(i, 1, 1, 0);
    assert_true(announce(i, 1, 9999, 0));
    unread = 1;
    aq_inflow_look(i, (STALL_MS + 1) * AQ_NS_PER_MS);
    assert_int_equal(cut_count, 0);
    unread = -1;
    aq_inflow_look(i, (2 * STALL_MS + 1) * AQ_NS_PER_MS);
    assert_int_equal(cut_count, 1);
}

TEST_OF_INFLOW(of_a_stranger_nothing_more_is_read)
{
    assert_true(come(i, 1, 1, 0));
    assert_true(hear(i, 1, "G", 1, 0));
    unread = 1;
    aq_inflow_look(i, (STALL_MS + 1) * AQ_NS_PER_MS);
    assert_int_equal(cut_count, 1);
}

TEST_OF_INFLOW(who_goes_on_at_the_rate_may_take_as_long_as_it_takes)
{
    static const uint8_t piece[1000];
    enter(i, 1, 1, 0);
    assert_true(announce(i, 1, 9999, 0));
    for (int64_t second = 1; second <= 9; second++) {
        assert_true(hear(i, 1, piece, sizeof(piece), second * 1000));
        aq_inflow_look(i, (second * 1000 + 999) * AQ_NS_PER_MS);
    }
    assert_int_equal(cut_count, 0);
}

TEST_OF_INFLOW(a_neighbour_has_so_many_connections_and_its_place_is_used_again)
{
    static const struct in6_addr networks[] = {{.s6_addr = {1}}, {.s6_addr = {2}}};
    i->limits.connections_per_address_max = 1;
    assert_true(aq_inflow_enters(i, 1, &networks[0], 0));
    assert_false(aq_inflow_enters(i, 2, &networks[0], 0));
    aq_inflow_leaves(i, 1, 0);
    assert_true(aq_inflow_enters(i, 2, &networks[1], 0));
    assert_int_equal(i->neighbours_so_far, 1);
}

/* ---- what came for nothing ------------------------------------------------------------------ */

enum { WORTH_MS = 100, BARRED_MS = 1000 }; /* of a connection, and at most */

static void bar_who_wastes(aq_inflow *inflow)
{
    inflow->limits.wasted_bytes_per_s = AQ_INFLOW_CONNECTION_BYTES * (1000 / WORTH_MS);
    inflow->limits.barred_ms = BARRED_MS;
}

/* Ends in the middle of a message. */
static void waste(aq_inflow *inflow, int guest, uint8_t host, int64_t at_ms)
{
    enter(inflow, guest, host, at_ms);
    assert_true(announce(inflow, guest, 5000, at_ms));
    aq_inflow_leaves(inflow, guest, at_ms * AQ_NS_PER_MS);
}

TEST_OF_INFLOW(who_leaves_in_the_middle_of_a_message_is_let_in_again_later)
{
    bar_who_wastes(i);
    waste(i, 1, 1, 0);
    enter(i, 2, 2, 0); /* another host, also where the first was */
    assert_false(come(i, 1, 1, WORTH_MS - 1));
    assert_int_equal(i->counters.refused_connections, 1);
    assert_true(come(i, 1, 1, WORTH_MS + 1));
}

TEST_OF_INFLOW(who_is_cut_waits_by_what_it_brought_and_those_who_are_here_stay)
{
    static const uint8_t bytes[9000];
    bar_who_wastes(i);
    i->limits.wasted_bytes_per_s = sizeof(bytes) + AQ_INFLOW_CONNECTION_BYTES; /* a second */
    i->limits.barred_ms = 5000;
    enter(i, 1, 1, 0);
    enter(i, 2, 1, 0);
    assert_true(announce(i, 1, 9500, 0));
    assert_true(hear(i, 1, bytes, sizeof(bytes), 0));
    assert_true(announce(i, 2, 2000, 0));
    assert_int_equal(cut_order[0], 1);
    aq_inflow_leaves(i, 1, 0); /* once */
    assert_true(hear(i, 2, bytes, 2000, 500));
    assert_true(announce(i, 2, 100, 500));
    assert_false(come(i, 3, 1, 999));
    assert_true(come(i, 3, 1, 1001));
}

TEST_OF_INFLOW(it_adds_up_and_nobody_is_barred_for_ever)
{
    bar_who_wastes(i);
    for (int guest = 1; guest <= 5; guest++) {
        enter(i, guest, 1, 0);
        assert_true(announce(i, guest, 1500, 0));
    }
    for (int guest = 1; guest <= 5; guest++) {
        aq_inflow_leaves(i, guest, 0);
    }
    assert_false(come(i, 1, 1, 5 * WORTH_MS - 1));
    assert_true(come(i, 1, 1, 5 * WORTH_MS + 1));
    i->limits.wasted_bytes_per_s = 1;
    waste(i, 2, 2, 0);
    assert_false(come(i, 2, 2, BARRED_MS - 1));
    assert_true(come(i, 2, 2, BARRED_MS + 1));
}

TEST_OF_INFLOW(who_has_said_all_is_not_barred)
{
    static const uint8_t bytes[5000];
    bar_who_wastes(i);
    enter(i, 1, 1, 0);
    assert_true(announce(i, 1, sizeof(bytes), 0));
    assert_true(hear(i, 1, bytes, sizeof(bytes), 0));
    aq_inflow_leaves(i, 1, 0);
    assert_true(come(i, 1, 1, 0));
}

/* As many neighbours as there may be, all barred. */
TEST_OF_INFLOW(who_is_barred_keeps_no_place_from_others)
{
    bar_who_wastes(i);
    for (uint32_t n = 0; n < AQ_INFLOW_CONNECTIONS_MAX; n++) {
        i->neighbours[n] = (aq_inflow_neighbour){
            .network = {.s6_addr = {9, n >> 8 & 0xff, n & 0xff}}, .barred_until_ns = INT64_MAX};
    }
    i->neighbours_so_far = AQ_INFLOW_CONNECTIONS_MAX;
    assert_true(come(i, 1, 1, 0));
    assert_int_equal(i->neighbours_so_far, AQ_INFLOW_CONNECTIONS_MAX);
}

/* ---- shaking hands -------------------------------------------------------------------------- */

static bool say_hello(aq_inflow *inflow, int guest, int64_t at_ms)
{
    return hear(inflow, guest, "\x16\3\3\0\2ab", 7, at_ms);
}

/* What only who has shaken hands can send. */
static bool shake(aq_inflow *inflow, int guest, int64_t at_ms)
{
    return hear(inflow, guest, "\x17\3\3\0\1x", 6, at_ms);
}

TEST_OF_INFLOW(handshakes_of_a_neighbour_and_in_all_are_bounded)
{
    i->limits.handshakes_per_address_max = 2;
    assert_true(come(i, 1, 1, 0));
    assert_true(come(i, 2, 1, 0));
    assert_true(say_hello(i, 2, 0));
    assert_false(come(i, 3, 1, 0));
    assert_true(come(i, 4, 2, 0)); /* strangers of one neighbour leave places to others */
    assert_true(come(i, 5, 3, 0));
    assert_false(come(i, 6, 4, 0));
    assert_int_equal(i->counters.refused_connections, 2);
    assert_int_equal(cut_count, 0);
}

TEST_OF_INFLOW(who_has_shaken_hands_or_gone_leaves_its_place_to_another)
{
    i->limits.handshakes_per_address_max = 1;
    assert_true(come(i, 1, 1, 0));
    assert_true(say_hello(i, 1, 0));
    assert_true(shake(i, 1, 0));
    assert_true(come(i, 2, 1, 0));
    aq_inflow_leaves(i, 2, 0);
    enter(i, 3, 1, 0); /* greets in plain */
    assert_true(come(i, 4, 1, 0));
    assert_true(hear(i, 4, "G", 1, 0));
    assert_false(come(i, 5, 1, 0)); /* a wrong word is no handshake */
    assert_int_equal(i->handshakes, 1);
}

TEST_OF_INFLOW(a_silent_handshake_goes_for_a_new_one)
{
    i->limits.handshakes_per_address_max = 3;
    for (int guest = 1; guest <= 3; guest++) {
        assert_true(come(i, guest, 1, 3 - guest));
    }
    assert_true(say_hello(i, 3, 500));
    assert_false(come(i, 4, 1, 1000));
    unread = 2; /* and it is we who have not read yet */
    assert_true(come(i, 4, 1, 1003));
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 1);
    assert_int_equal(i->counters.cut_slow, 1);
    assert_false(come(i, 5, 1, 1003)); /* the others go on */
}

/* Another has been silent for longer. */
TEST_OF_INFLOW(the_neighbour_with_the_most_handshakes_makes_room)
{
    i->limits.handshakes_per_address_max = 2;
    assert_true(come(i, 1, 1, 0));
    assert_true(come(i, 2, 2, 5));
    assert_true(come(i, 3, 2, 6));
    assert_true(come(i, 4, 3, 7));
    assert_true(come(i, 5, 4, 2000));
    assert_int_equal(cut_count, 1);
    assert_int_equal(cut_order[0], 2);
}

/* After a restart: all come at once, from one address, and come again when they were refused. */
TEST_OF_INFLOW(of_a_crowd_that_comes_at_once_all_get_in)
{
    enum { AT_ONCE = 4, HANDSHAKE_MS = 30, AGAIN_MS = 50 };
    int64_t began_ms[CROWD];
    int in = 0, at_ms = 0;
    i->limits.connections_max = i->limits.connections_per_address_max = CROWD;
    i->limits.handshakes_per_address_max = AT_ONCE;
    for (; in < CROWD && at_ms < 10000; at_ms++) {
        for (int guest = 0; guest < CROWD; guest++) {
            const aq_inflow_guest *known = aq_inflow_guest_of(i, guest);
            if (known == NULL && at_ms % AGAIN_MS == 0 && come(i, guest, 1, at_ms)) {
                assert_true(say_hello(i, guest, at_ms));
                began_ms[guest] = at_ms;
            } else if (known != NULL && known->shakes_hands &&
                       at_ms - began_ms[guest] == HANDSHAKE_MS) {
                assert_true(shake(i, guest, at_ms));
                in++;
            }
        }
    }
    assert_int_equal(in, CROWD);
    assert_true(at_ms <= CROWD / AT_ONCE * AGAIN_MS);
    assert_int_equal(cut_count, 0);
}

/* NNG itself would wait for ever, under TLS. */
TEST_OF_INFLOW(who_says_one_wrong_word_and_no_more_is_cut)
{
    assert_true(come(i, 1, 1, 0));
    assert_true(hear(i, 1, "G", 1, 0));
    aq_inflow_look(i, (STALL_MS + 1) * AQ_NS_PER_MS);
    assert_int_equal(i->counters.cut_slow, 1);
}
