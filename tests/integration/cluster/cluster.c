/*
 * Seats, their arguments, waiting, and an end that leaves nothing behind.
 */
#include <dirent.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#include "common/net/security/certs_folder.h"
#include "tests/integration/cluster/cluster.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { LOOK_MS = 5, PORT_TRIES = 200 };

/* Below those of dashboards, and of the range from which the system hands out ports by itself. */
enum { PORT_MIN = 10000, PORT_MAX = 19990 };

static const char *const seat_names[SEAT_COUNT] = {
    "learner", "replay", "replay-2", "actor", "actor-2", "evaluator", "other",
};

/* Small and quick, so that a second shows as much as a minute of an ordinary run. A run that is
 * solved would end. */
static const char *const quick_settings[] = {
    "seed=1",
    "learner.hidden=16",
    "learner.batch_size=32",
    "learner.checkpoint_period_s=0.2",
    "replay.min_size=200",
    "replay.samples_per_insert=8",
    "replay.tolerance=500",
    "actor.envs=4",
    "quantizer.publish_period=20",
    "evaluator.threshold=100000",
    "limits.env_steps=1000000000",
    "net.heartbeat_ms=50",
    "net.member_timeout_ms=30000", /* whoever lives is heard within it on any machine */
    "net.reconnect_min_ms=20",
    "net.reconnect_max_ms=200",
};

/* ---- addresses ------------------------------------------------------------------------------ */

/* Binds the next port and does not listen at it. Daemons bind with SO_REUSEADDR, so that they can
 * still do both; the cluster of another test binds without, and finds it taken. */
static bool reserve_next(test_cluster *cluster)
{
    static const int yes = 1;
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_port = htons((uint16_t)(cluster->port + cluster->port_count));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(held >= 0);
    if (bind(held, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)close(held);
        return false;
    }
    assert_int_equal(setsockopt(held, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
    cluster->held_ports[cluster->port_count++] = held;
    return true;
}

static void release_ports(test_cluster *cluster)
{
    while (cluster->port_count > 0) {
        (void)close(cluster->held_ports[--cluster->port_count]);
    }
}

/* Free ports in a row, which are the cluster's until it is torn down. */
static void reserve_ports(test_cluster *cluster)
{
    aq_rng rng = rng_of(aq_rng_system_seed(), 0);
    for (int i = 0; i < PORT_TRIES; i++) {
        cluster->port = (uint16_t)(PORT_MIN + aq_rng_below(&rng, PORT_MAX - PORT_MIN));
        while (cluster->port_count < CLUSTER_PORTS && reserve_next(cluster)) {
        }
        if (cluster->port_count == CLUSTER_PORTS) {
            return;
        }
        release_ports(cluster);
    }
    fail_msg("no %d free ports in a row", CLUSTER_PORTS);
}

static void choose_urls(test_cluster *cluster)
{
    if (cluster->transport == CLUSTER_TCP) {
        reserve_ports(cluster);
        (void)snprintf(cluster->learner_url, CLUSTER_URL_MAX, "tcp://127.0.0.1:%u", cluster->port);
        (void)snprintf(cluster->replay_url, CLUSTER_URL_MAX, "tcp://127.0.0.1:%u",
                       cluster->port + 2u);
        (void)snprintf(cluster->replay_url_2, CLUSTER_URL_MAX, "tcp://127.0.0.1:%u",
                       cluster->port + 4u);
    } else {
        (void)snprintf(cluster->learner_url, CLUSTER_URL_MAX, "ipc://%s/learner", cluster->folder);
        (void)snprintf(cluster->replay_url, CLUSTER_URL_MAX, "ipc://%s/replay", cluster->folder);
        (void)snprintf(cluster->replay_url_2, CLUSTER_URL_MAX, "ipc://%s/second", cluster->folder);
    }
}

/* ---- set up and tear down ------------------------------------------------------------------- */

static int set_up(void **state, enum cluster_transport transport)
{
    test_cluster *made = aq_alloc(1, sizeof(*made));
    assert_non_null(made);
    (void)unsetenv("ACTORQ_LOG"); /* the logs are read */
    (void)setenv("LSAN_OPTIONS",
                 "suppressions='" AQ_TEST_SOURCE_ROOT "/tests/leaks.supp':print_suppressions=0", 0);
    (void)setenv("TSAN_OPTIONS", "suppressions='" AQ_TEST_SOURCE_ROOT "/tests/tsan.supp'", 0);
    made->transport = transport;
    made->folder = file_folder();
    (void)snprintf(made->run_dir, sizeof(made->run_dir), "%s/run", made->folder);
    made->data_dir = file_in(made->folder, "replay-0");
    made->data_dir_2 = file_in(made->folder, "replay-1");
    choose_urls(made);
    for (size_t i = 0; i < sizeof(quick_settings) / sizeof(quick_settings[0]); i++) {
        cluster_set(made, quick_settings[i]);
    }
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        daemon_process_init(&made->processes[seat], made->folder, seat_names[seat]);
    }
    assert_int_equal(uv_loop_init(&made->loop), 0);
    assert_int_equal(uv_timer_init(&made->loop, &made->timer), 0);
    if (transport == CLUSTER_TCP && getenv("AQ_CLUSTER_SECURE") != NULL) {
        cluster_secure(made);
    }
    *state = made;
    return 0;
}

int cluster_set_up_ipc(void **state)
{
    return set_up(state, CLUSTER_IPC);
}

int cluster_set_up_tcp(void **state)
{
    return set_up(state, CLUSTER_TCP);
}

typedef void (*log_fn)(const char *path);

/* The logs of all seats, and those that `actorq train` keeps of its daemons, if there was one. */
static void for_each_log(const test_cluster *cluster, log_fn visit)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        if (cluster->processes[seat].lives > 0) {
            visit(cluster->processes[seat].log_path);
        }
    }
    const char *folder = file_in(cluster->run_dir, "logs");
    DIR *logs = opendir(folder);
    for (const struct dirent *entry; logs != NULL && (entry = readdir(logs)) != NULL;) {
        if (entry->d_name[0] != '.') {
            visit(file_in(folder, entry->d_name));
        }
    }
    if (logs != NULL) {
        (void)closedir(logs);
    }
}

