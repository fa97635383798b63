/*
 * What proofs cost: processor time of a shard and of its peer, for each message of experience and
 * for each batch that is drawn by priority and gets new ones, with a token over without, in turns.
 * The peer does nothing else: an actor steps environments besides, and a learner learns.
 *
 *     build/bench/replay/bench_seal [FOLDER]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/median.h"
#include "bench/replay/bench_folder.h"
#include "bench/replay/replay_bench_plan.h"
#include "bench/replay/replay_drawer.h"
#include "bench/replay/replay_stage.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/sys/log.h"

enum { TURNS_MAX = 101, WAYS = 2 };

static const char *const tokens[WAYS] = {NULL, "7f3c-not-a-secret-but-long-enough-19be"};

#define DRAWING_NS (100 * AQ_NS_PER_MS)

typedef struct cost {
    double shard, peer; /* ns a message or batch */
} cost;

/* What is done in turns. */
typedef struct work {
    const char *title;
    aq_load_shape shape;
    uint64_t steps; /* that are sent in one turn, and fill the store before draws */
    bool is_durable, draws;
    int turns; /* odd */
} work;

typedef struct way {
    aq_replay_stage stage;
    aq_replay_drawer *drawer; /* NULL: messages are sent */
    clockid_t shard_clock;
    cost turns[TURNS_MAX];
} way;

static int64_t shard_ns(const way *at)
{
    struct timespec time;
    int rc = clock_gettime(at->shard_clock, &time);
    AQ_ASSERT(rc == 0);
    return time.tv_sec * AQ_NS_PER_S + time.tv_nsec;
}

static int open_way(uv_loop_t *loop, const char *folder, const char *token, const work *what,
                    aq_replay_load *load, way *at, aq_error *error)
{
    const aq_run_settings settings =
        aq_replay_bench_settings(load, what->draws ? AQ_SELECTOR_PRIORITIZED : AQ_SELECTOR_UNIFORM,
                                 what->steps / 2, what->is_durable);
    const aq_drawer_config drawing = {.batch_rows = AQ_REPLAY_BATCH_ROWS,
                                      .batches = AQ_REPLAY_BATCHES,
                                      .calls = AQ_REPLAY_CALLS,
                                      .discount = AQ_REPLAY_DISCOUNT,
                                      .prioritizes = true};
    int rc = token != NULL ? setenv("ACTORQ_TOKEN", token, 1) : unsetenv("ACTORQ_TOKEN");
    AQ_ASSERT(rc == 0);
    rc = aq_replay_stage_open(loop, folder, token != NULL ? "sealed" : "plain", false, load,
                              &settings, &at->stage, error);
    if (rc != 0) {
        return rc;
    }
    rc = clock_getcpuclockid(aq_replay_rig_place(at->stage.rig)->pid, &at->shard_clock);
    AQ_ASSERT(rc == 0);
    rc = aq_replay_stage_fill(&at->stage, what->steps, error);
    if (rc == 0 && what->draws) {
        rc = aq_replay_drawer_create(loop, at->stage.rig, load, &drawing, &at->drawer, error);
    }
    return rc;
}

/* Returns how many messages or batches there were. */
static int run_turn(way *at, const work *what, double *ret_count, aq_error *error)
{
    const aq_replay_feeder *feeder = at->stage.feeder;
    double per_s;
    int rc;
    if (at->drawer != NULL) {
        const uint64_t batches = aq_replay_drawer_batches(at->drawer);
        rc = aq_replay_drawer_run(at->drawer, at->stage.rig, DRAWING_NS, &per_s, error);
        *ret_count = (double)(aq_replay_drawer_batches(at->drawer) - batches);
        return rc;
    }
    const uint64_t messages = aq_replay_feeder_messages(feeder);
    rc = aq_replay_stage_fill(&at->stage, aq_replay_feeder_acknowledged(feeder) + what->steps,
                              error);
    *ret_count = (double)(aq_replay_feeder_messages(feeder) - messages);
    return rc;
}

