/*
 * One RPC client for each of the daemons that answer; it goes on dialling over their restarts.
 */
#include <inttypes.h>

#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { LOOK_TIMEOUT_MS = 5000, STATUS_BYTES_MAX = 16 << 20 };

struct cluster_watch {
    aq_rpc_client *client;
    aq_rpc_stub stub;
    bool is_calling;
    Actorq__V1__StatusReply *status; /* the last answer; NULL: there was none */
};

static struct cluster_watch *watch_of(test_cluster *cluster, enum cluster_seat seat)
{
    const aq_net_limits limits = {
        .message_bytes_max = STATUS_BYTES_MAX,
        .reconnect_min_ms = 5,
        .reconnect_max_ms = 50,
        .security = cluster->operator_security,
    };
    struct cluster_watch *watch = cluster->watches[seat];
    if (watch != NULL) {
        return watch;
    }
    assert_true(seat == SEAT_LEARNER || seat == SEAT_REPLAY || seat == SEAT_REPLAY_2);
    watch = aq_alloc(1, sizeof(*watch));
    assert_non_null(watch);
    const char *url = seat == SEAT_LEARNER  ? cluster->learner_url
                      : seat == SEAT_REPLAY ? cluster->replay_url
                                            : cluster->replay_url_2;
    assert_int_equal(aq_rpc_client_create(&cluster->loop, url, &limits, 1, &watch->client, NULL),
                     0);
    aq_rpc_stub_init(&watch->stub, aq_rpc_client_channel(watch->client),
                     &actorq__v1__operations__descriptor, LOOK_TIMEOUT_MS);
    cluster->watches[seat] = watch;
    return watch;
}

void cluster_watch_close(test_cluster *cluster, enum cluster_seat seat)
{
    struct cluster_watch *watch = cluster->watches[seat];
    if (watch != NULL) {
        aq_rpc_client_close(watch->client);
        actorq__v1__status_reply__free_unpacked(watch->status, NULL);
        aq_free(watch);
        cluster->watches[seat] = NULL;
    }
}

/* ---- what holds always ---------------------------------------------------------------------- */

static cluster_actor_seen *seen_before(test_cluster *cluster, uint64_t incarnation)
{
    for (size_t i = 0; i < cluster->actor_seen_count; i++) {
        if (cluster->actors_seen[i].incarnation == incarnation) {
            return &cluster->actors_seen[i];
        }
    }
    assert_true(cluster->actor_seen_count < CLUSTER_ACTORS_SEEN_MAX);
    cluster_actor_seen *seen = &cluster->actors_seen[cluster->actor_seen_count++];
    *seen = (cluster_actor_seen){.incarnation = incarnation};
    return seen;
}

static void check_grows(const char *what, uint64_t before, uint64_t now)
{
    if (now < before) {
        fail_msg("%s fell from %" PRIu64 " to %" PRIu64, what, before, now);
    }
}

static void check_actor(test_cluster *cluster, const Actorq__V1__MemberStatus *member)
{
    const Actorq__V1__ActorStats *stats = member->actor;
    cluster_actor_seen *seen = seen_before(cluster, member->incarnation);
    check_grows("an actor's policy version", seen->policy_version, stats->policy_version);
    check_grows("an actor's acknowledged steps", seen->acknowledged_steps,
                stats->acknowledged_steps);
    assert_true(stats->shard_steps <= stats->acknowledged_steps);
    assert_true(stats->acknowledged_steps <= stats->env_steps);
    seen->policy_version = stats->policy_version;
    seen->acknowledged_steps = stats->acknowledged_steps;
}

static void check_learner(test_cluster *cluster, const Actorq__V1__StatusReply *status)
{
    uint64_t version = status->learner->policy_version;
    if (version != 0) { /* a restarted learner has none yet */
        check_grows("the learner's policy version", cluster->policy_version, version);
        cluster->policy_version = version;
    }
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__MemberStatus *member = status->members[i];
        if (member->role == ACTORQ__V1__ROLE__ROLE_ACTOR && member->actor != NULL) {
            check_actor(cluster, member);
        }
    }
}

/* ---- looking -------------------------------------------------------------------------------- */

/* The reply belongs to the call, so it is copied by way of its bytes. */
static void on_status(const Actorq__V1__StatusReply *reply, void *user)
{
    struct cluster_watch *watch = user;
    watch->is_calling = false;
    if (reply != NULL) {
        size_t size = actorq__v1__status_reply__get_packed_size(reply);
        uint8_t *bytes = aq_alloc(size, 1);
        assert_non_null(bytes);
        (void)actorq__v1__status_reply__pack(reply, bytes);
        watch->status = actorq__v1__status_reply__unpack(NULL, size, bytes);
        aq_free(bytes);
    }
}

