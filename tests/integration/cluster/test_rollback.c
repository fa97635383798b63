/*
 * Folders that were put back from older copies of themselves while the others live: what they do
 * not know of is said, and the run goes on.
 */
#include "common/base/parse.h"
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 2000, LEARNER_STEPS = 100, VERSIONS_BLOCK = 1024 };

static void copy_folder(const char *from, const char *to)
{
    shell_succeeds("rm -rf '%s' && cp -r '%s' '%s'", to, from, to);
}

/* Of a folder that nobody uses. */
static const char *keep_copy(const char *folder)
{
    static char copy[256];
    assert_int_equal(aq_text_format(copy, sizeof(copy), "%s.copy", folder), 0);
    copy_folder(folder, copy);
    return copy;
}

static bool has_acknowledged_more(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, SEAT_ACTOR) : NULL;
    return member != NULL && member->actor != NULL &&
           member->actor->acknowledged_steps > *(uint64_t *)user;
}

/* Waits until the only actor knows steps to be acknowledged that the only shard did not have when
 * this was called. The learner's count would not show that: it lags behind the shard's. */
static void wait_acknowledged(test_cluster *cluster)
{
    uint64_t inserted = cluster_inserted(cluster, SEAT_REPLAY);
    cluster_wait(cluster, "acknowledged steps", has_acknowledged_more, &inserted);
}

CLUSTER_TEST(senders_tell_what_a_store_has_lost, ipc)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    assert_int_equal(cluster_terminate(cluster, SEAT_REPLAY), 0);
    const char *copy = keep_copy(cluster->data_dir);
    cluster_start(cluster, SEAT_REPLAY);
    wait_acknowledged(cluster);
    cluster_kill(cluster, SEAT_REPLAY);
    copy_folder(copy, cluster->data_dir);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_wait_said(cluster, SEAT_REPLAY, "event=messages_missing");
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
}

/* Each life is killed, so it skips the rest of a block of versions, and a third would take the
 * second's again. It has no shard at first, so it publishes one version until the actor joins. */
CLUSTER_TEST(a_learner_goes_on_above_the_versions_that_an_actor_has, ipc)
{
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_kill(cluster, SEAT_LEARNER);
    const char *copy = keep_copy(cluster->run_dir);
    for (uint64_t life = 1; life <= 2; life++) {
        cluster_start(cluster, SEAT_LEARNER);
        cluster_wait_newer(cluster, SEAT_ACTOR, life * VERSIONS_BLOCK);
        cluster_kill(cluster, SEAT_LEARNER);
    }
    assert_int_equal(cluster_terminate(cluster, SEAT_REPLAY), 0);
    copy_folder(copy, cluster->run_dir);
    const uint64_t version = cluster->policy_version;
    cluster->policy_version = 0;
    cluster_start(cluster, SEAT_LEARNER);
    cluster_wait_member(cluster, SEAT_ACTOR);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_wait_said(cluster, SEAT_LEARNER, "event=versions_behind");
    cluster_wait_newer(cluster, SEAT_ACTOR, version);
}