static void check_no_fault(const char *path)
{
    const char *fault = daemon_log_fault(path);
    if (fault != NULL) {
        fail_msg("%s tells of: %s", path, fault);
    }
}

static void show_all(const test_cluster *cluster)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        if (cluster->processes[seat].lives > 0) {
            daemon_process_print(&cluster->processes[seat]);
        }
    }
    for_each_log(cluster, daemon_log_print_tail);
}

static void close_watches(test_cluster *cluster)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        cluster_watch_close(cluster, seat);
    }
}

int cluster_tear_down(void **state)
{
    test_cluster *torn = *state;
    bool is_complete = torn->finished;
    if (!is_complete) {
        show_all(torn);
    }
    close_watches(torn);
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        daemon_process_kill(&torn->processes[seat]);
    }
    release_ports(torn);
    if (!is_complete) {
        return -1; /* what a failed test has opened itself is open still, and uses the loop */
    }
    uv_close((uv_handle_t *)&torn->timer, NULL);
    (void)uv_run(&torn->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&torn->loop);
    aq_security_destroy(torn->operator_security);
    aq_free(torn);
    return 0;
}

/* ---- starting ------------------------------------------------------------------------------- */

void cluster_set(test_cluster *cluster, const char *assignment)
{
    assert_true(cluster->setting_count < CLUSTER_SETTINGS_MAX);
    cluster->settings[cluster->setting_count++] = assignment;
}

void cluster_secure(test_cluster *cluster)
{
    cluster->certs_dir = file_in(cluster->folder, "certs");
    const aq_daemon_options operator_options = {.certs_dir =
                                                    file_in(cluster->certs_dir, "operator")};
    if (aq_certs_folder_make(cluster->certs_dir, (int64_t)time(NULL), 7, &refusal) < 0 ||
        aq_security_load(&operator_options, AQ_ACCESS_NONE, &cluster->operator_security, &refusal) <
            0) {
        fail_msg("%s", refusal.text);
    }
}

