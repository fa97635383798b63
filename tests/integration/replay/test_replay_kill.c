/*
 * A shard that is killed with -9 again and again while steps come in: what it acknowledged is there
 * after every restart, once, and what it had not acknowledged can be sent again.
 *
 *   AQ_SEED=n    other moments of death
 */
#include <dirent.h>
#include <inttypes.h>
#include <sys/resource.h>

#include "tests/integration/cluster/daemon_process.h"
#include "tests/support/file_kit.h"
#include "tests/support/test.h"
#include "tests/unit/replay/net_stage.h"
#include "tests/unit/replay/replay_kit.h"

enum { LIVES = 20, SEALED_LIVES = 6, STEPS = 24, IN_FLIGHT_MAX = 24 };

typedef struct kill_stage {
    net_stage net;
    daemon_process process;
    const char *data;
} kill_stage;

static void start(kill_stage *stage)
{
    const char *const argv[] = {AQ_TEST_REPLAY,
                                "--learner",
                                stage->net.options.learner_url,
                                "--listen",
                                "tcp://127.0.0.1:0",
                                "--data",
                                stage->data,
                                NULL};
    daemon_process_start(&stage->process, argv);
    net_stage_join(&stage->net);
}

static void kill_stage_setup(kill_stage *stage)
{
    const char *folder = file_folder();
    stage->data = file_in(folder, "replay 0");
    net_stage_setup(&stage->net);
    stage->net.settings.config.replay.storage = AQ_STORAGE_SEGMENTS;
    stage->net.settings.tables[0].capacity = 100000;
    stage->net.settings.tables[0].tolerance = 1e6;
    daemon_process_init(&stage->process, folder, "replay");
}

static void kill_stage_teardown(kill_stage *stage)
{
    daemon_process_kill(&stage->process);
    const char *fault = daemon_log_fault(stage->process.log_path);
    if (fault != NULL) {
        daemon_log_print_tail(stage->process.log_path);
        fail_msg("the daemon's log says: %s", fault);
    }
    net_stage_teardown(&stage->net);
}

/* Returns what is acknowledged in the end. */
static uint64_t kill_again_and_again(kill_stage *stage, int lives)
{
    uint64_t acknowledged = 0; /* the best that any life said */
    uint64_t sent = 0, lost = 0, resent = 0;
    aq_rng rng = rng_of(test_seed(), 11);
    for (int life = 0; life < lives; life++) {
        start(stage);
        net_stage_ask_credit(&stage->net);
        lost += stage->net.acknowledged < acknowledged ? acknowledged - stage->net.acknowledged : 0;
        assert_true(stage->net.acknowledged <= sent);
        assert_int_equal(net_stage_ask_stored(&stage->net), stage->net.acknowledged * STEPS);
        assert_int_equal(stage->net.report->replay->inserted, stage->net.acknowledged * STEPS);
        assert_in_range(stage->net.report->replay->damaged, 0, 1); /* a torn tail at most */
        /* As an actor would: from what is acknowledged, with some in flight. */
        uint64_t next = stage->net.acknowledged + 1;
        uint64_t last = next + 5 + aq_rng_below(&rng, 60);
        while (next <= last) {
            uint64_t burst = 1 + aq_rng_below(&rng, IN_FLIGHT_MAX);
            for (uint64_t i = 0; i < burst && next <= last; i++, next++) {
                resent += next <= sent;
                net_stage_send(&stage->net, next, STEPS);
                sent = next > sent ? next : sent;
            }
            net_stage_ask_credit(&stage->net);
            acknowledged =
                stage->net.acknowledged > acknowledged ? stage->net.acknowledged : acknowledged;
        }
        daemon_process_kill(&stage->process);
    }
    print_message("%d kills: %" PRIu64 " messages acknowledged, %" PRIu64 " lost, %" PRIu64
                  " sent again\n",
                  lives, acknowledged, lost, resent);
    assert_int_equal(lost, 0);
    assert_true(acknowledged > (uint64_t)lives);
    return acknowledged;
}

