/*
 * Who is in the run: joining, being heard, leaving and being lost.
 */
#include "tests/support/test.h"
#include "tests/unit/learner/member_kit.h"

/* ---- joining ------------------------------------------------------------------------------- */

TEST_OF_RUN(a_member_gets_a_number_and_a_slot_and_keeps_what_it_said)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 50);
    strcpy(record.host, "ant");
    strcpy(record.address, "10.0.0.9:1");

    const aq_member_record *joined = join_at(run, 77, &record);
    assert_int_equal(joined->member, 1);
    assert_int_equal(joined->slot, 0);
    assert_int_equal(joined->incarnation, 50);
    assert_int_equal(joined->pid, 7);
    assert_string_equal(joined->host, "ant");
    assert_string_equal(joined->address, "10.0.0.9:1");
    assert_int_equal(joined->joined_ns, 77);
    assert_int_equal(joined->heard_ns, 77);
    assert_int_equal(aq_coordinator_member_count(run), 1);
    assert_int_equal(aq_coordinator_joined_total(run), 1);
}

TEST_OF_RUN(a_repeated_join_is_the_same_member)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 50);
    uint64_t unique = join(run, AQ_ROLE_ACTOR, 50)->unique;
    const aq_member_record *again = join_at(run, 90, &record);
    assert_int_equal(again->member, 1);
    assert_int_equal(again->unique, unique);
    assert_int_equal(again->heard_ns, 90);
    assert_int_equal(again->joined_ns, 0);
    assert_int_equal(replaced[0], 0);
    assert_int_equal(aq_coordinator_member_count(run), 1);
    assert_int_equal(aq_coordinator_joined_total(run), 1);
}

TEST_OF_RUN(an_incarnation_has_one_role)
{
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 50);
    const aq_member_record *joined = NULL;
    join(run, AQ_ROLE_ACTOR, 50);
    assert_refused(aq_coordinator_join(run, 5, &record, &joined, replaced, &refusal), AQ_E_EXISTS,
                   "another role");
    assert_null(joined);
    assert_int_equal(aq_coordinator_member_count(run), 1);
    assert_int_equal(aq_coordinator_shards_changed(run), 0);
}

TEST_OF_RUN(slots_are_counted_within_each_role)
{
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 1)->slot, 0);
    assert_int_equal(join(run, AQ_ROLE_EVALUATOR, 2)->slot, 0);
    assert_int_equal(join(run, AQ_ROLE_REPLAY, 3)->slot, 0);
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 4)->slot, 1);
    assert_int_equal(join(run, AQ_ROLE_REPLAY, 5)->slot, 1);
}

TEST_OF_RUN(the_lowest_free_slot_is_taken_first)
{
    for (uint64_t i = 1; i <= 5; i++) {
        assert_int_equal(join(run, AQ_ROLE_ACTOR, i)->slot, i - 1);
    }
    assert_true(aq_coordinator_leave(run, 4, 4));
    assert_true(aq_coordinator_leave(run, 2, 2));
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 6)->slot, 1);
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 7)->slot, 3);
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 8)->slot, 5);
}

TEST_OF_RUN(a_member_of_an_earlier_life_keeps_number_and_slot)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 50);
    record.member = 9;
    record.slot = 3;

    const aq_member_record *joined = join_as(run, &record);
    assert_int_equal(joined->member, 9);
    assert_int_equal(joined->slot, 3);
    joined = join(run, AQ_ROLE_ACTOR, 51);
    assert_int_equal(joined->member, 10); /* numbers go on above it */
    assert_int_equal(joined->slot, 0);
}

TEST_OF_RUN(a_number_or_slot_that_is_taken_is_replaced)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 50);
    join(run, AQ_ROLE_ACTOR, 1);
    record.member = 1;
    record.slot = 0;

    const aq_member_record *joined = join_as(run, &record);
    assert_int_equal(joined->member, 2);
    assert_int_equal(joined->slot, 1);
}

TEST_OF_RUN(numbers_stay_unique_whatever_members_claim)
{
    static const uint64_t claims[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 48,
                                      (UINT64_C(1) << 48) + 1, 1};
    for (uint64_t i = 0; i < 5; i++) {
        aq_member_record record = wanted(AQ_ROLE_ACTOR, 100 + i);
        record.member = claims[i];
        join_as(run, &record);
        join(run, AQ_ROLE_ACTOR, 200 + i);
    }
    for (size_t i = 0; i < 10; i++) {
        uint64_t member = aq_coordinator_member_at(run, i)->member;
        assert_int_not_equal(member, 0); /* it stands for nobody */
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(aq_coordinator_member_at(run, k)->member, member);
        }
    }
}

