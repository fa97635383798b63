/*
 * Cluster: a learner, replay shards, actors and an evaluator as the processes that users run, in a
 * folder of their own below /tmp. Each has a seat; a seat may be started again after its process
 * ended, and the learner then resumes.
 *
 * At the end of a test all are asked to end. One that does not get there has failed, and
 * cluster_tear_down shows the ends of all logs. Either way nothing that was started is left.
 *
 * With AQ_CLUSTER_SECURE=1 in the environment every test over tcp is one with certificates.
 *
 * One thread. All waiting is bounded and on the cluster's loop.
 */
#ifndef AQ_TESTS_INTEGRATION_CLUSTER_CLUSTER_H
#define AQ_TESTS_INTEGRATION_CLUSTER_CLUSTER_H

#include <uv.h>

#include "common/net/rpc/rpc_client.h"
#include "common/net/security/security.h"
#include "proto/operations.pb-c.h"
#include "tests/integration/cluster/daemon_process.h"
#include "tests/support/test.h"

/* How long something may take that should take a moment: sanitizers and crowded machines are
 * slow. */
enum { CLUSTER_PATIENCE_MS = 240000 };

/* CLUSTER_PATIENCE_MS, for commands of actorq that ask a daemon. */
#define CLUSTER_PATIENT_CALL "--timeout-ms", "240000"

enum cluster_seat {
    SEAT_LEARNER,
    SEAT_REPLAY,
    SEAT_REPLAY_2, /* with replay.shards=2 */
    SEAT_ACTOR,
    SEAT_ACTOR_2,
    SEAT_EVALUATOR,
    SEAT_OTHER, /* any other program */
    SEAT_COUNT,
};

enum cluster_transport { CLUSTER_IPC, CLUSTER_TCP };

enum { CLUSTER_SETTINGS_MAX = 48, CLUSTER_URL_MAX = 128, CLUSTER_ACTORS_SEEN_MAX = 256 };
enum { CLUSTER_PORTS = 6 }; /* two each for the learner and two shards: for calls, and for data */

/* What only grows in an actor's life. */
typedef struct cluster_actor_seen {
    uint64_t incarnation;
    uint64_t policy_version;
    uint64_t acknowledged_steps;
} cluster_actor_seen;

typedef struct test_cluster {
    const char *folder;
    char run_dir[96];     /* its own: a test may change it, and its logs are shown after that */
    const char *data_dir; /* of the shard */
    const char *data_dir_2;
    const char *certs_dir;          /* NULL: no certificates */
    aq_security *operator_security; /* what this process looks at daemons with */
    enum cluster_transport transport;
    uint16_t port; /* tcp: of the learner, the first of a few in a row */
    int held_ports[CLUSTER_PORTS];
    int port_count; /* 0 over ipc */
    char learner_url[CLUSTER_URL_MAX];
    char replay_url[CLUSTER_URL_MAX];
    char replay_url_2[CLUSTER_URL_MAX];
    const char *settings[CLUSTER_SETTINGS_MAX]; /* of the learner, KEY=VALUE */
    size_t setting_count;
    daemon_process processes[SEAT_COUNT];
    bool may_end; /* processes may end by themselves, with exit status 0 */
    bool finished;

    uv_loop_t loop;
    uv_timer_t timer;
    struct cluster_watch *watches[SEAT_COUNT]; /* learner and replay; see cluster_watch.c */
    uint64_t policy_version;                   /* the highest that the learner has told */
    cluster_actor_seen actors_seen[CLUSTER_ACTORS_SEEN_MAX];
    size_t actor_seen_count;
} test_cluster;

/* A test of `cluster`, in which nothing is started yet, over ipc, tcp or both:
 *
 *   CLUSTER_TEST(an_actor_drains, both) { cluster_start_three(cluster); ... }
 */
#define CLUSTER_TEST(name, transport)                                                              \
    static void name(test_cluster *cluster);                                                       \
    CLUSTER_TEST_##transport(name) static void name(test_cluster *cluster)

#define CLUSTER_TEST_OVER(name, transport)                                                         \
    TEST_WITH(name##_over_##transport, cluster_set_up_##transport, cluster_tear_down)              \
    {                                                                                              \
        name(*state);                                                                              \
        cluster_finish(*state);                                                                    \
    }
#define CLUSTER_TEST_ipc(name)  CLUSTER_TEST_OVER(name, ipc)
#define CLUSTER_TEST_tcp(name)  CLUSTER_TEST_OVER(name, tcp)
#define CLUSTER_TEST_both(name) CLUSTER_TEST_ipc(name) CLUSTER_TEST_tcp(name)

int cluster_set_up_ipc(void **state);
int cluster_set_up_tcp(void **state);
int cluster_tear_down(void **state);

/* A setting of the learner, such as "limits.env_steps=20000"; the text is not copied. */
void cluster_set(test_cluster *cluster, const char *assignment);

/* From now on everybody has certificates and the token of its role, and this process those of an
 * operator. Before anything is started. */
void cluster_secure(test_cluster *cluster);

void cluster_start(test_cluster *cluster, enum cluster_seat seat);

/* Learner, replay shard and one actor. */
void cluster_start_three(test_cluster *cluster);

/* The file of one of our programs, such as "actorq-learner". */
const char *cluster_program(const char *name);

/* Any program in SEAT_OTHER: strings, then NULL. The first is the file. */
void cluster_run_other(test_cluster *cluster, const char *file, ...) __attribute__((sentinel));

/* kill -9. */
void cluster_kill(test_cluster *cluster, enum cluster_seat seat);

/* Waits until the process has ended by itself; returns its exit code, as daemon_process has it. */
int cluster_wait_end(test_cluster *cluster, enum cluster_seat seat);

/* SIGTERM, and then that. */
int cluster_terminate(test_cluster *cluster, enum cluster_seat seat);

/* Runs the loop for so long. */
void cluster_pause(test_cluster *cluster, unsigned time_ms);

/* Waits until `done` says so, looking every few milliseconds. When that takes too long, or a
 * process ends meanwhile that nobody asked to, the test fails, naming `what` was waited for. */
typedef bool (*cluster_fn)(test_cluster *cluster, void *user);
void cluster_wait(test_cluster *cluster, const char *what, cluster_fn done, void *user);

/* Waits until the process's present life has logged a line with these words. */
void cluster_wait_said(test_cluster *cluster, enum cluster_seat seat, const char *words);

/* Waits until the process has got as far as having threads of its own: it dials or listens. */
void cluster_wait_awake(test_cluster *cluster, enum cluster_seat seat);

/* Terminates all that runs, producers first; each must exit with 0, and no log may hold the report
 * of a sanitizer or an assertion. */
void cluster_finish(test_cluster *cluster);

#endif
