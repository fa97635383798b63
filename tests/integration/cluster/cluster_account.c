/*
 * Reading and comparing; nothing is kept here.
 */
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { LINE_BYTES = 1024 };

/* The learner may know an actor that has not read the answer to its Join yet. Ended then, it has no
 * account to give. */
static bool has_stepped(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, *(enum cluster_seat *)user) : NULL;
    return member != NULL && member->actor != NULL && member->actor->env_steps > 0;
}

cluster_account cluster_drain(test_cluster *cluster, enum cluster_seat seat)
{
    char line[LINE_BYTES];
    const daemon_process *process = &cluster->processes[seat];
    cluster_wait(cluster, "an actor's first steps", has_stepped, &seat);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    cluster_account account = {.incarnation = cluster_member(cluster, status, seat)->incarnation};
    assert_int_equal(cluster_terminate(cluster, seat), 0);
    assert_true(daemon_process_line(process, "event=drained", line, sizeof(line)));
    assert_non_null(strstr(line, "complete=true"));
    account.env_steps = daemon_line_number(line, "env_steps");
    account.acknowledged_steps = daemon_line_number(line, "acknowledged_steps");
    account.shard_steps = daemon_line_number(line, "shard_steps");
    assert_int_equal(account.acknowledged_steps, account.env_steps);
    return account;
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

void cluster_check_counted(test_cluster *cluster, uint64_t env_steps)
{
    cluster_wait_counted(cluster, env_steps);
    assert_int_equal(cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps, env_steps);
}
