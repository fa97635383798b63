/*
 * Chaos: two durable shards, a learner and two actors are killed with -9 at random moments and
 * started again; disks are full for a while; while a shard is down, the torn beginning of a record
 * is left at the end of its newest segment. Then the actors finish in order, the stores are read
 * back, and every step that an actor ever said to have been acknowledged is looked for; meanwhile
 * batches are drawn and each row is computed once more.
 *
 *     AQ_CHAOS=500 BUILD/tests/chaos/test_chaos      500 kills: some minutes
 *     AQ_SEED=7                                      the same moments, as far as chance is ours
 */
#include <inttypes.h>
#include <sys/resource.h>

#include "common/sys/file.h"
#include "replay/disk/segment_format.h"
#include "tests/chaos/chaos_audit.h"
#include "tests/chaos/chaos_sampler.h"
#include "tests/integration/cluster/cluster_watch.h"
#include "tests/support/config_kit.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"

enum {
    KILLS = 16,
    LIFE_MS_MAX = 400,
    DEATH_MS_MAX = 150,
    LOOK_MS = 20,
    STEADY_EVERY = 20, /* kills, after which everything must move again */
    ENV_STEPS = 300,
    LEARNER_STEPS = 50,
    FULL_FILE_BYTES = 4096,
    TORN_BYTES_MAX = 400,
    LINE_BYTES = 1024,
};

static const char *const settings[] = {
    "replay.shards=2",
    "replay.capacity=100000000",
    "replay.segment_bytes=262144",
    "replay.snapshot_ms=200",
    "replay.samples_per_insert=32",
    "learner.n_step=1",
    "replay.selector=prioritized",
};

typedef struct chaos {
    test_cluster *cluster;
    aq_rng rng;
    aq_run_plan plan;
    chaos_audit audit;
    chaos_sampler samplers[2];
    uint64_t run_id;
    uint64_t kills[SEAT_COUNT];
    uint64_t full_disks, torn_writes;
    const char *torn_path[2]; /* each shard's segment that was torn last; NULL: none */
} chaos;

static const enum cluster_seat shard_seats[2] = {SEAT_REPLAY, SEAT_REPLAY_2};
static const enum cluster_seat actor_seats[2] = {SEAT_ACTOR, SEAT_ACTOR_2};

/* ---- watching ------------------------------------------------------------------------------- */

/* What every actor says to be acknowledged, as the learner heard it, if that is not dead. */
static void hear(chaos *all)
{
    if (!daemon_process_runs(&all->cluster->processes[SEAT_LEARNER])) {
        return;
    }
    const Actorq__V1__StatusReply *status = cluster_look(all->cluster, SEAT_LEARNER);
    if (status == NULL) {
        return;
    }
    all->run_id = status->run_id;
    for (size_t i = 0; i < status->n_members; i++) {
        const Actorq__V1__MemberStatus *member = status->members[i];
        if (member->role == ACTORQ__V1__ROLE__ROLE_ACTOR && member->actor != NULL) {
            (void)chaos_audit_heard(&all->audit, member->incarnation,
                                    member->actor->acknowledged_steps);
        }
    }
}

static void pass(chaos *all, uint64_t time_ms)
{
    for (uint64_t passed = 0; passed < time_ms; passed += LOOK_MS) {
        hear(all);
        for (int i = 0; i < 2; i++) {
            chaos_sampler_ask(&all->samplers[i], all->run_id);
        }
        cluster_pause(all->cluster, LOOK_MS);
    }
}

/* ---- disks ---------------------------------------------------------------------------------- */

/* No file of the shard may grow: as good as a full disk. */
static void fill_disk(chaos *all)
{
    const struct rlimit full = {.rlim_cur = FULL_FILE_BYTES, .rlim_max = RLIM_INFINITY};
    const struct rlimit room = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    const enum cluster_seat seat = shard_seats[aq_rng_below(&all->rng, 2)];
    const pid_t shard = all->cluster->processes[seat].pid;
    assert_int_equal(prlimit(shard, RLIMIT_FSIZE, &full, NULL), 0);
    pass(all, 100 + aq_rng_below(&all->rng, 900));
    if (aq_rng_below(&all->rng, 3) > 0) { /* else it is killed while the disk is full */
        assert_int_equal(prlimit(shard, RLIMIT_FSIZE, &room, NULL), 0);
        all->full_disks++;
        return;
    }
    cluster_kill(all->cluster, seat);
    cluster_start(all->cluster, seat);
    all->kills[seat]++;
    all->full_disks++;
}

