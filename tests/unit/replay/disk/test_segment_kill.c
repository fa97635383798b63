/*
 * kill -9 while a process writes as fast as it can: whatever the log said to be durable is there in
 * the next life, every byte of it, in order, with nothing twice and nothing missing in between.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/support/test.h"
#include "tests/unit/replay/segment_kit.h"

enum { ROUNDS = 30, KEPT_SEGMENTS = 4, SEED = 20240601, SNAPSHOT_EVERY = 500 };

typedef segment_kit busy_store;
#define busy_store_teardown segment_kit_teardown

static void busy_store_setup(busy_store *kit)
{
    segment_kit_setup(kit);
    kit->config.segment_bytes = 200000;
    kit->frame_bytes = 1500;
}

/* The child: writes for ever, and says what is durable. */
static void write_for_ever(segment_kit *kit, int pipe_fd)
{
    uint64_t told = 0;
    uint64_t oldest = 1;
    aq_log_progress progress;
    segment_kit_open(kit, NULL);
    for (;;) {
        if (segment_kit_try_append(kit) != 0) {
            segment_kit_settle(kit);
        }
        if (kit->last_number % SNAPSHOT_EVERY == 0) {
            (void)segment_kit_snapshot(kit, 300000, (uint8_t)kit->last_number);
        }
        progress = segment_kit_progress(kit);
        while (progress.segment > KEPT_SEGMENTS && oldest + KEPT_SEGMENTS <= progress.segment) {
            kit->log->class->drop(kit->log, oldest++);
        }
        if (progress.durable > told) {
            told = progress.durable;
            if (write(pipe_fd, &told, sizeof(told)) != (ssize_t)sizeof(told)) {
                _exit(1);
            }
        }
    }
}

/* What the child said last. */
static uint64_t last_told(int pipe_fd)
{
    uint64_t told = 0;
    uint64_t next;
    while (read(pipe_fd, &next, sizeof(next)) == (ssize_t)sizeof(next)) {
        assert_true(next > told);
        told = next;
    }
    return told;
}

static uint64_t kill_a_writer(segment_kit *kit, aq_rng *rng)
{
    int ends[2];
    int status;
    uint64_t first;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        write_for_ever(kit, ends[1]);
    }
    close(ends[1]);
    const ssize_t got = read(ends[0], &first, sizeof(first)); /* it is at work */
    assert_int_equal(got, sizeof(first));
    aq_clock_wait_until(aq_clock_monotonic_ns() +
                        (int64_t)aq_rng_below(rng, 20 * (uint64_t)AQ_NS_PER_MS));
    assert_int_equal(kill(child, SIGKILL), 0);
    const uint64_t told = last_told(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
    return told > first ? told : first;
}

/* What there is, is without a gap, and reaches what was told. */
static void assert_kept(segment_kit *kit, uint64_t told)
{
    segment_kit_reopen(kit);
    assert_true(kit->found.last_number >= told);
    assert_true(kit->harvest.count > 0);
    segment_harvest_assert_range(&kit->harvest, kit->harvest.numbers[0], kit->found.last_number);
    for (size_t i = 0; i < kit->harvest.damages; i++) {
        assert_says(kit->harvest.damage[i], "no whole record"); /* a torn tail at most */
    }
    assert_true(kit->harvest.damages <= 1);
    segment_kit_close(kit);
}

static void kill_and_look(segment_kit *kit)
{
    uint64_t before = 0;
    aq_rng rng = rng_of(SEED, 0);
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t told = kill_a_writer(kit, &rng);
        assert_true(told >= before); /* it begins with what it found */
        assert_kept(kit, told);
        before = told;
    }
    assert_true(before > 0);
    print_message("%d kills, %llu records durable, none lost (seed %d)\n", ROUNDS,
                  (unsigned long long)before, SEED);
}

TEST_IN(busy_store, kit, what_was_durable_survives_kill)
{
    kill_and_look(kit);
}

TEST_IN(busy_store, kit, what_was_durable_survives_kill_when_compressed)
{
    kit->config.compressed = true;
    kill_and_look(kit);
}
