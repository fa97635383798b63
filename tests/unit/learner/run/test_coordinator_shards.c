/*
 * Replay shards in the run: who takes whose place, and who keeps it.
 */
#include "common/config/table_spec.h"
#include "tests/support/test.h"
#include "tests/unit/learner/member_kit.h"

TEST_OF_RUN(a_restarted_shard_takes_the_place_of_its_earlier_life)
{
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 2);
    join(run, AQ_ROLE_REPLAY, 1);
    join(run, AQ_ROLE_REPLAY, 2);
    join(run, AQ_ROLE_REPLAY, 3);
    uint64_t changes = aq_coordinator_shards_changed(run);
    record.incarnation = 20;
    const aq_member_record *joined = join_at(run, 5, &record);
    assert_int_equal(replaced[0], 2);
    assert_int_equal(joined->incarnation, 20);
    assert_int_equal(joined->slot, 1);
    assert_int_equal(aq_coordinator_member_count(run), 3);
    assert_int_equal(aq_coordinator_lost_total(run), 1);
    assert_true(aq_coordinator_shards_changed(run) > changes);
    assert_null(aq_coordinator_heartbeat(run, 6, 2, 2));
}

TEST_OF_RUN(a_store_that_moved_takes_its_own_place_and_that_of_the_address)
{
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 3); /* at the address of the third */
    for (uint64_t i = 1; i <= 4; i++) {
        join(run, AQ_ROLE_REPLAY, i);
    }
    record.incarnation = 20;
    record.store = 9002; /* with the store of the second */
    const aq_member_record *joined = join_at(run, 5, &record);
    assert_int_equal(replaced[0] + replaced[1], 2 + 3);
    assert_int_equal(replaced[0] * replaced[1], 2 * 3);
    assert_int_equal(joined->slot, 1);
    assert_int_equal(aq_coordinator_member_count(run), 3);
    record = wanted(AQ_ROLE_REPLAY, 3);
    strcpy(record.rpc_url, "tcp://elsewhere:1"); /* the third is back */
    assert_int_equal(join_as(run, &record)->slot, 2);
}

TEST_OF_RUN(a_shard_that_lives_and_has_moved_is_listed_where_it_is)
{
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 2);
    join(run, AQ_ROLE_REPLAY, 1);
    record.member = join(run, AQ_ROLE_REPLAY, 2)->member;
    const uint64_t changes = aq_coordinator_shards_changed(run);
    strcpy(record.rpc_url, "tcp://elsewhere:1");
    const aq_member_record *joined = join_as(run, &record);
    assert_string_equal(joined->rpc_url, "tcp://elsewhere:1");
    assert_int_equal(joined->member, record.member);
    assert_int_equal(joined->slot, 1);
    assert_int_equal(aq_coordinator_member_count(run), 2);
    assert_int_equal(aq_coordinator_lost_total(run), 0);
    assert_true(aq_coordinator_shards_changed(run) > changes);
    strcpy(record.push_url, "tcp://elsewhere:2");
    assert_string_equal(join_as(run, &record)->push_url, "tcp://elsewhere:2");
    assert_true(aq_coordinator_shards_changed(run) > changes + 2);
}

/* Stores at three addresses under one name would leave a slot without its process. */
TEST_OF_RUN(a_process_has_one_store)
{
    const aq_member_record *joined;
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 2);
    join(run, AQ_ROLE_REPLAY, 2);
    for (int i = 0; i < 3; i++) {
        record.store++;
        record.rpc_url[strlen(record.rpc_url) - 1]++;
        assert_refused(aq_coordinator_join(run, 5, &record, &joined, replaced, &refusal),
                       AQ_E_INVALID, "another store");
    }
    assert_int_equal(aq_coordinator_member_count(run), 1);
    assert_non_null(aq_coordinator_heartbeat(run, 6, 1, 2));
}

TEST_OF_RUN(a_shard_that_left_comes_back_to_its_slot)
{
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 1);
    join(run, AQ_ROLE_REPLAY, 1);
    uint64_t member = join(run, AQ_ROLE_REPLAY, 2)->member;
    assert_true(aq_coordinator_leave(run, 1, 1));
    assert_int_equal(join(run, AQ_ROLE_REPLAY, 3)->slot, 2); /* not that of the first */
    assert_true(aq_coordinator_leave(run, member, 2));
    record.incarnation = 10;
    strcpy(record.rpc_url, "tcp://elsewhere:1");
    assert_int_equal(join_as(run, &record)->slot, 0);
    record = wanted(AQ_ROLE_REPLAY, 2);
    record.incarnation = 20;
    assert_int_equal(join_as(run, &record)->slot, 1);
}

