/*
 * The learner daemon, the inside: shared by learner_net.c (assembly and lifecycle),
 * learner_events.c (what members do), learner_energy_events.c (what it all takes),
 * learner_training.c (what the two threads bring), learner_restore.c (checkpoints),
 * learner_configure.c (settings that change meanwhile) and learner_dashboard.c (what people see).
 */
#ifndef AQ_LEARNER_DAEMON_LEARNER_NET_PRIV_H
#define AQ_LEARNER_DAEMON_LEARNER_NET_PRIV_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "common/net/daemon/daemon_peers.h"
#include "common/net/daemon/daemon_security.h"
#include "common/net/http/daemon_http.h"
#include "common/net/rpc/rpc_server.h"
#include "common/net/sockets/pubsub.h"
#include "common/sys/log.h"
#include "common/sys/mailbox.h"
#include "common/sys/notify.h"
#include "learner/daemon/learner_net.h"
#include "learner/daemon/shard_links.h"
#include "learner/metrics/energy_file.h"
#include "learner/metrics/metrics.h"
#include "learner/run/checkpoint_store.h"
#include "learner/run/run_folder.h"
#include "learner/run/run_plan.h"
#include "learner/service/learner_service.h"
#include "learner/train/trainer.h"
#include "learner/web/dashboard.h"

/* Rates and means over the last second, for status and metrics. */
typedef struct aq_learner_window {
    int64_t begun_ns;
    uint64_t env_steps;
    uint64_t learner_steps;
    double env_steps_per_s;
    double learner_steps_per_s;
    double loss;
    double q_mean;
    double staleness;
    double wait_share;
    aq_prefetch_counts sampling; /* at its end */
    double answer_ms;            /* NaN: none */
} aq_learner_window;

/* The best policy so far, and what was measured on it. One that was taken up from a checkpoint may
 * be without its fp32 twin. */
typedef struct aq_best_policy {
    aq_snapshot *snapshot;
    aq_snapshot *twin;
    aq_evaluation_result result;
    bool unwritten; /* not in policy.aq yet */
} aq_best_policy;

/* What the loop knows and a checkpoint needs; copied under the lock when one is asked for. */
typedef struct aq_checkpoint_context {
    uint64_t env_steps;
    uint64_t env_steps_base;
    aq_shard_count shards[AQ_SHARDS_MAX];
    size_t shard_count;
    aq_shelf_totals totals;
    aq_precision_gap gap;
    double wall_s;
    aq_snapshot *best_snapshot; /* a reference */
    aq_snapshot *best_twin;     /* a reference */
    double best_return;
    bool best_confirmed;
    bool write_policy;
    char *energy_text; /* of energy.json, see aq_energy_file_text; NULL: it stays as it is */
    char *config_text; /* NULL: there was no memory for it */
} aq_checkpoint_context;

/* What the run takes. */
typedef struct aq_learner_energy {
    aq_energy_ledger ledger;
    aq_energy_carbon carbon;
    aq_energy_meter *meter;
    uint64_t incarnation;            /* of this process */
    Actorq__V1__EnergyStatus status; /* points at what follows */
    Actorq__V1__RoleEnergy status_roles[AQ_ENERGY_ROLES];
    Actorq__V1__RoleEnergy *role_pointers[AQ_ENERGY_ROLES];
    char carbon_text[AQ_CARBON_TEXT_MAX];
} aq_learner_energy;

typedef struct aq_learner {
    aq_run_plan plan;  /* the loop's: live changes go into it */
    aq_run_plan begun; /* as the run began: other threads read task, schema and algorithm here */
    const aq_learner_options *options;
    aq_daemon_security security;
    aq_run_folder folder;
    char policy_url[AQ_URL_MAX];
    aq_run_config given; /* as this process was started; live changes are in the plan's */
    char *config_text;   /* of the plan's */
    int64_t started_ns;

    uv_loop_t loop;
    uv_timer_t tick_timer;
    uv_timer_t second_timer;
    uv_signal_t signals[2];
    aq_notify *notify; /* the service manager; NULL: none */
    bool signalled;
    bool stuck;          /* the transport; see aq_net_is_stuck */
    bool ended;          /* the run has: solved, out of budget, or stopped by a call */
    int64_t farewell_ns; /* when members began to be waited for; 0: not yet */
    int64_t ticked_ns;

    aq_algorithm *algorithm;
    aq_algorithm_class normalized; /* the plan's class, where observations are normalized */
    aq_coordinator *coordinator;
    aq_policy_shelf *shelf;
    aq_learner_service *service;
    aq_rpc_dispatcher *dispatcher;
    aq_rpc_server *server;
    aq_publisher *publisher;
    aq_prefetch *prefetch;
    aq_shard_links *links;
    aq_quantizer_stage *stage;
    aq_trainer *trainer;
    aq_checkpoint_store *store;
    aq_metrics *metrics;
    aq_run_history *history; /* NULL: nothing is served over HTTP; likewise the dashboard */
    aq_dashboard *dashboard;
    aq_daemon_http *http;
    aq_mailbox *groups;  /* trainer -> loop: groups to fill again */
    aq_mailbox *reports; /* stage -> loop */

    uint64_t first_step;                   /* of this process */
    aq_precision_gap gap_before;           /* that earlier processes found */
    uint64_t staleness[AQ_STALENESS_BINS]; /* of what this process trained on */
    aq_learner_window window;
    aq_learner_energy energy;
    aq_best_policy best;
    uint64_t foreign_peers_seen;
    aq_daemon_peers peers;
    int64_t evaluation_line_ns; /* when the next screening gets a line in the metrics */

    /* Version numbers; the stage's thread alone. */
    uint64_t next_version;
    uint64_t reserved_end;

    pthread_mutex_t checkpoint_lock; /* of checkpoint_context */
    aq_checkpoint_context checkpoint_context;
    int64_t checkpoint_due_ns;
    atomic_bool checkpoint_running; /* the stage's thread ends it, whatever becomes of its report */
    uint64_t checkpoint_step;       /* of the newest on disk */

    aq_log_limit shard_limit, train_limit, policy_limit, metrics_limit, fallback_limit,
        foreign_limit;
} aq_learner;

