/*
 * What an actor takes: it is meant to be started by the hundred. Memory is asserted, the time until
 * it acts is shown: it is the machine's as much as the program's. And what it says when it may not
 * take that.
 */
#include <inttypes.h>

#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { RESIDENT_KB_MAX = 25 * 1024 };

CLUSTER_TEST(an_actor_is_small_and_ready_soon, both)
{
    char line[1024];
    cluster_set(cluster, "learner.hidden=256,256");
    cluster_set(cluster, "actor.envs=16");
    cluster_set(cluster, "replay.tolerance=2000");
    cluster_start(cluster, SEAT_LEARNER);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_wait_member(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_ACTOR);
    cluster_wait_progress(cluster, 5000, 500);
    assert_true(
        daemon_process_line(&cluster->processes[SEAT_ACTOR], "event=ready", line, sizeof(line)));
    uint64_t most_kb = process_figure(cluster->processes[SEAT_ACTOR].pid, "VmHWM");
    uint64_t private_kb = process_figure(cluster->processes[SEAT_ACTOR].pid, "RssAnon");
    print_message("ready %" PRIu64 " ms after its start (100 is the aim); at most %.1f MB "
                  "resident, %.1f MB of it its own\n",
                  daemon_line_number(line, "startup_ms"), (double)most_kb / 1024,
                  (double)private_kb / 1024);
    assert_in_range(most_kb, 1, RESIDENT_KB_MAX);
}

/* Each thread takes 8 MB of addresses, so these have room for some of NNG's. */
CLUSTER_TEST(who_may_not_have_all_threads_says_so_and_ends, ipc)
{
    static const char *const limits_kb[] = {"30000", "40000", "50000", "60000", "70000"};
    EACH_ROW(i, limits_kb) {
        cluster_run_other(cluster, "/bin/sh", "-c", "ulimit -s 8192; ulimit -v $0; exec \"$@\"",
                          limits_kb[i], cluster_program("actorq-actor"), "--learner",
                          cluster->learner_url, NULL);
        cluster_check_failed(cluster, "actorq-actor: no threads for NNG", "unavailable");
    }
}
