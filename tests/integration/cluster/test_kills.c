/*
 * kill -9 of each role: the others go on, and whoever is started again finds its place by itself.
 */
#include <inttypes.h>

#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 3000, LEARNER_STEPS = 300, LINE_BYTES = 1024 };

/* What an actor may have under way at most, in steps: several times what the limiter of the quick
 * settings leaves it. */
enum { UNDER_WAY_MAX = 4000 };

/* Running, with a checkpoint and some versions. */
static void start_well(test_cluster *cluster)
{
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
}

CLUSTER_TEST(a_killed_learner_goes_on_from_its_checkpoint, both)
{
    char line[LINE_BYTES];
    start_well(cluster);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    uint64_t step = status->learner->checkpoint_step;
    uint64_t version = status->learner->policy_version;
    uint64_t run_id = status->run_id;
    cluster_kill(cluster, SEAT_LEARNER);

    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=ready");
    assert_true(daemon_process_line(&cluster->processes[SEAT_LEARNER], "event=resumed", line,
                                    sizeof(line)));
    assert_true(daemon_line_number(line, "step") >= step);
    status = cluster_look_surely(cluster, SEAT_LEARNER);
    assert_true(status->run_id == run_id);
    assert_true(status->learner->learner_steps >= step);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_newer(cluster, SEAT_ACTOR, version);
    cluster_wait_checkpoint(cluster);

    cluster_account account = cluster_drain(cluster, SEAT_ACTOR);
    cluster_check_account(&account, cluster_received(cluster, account.incarnation));
    cluster_check_counted(cluster, &account);
}

/* What is young may be somebody's who writes it just now. */
CLUSTER_TEST(what_a_killed_learner_had_half_written_goes_with_the_next_start, ipc)
{
    start_well(cluster);
    cluster_kill(cluster, SEAT_LEARNER);
    shell_succeeds("cd '%s' && touch -d '2 minutes ago' a.tmp-0123456789abcdef && "
                   "touch b.tmp-0123456789abcdef",
                   cluster->run_dir);
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=ready");
    assert_int_equal(file_count(cluster->run_dir, "a.tmp-"), 0);
    assert_int_equal(file_count(cluster->run_dir, "b.tmp-"), 1);
}

CLUSTER_TEST(members_keep_their_numbers_over_the_death_of_the_learner, ipc)
{
    start_well(cluster);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    uint64_t actor = cluster_member(cluster, status, SEAT_ACTOR)->member;
    uint64_t shard = cluster_member(cluster, status, SEAT_REPLAY)->member;
    uint32_t slot = cluster_member(cluster, status, SEAT_ACTOR)->slot;
    cluster_kill(cluster, SEAT_LEARNER);
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_member(cluster, SEAT_ACTOR);
    cluster_wait_member(cluster, SEAT_REPLAY);
    status = cluster_look_surely(cluster, SEAT_LEARNER);
    assert_int_equal(cluster_member(cluster, status, SEAT_ACTOR)->member, actor);
    assert_int_equal(cluster_member(cluster, status, SEAT_ACTOR)->slot, slot);
    assert_int_equal(cluster_member(cluster, status, SEAT_REPLAY)->member, shard);
}

/* The shard was killed, and its store is served again. */
static void check_account_with_same_store(test_cluster *cluster)
{
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_account account = cluster_drain(cluster, SEAT_ACTOR);
    assert_int_equal(account.shard_steps, account.acknowledged_steps);
    cluster_check_account(&account, cluster_received(cluster, account.incarnation));
    cluster_check_account(&account, cluster_inserted(cluster, SEAT_REPLAY));
    cluster_check_counted(cluster, &account);
}

CLUSTER_TEST(a_killed_shard_goes_on_from_its_folder, both)
{
    start_well(cluster);
    cluster_kill(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_REPLAY);
    check_account_with_same_store(cluster);
    assert_true(daemon_process_said(&cluster->processes[SEAT_REPLAY], "event=store_restored"));
}

CLUSTER_TEST(a_killed_shard_goes_on_elsewhere, ipc)
{
    start_well(cluster);
    cluster_kill(cluster, SEAT_REPLAY);
    cluster_watch_close(cluster, SEAT_REPLAY);
    (void)snprintf(cluster->replay_url, sizeof(cluster->replay_url), "ipc://%s/elsewhere",
                   cluster->folder);
    cluster_start(cluster, SEAT_REPLAY);
    check_account_with_same_store(cluster);
}

CLUSTER_TEST(a_killed_shard_in_memory_is_replaced_at_its_address, ipc)
{
    cluster_set(cluster, "replay.storage=memory");
    start_well(cluster);
    uint64_t counted = cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps;
    cluster_kill(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_account account = cluster_drain(cluster, SEAT_ACTOR);
    uint64_t inserted = cluster_inserted(cluster, SEAT_REPLAY);
    uint64_t in_old_shard = account.acknowledged_steps - account.shard_steps;
    account.acknowledged_steps -= in_old_shard;
    account.env_steps -= in_old_shard;
    cluster_check_account(&account, cluster_received(cluster, account.incarnation));
    cluster_check_account(&account, inserted);

    cluster_wait_counted(cluster, counted + inserted);
    uint64_t in_all = cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps;
    assert_true(in_all <= in_old_shard + UNDER_WAY_MAX + inserted);
}

CLUSTER_TEST(a_killed_actor_leaves_its_slot_to_the_next, ipc)
{
    char loss[64];
    cluster_set(cluster, "net.member_timeout_ms=8000");
    start_well(cluster);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_wait_member(cluster, SEAT_ACTOR_2);
    cluster_wait_member(cluster, SEAT_ACTOR);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    uint32_t slot = cluster_member(cluster, status, SEAT_ACTOR)->slot;
    uint32_t other_slot = cluster_member(cluster, status, SEAT_ACTOR_2)->slot;
    uint64_t lost = status->learner->members_lost;
    (void)snprintf(loss, sizeof(loss), "event=member_lost member=%" PRIu64 " ",
                   cluster_member(cluster, status, SEAT_ACTOR)->member);
    assert_int_not_equal(slot, other_slot);
    cluster_kill(cluster, SEAT_ACTOR);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_said(cluster, SEAT_LEARNER, loss);
    cluster_wait_member(cluster, SEAT_ACTOR_2); /* a slow machine may lose it, too */
    cluster_start(cluster, SEAT_ACTOR);
    cluster_wait_member(cluster, SEAT_ACTOR);
    status = cluster_look_surely(cluster, SEAT_LEARNER);
    assert_true(status->learner->members_lost > lost);
    assert_int_equal(cluster_member(cluster, status, SEAT_ACTOR)->slot, slot);
    assert_int_equal(cluster_member(cluster, status, SEAT_ACTOR_2)->slot, other_slot);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}