const char *cluster_program(const char *name)
{
    static const char *const folders[] = {"learner", "replay", "actor", "cli"};
    static char path[4096];
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s/%s", AQ_TEST_BUILD_ROOT, folders[i], name);
        if (access(path, X_OK) == 0) {
            return path;
        }
    }
    fail_msg("%s is not built", name);
    return NULL;
}

typedef struct argument_list {
    const char *argv[DAEMON_ARGUMENTS_MAX + CLUSTER_SETTINGS_MAX * 2];
    size_t count;
} argument_list;

static void add(argument_list *list, const char *name, const char *value)
{
    list->argv[list->count++] = name;
    if (value != NULL) {
        list->argv[list->count++] = value;
    }
}

static void add_learner(const test_cluster *cluster, argument_list *list)
{
    list->argv[0] = cluster_program("actorq-learner");
    add(list, "--listen", cluster->learner_url);
    add(list, "--run", cluster->run_dir);
    for (size_t i = 0; i < cluster->setting_count; i++) {
        add(list, "--set", cluster->settings[i]);
    }
    if (cluster->processes[SEAT_LEARNER].lives > 0) {
        add(list, "--resume", NULL);
    }
}

static const char *seat_role(enum cluster_seat seat)
{
    return seat == SEAT_LEARNER                           ? "learner"
           : seat == SEAT_REPLAY || seat == SEAT_REPLAY_2 ? "replay"
           : seat == SEAT_EVALUATOR                       ? "evaluator"
                                                          : "actor";
}

void cluster_start(test_cluster *cluster, enum cluster_seat seat)
{
    char parent[24]; /* whatever becomes of this process, its daemons end with it */
    argument_list list = {.count = 1};
    (void)snprintf(parent, sizeof(parent), "%d", (int)getpid());
    add(&list, "--parent", parent);
    switch (seat) {
    case SEAT_LEARNER:
        add_learner(cluster, &list);
        break;
    case SEAT_REPLAY:
    case SEAT_REPLAY_2:
        list.argv[0] = cluster_program("actorq-replay");
        add(&list, "--learner", cluster->learner_url);
        add(&list, "--listen", seat == SEAT_REPLAY ? cluster->replay_url : cluster->replay_url_2);
        add(&list, "--data", seat == SEAT_REPLAY ? cluster->data_dir : cluster->data_dir_2);
        break;
    case SEAT_ACTOR:
    case SEAT_ACTOR_2:
    case SEAT_EVALUATOR:
        list.argv[0] = cluster_program("actorq-actor");
        add(&list, "--learner", cluster->learner_url);
        if (seat == SEAT_EVALUATOR) {
            add(&list, "--evaluate", NULL);
        }
        break;
    default:
        fail_msg("seat %d has no program of its own", (int)seat);
    }
    if (cluster->certs_dir != NULL) {
        add(&list, "--certs", file_in(cluster->certs_dir, seat_role(seat)));
    }
    daemon_process_start(&cluster->processes[seat], list.argv);
}

void cluster_start_three(test_cluster *cluster)
{
    cluster_start(cluster, SEAT_LEARNER);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_ACTOR);
}

