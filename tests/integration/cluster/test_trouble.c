/*
 * Who is missing from a run is said from what its learner really answers, and no longer once it is
 * here.
 */
#include "cli/run/run_trouble.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

static bool is_said(test_cluster *cluster, void *words)
{
    char trouble[AQ_TROUBLE_MAX];
    aq_run_trouble_of(cluster_look_surely(cluster, SEAT_LEARNER), false, trouble);
    return strcmp(trouble, words) == 0;
}

static void wait_for_trouble(test_cluster *cluster, const char *words)
{
    char wanted[AQ_TROUBLE_MAX];
    (void)snprintf(wanted, sizeof(wanted), "%s", words);
    cluster_wait(cluster, words[0] != '\0' ? words : "a run without trouble", is_said, wanted);
}

CLUSTER_TEST(who_is_missing_is_said, ipc)
{
    cluster_start(cluster, SEAT_LEARNER);
    wait_for_trouble(cluster, ""); /* members take their time to join */
    wait_for_trouble(cluster, "no replay shard is in the run");
    cluster_start(cluster, SEAT_REPLAY);
    wait_for_trouble(cluster, "no actor is in the run");
    cluster_start(cluster, SEAT_ACTOR);
    wait_for_trouble(cluster, "");
}
