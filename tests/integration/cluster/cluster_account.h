/*
 * Cluster account: where an actor's steps have gone. An actor says in its log what it stepped, what
 * of that was acknowledged, and how much of that by the shard that served it last; a shard tells in
 * its Status what it has received from each actor. Both count fresh transitions.
 *
 * With learner.n_step=1 an actor that has drained has kept nothing back, so that all its steps are
 * acknowledged. Only where the machine stood still for longer than an actor waits at its end may
 * some be given up; the shard then has what was acknowledged at least, and what was made at most.
 */
#ifndef AQ_TESTS_INTEGRATION_CLUSTER_CLUSTER_ACCOUNT_H
#define AQ_TESTS_INTEGRATION_CLUSTER_CLUSTER_ACCOUNT_H

#include "tests/integration/cluster/cluster.h"

typedef struct cluster_account {
    uint64_t incarnation;
    uint64_t env_steps;
    uint64_t acknowledged_steps;
    uint64_t shard_steps;
} cluster_account;

/* Terminates an actor of the run, once it has made steps, and reads its last account. It must exit
 * with 0 and drain completely, knowing that all of its steps are acknowledged (n_step is 1), unless
 * it waited in vain until its time was up. */
cluster_account cluster_drain(test_cluster *cluster, enum cluster_seat seat);

/* The last account of an actor that was asked to end at `asked_ns`, on the monotonic clock, and has
 * ended; without its incarnation. It must not have given up anything before its time was up. */
cluster_account cluster_account_of(const daemon_process *actor, int64_t asked_ns);

void cluster_account_add(cluster_account *sum, const cluster_account *account);

/* So many steps are all that were made, or what that account leaves open. */
void cluster_check_account(const cluster_account *account, uint64_t steps);

/* What the shard has received from that actor; 0 when it has not heard of it. */
uint64_t cluster_received(test_cluster *cluster, uint64_t incarnation);

/* Fresh transitions that the shard has taken in. */
uint64_t cluster_inserted(test_cluster *cluster, enum cluster_seat shard);

/* Waits until the learner has counted so many steps at least. */
void cluster_wait_counted(test_cluster *cluster, uint64_t env_steps);

/* Waits for what the account, of all actors, has acknowledged, and then the count must agree with
 * it. For a cluster that stands still. */
void cluster_check_counted(test_cluster *cluster, const cluster_account *account);

#endif