TEST_OF_RUN(who_is_new_gets_the_slot_that_it_asks_for)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 50);
    record.slot = 2;
    assert_int_equal(join_as(run, &record)->slot, 2);
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 51)->slot, 0); /* it asks for none */
    record = wanted(AQ_ROLE_EVALUATOR, 52);
    record.slot = 2;
    assert_int_equal(join_as(run, &record)->slot, 2);
}

TEST_OF_RUN(a_slot_that_is_taken_or_can_not_be_is_no_wish)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 51);
    join(run, AQ_ROLE_ACTOR, 50);
    record.slot = 1;
    assert_int_equal(join_as(run, &record)->slot, 1);
    record.incarnation = 52;
    assert_int_equal(join_as(run, &record)->slot, 2);
    record.incarnation = 53;
    record.slot = AQ_MEMBERS_MAX;
    assert_int_equal(join_as(run, &record)->slot, 3);
    record.incarnation = 54;
    record.slot = UINT32_MAX;
    assert_int_equal(join_as(run, &record)->slot, 4);
}

TEST_OF_RUN(a_slot_that_can_not_be_is_not_taken_over)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 50);
    record.member = 5;
    record.slot = UINT32_MAX;
    assert_int_equal(join_as(run, &record)->slot, 0);
    record = wanted(AQ_ROLE_ACTOR, 51);
    record.member = 6;
    record.slot = AQ_MEMBERS_MAX;
    assert_int_equal(join_as(run, &record)->slot, 1);
}

/* ---- being heard --------------------------------------------------------------------------- */

TEST_OF_RUN(a_heartbeat_needs_number_and_incarnation)
{
    join(run, AQ_ROLE_ACTOR, 50);
    assert_null(aq_coordinator_heartbeat(run, 5, 2, 50));
    assert_null(aq_coordinator_heartbeat(run, 5, 1, 51));
    const aq_member_record *heard = aq_coordinator_heartbeat(run, 5, 1, 50);
    assert_non_null(heard);
    assert_int_equal(heard->heard_ns, 5);
}

TEST_OF_RUN(a_member_is_lost_after_the_timeout_and_not_before)
{
    aq_member_record lost;
    join(run, AQ_ROLE_ACTOR, 50);
    assert_non_null(aq_coordinator_heartbeat(run, 10, 1, 50));
    assert_false(aq_coordinator_expire(run, 10 + TIMEOUT_NS, &lost));
    assert_true(aq_coordinator_expire(run, 11 + TIMEOUT_NS, &lost));
    assert_int_equal(lost.incarnation, 50);
    assert_false(aq_coordinator_expire(run, 11 + TIMEOUT_NS, &lost));
    assert_int_equal(aq_coordinator_member_count(run), 0);
    assert_int_equal(aq_coordinator_lost_total(run), 1);
    assert_null(aq_coordinator_heartbeat(run, 12 + TIMEOUT_NS, 1, 50));
}

TEST_OF_RUN(what_nobody_could_hear_is_no_silence)
{
    aq_member_record lost;
    join(run, AQ_ROLE_ACTOR, 50);
    join(run, AQ_ROLE_ACTOR, 51);
    assert_non_null(aq_coordinator_heartbeat(run, 10, 1, 50));
    assert_non_null(aq_coordinator_heartbeat(run, 900, 2, 51));
    aq_coordinator_was_deaf(run, 1000, 500);
    assert_int_equal(aq_coordinator_member_at(run, 0)->heard_ns, 510);
    assert_int_equal(aq_coordinator_member_at(run, 1)->heard_ns, 1000);
    assert_false(aq_coordinator_expire(run, 510 + TIMEOUT_NS, &lost));
    assert_true(aq_coordinator_expire(run, 511 + TIMEOUT_NS, &lost));
    assert_int_equal(lost.incarnation, 50);
}

TEST_OF_RUN(all_that_fell_silent_are_lost_and_the_others_stay)
{
    aq_member_record lost;
    uint64_t sum = 0;
    for (uint64_t i = 1; i <= 9; i++) {
        join(run, i % 3 == 0 ? AQ_ROLE_REPLAY : AQ_ROLE_ACTOR, i);
    }
    for (uint64_t i = 2; i <= 9; i += 2) {
        assert_non_null(aq_coordinator_heartbeat(run, TIMEOUT_NS, i, i));
    }
    uint64_t changes = aq_coordinator_shards_changed(run);
    while (aq_coordinator_expire(run, TIMEOUT_NS + 1, &lost)) {
        sum += lost.incarnation;
    }
    assert_int_equal(sum, 1 + 3 + 5 + 7 + 9);
    assert_int_equal(aq_coordinator_member_count(run), 4);
    assert_int_equal(aq_coordinator_shards_changed(run), changes + 2); /* 3 and 9 */
    for (uint64_t i = 2; i <= 9; i += 2) {
        assert_non_null(aq_coordinator_heartbeat(run, TIMEOUT_NS, i, i));
    }
}

