/*
 * Who is missing from a run is said from what its learner really answers, and no longer once it is
 * here.
 */
#include "cli/run/run_trouble.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { PATIENT_S = 10 };

/* Members take their time to join. A host that was slower than that has not shown it. */
static void expect_patience(test_cluster *cluster)
{
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    char trouble[AQ_TROUBLE_MAX];
    aq_run_trouble_of(status, false, NULL, trouble);
    if (status->uptime_s < PATIENT_S) {
        assert_string_equal(trouble, "");
    }
}

static bool is_said(test_cluster *cluster, void *words)
{
    char trouble[AQ_TROUBLE_MAX];
    aq_run_trouble_of(cluster_look_surely(cluster, SEAT_LEARNER), false, NULL, trouble);
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
    expect_patience(cluster);
    wait_for_trouble(cluster, "no replay shard is in the run");
    cluster_start(cluster, SEAT_REPLAY);
    wait_for_trouble(cluster, "no actor is in the run");
    cluster_start(cluster, SEAT_ACTOR);
    wait_for_trouble(cluster, "");
}
