/*
 * Learner parts: everything that a learner is made of, and how it is put together and taken apart.
 * What it does with its time is learner_net.c. Loop thread only.
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_PARTS_H
#define AQ_LEARNER_DAEMON_LEARNER_PARTS_H

#include "common/sys/folder_lock.h"
#include "learner/daemon/checkpointer.h"
#include "learner/daemon/energy_account.h"
#include "learner/daemon/learner_events.h"
#include "learner/daemon/learner_net.h"
#include "learner/daemon/learner_pages.h"
#include "learner/daemon/learner_ports.h"
#include "learner/daemon/run_report.h"
#include "learner/daemon/training.h"
#include "learner/metrics/metrics.h"
#include "learner/publish/policy_versions.h"
#include "learner/run/best_policy.h"
#include "learner/run/checkpoint_store.h"
#include "learner/run/live_plan.h"

/* In the order in which they are made: each sees those above it. */
typedef struct aq_learner_parts {
    const aq_learner_options *options;
    int64_t started_ns;
    uv_loop_t *loop;
    aq_live_plan live;
    aq_coordinator *coordinator;
    aq_policy_shelf *shelf;
    aq_ranks ranks;
    aq_agent *agent;
    aq_folder_lock *lock; /* of the run folder */
    aq_run_folder folder;
    aq_checkpoint_store *store;
    aq_run_history *history; /* NULL: nothing is served over HTTP */
    aq_metrics *metrics;
    aq_energy_account *energy;
    aq_best_policy best;
    aq_version_numbers versions;
    aq_learner_ports ports;
    aq_learner_events events;
    aq_learner_service *service;
    aq_checkpointer *checkpointer;
    aq_training *training;
    aq_run_report *report;
    aq_learner_pages *pages;
} aq_learner_parts;

/* Zeroed but for options, started_ns and loop; to be closed also after a failure. No thread runs
 * yet, and no call is answered before the loop runs. */
int aq_learner_parts_make(aq_learner_parts *parts, const aq_run_config *config,
                          aq_error *error) AQ_MUST_USE;

/* Threads and sockets end, so that nothing comes in; the loop must run before the rest is freed. */
void aq_learner_parts_close(aq_learner_parts *parts);
void aq_learner_parts_fini(aq_learner_parts *parts);

#endif
