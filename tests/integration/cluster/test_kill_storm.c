/*
 * Kill storm: learner and shard are killed again and again at random moments under load, and
 * started again; two actors live through it all. What must hold throughout:
 *
 *   - nobody ends but by our hand, and no sanitizer has anything to say;
 *   - what an actor knows to be acknowledged, a shard had received: checked for half of the kills
 *     of a shard, before which the actors are stopped so that its last count can be read;
 *   - at the end, the shard that lives has received from each actor exactly what that actor knows
 *     it to have acknowledged, all steps of all actors are acknowledged, and the learner has
 *     counted no step twice;
 *   - the run still learns.
 *
 * A long one, of 300 kills over each transport, best with the address sanitizer (./test asan builds
 * build-asan); AQ_SEED repeats a storm as far as chance is ours:
 *
 *     AQ_STORM=300 build-asan/tests/integration/cluster/test_kill_storm
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/base/rng.h"
#include "common/net/net.h"
#include "tests/integration/cluster/cluster_account.h"
#include "tests/integration/cluster/cluster_watch.h"

enum { KILLS = 6, ACTORS = 2, LIFE_MS_MAX = 700, DEATH_MS_MAX = 150, LOOK_EVERY_MS = 25 };
enum { ENV_STEPS = 2000, LEARNER_STEPS = 200 };

/* What an actor may have under way at most, in steps: several times what the limiter of the quick
 * settings leaves it. */
enum { UNDER_WAY_MAX = 4000 };

static const enum cluster_seat actor_seats[ACTORS] = {SEAT_ACTOR, SEAT_ACTOR_2};

typedef struct storm_actor {
    enum cluster_seat seat;
    uint64_t incarnation;
    uint64_t before; /* its steps that shards before the present one have acknowledged */
} storm_actor;

typedef struct storm {
    test_cluster *cluster;
    aq_rng rng;
    uint64_t shard_kills, learner_kills, observed;
    storm_actor actors[ACTORS];
} storm;

typedef struct heartbeat_wanted {
    storm_actor *actor;
    int64_t since_ns;
} heartbeat_wanted;

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t number = otherwise;
    if (text != NULL && aq_parse_u64(text, &number) != 0) {
        fail_msg("%s is not a number: %s", name, text);
    }
    return number;
}

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

static void signal_actors(const storm *all, int number)
{
    for (int i = 0; i < ACTORS; i++) {
        daemon_process_signal(&all->cluster->processes[actor_seats[i]], number);
    }
}

typedef struct shard_counts {
    uint64_t inserted, duplicates, gaps;
    bool are_final;
} shard_counts;

static bool stands_still(test_cluster *cluster, void *user)
{
    shard_counts *last = user;
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_REPLAY);
    if (status == NULL) {
        return false;
    }
    const Actorq__V1__ReplayStats *now = status->replay;
    last->are_final = now->inserted == last->inserted && now->duplicates == last->duplicates &&
                      now->gaps == last->gaps;
    last->inserted = now->inserted;
    last->duplicates = now->duplicates;
    last->gaps = now->gaps;
    return last->are_final;
}

/* With the actors stopped, until nothing comes in any more. */
static void wait_until_shard_stands_still(storm *all)
{
    shard_counts last = {.inserted = UINT64_MAX};
    cluster_wait(all->cluster, "the shard to take in what is under way", stands_still, &last);
}

/* What an actor said in its last heartbeat; NULL when the learner does not know. */
static const Actorq__V1__MemberStatus *heard_of(test_cluster *cluster, const storm_actor *actor)
{
    const Actorq__V1__StatusReply *status = cluster_look(cluster, SEAT_LEARNER);
    const Actorq__V1__MemberStatus *member =
        status != NULL ? cluster_member(cluster, status, actor->seat) : NULL;
    return member != NULL && member->actor != NULL ? member : NULL;
}

/* More than an actor can have under way, so that it must have heard of the shard, too. */
static bool is_served(test_cluster *cluster, void *user)
{
    const storm_actor *actor = user;
    return cluster_look(cluster, SEAT_REPLAY) != NULL &&
           cluster_received(cluster, actor->incarnation) > UNDER_WAY_MAX;
}

static bool has_spoken_since(test_cluster *cluster, void *user)
{
    heartbeat_wanted *wanted = user;
    const Actorq__V1__MemberStatus *member = heard_of(cluster, wanted->actor);
    int64_t waited_ns = aq_clock_monotonic_ns() - wanted->since_ns;
    if (member == NULL || (int64_t)member->heartbeat_ms * AQ_NS_PER_MS >= waited_ns) {
        return false;
    }
    wanted->actor->before = member->actor->acknowledged_steps - member->actor->shard_steps;
    return true;
}

