/*
 * Cluster watch: what the learner and the replay shard say of themselves when asked for their
 * Status. Each answer of the learner is checked for what holds always:
 *
 *   - policy versions only grow, over crashes of the learner too;
 *   - in an actor's life the policy version in use and the acknowledged steps only grow;
 *   - an actor's shard_steps <= acknowledged_steps <= env_steps.
 */
#ifndef AQ_TESTS_INTEGRATION_CLUSTER_CLUSTER_WATCH_H
#define AQ_TESTS_INTEGRATION_CLUSTER_CLUSTER_WATCH_H

#include "tests/integration/cluster/cluster.h"

/* Asks the learner or a shard; NULL when it does not answer within five seconds. Valid until the
 * seat is asked again. */
const Actorq__V1__StatusReply *cluster_look(test_cluster *cluster, enum cluster_seat seat);

/* As cluster_look, until it answers. */
const Actorq__V1__StatusReply *cluster_look_surely(test_cluster *cluster, enum cluster_seat seat);

/* The seat's member in a status of the learner, by its process id; NULL when it is not listed. */
const Actorq__V1__MemberStatus *cluster_member(const test_cluster *cluster,
                                               const Actorq__V1__StatusReply *status,
                                               enum cluster_seat seat);

/* Waits until the learner lists the seat's process. */
void cluster_wait_member(test_cluster *cluster, enum cluster_seat seat);

/* Waits until the learner knows of steps that the actor made. It may list one that has not read the
 * answer to its Join yet; ended then, such an actor has no account to give. */
void cluster_wait_stepped(test_cluster *cluster, enum cluster_seat actor);

/* Waits until so many environment steps and learner steps (under a sanitizer a fifth of them; see
 * test_rounds), and at least one new policy version, have come on top of what there is now. */
void cluster_wait_progress(test_cluster *cluster, uint64_t env_steps, uint64_t learner_steps);

/* Waits until the learner has a checkpoint of a later step than what the newest holds now. */
void cluster_wait_checkpoint(test_cluster *cluster);

void cluster_watch_close(test_cluster *cluster, enum cluster_seat seat);

/* Starts three, and waits until there is that progress. */
void cluster_start_well(test_cluster *cluster, uint64_t env_steps, uint64_t learner_steps);

/* The program in SEAT_OTHER ends with exit status 1 and all of these words in its last line. */
void cluster_check_failed(test_cluster *cluster, const char *words, const char *more_words);

/* Waits until the actor uses a version of the policy after this one. */
void cluster_wait_newer(test_cluster *cluster, enum cluster_seat actor, uint64_t version);

#endif
