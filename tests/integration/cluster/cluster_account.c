/*
 * Reading and comparing; nothing is kept here.
 */
#include "tests/integration/cluster/cluster_account.h"

#include <inttypes.h>

#include "actor/session/shard_session.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { LINE_BYTES = 1024 };

cluster_account cluster_account_of(const daemon_process *actor, int64_t asked_ns)
{
    char line[LINE_BYTES];
    const int64_t waited_ns = aq_clock_monotonic_ns() - asked_ns;
    assert_true(daemon_process_line(actor, "event=drained", line, sizeof(line)));
    const cluster_account account = {
        .env_steps = daemon_line_number(line, "env_steps"),
        .acknowledged_steps = daemon_line_number(line, "acknowledged_steps"),
        .shard_steps = daemon_line_number(line, "shard_steps"),
    };
    if (strstr(line, "complete=true") == NULL && waited_ns < AQ_FINISH_AWAY_MS * AQ_NS_PER_MS) {
        fail_msg("given up after %" PRId64 " ms: %s", waited_ns / AQ_NS_PER_MS, line);
    }
    return account;
}

cluster_account cluster_drain(test_cluster *cluster, enum cluster_seat seat)
{
    cluster_wait_stepped(cluster, seat);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const uint64_t incarnation = cluster_member(cluster, status, seat)->incarnation;
    const int64_t asked_ns = aq_clock_monotonic_ns();
    assert_int_equal(cluster_terminate(cluster, seat), 0);
    cluster_account account = cluster_account_of(&cluster->processes[seat], asked_ns);
    account.incarnation = incarnation;
    if (daemon_process_said(&cluster->processes[seat], "event=drained complete=true")) {
        assert_int_equal(account.acknowledged_steps, account.env_steps);
    }
    return account;
}

void cluster_account_add(cluster_account *sum, const cluster_account *account)
{
    sum->env_steps += account->env_steps;
    sum->acknowledged_steps += account->acknowledged_steps;
    sum->shard_steps += account->shard_steps;
}

void cluster_check_account(const cluster_account *account, uint64_t steps)
{
    assert_in_range(steps, account->acknowledged_steps, account->env_steps);
}

uint64_t cluster_received(test_cluster *cluster, uint64_t incarnation)
{
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_REPLAY);
    for (size_t i = 0; i < status->n_members; i++) {
        if (status->members[i]->incarnation == incarnation) {
            return status->members[i]->actor->env_steps;
        }
    }
    return 0;
}

uint64_t cluster_inserted(test_cluster *cluster, enum cluster_seat shard)
{
    return cluster_look_surely(cluster, shard)->replay->inserted;
}

static bool has_counted(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->env_steps >= *(uint64_t *)user;
}

void cluster_wait_counted(test_cluster *cluster, uint64_t env_steps)
{
    cluster_wait(cluster, "the learner to have counted the steps", has_counted, &env_steps);
}

void cluster_check_counted(test_cluster *cluster, const cluster_account *account)
{
    cluster_wait_counted(cluster, account->acknowledged_steps);
    cluster_check_account(account, cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps);
}