/* Bytes that the first record of a segment takes; `bytes` are those from where it begins. */
static size_t first_record_bytes(const uint8_t *bytes, size_t size)
{
    uint32_t payload_bytes = 0;
    if (size >= AQ_RECORD_HEADER_BYTES) {
        memcpy(&payload_bytes, bytes + 8, sizeof(payload_bytes)); /* segment_format.h */
    }
    return AQ_RECORD_HEADER_BYTES + (size_t)payload_bytes;
}

/* What a write that was under way would have left: the beginning of a record, but never all of it,
 * or anything. */
static void tear_write(chaos *all, enum cluster_seat seat)
{
    uint8_t bytes[TORN_BYTES_MAX];
    const test_cluster *cluster = all->cluster;
    const char *folder = seat == SEAT_REPLAY ? cluster->data_dir : cluster->data_dir_2;
    const char **torn = &all->torn_path[seat == SEAT_REPLAY ? 0 : 1];
    if (!aq_path_exists(folder) || file_count(folder, "segment-") == 0) {
        return;
    }
    const char *path = file_last(folder, "segment-");
    if (*torn != NULL && strcmp(path, *torn) == 0) {
        return; /* the shard was killed before it looked at its folder */
    }
    *torn = path;
    FILE *segment = fopen(path, "r+");
    assert_non_null(segment);
    assert_int_equal(fseek(segment, AQ_FILE_HEADER_BYTES, SEEK_SET), 0);
    size_t size = fread(bytes, 1, sizeof(bytes), segment);
    const size_t whole = first_record_bytes(bytes, size);
    size = size < whole ? size : whole - 1;
    if (aq_rng_below(&all->rng, 2) == 0) {
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)aq_rng_next(&all->rng);
        }
    }
    size = 1 + aq_rng_below(&all->rng, size > 0 ? size : 1);
    assert_int_equal(fseek(segment, 0, SEEK_END), 0);
    assert_int_equal(fwrite(bytes, 1, size, segment), size);
    assert_int_equal(fclose(segment), 0);
    all->torn_writes++;
}

/* ---- the storm ------------------------------------------------------------------------------ */

static bool is_shard(enum cluster_seat seat)
{
    return seat == SEAT_REPLAY || seat == SEAT_REPLAY_2;
}

static enum cluster_seat draw_seat(chaos *all)
{
    const uint64_t draw = aq_rng_below(&all->rng, 10);
    if (draw < 5) {
        return shard_seats[draw % 2];
    }
    return draw < 8 ? actor_seats[draw % 2] : SEAT_LEARNER;
}

static void kill_one(chaos *all)
{
    const enum cluster_seat seat = draw_seat(all);
    cluster_kill(all->cluster, seat);
    all->kills[seat]++;
    if (is_shard(seat) && aq_rng_below(&all->rng, 4) == 0) {
        tear_write(all, seat);
    }
    pass(all, aq_rng_below(&all->rng, DEATH_MS_MAX));
    cluster_start(all->cluster, seat);
}

static uint64_t kills_of(const chaos *all)
{
    uint64_t kills = 0;
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        kills += all->kills[seat];
    }
    return kills;
}

static void rage(chaos *all, uint64_t kills)
{
    uint64_t steady = STEADY_EVERY;
    while (kills_of(all) < kills) {
        pass(all, aq_rng_below(&all->rng, LIFE_MS_MAX));
        if (aq_rng_below(&all->rng, 12) == 0) {
            fill_disk(all);
        } else {
            kill_one(all);
        }
        if (kills_of(all) >= steady) {
            cluster_wait_progress(all->cluster, ENV_STEPS, LEARNER_STEPS);
            steady += STEADY_EVERY;
        }
    }
}

/* ---- before and after ----------------------------------------------------------------------- */

/* The plan that the learner makes of the same settings. */
static void make_plan(chaos *all)
{
    const test_cluster *cluster = all->cluster;
    aq_run_config config = config_defaults();
    for (size_t i = 0; i < cluster->setting_count; i++) {
        config_set(&config, cluster->settings[i]);
    }
    assert_succeeds(aq_run_plan_make(&config, &all->plan, &refusal));
}

