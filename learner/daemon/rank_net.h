/*
 * The daemon of a rank that is not the first: it draws its own batches from the shards that rank 0
 * tells of, takes part in each step, and writes and serves nothing. All that it knows of the run
 * came from rank 0.
 */
#ifndef AQ_LEARNER_DAEMON_RANK_NET_H
#define AQ_LEARNER_DAEMON_RANK_NET_H

#include "common/sys/daemon.h"
#include "learner/gradients/rank_link.h"

/* Runs until one of the ranks ends; 0 when it ended in good order. */
int aq_rank_run(aq_rank_link *link, const aq_daemon_options *options, aq_error *error) AQ_MUST_USE;

#endif