TEST_OF_RUN(who_was_lost_joins_again_as_the_same)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 51);
    aq_member_record lost;
    join(run, AQ_ROLE_ACTOR, 50);
    join(run, AQ_ROLE_ACTOR, 51);
    while (aq_coordinator_expire(run, TIMEOUT_NS + 1, &lost)) {
    }
    record.member = 2;
    record.slot = 1;
    const aq_member_record *again = join_as(run, &record);
    assert_int_equal(again->member, 2);
    assert_int_equal(again->slot, 1);
    assert_int_equal(aq_coordinator_joined_total(run), 3);
}

TEST_OF_RUN(a_member_leaves_once)
{
    join(run, AQ_ROLE_ACTOR, 50);
    assert_false(aq_coordinator_leave(run, 2, 50));
    assert_false(aq_coordinator_leave(run, 1, 51));
    assert_true(aq_coordinator_leave(run, 1, 50));
    assert_false(aq_coordinator_leave(run, 1, 50));
    assert_int_equal(aq_coordinator_lost_total(run), 0);
}

/* ---- limits and memory --------------------------------------------------------------------- */

TEST_OF_RUN(one_member_too_many_is_refused)
{
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 1 << 20);
    const aq_member_record *joined = NULL;
    for (uint64_t i = 1; i <= AQ_MEMBERS_MAX; i++) {
        assert_int_equal(join(run, i % 2 ? AQ_ROLE_ACTOR : AQ_ROLE_EVALUATOR, i)->slot,
                         (i - 1) / 2);
    }
    assert_int_equal(aq_coordinator_join(run, 0, &record, &joined, replaced, &refusal), AQ_E_FULL);
    assert_null(joined);
    assert_says(refusal.text, "16384");
    assert_true(aq_coordinator_leave(run, 7, 7));
    assert_int_equal(join(run, AQ_ROLE_ACTOR, 1 << 20)->slot, 3);
}

/* One of a thousand hosts that may join must not keep all others out. */
TEST_OF_RUN(half_of_all_members_may_be_at_one_address)
{
    const aq_member_record *joined = NULL;
    aq_member_record record = wanted(AQ_ROLE_ACTOR, 0);
    record.neighbours.s6_addr[0] = 1;
    for (record.incarnation = 1; record.incarnation <= AQ_NEIGHBOURS_MAX; record.incarnation++) {
        (void)join_as(run, &record);
    }
    assert_refused(aq_coordinator_join(run, 0, &record, &joined, replaced, &refusal), AQ_E_FULL,
                   "8192 members are at this address");
    record.incarnation = 7; /* one that is known */
    (void)join_as(run, &record);
    record.incarnation = 1 << 20;
    record.neighbours.s6_addr[0] = 2;
    (void)join_as(run, &record);
    join(run, AQ_ROLE_ACTOR, 1 << 21); /* of this host */
    assert_true(aq_coordinator_leave(run, 7, 7));
    record.incarnation = 1 << 22;
    record.neighbours.s6_addr[0] = 1;
    (void)join_as(run, &record);
}

TEST_OF_RUN(a_join_without_memory_changes_nothing)
{
    const aq_member_record *joined = NULL;
    for (uint64_t i = 1; i <= 40; i++) {
        aq_member_record record = wanted(AQ_ROLE_ACTOR, i);
        size_t count = aq_coordinator_member_count(run);
        aq_memory_fail_at(1, 0);
        int rc = aq_coordinator_join(run, 0, &record, &joined, replaced, NULL);
        aq_memory_fail_at(0, 0);
        if (rc != 0) {
            assert_int_equal(rc, AQ_E_NOMEM);
            assert_true(count == 0 || count == 16 || count == 32); /* where it grows */
            assert_int_equal(aq_coordinator_member_count(run), count);
            join(run, AQ_ROLE_ACTOR, i);
        }
        assert_non_null(aq_coordinator_heartbeat(run, 0, i, i));
    }
    assert_int_equal(aq_coordinator_joined_total(run), 40);
}

TEST(create_survives_a_failed_allocation)
{
    aq_coordinator_config config = {.member_timeout_ns = 1, .env_steps_limit = 1};
    aq_coordinator *coordinator;
    assert_made_despite_failures(coordinator, aq_coordinator_create(&config, 0, &coordinator));
    aq_coordinator_destroy(coordinator);
    aq_coordinator_destroy(NULL);
}