/* `before` moves on when the actor is served by another shard. */
static bool is_served_by_another(test_cluster *cluster, void *user)
{
    storm_actor *actor = user;
    const Actorq__V1__MemberStatus *member = heard_of(cluster, actor);
    if (member == NULL) {
        return false;
    }
    uint64_t before = member->actor->acknowledged_steps - member->actor->shard_steps;
    bool is_another = before > actor->before;
    actor->before = before;
    return is_another;
}

/* The actor has said what the shards before the present one had acknowledged. */
static void learn_before(test_cluster *cluster, storm_actor *actor)
{
    cluster_wait(cluster, "an actor to be well served by the shard", is_served, actor);
    heartbeat_wanted wanted = {actor, aq_clock_monotonic_ns()};
    cluster_wait(cluster, "a heartbeat", has_spoken_since, &wanted);
}

/* What the dead shard had acknowledged to the actor, it had received from it. */
static void check_acknowledged(test_cluster *cluster, storm_actor *actor, uint64_t received)
{
    uint64_t before = actor->before;
    cluster_wait(cluster, "an actor to be served by the new shard", is_served_by_another, actor);
    uint64_t acknowledged = actor->before - before;
    assert_true(acknowledged <= received);
    assert_true(received - acknowledged <= UNDER_WAY_MAX);
}

static void kill_shard_observed(storm *all)
{
    test_cluster *cluster = all->cluster;
    uint64_t received[ACTORS];
    for (int i = 0; i < ACTORS; i++) {
        learn_before(cluster, &all->actors[i]);
    }
    signal_actors(all, SIGSTOP);
    wait_until_shard_stands_still(all);
    for (int i = 0; i < ACTORS; i++) {
        received[i] = cluster_received(cluster, all->actors[i].incarnation);
    }
    cluster_kill(cluster, SEAT_REPLAY);
    signal_actors(all, SIGCONT);
    cluster_start(cluster, SEAT_REPLAY);
    for (int i = 0; i < ACTORS; i++) {
        check_acknowledged(cluster, &all->actors[i], received[i]);
    }
    all->observed++;
}

/* ---- the storm ------------------------------------------------------------------------------ */

static void begin(storm *all)
{
    test_cluster *cluster = all->cluster;
    uint64_t seed = number_from("AQ_SEED", aq_rng_system_seed() >> 32);
    print_message("AQ_SEED=%" PRIu64 "\n", seed);
    aq_rng_init(&all->rng, seed, 0);
    cluster_set(cluster, "learner.n_step=1");
    cluster_start_three(cluster);
    cluster_start(cluster, SEAT_ACTOR_2);
    cluster_start(cluster, SEAT_EVALUATOR);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    for (int i = 0; i < ACTORS; i++) {
        cluster_wait_member(cluster, actor_seats[i]);
        const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
        all->actors[i].seat = actor_seats[i];
        all->actors[i].incarnation = cluster_member(cluster, status, actor_seats[i])->incarnation;
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
    uint64_t steps = 0;
    uint64_t in_last_shard = 0;
    for (int i = 0; i < ACTORS; i++) {
        cluster_account account = cluster_drain(cluster, actor_seats[i]);
        assert_true(account.incarnation == all->actors[i].incarnation);
        assert_int_equal(cluster_received(cluster, account.incarnation), account.shard_steps);
        steps += account.env_steps;
        in_last_shard += account.shard_steps;
    }
    assert_int_equal(cluster_inserted(cluster), in_last_shard);
    cluster_wait_counted(cluster, in_last_shard);
    uint64_t counted = cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps;
    assert_true(counted <= steps + all->shard_kills * ACTORS * UNDER_WAY_MAX);
    print_message("%" PRIu64 " kills of the shard (%" PRIu64 " observed), %" PRIu64
                  " of the learner; %" PRIu64 " steps acknowledged, %" PRIu64
                  " of them by the last shard, %" PRIu64 " counted\n",
                  all->shard_kills, all->observed, all->learner_kills, steps, in_last_shard,
                  counted);
}

static void test_a_run_outlives_a_storm_of_kills(void **state)
{
    storm all = {.cluster = *state};
    begin(&all);
    rage(&all, number_from("AQ_STORM", KILLS));
    cluster_wait_progress(all.cluster, ENV_STEPS, LEARNER_STEPS);
    close_account(&all);
    cluster_finish(all.cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLUSTER_TEST(test_a_run_outlives_a_storm_of_kills, ipc),
        CLUSTER_TEST(test_a_run_outlives_a_storm_of_kills, tcp),
    };
    int failed = cmocka_run_group_tests_name("kill_storm", tests, NULL, NULL);
    aq_net_fini();
    return failed;
}