static int take_turn(way *at, const work *what, cost *ret_cost, aq_error *error)
{
    const int64_t shard_before_ns = shard_ns(at), own_before_ns = aq_clock_cpu_ns();
    double count;
    int rc = run_turn(at, what, &count, error);
    if (rc == 0) {
        *ret_cost = (cost){.shard = (double)(shard_ns(at) - shard_before_ns) / count,
                           .peer = (double)(aq_clock_cpu_ns() - own_before_ns) / count};
    }
    return rc;
}

static void report(const char *who, int turns, const double plain[], const double sealed[])
{
    double ratios[TURNS_MAX], times[TURNS_MAX];
    for (int i = 0; i < turns; i++) {
        ratios[i] = sealed[i] / plain[i];
        times[i] = plain[i] / 1e3;
    }
    aq_sort_figures(ratios, (size_t)turns);
    printf("  %-5s %7.1f us each without, %.3f of that with (%.3f to %.3f)\n", who,
           aq_median(times, (size_t)turns), ratios[turns / 2], ratios[turns / 4],
           ratios[turns - 1 - turns / 4]);
}

static void print(const work *what, const way ways[WAYS])
{
    double of[3][WAYS][TURNS_MAX];
    for (int w = 0; w < WAYS; w++) {
        for (int i = 0; i < what->turns; i++) {
            of[0][w][i] = ways[w].turns[i].shard;
            of[1][w][i] = ways[w].turns[i].peer;
            of[2][w][i] = of[0][w][i] + of[1][w][i];
        }
    }
    printf("%s, medians of %d turns (and their middle half)\n", what->title, what->turns);
    report("shard", what->turns, of[0][0], of[0][1]);
    report("peer", what->turns, of[1][0], of[1][1]);
    report("both", what->turns, of[2][0], of[2][1]);
}

static int compare(uv_loop_t *loop, const char *folder, const work *what, aq_error *error)
{
    way ways[WAYS] = {0};
    aq_replay_load load;
    cost warm_up;
    int rc = aq_replay_load_init(&what->shape, &load, error);
    if (rc != 0) {
        return rc;
    }
    for (int w = 0; rc == 0 && w < WAYS; w++) {
        rc = open_way(loop, folder, tokens[w], what, &load, &ways[w], error);
        if (rc == 0) {
            rc = take_turn(&ways[w], what, &warm_up, error);
        }
    }
    for (int i = 0; rc == 0 && i < WAYS * what->turns; i++) {
        way *at = &ways[(i + i / WAYS) % WAYS]; /* each begins every other turn */
        rc = take_turn(at, what, &at->turns[i / WAYS], error);
    }
    if (rc == 0) {
        print(what, ways);
    }
    for (int w = 0; w < WAYS; w++) {
        aq_replay_drawer_destroy(ways[w].drawer);
        aq_replay_stage_close(&ways[w].stage);
    }
    aq_replay_load_fini(&load);
    return rc;
}

static int measure(const char *parent, aq_error *error)
{
    const work works[] = {
        {.title = "ordinary steps into segment files",
         .shape = aq_replay_bench_small(),
         .steps = 2000000,
         .is_durable = true,
         .turns = 15},
        {.title = "steps of 8 KiB into memory",
         .shape = aq_replay_bench_large(),
         .steps = 50000,
         .turns = 15},
        {.title = "batches of 256 rows by priority",
         .shape = aq_replay_bench_small(),
         .steps = 1000000,
         .draws = true,
         .turns = TURNS_MAX},
    };
    aq_bench_folder folder;
    int rc = aq_bench_folder_init(parent, &folder, error);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < sizeof(works) / sizeof(works[0]); i++) {
        rc = compare(&folder.loop, folder.path, &works[i], error);
    }
    aq_bench_folder_fini(&folder);
    return rc;
}

int main(int argc, char **argv)
{
    aq_error error = {0};
    aq_memory_use_one_heap(); /* else mappings that come and go are most of what is measured */
    aq_log_set_level(AQ_LOG_WARN);
    int rc = measure(argc > 1 ? argv[1] : "/tmp", &error);
    if (rc != 0) {
        (void)fprintf(stderr, "bench_seal: %s\n", error.text);
    }
    return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