static void begin(chaos *all)
{
    test_cluster *cluster = all->cluster;
    aq_rng_init(&all->rng, test_seed_or(aq_rng_system_seed() >> 32), 0);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        cluster_set(cluster, settings[i]);
    }
    make_plan(all);
    chaos_audit_init(&all->audit, &all->plan);
    cluster_start_three(cluster);
    cluster_start(cluster, SEAT_REPLAY_2);
    cluster_start(cluster, SEAT_ACTOR_2);
    chaos_sampler_open(&all->samplers[0], &cluster->loop, cluster->replay_url, &all->plan);
    chaos_sampler_open(&all->samplers[1], &cluster->loop, cluster->replay_url_2, &all->plan);
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait_checkpoint(cluster);
}

/* The last word of an actor that ends in order. */
static void drain(chaos *all, enum cluster_seat seat)
{
    char line[LINE_BYTES];
    test_cluster *cluster = all->cluster;
    cluster_wait_stepped(cluster, seat);
    const Actorq__V1__StatusReply *status = cluster_look_surely(cluster, SEAT_LEARNER);
    const uint64_t incarnation = cluster_member(cluster, status, seat)->incarnation;
    assert_int_equal(cluster_terminate(cluster, seat), 0);
    assert_true(
        daemon_process_line(&cluster->processes[seat], "event=drained", line, sizeof(line)));
    const uint64_t acknowledged = daemon_line_number(line, "acknowledged_steps");
    chaos_actor *actor = chaos_audit_heard(&all->audit, incarnation, acknowledged);
    actor->drained = strstr(line, "complete=true") != NULL;
    assert_true(!actor->drained || acknowledged == daemon_line_number(line, "env_steps"));
}

static bool have_sampled(test_cluster *cluster, void *user)
{
    chaos *all = user;
    (void)cluster;
    pass(all, LOOK_MS);
    return all->samplers[0].rows > 0 && all->samplers[1].rows > 0;
}

static void end(chaos *all)
{
    test_cluster *cluster = all->cluster;
    cluster_wait_progress(cluster, ENV_STEPS, LEARNER_STEPS);
    cluster_wait(cluster, "a batch of each shard", have_sampled, all);
    for (int i = 0; i < 2; i++) {
        drain(all, actor_seats[i]);
        chaos_sampler_close(&all->samplers[i]);
    }
    const uint64_t counted = cluster_look_surely(cluster, SEAT_LEARNER)->learner->env_steps;
    for (int i = 0; i < 2; i++) {
        cluster_watch_close(cluster, shard_seats[i]);
        assert_int_equal(cluster_terminate(cluster, shard_seats[i]), 0);
    }
    chaos_audit_read(&all->audit, cluster->data_dir);
    chaos_audit_read(&all->audit, cluster->data_dir_2);
    chaos_audit_close(&all->audit);
    assert_true(counted > 0);
}

static void judge(const chaos *all)
{
    const chaos_audit *audit = &all->audit;
    const chaos_sampler *samplers = all->samplers;
    const uint64_t corrupt = audit->corrupt + samplers[0].corrupt + samplers[1].corrupt;
    print_message("kills=%" PRIu64 " acknowledged_lost=%" PRIu64 " duplicated=%" PRIu64
                  " corrupt_samples=%" PRIu64 " holes=%" PRIu64 " shard_kills=%" PRIu64
                  " learner_kills=%" PRIu64 " actor_kills=%" PRIu64 " full_disks=%" PRIu64
                  " torn_writes=%" PRIu64 " actors=%zu acknowledged=%" PRIu64 " stored=%" PRIu64
                  " messages=%" PRIu64 " sampled=%" PRIu64 "\n",
                  kills_of(all), audit->lost, audit->duplicated, corrupt, audit->holes,
                  all->kills[SEAT_REPLAY] + all->kills[SEAT_REPLAY_2], all->kills[SEAT_LEARNER],
                  all->kills[SEAT_ACTOR] + all->kills[SEAT_ACTOR_2], all->full_disks,
                  all->torn_writes, audit->actor_count, audit->acknowledged, audit->transitions,
                  audit->records, samplers[0].rows + samplers[1].rows);
    assert_int_equal(audit->lost, 0);
    assert_int_equal(audit->duplicated, 0);
    assert_int_equal(corrupt, 0);
    assert_int_equal(audit->holes, 0);
    assert_int_equal(audit->damaged, 0);
    assert_true(audit->acknowledged > 0);
    assert_true(samplers[0].rows > 0 && samplers[1].rows > 0);
}

CLUSTER_TEST(nothing_acknowledged_is_lost_in_chaos, ipc)
{
    static chaos all; /* large */
    all = (chaos){.cluster = cluster};
    begin(&all);
    rage(&all, test_number("AQ_CHAOS", KILLS));
    end(&all);
    judge(&all);
    chaos_audit_fini(&all.audit);
}
