/*
 * What the proof of experience costs: processor time of a shard and of what sends to it, for each
 * message, with a token over without, in turns of the same messages. The sender only sends: an
 * actor steps environments besides.
 *
 *     build/bench/replay/bench_seal [FOLDER]
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench/replay/replay_bench_plan.h"
#include "bench/replay/replay_stage.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/parse.h"
#include "common/net/nng_mend/nng_close.h"
#include "common/sys/log.h"

enum { TURNS = 15, PATH_BYTES = 4096, OPEN_FOLDERS = 16, WAYS = 2 };

static const char *const tokens[WAYS] = {NULL, "7f3c-not-a-secret-but-long-enough-19be"};

typedef struct cost {
    double shard, sender; /* ns a message */
} cost;

typedef struct way {
    aq_replay_stage stage;
    clockid_t shard_clock;
    cost turns[TURNS];
} way;

static int64_t shard_ns(const way *at)
{
    struct timespec time;
    int rc = clock_gettime(at->shard_clock, &time);
    AQ_ASSERT(rc == 0);
    return time.tv_sec * AQ_NS_PER_S + time.tv_nsec;
}

static int open_way(uv_loop_t *loop, const char *folder, const char *token,
                    const aq_replay_load *load, const aq_run_settings *settings, way *at,
                    aq_error *error)
{
    int rc = token != NULL ? setenv("ACTORQ_TOKEN", token, 1) : unsetenv("ACTORQ_TOKEN");
    AQ_ASSERT(rc == 0);
    rc = aq_replay_stage_open(loop, folder, token != NULL ? "sealed" : "plain", false, load,
                              settings, &at->stage, error);
    if (rc == 0) {
        rc = clock_getcpuclockid(aq_replay_rig_place(at->stage.rig)->pid, &at->shard_clock);
        AQ_ASSERT(rc == 0);
    }
    return rc;
}

static int take_turn(way *at, uint64_t steps, cost *ret_cost, aq_error *error)
{
    const aq_replay_feeder *feeder = at->stage.feeder;
    const uint64_t messages = aq_replay_feeder_messages(feeder);
    const int64_t shard_before_ns = shard_ns(at), own_before_ns = aq_clock_cpu_ns();
    int rc = aq_replay_stage_fill(&at->stage, aq_replay_feeder_acknowledged(feeder) + steps, error);
    if (rc == 0) {
        const double count = (double)(aq_replay_feeder_messages(feeder) - messages);
        *ret_cost = (cost){.shard = (double)(shard_ns(at) - shard_before_ns) / count,
                           .sender = (double)(aq_clock_cpu_ns() - own_before_ns) / count};
    }
    return rc;
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void report(const char *what, const double plain[TURNS], const double sealed[TURNS])
{
    double ratios[TURNS], times[TURNS];
    for (int i = 0; i < TURNS; i++) {
        ratios[i] = sealed[i] / plain[i];
        times[i] = plain[i] / 1e3;
    }
    qsort(ratios, TURNS, sizeof(*ratios), ascending);
    qsort(times, TURNS, sizeof(*times), ascending);
    printf("  %-7s %7.1f us a message without, %.3f of that with (%.3f to %.3f)\n", what,
           times[TURNS / 2], ratios[TURNS / 2], ratios[TURNS / 4], ratios[TURNS - 1 - TURNS / 4]);
}

static void print(const char *title, const way ways[WAYS])
{
    double of[3][WAYS][TURNS];
    for (int w = 0; w < WAYS; w++) {
        for (int i = 0; i < TURNS; i++) {
            of[0][w][i] = ways[w].turns[i].shard;
            of[1][w][i] = ways[w].turns[i].sender;
            of[2][w][i] = of[0][w][i] + of[1][w][i];
        }
    }
    printf("%s, medians of %d turns (and their middle half)\n", title, TURNS);
    report("shard", of[0][0], of[0][1]);
    report("sender", of[1][0], of[1][1]);
    report("both", of[2][0], of[2][1]);
}

static int compare(uv_loop_t *loop, const char *folder, const char *title, aq_load_shape shape,
                   uint64_t steps, bool is_durable, aq_error *error)
{
    way ways[WAYS] = {0};
    aq_replay_load load;
    cost warm_up;
    int rc = aq_replay_load_init(&shape, &load, error);
    if (rc != 0) {
        return rc;
    }
    const aq_run_settings settings =
        aq_replay_bench_settings(&load, AQ_SELECTOR_UNIFORM, steps / 2, is_durable);
    for (int w = 0; rc == 0 && w < WAYS; w++) {
        rc = open_way(loop, folder, tokens[w], &load, &settings, &ways[w], error);
        if (rc == 0) {
            rc = take_turn(&ways[w], steps, &warm_up, error);
        }
    }
    for (int i = 0; rc == 0 && i < TURNS; i++) {
        rc = take_turn(&ways[i % 2], steps, &ways[i % 2].turns[i], error);
        if (rc == 0) {
            rc = take_turn(&ways[1 - i % 2], steps, &ways[1 - i % 2].turns[i], error);
        }
    }
    if (rc == 0) {
        print(title, ways);
    }
    for (int w = 0; w < WAYS; w++) {
        aq_replay_stage_close(&ways[w].stage);
    }
    aq_replay_load_fini(&load);
    return rc;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

int main(int argc, char **argv)
{
    char folder[PATH_BYTES];
    aq_error error = {0};
    uv_loop_t loop;
    int rc = aq_text_format(folder, sizeof(folder), "%s/aq-bench-seal-XXXXXX",
                            argc > 1 ? argv[1] : "/tmp");
    AQ_ASSERT(rc == 0);
    AQ_ASSERT(mkdtemp(folder) != NULL);
    rc = uv_loop_init(&loop);
    AQ_ASSERT(rc == 0);
    aq_memory_use_one_heap(); /* else mappings that come and go are most of what is measured */
    aq_log_set_level(AQ_LOG_WARN);
    rc = compare(&loop, folder, "ordinary steps into segment files", aq_replay_bench_small(),
                 2000000, true, &error);
    if (rc == 0) {
        rc = compare(&loop, folder, "steps of 8 KiB into memory", aq_replay_bench_large(), 50000,
                     false, &error);
    }
    fputs(error.text, stderr);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&loop);
    (void)nftw(folder, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
    aq_net_fini();
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