TEST_IN(kill_stage, stage, nothing_acknowledged_is_lost_or_counted_twice_by_kill_9)
{
    (void)kill_again_and_again(stage, LIVES);
}

/* ---- with a token: frames are sealed, and have no crc of their own --------------------------- */

typedef struct kill_stage sealed_stage;

static void sealed_stage_setup(sealed_stage *stage)
{
    assert_int_equal(setenv("ACTORQ_TOKEN", "correct horse battery staple", 1), 0);
    assert_int_equal(aq_security_from_environment(&stage->net.security, NULL), 0);
    kill_stage_setup(stage);
}

static void sealed_stage_teardown(sealed_stage *stage)
{
    kill_stage_teardown(stage);
    assert_int_equal(unsetenv("ACTORQ_TOKEN"), 0);
}

/* In the middle of the last message of the file that has most in it; zeros behind it are room. */
static void flip_a_bit(const kill_stage *stage)
{
    static char bytes[1 << 20];
    const char *fullest = NULL;
    size_t most = 0;
    DIR *dir = opendir(stage->data);
    assert_non_null(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "segment-", 8) != 0) {
            continue;
        }
        const char *path = file_in(stage->data, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof(bytes), file);
        assert_int_equal(fclose(file), 0);
        while (size > 0 && bytes[size - 1] == 0) {
            size--;
        }
        if (size > most) {
            most = size;
            fullest = path;
        }
    }
    (void)closedir(dir);
    file_flip(fullest, (long)most / 2);
}

TEST_IN(sealed_stage, stage, sealed_messages_outlive_kill_9_and_a_flipped_bit_costs_one)
{
    const uint64_t acknowledged = kill_again_and_again(stage, SEALED_LIVES);
    flip_a_bit(stage);
    start(stage);
    const uint64_t stored = net_stage_ask_stored(&stage->net);
    const Actorq__V1__ReplayStats *replay = stage->net.report->replay;
    assert_in_range(replay->damaged, 1, 2); /* the last kill may have torn the end besides */
    assert_true(stored % STEPS == 0 && stored >= (acknowledged - 1) * STEPS);
    /* One that was lost is counted by the numbers of later ones, if there are any. */
    assert_in_range(replay->inserted, stored, stored + STEPS);
    assert_true(daemon_process_said(&stage->process, "event=record_damaged"));
}

TEST_IN(kill_stage, stage, a_full_disk_stops_acknowledgements_says_so_and_recovers)
{
    start(stage);
    net_stage_send(&stage->net, 1, STEPS);
    net_stage_await_acknowledgement(&stage->net, 1);
    (void)net_stage_ask_stored(&stage->net);
    /* No file of the shard may grow beyond what it has: as good as a full disk. */
    const struct rlimit full = {.rlim_cur = stage->net.report->replay->disk_bytes + 64,
                                .rlim_max = RLIM_INFINITY};
    const struct rlimit free_again = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    assert_int_equal(prlimit(stage->process.pid, RLIMIT_FSIZE, &full, NULL), 0);
    net_stage_send(&stage->net, 2, STEPS);
    int64_t deadline_ns = aq_clock_monotonic_ns() + NET_STAGE_DEADLINE_S * AQ_NS_PER_S;
    do {
        net_stage_ask_credit(&stage->net);
        (void)net_stage_ask_stored(&stage->net);
        assert_true(aq_clock_monotonic_ns() < deadline_ns);
    } while (stage->net.report->replay->stuck[0] == '\0');
    assert_non_null(strstr(stage->net.report->replay->waiting, "actors wait: nothing can be"));
    assert_int_equal(stage->net.acknowledged, 1);
    assert_true(daemon_process_said(&stage->process, "event=log_stuck"));
    assert_true(daemon_process_said(&stage->process, "replay 0\" reason="));
    assert_int_equal(prlimit(stage->process.pid, RLIMIT_FSIZE, &free_again, NULL), 0);
    net_stage_await_acknowledgement(&stage->net, 2);
    daemon_process_kill(&stage->process);
    start(stage);
    assert_int_equal(net_stage_ask_stored(&stage->net), 2 * STEPS);
}