/* learner_events.c */
extern const aq_learner_service_owner aq_learner_service_events; /* user is the aq_learner */
void aq_learner_second(aq_learner *learner, int64_t now_ns);
void aq_learner_say_ended(aq_learner *learner);
void aq_learner_say_metrics_failed(aq_learner *learner, const aq_error *error);
const char *aq_run_state_name(enum aq_run_state state);

/* learner_replay_events.c */
void aq_learner_replay_said(void *user, const aq_member_record *record,
                            const Actorq__V1__ReplayStats *stats);
void aq_learner_replay_window(aq_learner *learner, const aq_trainer_sums *sums);
void aq_learner_replay_status(aq_learner *learner, Actorq__V1__ReplayUseStatus *use);
void aq_learner_replay_metrics(aq_learner *learner, aq_metrics_sample *sample);

/* learner_energy_events.c */
int aq_learner_energy_create(aq_learner *learner, aq_error *error) AQ_MUST_USE;
void aq_learner_energy_destroy(aq_learner *learner);
void aq_learner_energy_said(void *user, const aq_member_record *record,
                            const Actorq__V1__EnergyStats *stats);
void aq_learner_energy_say(const aq_learner *learner); /* in the log, how it is known */
void aq_learner_energy_status(aq_learner *learner, Actorq__V1__LearnerStatus *status);
struct json_t *aq_learner_energy_metrics(aq_learner *learner);
char *aq_learner_energy_text(aq_learner *learner); /* of energy.json; see aq_energy_file_text */
/* Any thread; `text` may be NULL. */
void aq_learner_energy_write(const aq_learner *learner, const char *text);
void aq_learner_energy_end(aq_learner *learner); /* the last file, when everybody has left */

/* learner_net.c */
aq_coordinator_config aq_learner_limits(const aq_run_plan *plan);

/* learner_configure.c */
int aq_learner_take_up_settings(aq_learner *learner, aq_run_config *config,
                                aq_error *error) AQ_MUST_USE; /* what a run was changed to */
int aq_learner_keep_settings(aq_learner *learner, aq_error *error) AQ_MUST_USE; /* in the folder */
int aq_learner_print_config(aq_learner *learner) AQ_MUST_USE;
void aq_learner_configure_trainer(aq_learner *learner); /* as settings and progress have it */
void aq_learner_configure(void *user, const Actorq__V1__ConfigureRequest *request,
                          Actorq__V1__ConfigureReply_Closure closure, void *call);

/* learner_dashboard.c */
int aq_learner_mirror_open(aq_learner *learner, aq_error *error) AQ_MUST_USE;
int aq_learner_dashboard_create(aq_learner *learner, aq_error *error) AQ_MUST_USE;
void aq_learner_dashboard_destroy(aq_learner *learner);

/* learner_http.c */
int aq_learner_http_create(aq_learner *learner, aq_error *error) AQ_MUST_USE;

/* learner_time.c */
struct json_t *aq_learner_time_metrics(const aq_learner *learner); /* new; NULL without memory */

/* learner_training.c */
int aq_learner_training_create(aq_learner *learner, aq_error *error) AQ_MUST_USE;
int aq_learner_training_start(aq_learner *learner, aq_error *error) AQ_MUST_USE;
void aq_learner_training_stop(aq_learner *learner);
void aq_learner_end_if_diverged(aq_learner *learner);
void aq_learner_training_destroy(aq_learner *learner);

/* learner_restore.c */
int aq_learner_restore(aq_learner *learner, aq_error *error) AQ_MUST_USE;
void aq_learner_checkpoint_gather(aq_learner *learner); /* what the loop knows, for the next one */
void aq_learner_checkpoint_request(aq_learner *learner);

/* The stage's thread, or the loop's once that has ended. */
void aq_learner_checkpoint_write(aq_learner *learner, const aq_algorithm_state *state,
                                 uint64_t step);
void aq_learner_checkpoint_context_fini(aq_checkpoint_context *context);

/* What the stage's thread tells the loop. */
enum aq_report_kind { AQ_REPORT_PUBLICATION, AQ_REPORT_CHECKPOINT, AQ_REPORT_TROUBLE };

typedef struct aq_report {
    enum aq_report_kind kind;
    aq_publication publication; /* PUBLICATION */
    uint64_t step;              /* CHECKPOINT */
    char path[AQ_PATH_MAX];     /* CHECKPOINT: "" when it failed */
    bool wrote_policy;          /* CHECKPOINT */
    uint64_t policy_version;    /* CHECKPOINT: of what was written */
    aq_error error;             /* CHECKPOINT that failed, TROUBLE */
} aq_report;

/* Any thread: hands the report over, or frees it when the loop is too far behind. */
void aq_learner_report(aq_learner *learner, aq_report *report);

#endif
