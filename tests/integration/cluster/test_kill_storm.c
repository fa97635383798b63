/*
 * Kill storm: learner and shard are killed again and again at random moments under load, and
 * started again; two actors live through it all. What must hold throughout:
 *
 *   - nobody ends but by our hand, and no sanitizer has anything to say;
 *   - what an actor knew to be acknowledged before the shard was killed is there after its restart;
 *   - at the end the shard has received from each actor all its steps and no others, and the
 *     learner has counted each once;
 *   - the run still learns.
 *
 * A long one, of 300 kills over each transport, best with the address sanitizer (./test asan builds
 * build-asan); AQ_SEED repeats a storm as far as chance is ours:
 *
 *     AQ_STORM=300 build-asan/tests/integration/cluster/test_kill_storm
 */
#include <inttypes.h>

#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/test.h"

enum { KILLS = 6, ACTORS = 2, LIFE_MS_MAX = 700, DEATH_MS_MAX = 150, LOOK_EVERY_MS = 25 };
enum { ENV_STEPS = 2000, LEARNER_STEPS = 200 };

static const enum cluster_seat actor_seats[ACTORS] = {SEAT_ACTOR, SEAT_ACTOR_2};

typedef struct storm {
    test_cluster *cluster;
    aq_rng rng;
    uint64_t shard_kills, learner_kills, observed;
    uint64_t incarnations[ACTORS];
    uint64_t acknowledged[ACTORS]; /* steps, that each said last */
} storm;

/* Lets time pass, looking at what holds always. */
static void pass(storm *all, uint64_t time_ms)
{
    while (time_ms > LOOK_EVERY_MS) {
        (void)cluster_look(all->cluster, SEAT_LEARNER);
        cluster_pause(all->cluster, LOOK_EVERY_MS);
        time_ms -= LOOK_EVERY_MS;
    }
    cluster_pause(all->cluster, (unsigned)time_ms);
}

static void kill_and_restart(storm *all, enum cluster_seat seat)
{
    cluster_kill(all->cluster, seat);
    cluster_pause(all->cluster, (unsigned)aq_rng_below(&all->rng, DEATH_MS_MAX));
    cluster_start(all->cluster, seat);
}

/* ---- a kill that is observed ---------------------------------------------------------------- */

/* What the actors said in their last heartbeats, as far as the learner knows. */
static void hear_actors(storm *all)
{
    test_cluster *cluster = all->cluster;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    for (int i = 0; i < ACTORS && status != NULL; i++) {
        const Actorq__V1__MemberStatus *member = cluster_member(cluster, status, actor_seats[i]);
        if (member != NULL && member->actor != NULL &&
            member->actor->acknowledged_steps > all->acknowledged[i]) {
            all->acknowledged[i] = member->actor->acknowledged_steps;
        }
    }
}

static bool has_store(test_cluster *cluster, void *user)
{
    (void)user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_REPLAY);
    return status != NULL && status->replay != NULL && status->run_id != 0;
}

static void kill_shard_observed(storm *all)
{
    test_cluster *cluster = all->cluster;
    hear_actors(all);
    cluster_kill(cluster, SEAT_REPLAY);
    cluster_start(cluster, SEAT_REPLAY);
    cluster_wait(cluster, "the shard to have its store", has_store, NULL);
    for (int i = 0; i < ACTORS; i++) {
        assert_true(cluster_received(cluster, all->incarnations[i]) >= all->acknowledged[i]);
        all->observed += all->acknowledged[i] > 0;
    }
}

/* ---- the storm ------------------------------------------------------------------------------ */

static void begin(storm *all)
{
    test_cluster *cluster = all->cluster;
    aq_rng_init(&all->rng, test_seed_or(aq_rng_system_seed() >> 32), 0);
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_three(cluster);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_start(cluster, SEAT_EVALUATOR);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    for (int i = 0; i < ACTORS; i++) {
        cluster_wait_member(cluster, actor_seats[i]);
        const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
        all->incarnations[i] = cluster_member(cluster, status, actor_seats[i])->incarnation;
    }
}

static void rage(storm *all, uint64_t kills)
{
    for (uint64_t i = 0; i < kills; i++) {
        pass(all, aq_rng_below(&all->rng, LIFE_MS_MAX));
        if (i % 2 == 1) {
            kill_and_restart(all, SEAT_LEARNER);
            all->learner_kills++;
            continue;
        }
        if (aq_rng_below(&all->rng, 2) == 0) {
            kill_shard_observed(all);
        } else {
            kill_and_restart(all, SEAT_REPLAY);
        }
        all->shard_kills++;
    }
}

static void close_account(storm *all)
{
    test_cluster *cluster = all->cluster;
    cluster_account sum = {0};
    for (int i = 0; i < ACTORS; i++) {
        cluster_account account = cluster_drain(cluster, actor_seats[i]);
        assert_true(account.incarnation == all->incarnations[i]);
        cluster_check_account(&account, cluster_received(cluster, account.incarnation));
        cluster_account_add(&sum, &account);
    }
    const uint64_t steps = cluster_inserted(cluster, SEAT_REPLAY);
    cluster_check_account(&sum, steps);
    cluster_check_counted(cluster, &sum);
    print_message("%" PRIu64 " kills of the shard, %" PRIu64 " of the learner; %" PRIu64
                  " times an actor's word was kept; %" PRIu64 " steps, each stored and counted once"
                  "\n",
                  all->shard_kills, all->learner_kills, all->observed, steps);
}

CLUSTER_TEST(a_run_outlives_a_storm_of_kills, both)
{
    storm all = {.cluster = cluster};
    begin(&all);
    rage(&all, test_number("AQ_STORM", KILLS));
    cluster_wait_progress(all.cluster, ENV_STEPS, LEARNER_STEPS);
    close_account(&all);
}
