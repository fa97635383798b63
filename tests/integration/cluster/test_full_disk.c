/*
 * A disk that is full: training goes on, the older checkpoints stay, nothing half-written is left,
 * and once there is room again the next checkpoint is written.
 *
 * The disk is a small one of this process's own, which takes privileges that not every host gives
 * (the test is skipped then); and a limit on the size of the learner's files.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "common/sys/daemon.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/small_disk.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 3000, LEARNER_STEPS = 300 };

/* Larger than a log or the metrics become in a test, smaller than a checkpoint of that network. */
enum { FILE_LIMIT_BYTES = 64 << 10, DISK_BYTES = 4 << 20, WAIT_MS = 2500 };
static const char large_network[] = "learner.hidden=128,128";

/* ---- the run folder ------------------------------------------------------------------------- */

static const aq_buffer *read_checkpoint(const test_cluster *cluster, uint64_t step)
{
    char name[64];
    (void)snprintf(name, sizeof(name), "checkpoints/step-%012" PRIu64 ".aqc", step);
    return file_bytes(file_in(cluster->run_dir, name));
}

static void check_no_temporary_files(const test_cluster *cluster)
{
    assert_int_equal(file_count(cluster->run_dir, ".tmp-"), 0);
    assert_int_equal(file_count(file_in(cluster->run_dir, "checkpoints"), ".tmp-"), 0);
}

/* ---- the facts ------------------------------------------------------------------------------ */

typedef struct growth {
    uint64_t env_steps, learner_steps;
} growth;

static bool has_grown(test_cluster *cluster, void *user)
{
    const growth *wanted = user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->env_steps >= wanted->env_steps &&
           status->learner->learner_steps >= wanted->learner_steps;
}

/* New versions need a number that was reserved on the disk, so they are not asked for. */
static void wait_growth(test_cluster *cluster)
{
    const Actorq__V1__LearnerStatus *now = cluster_look_surely(cluster, SEAT_LEARNER)->learner;
    growth wanted = {now->env_steps + ENV_STEPS, now->learner_steps + LEARNER_STEPS};
    cluster_wait(cluster, "steps on a full disk", has_grown, &wanted);
}

static bool has_stepped(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->env_steps >= *(const uint64_t *)user;
}

typedef void (*disk_fn)(test_cluster *cluster);

static void ride_out(test_cluster *cluster, disk_fn fill, disk_fn make_room)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
    fill(cluster);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=checkpoint_failed");
    uint64_t step = cluster_look_surely(cluster, SEAT_LEARNER)->learner->checkpoint_step;
    const aq_buffer *before = read_checkpoint(cluster, step);
    wait_growth(cluster);
    assert_int_equal(cluster_look_surely(cluster, SEAT_LEARNER)->learner->checkpoint_step, step);
    assert_same_buffers(read_checkpoint(cluster, step), before);

    make_room(cluster);
    cluster_wait_checkpoint(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_finish(cluster);
    check_no_temporary_files(cluster);
}

static const char *filler_of(const test_cluster *cluster)
{
    return file_in(cluster->folder, "disk/filler");
}

static void fill_disk(test_cluster *cluster)
{
    small_disk_fill(filler_of(cluster));
}

static void empty_disk(test_cluster *cluster)
{
    assert_int_equal(unlink(filler_of(cluster)), 0);
}

/* The run's folder is on a small one. */
static void mount_disk(test_cluster *cluster)
{
    const char *disk = file_in(cluster->folder, "disk");
    assert_int_equal(mkdir(disk, 0700), 0);
    if (!small_disk_mount(disk, DISK_BYTES)) {
        cluster_finish(cluster);
        skip();
    }
    (void)snprintf(cluster->run_dir, sizeof(cluster->run_dir), "%s/run", disk);
    cluster_set(cluster, large_network);
}

CLUSTER_TEST(training_survives_a_full_disk, ipc)
{
    mount_disk(cluster);
    ride_out(cluster, fill_disk, empty_disk);
}