void cluster_run_other(test_cluster *cluster, const char *file, ...)
{
    argument_list list = {.argv = {file}, .count = 1};
    va_list more;
    va_start(more, file);
    do {
        assert_true(list.count < DAEMON_ARGUMENTS_MAX);
        list.argv[list.count] = va_arg(more, const char *);
    } while (list.argv[list.count++] != NULL);
    va_end(more);
    daemon_process_start(&cluster->processes[SEAT_OTHER], list.argv);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void on_time(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

void cluster_pause(test_cluster *cluster, unsigned time_ms)
{
    uv_update_time(&cluster->loop);
    assert_int_equal(uv_timer_start(&cluster->timer, on_time, time_ms, 0), 0);
    (void)uv_run(&cluster->loop, UV_RUN_DEFAULT);
}

/* Fails the test when a process has ended that was to run on. */
static void check_alive(test_cluster *cluster, enum cluster_seat expected, const char *what)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        daemon_process *process = &cluster->processes[seat];
        bool ran = process->pid != 0;
        if (ran && !daemon_process_runs(process) && seat != (int)expected &&
            !(cluster->may_end && process->exit_code == 0)) {
            fail_msg("%s ended by itself with %d while waiting for: %s", process->name,
                     process->exit_code, what);
        }
    }
}

static void wait_for(test_cluster *cluster, const char *what, cluster_fn done, void *user,
                     enum cluster_seat may_end)
{
    const int64_t late_ns = aq_clock_monotonic_ns() + CLUSTER_PATIENCE_MS * AQ_NS_PER_MS;
    while (!done(cluster, user)) {
        if (aq_clock_monotonic_ns() > late_ns) {
            fail_msg("waited for %d ms in vain for: %s", CLUSTER_PATIENCE_MS, what);
        }
        check_alive(cluster, may_end, what);
        cluster_pause(cluster, LOOK_MS);
    }
}

void cluster_wait(test_cluster *cluster, const char *what, cluster_fn done, void *user)
{
    wait_for(cluster, what, done, user, SEAT_COUNT);
}

typedef struct words_wanted {
    const daemon_process *process;
    const char *words;
} words_wanted;

static bool is_said(test_cluster *cluster, void *user)
{
    const words_wanted *wanted = user;
    (void)cluster;
    return daemon_process_said(wanted->process, wanted->words);
}

void cluster_wait_said(test_cluster *cluster, enum cluster_seat seat, const char *words)
{
    words_wanted wanted = {&cluster->processes[seat], words};
    cluster_wait(cluster, words, is_said, &wanted);
}

static bool is_awake(test_cluster *cluster, void *user)
{
    const daemon_process *process = user;
    (void)cluster;
    return process_figure(process->pid, "Threads") > 1;
}

void cluster_wait_awake(test_cluster *cluster, enum cluster_seat seat)
{
    cluster_wait(cluster, "threads of its own", is_awake, &cluster->processes[seat]);
}

static bool has_ended(test_cluster *cluster, void *user)
{
    (void)cluster;
    return !daemon_process_runs(user);
}

int cluster_wait_end(test_cluster *cluster, enum cluster_seat seat)
{
    daemon_process *process = &cluster->processes[seat];
    assert_true(process->lives > 0);
    wait_for(cluster, "the end of a process", has_ended, process, seat);
    return process->exit_code;
}

/* ---- ending --------------------------------------------------------------------------------- */

void cluster_kill(test_cluster *cluster, enum cluster_seat seat)
{
    assert_true(daemon_process_runs(&cluster->processes[seat]));
    daemon_process_kill(&cluster->processes[seat]);
}

int cluster_terminate(test_cluster *cluster, enum cluster_seat seat)
{
    daemon_process_signal(&cluster->processes[seat], SIGTERM);
    return cluster_wait_end(cluster, seat);
}

void cluster_finish(test_cluster *cluster)
{
    static const enum cluster_seat order[] = {SEAT_OTHER,   SEAT_EVALUATOR, SEAT_ACTOR,
                                              SEAT_ACTOR_2, SEAT_REPLAY,    SEAT_REPLAY_2,
                                              SEAT_LEARNER};
    if (cluster->finished) {
        return;
    }
    close_watches(cluster); /* they would dial whoever has ended */
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        daemon_process *process = &cluster->processes[order[i]];
        if (daemon_process_runs(process) && cluster_terminate(cluster, order[i]) != 0) {
            fail_msg("%s, asked to end, ended with %d", process->name, process->exit_code);
        }
    }
    for_each_log(cluster, check_no_fault);
    cluster->finished = true;
}
