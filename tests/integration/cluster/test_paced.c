/*
 * A paced run of real daemons: PPO learns CartPole from steps of the newest version and no other,
 * whoever comes and goes meanwhile.
 */
#include <jansson.h>

#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum { ENV_STEPS = 1000, LEARNER_STEPS = 50, RETURN_ENOUGH = 120, LINE_BYTES = 65536 };

/* Before a member that is silent is given up, whoever waits for that has failed. */
static const char *const settings[] = {
    "learner.algorithm=ppo",        "learner.hidden=32",
    "learner.activation=tanh",      "learner.learning_rate=0.003",
    "learner.gae_lambda=0.8",       "learner.epochs=10",
    "learner.minibatches=2",        "learner.lag_max=0",
    "learner.audit_rows=1",         "learner.group_steps=256",
    "replay.selector=queue",        "replay.samples_per_insert=0",
    "replay.sequence_length=32",    "replay.sequence_period=32",
    "replay.chunk_length=32",       "actor.random_first=false",
    "net.member_timeout_ms=600000",
};

static const Actorq__V1__LearnerStatus *learner_of(test_cluster *cluster)
{
    return cluster_look_surely(cluster, SEAT_LEARNER)->learner;
}

static double metric_of(const Actorq__V1__LearnerStatus *learner, const char *name)
{
    for (size_t i = 0; i < learner->n_metrics; i++) {
        if (strcmp(learner->metrics[i]->name, name) == 0) {
            return learner->metrics[i]->value;
        }
    }
    fail_msg("there is no metric %s", name);
    return NAN;
}

/* Once a second it is told what came of the rows. */
static bool has_told(test_cluster *cluster, void *user)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    (void)user;
    return status != NULL && status->learner->replay_use->staleness[0] > 0;
}

/* Rows of the newest version are in the first bin. */
static void check_staleness(const Actorq__V1__LearnerStatus *learner)
{
    const Actorq__V1__ReplayUseStatus *use = learner->replay_use;
    for (size_t i = 1; i < use->n_staleness; i++) {
        assert_int_equal(use->staleness[i], 0);
    }
}

/* As the run's own files say it. */
static void check_metrics_file(const test_cluster *cluster)
{
    static char line[LINE_BYTES];
    unsigned lines = 0;
    FILE *file = fopen(file_in(cluster->run_dir, "metrics.jsonl"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        json_t *said = json_loads(line, 0, NULL);
        const json_t *staleness = json_object_get(said, "staleness");
        if (json_is_number(staleness)) {
            assert_true(json_number_value(staleness) == 0);
            lines++;
        }
        json_decref(said);
    }
    (void)fclose(file);
    assert_true(lines > 0);
}

/* What the second actor tells of itself; NULL: nothing yet. */
static const Actorq__V1__ActorStats *second_actor(test_cluster *cluster)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, SEAT_ACTOR_2) : NULL;
    return member != NULL ? member->actor : NULL;
}

static bool has_delivered(test_cluster *cluster, void *user)
{
    const Actorq__V1__ActorStats *stats = second_actor(cluster);
    (void)user;
    return stats != NULL && stats->acknowledged_steps >= ENV_STEPS;
}

static bool has_learned(test_cluster *cluster, void *user)
{
    const Actorq__V1__ActorStats *stats = second_actor(cluster);
    (void)user;
    return stats != NULL && stats->return_mean >= RETURN_ENOUGH;
}

static void set_all(test_cluster *cluster)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        cluster_set(cluster, settings[i]);
    }
}

CLUSTER_TEST(what_is_learned_from_is_of_the_newest_version_whoever_comes_and_goes, ipc)
{
    set_all(cluster);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_wait(cluster, "steps of the actor that joined", has_delivered, NULL);
    cluster_kill(cluster, SEAT_ACTOR);
    cluster_wait_progress(cluster, 4 * ENV_STEPS, 4 * LEARNER_STEPS);
    cluster_wait(cluster, "a return", has_learned, NULL);
    cluster_wait(cluster, "a line of metrics", has_told, NULL);
    const Actorq__V1__LearnerStatus *learner = learner_of(cluster);
    check_staleness(learner);
    assert_true(metric_of(learner, "audited_rows") > 0);
    assert_true(metric_of(learner, "audit_different") == 0);
    check_metrics_file(cluster);
}

/* ---- an actor that is stopped ---------------------------------------------------------------- */

static bool has_gone_on(test_cluster *cluster, void *user)
{
    const Actorq__V1__ActorStats *stats = second_actor(cluster);
    return stats != NULL && stats->acknowledged_steps > *(uint64_t *)user;
}

CLUSTER_TEST(an_actor_that_is_stopped_holds_nobody_up_and_goes_on, ipc)
{
    set_all(cluster);
    cluster_start_well(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_wait(cluster, "steps of the actor that joined", has_delivered, NULL);
    daemon_process_signal(&cluster->processes[SEAT_ACTOR_2], SIGSTOP);
    cluster_wait_progress(cluster, 20 * ENV_STEPS, 20 * LEARNER_STEPS);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    uint64_t before = cluster_member(cluster, status, SEAT_ACTOR_2)->actor->acknowledged_steps;
    daemon_process_signal(&cluster->processes[SEAT_ACTOR_2], SIGCONT);
    cluster_wait(cluster, "steps of the actor that was stopped", has_gone_on, &before);
    check_staleness(learner_of(cluster));
}

/* ---- processors ----------------------------------------------------------------------------- */

/* On a processor that can no more than this. */
static void start_on(test_cluster *cluster, enum cluster_seat seat, const char *rung)
{
    (void)setenv("ACTORQ_CPU", rung, 1);
    cluster_start(cluster, seat);
    (void)unsetenv("ACTORQ_CPU");
}

static bool has_audited(test_cluster *cluster, void *user)
{
    (void)user;
    return metric_of(learner_of(cluster), "audited_rows") >= 4 * ENV_STEPS;
}

CLUSTER_TEST(what_actors_drew_on_one_rung_a_learner_finds_again_on_another, ipc)
{
    set_all(cluster);
    start_on(cluster, SEAT_LEARNER, "avx2");
    cluster_start(cluster, SEAT_REPLAY);
    start_on(cluster, SEAT_ACTOR, "scalar");
    start_on(cluster, SEAT_ACTOR_2, "avx512vnni");
    cluster_wait(cluster, "steps of the second actor", has_delivered, NULL);
    cluster_wait(cluster, "audited rows", has_audited, NULL);
    const Actorq__V1__LearnerStatus *learner = learner_of(cluster);
    assert_true(metric_of(learner, "audit_different") == 0);
}