/* Then it publishes no version, as it can reserve no number, but goes on with all else. */
CLUSTER_TEST(a_learner_that_dies_on_a_full_disk_starts_again_there, ipc)
{
    mount_disk(cluster);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
    fill_disk(cluster);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=checkpoint_failed");
    cluster_kill(cluster, SEAT_LEARNER);
    shell_succeeds("find '%s' -name '*.tmp-*' -exec touch -d '2 minutes ago' {} +",
                   cluster->run_dir); /* what it was writing */
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=metrics_failed");
    empty_disk(cluster);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_finish(cluster);
    check_no_temporary_files(cluster);
}

static void limit_files(const test_cluster *cluster, rlim_t bytes)
{
    const struct rlimit limit = {bytes, RLIM_INFINITY};
    pid_t learner = cluster->processes[SEAT_LEARNER].pid;
    assert_int_equal(prlimit(learner, RLIMIT_FSIZE, &limit, NULL), 0);
}

static void limit_tightly(test_cluster *cluster)
{
    limit_files(cluster, FILE_LIMIT_BYTES);
}

static void lift_limit(test_cluster *cluster)
{
    limit_files(cluster, RLIM_INFINITY);
}

CLUSTER_TEST(training_survives_a_limit_on_its_files, ipc)
{
    cluster_set(cluster, large_network);
    ride_out(cluster, limit_tightly, lift_limit);
}

/* Asked to end without room for its last checkpoint. */
static void end_without_room(test_cluster *cluster)
{
    cluster_set(cluster, large_network);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
    limit_tightly(cluster);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=checkpoint_failed"); /* of what would be lost */
    cluster->may_end = true;
    daemon_process_signal(&cluster->processes[SEAT_LEARNER], SIGTERM);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=stopping");
    cluster_pause(cluster, WAIT_MS);
    assert_true(daemon_process_runs(&cluster->processes[SEAT_LEARNER]));
}

CLUSTER_TEST(a_last_checkpoint_waits_for_room, ipc)
{
    end_without_room(cluster);
    lift_limit(cluster);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), 0);
    check_no_temporary_files(cluster);
}

/* A call that was answered holds, also where the learner was to end already. */
CLUSTER_TEST(a_run_that_is_stopped_meanwhile_ends_for_all, ipc)
{
    end_without_room(cluster);
    cluster_run_other(cluster, cluster_program("actorq"), "stop", cluster->learner_url,
                      CLUSTER_PATIENT_CALL, NULL);
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 0);
    lift_limit(cluster);
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), 0);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=run_ended state=stopped");
}

/* And whoever starts what has failed brings the run back. */
CLUSTER_TEST(a_learner_without_its_last_checkpoint_fails_and_says_what_is_lost, ipc)
{
    end_without_room(cluster);
    daemon_process_signal(&cluster->processes[SEAT_LEARNER], SIGTERM);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), AQ_EXIT_NOT_KEPT);
    assert_true(
        daemon_process_said(&cluster->processes[SEAT_LEARNER], "so what was learned after step"));
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* Members hear of the end once it is on the disk. */
CLUSTER_TEST(a_run_has_not_ended_for_others_before_its_last_checkpoint, ipc)
{
    cluster_set(cluster, large_network);
    cluster_set(cluster, "limits.env_steps=20000");
    cluster->may_end = true;
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=ready");
    limit_tightly(cluster);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_ACTOR);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=checkpoint_failed");
    uint64_t limit = 20000;
    cluster_wait(cluster, "the limit", has_stepped, &limit);
    cluster_pause(cluster, WAIT_MS);
    assert_true(daemon_process_runs(&cluster->processes[SEAT_ACTOR]));
    assert_int_equal(cluster_look_surely(cluster, SEAT_LEARNER)->state,
                     ACTORQ__V1__RUN_STATE__RUN_STATE_RUNNING);
    lift_limit(cluster);
    assert_int_equal(cluster_wait_end(cluster, SEAT_ACTOR), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_REPLAY), 0);
    assert_int_equal(cluster_wait_end(cluster, SEAT_LEARNER), 0);
}