const Actorq__V1__StatusReply *cluster_look(test_cluster *cluster, enum cluster_seat seat)
{
    const Actorq__V1__StatusRequest request = ACTORQ__V1__STATUS_REQUEST__INIT;
    struct cluster_watch *watch = watch_of(cluster, seat);
    actorq__v1__status_reply__free_unpacked(watch->status, NULL);
    watch->status = NULL;
    watch->is_calling = true;
    actorq__v1__operations__status(&watch->stub.base, &request, on_status, watch);
    while (watch->is_calling) { /* its deadline ends it */
        (void)uv_run(&cluster->loop, UV_RUN_ONCE);
    }
    if (watch->status != NULL && seat == SEAT_LEARNER) {
        assert_non_null(watch->status->learner);
        check_learner(cluster, watch->status);
    }
    return watch->status;
}

static bool answers(test_cluster *cluster, void *user)
{
    return cluster_look(cluster, *(enum cluster_seat *)user) != NULL;
}

const Actorq__V1__StatusReply *cluster_look_surely(test_cluster *cluster, enum cluster_seat seat)
{
    cluster_wait(cluster, "an answer to Status", answers, &seat);
    return cluster->watches[seat]->status;
}

const Actorq__V1__MemberStatus *cluster_member(const test_cluster *cluster,
                                               const Actorq__V1__StatusReply *status,
                                               enum cluster_seat seat)
{
    const pid_t pid = cluster->processes[seat].pid;
    for (size_t i = 0; i < status->n_members; i++) {
        if ((pid_t)status->members[i]->pid == pid) {
            return status->members[i];
        }
    }
    return NULL;
}

static bool is_member(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && cluster_member(cluster, status, *(enum cluster_seat *)user) != NULL;
}

void cluster_wait_member(test_cluster *cluster, enum cluster_seat seat)
{
    cluster_wait(cluster, "a member in the learner's list", is_member, &seat);
}

static bool has_stepped(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, *(enum cluster_seat *)user) : NULL;
    return member != NULL && member->actor != NULL && member->actor->env_steps > 0;
}

void cluster_wait_stepped(test_cluster *cluster, enum cluster_seat actor)
{
    cluster_wait(cluster, "an actor's first steps", has_stepped, &actor);
}

/* ---- progress ------------------------------------------------------------------------------- */

typedef struct milestones {
    uint64_t env_steps, learner_steps, policy_version;
} milestones;

static bool is_past(test_cluster *cluster, void *user)
{
    const milestones *wanted = user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->env_steps >= wanted->env_steps &&
           status->learner->learner_steps >= wanted->learner_steps &&
           status->learner->policy_version >= wanted->policy_version;
}

void cluster_wait_progress(test_cluster *cluster, uint64_t env_steps, uint64_t learner_steps)
{
    const Actorq__V1__LearnerStatus *now = cluster_look_surely(cluster, SEAT_LEARNER)->learner;
    milestones wanted = {
        .env_steps = now->env_steps + test_rounds(env_steps),
        .learner_steps = now->learner_steps + test_rounds(learner_steps),
        .policy_version = cluster->policy_version + 1,
    };
    cluster_wait(cluster, "progress", is_past, &wanted);
}

static bool has_checkpoint_past(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    return status != NULL && status->learner->checkpoint_step > *(uint64_t *)user;
}

void cluster_wait_checkpoint(test_cluster *cluster)
{
    uint64_t step = cluster_look_surely(cluster, SEAT_LEARNER)->learner->checkpoint_step;
    cluster_wait(cluster, "a newer checkpoint", has_checkpoint_past, &step);
}

void cluster_start_well(test_cluster *cluster, uint64_t env_steps, uint64_t learner_steps)
{
    cluster_start_three(cluster);
    cluster_wait_progress(cluster, env_steps, learner_steps);
}

void cluster_check_failed(test_cluster *cluster, const char *words, const char *more_words)
{
    assert_int_equal(cluster_wait_end(cluster, SEAT_OTHER), 1);
    char *log = daemon_process_log(&cluster->processes[SEAT_OTHER], false);
    at_end(aq_free, log);
    const char *last = log;
    for (const char *at = log; (at = strchr(at, '\n')) != NULL && at[1] != '\0'; at++) {
        last = at + 1;
    }
    assert_says(last, words);
    assert_says(last, more_words);
}

typedef struct follower {
    enum cluster_seat seat;
    uint64_t version;
} follower;

static bool uses_newer(test_cluster *cluster, void *user)
{
    const follower *it = user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, it->seat) : NULL;
    return member != NULL && member->actor != NULL && member->actor->policy_version > it->version;
}

void cluster_wait_newer(test_cluster *cluster, enum cluster_seat actor, uint64_t version)
{
    follower it = {actor, version};
    cluster_wait(cluster, "an actor to use a newer version", uses_newer, &it);
}
