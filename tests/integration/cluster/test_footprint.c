/*
 * What an actor takes: it is meant to be started by the hundred. Memory is asserted, the time until
 * it acts is shown: it is the machine's as much as the program's.
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