/* A copy of its folder, or one that says so; and one that says it is where another one is. */
TEST_OF_RUN(a_shard_that_answers_keeps_its_place)
{
    const aq_member_record *joined = NULL;
    join(run, AQ_ROLE_REPLAY, 1);
    join(run, AQ_ROLE_REPLAY, 2);
    aq_coordinator_reached(run, 2, true);
    const uint64_t changes = aq_coordinator_shards_changed(run);
    aq_member_record copy = wanted(AQ_ROLE_REPLAY, 20);
    copy.store = wanted(AQ_ROLE_REPLAY, 2).store;
    assert_refused(aq_coordinator_join(run, 5, &copy, &joined, replaced, &refusal), AQ_E_AGAIN,
                   "has this store");
    aq_member_record squatter = wanted(AQ_ROLE_REPLAY, 21);
    strcpy(squatter.rpc_url, wanted(AQ_ROLE_REPLAY, 2).rpc_url);
    assert_refused(aq_coordinator_join(run, 5, &squatter, &joined, replaced, &refusal), AQ_E_AGAIN,
                   "another shard answers at");
    assert_null(joined);
    assert_int_equal(aq_coordinator_member_count(run), 2);
    assert_int_equal(aq_coordinator_shards_changed(run), changes);
    assert_non_null(aq_coordinator_heartbeat(run, 6, 2, 2));

    aq_coordinator_reached(run, 2, false);
    assert_int_equal(join_at(run, 7, &copy)->slot, 1);
    assert_int_equal(replaced[0], 2);
}

/* It moves: the new address has not answered yet. */
TEST_OF_RUN(a_shard_that_moved_is_to_be_reached_anew)
{
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 2);
    join(run, AQ_ROLE_REPLAY, 2);
    aq_coordinator_reached(run, 2, true);
    strcpy(record.rpc_url, "tcp://elsewhere:1");
    assert_false(join_as(run, &record)->is_reached);
    aq_coordinator_reached(run, 77, true); /* nobody */
}

TEST_OF_RUN(actors_do_not_replace_one_another)
{
    join(run, AQ_ROLE_ACTOR, 1);
    join(run, AQ_ROLE_ACTOR, 2); /* both without a URL */
    assert_int_equal(aq_coordinator_member_count(run), 2);
    assert_int_equal(aq_coordinator_lost_total(run), 0);
}

TEST_OF_RUN(only_shards_change_the_set_of_shards)
{
    join(run, AQ_ROLE_ACTOR, 1);
    join(run, AQ_ROLE_EVALUATOR, 2);
    assert_true(aq_coordinator_leave(run, 1, 1));
    assert_int_equal(aq_coordinator_shards_changed(run), 0);
    join(run, AQ_ROLE_REPLAY, 3);
    assert_int_equal(aq_coordinator_shards_changed(run), 1);
    assert_true(aq_coordinator_leave(run, 3, 3));
    assert_int_equal(aq_coordinator_shards_changed(run), 2);
}

TEST_OF_RUN(one_shard_too_many_is_refused_and_a_restarted_one_is_not)
{
    const aq_member_record *joined = NULL;
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        join(run, AQ_ROLE_REPLAY, i);
        aq_coordinator_reached(run, i, true);
    }
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 500);
    assert_refused(aq_coordinator_join(run, 0, &record, &joined, replaced, &refusal), AQ_E_FULL,
                   "64 replay shards");
    assert_null(joined);
    join(run, AQ_ROLE_ACTOR, 600);

    record = wanted(AQ_ROLE_REPLAY, 10);
    record.incarnation = 501;
    record.store = 501; /* in memory: another store, at the same address */
    aq_coordinator_reached(run, 10, false);
    joined = join_at(run, 0, &record);
    assert_int_equal(replaced[0], 10);
    assert_int_equal(joined->slot, 9);
}

TEST_OF_RUN(who_does_not_answer_makes_room_for_a_shard)
{
    for (uint64_t i = 1; i <= AQ_SHARDS_MAX; i++) {
        join(run, AQ_ROLE_REPLAY, i);
        aq_coordinator_reached(run, i, i != 7 && i != 9);
    }
    aq_member_record record = wanted(AQ_ROLE_REPLAY, 500);
    (void)join_at(run, 0, &record);
    assert_int_equal(replaced[0], 7);
    assert_int_equal(aq_coordinator_member_count(run), AQ_SHARDS_MAX);
    assert_int_equal(aq_coordinator_lost_total(run), 1);
}
