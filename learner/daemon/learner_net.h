/*
 * The learner daemon: sockets, threads and timers around its cores.
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_NET_H
#define AQ_LEARNER_DAEMON_LEARNER_NET_H

#include <stdbool.h>

#include "common/base/error.h"
#include "common/config/run_config.h"
#include "common/sys/daemon.h"

struct aq_daemon_security;

typedef struct aq_learner_options {
    aq_daemon_options daemon;
    struct aq_daemon_security *security; /* opened for a learner; lent */
    const char *listen_url;
    const char *run_dir;
    bool resume;               /* go on with the run that is in run_dir */
    uint64_t run_id;           /* of a new run; 0: any */
    bool is_rank;              /* one of several, as its launcher said otherwise than mpirun does */
    struct aq_rank_link *link; /* to the other ranks; lent; NULL: there are none */
} aq_learner_options;

/* Runs until the run has ended or a signal came. 0 when it ended in good order; AQ_E_PEER when
 * another rank is lost or the transport is stuck, which is worth another start; where it fails as
 * its last checkpoint could not be written, `*ret_is_lost` becomes true. It is rank 0 where there
 * are several, and they end with it. */
int aq_learner_run(const aq_run_config *config, const aq_learner_options *options,
                   bool *ret_is_lost, aq_error *error) AQ_MUST_USE;

#endif
