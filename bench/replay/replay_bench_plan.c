/*
 * See replay_bench_plan.h.
 */
#include "bench/replay/replay_bench_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text/command.h"
#include "common/base/clock.h"

enum {
    N_STEP = 5,
    CHUNK_LENGTH = 64,
    SMALL_CHUNKS = 512,
    LARGE_CHUNKS = 16,
    MESSAGE_BYTES = 256 << 10,     /* as by default, and so are segments */
    LARGE_MESSAGE_BYTES = 1 << 20, /* no chunk of 8 KiB steps would fit into the other */
    SEGMENT_BYTES = 64 << 20,
    FSYNC_MS = 1000,
    SNAPSHOT_MS = 500,
    TRANSITIONS = 1000000,
    TRANSITIONS_QUICK = 50000,
    LOCAL_TRANSITIONS = 100000, /* as those of docs/benchmarks/data-paths.md */
    LARGE_TRANSITIONS = 64 << 10,
    LARGE_TRANSITIONS_QUICK = 4 << 10,
    SOAK_S_MAX = 1000000,
};
#define SLICE_NS       (2 * AQ_NS_PER_S)
#define SLICE_NS_QUICK (200 * AQ_NS_PER_MS)

static int take_transport(void *over_tcp, const char *value, aq_error *error)
{
    *(bool *)over_tcp = strcmp(value, "tcp") == 0;
    return *(bool *)over_tcp || strcmp(value, "ipc") == 0
               ? 0
               : aq_fail(error, AQ_E_INVALID, "'%s' is neither ipc nor tcp", value);
}

static const aq_option option_rows[] = {
    AQ_JSON_OPTION_ROW(aq_replay_bench_plan, json, "the figures"),
    {"quick", 0, NULL, "small stores and short slices, to see that it works",
     AQ_TO_FLAG(aq_replay_bench_plan, quick)},
    {"transport", 0, "NAME",
     "ipc (Unix sockets, default: what 'actorq train' uses on one machine) or tcp",
     AQ_TO(take_transport, aq_replay_bench_plan, over_tcp)},
    {"soak", 0, "SECONDS",
     "nothing but inserts at full rate for so long; fails when the shard's memory grows past 1.15 "
     "times (observation + action + 16 bytes) a step",
     AQ_TO_NUMBER(aq_replay_bench_plan, soak_s, 1, SOAK_S_MAX)},
    {"folder", 0, "DIR", "where segments are written and removed again (default $TMPDIR or /tmp)",
     AQ_TO_TEXT(aq_replay_bench_plan, folder)},
};

static const aq_options options_page = {
    .program = "actorq bench replay",
    .usage = "[options]",
    .summary =
        "Times a replay shard, a real actorq-replay process, from this process, which is actor and "
        "learner. Rates are medians of 5 slices, of 2 s each with the shard and of 0.5 or 1 s in "
        "this process alone; what comes back is checked against what was sent.",
    .details =
        "Unless said otherwise, steps have an observation of 17 floats and an action of 6, come in "
        "chunks of 64 and messages of up to 256 KiB, and the store holds 1,000,000 of them, full.\n"
        "\n"
        "  insert_steps_per_s         steps sent, stored in segment files and acknowledged, while\n"
        "                             old ones leave; repeated rows do not count\n"
        "  insert_bytes_per_s         the same in memory only, for observations of 2,048 floats:\n"
        "                             bytes of observations and actions; messages of up to 1 MiB\n"
        "  sample_batches_per_s       batches of 256 five-step returns, uniform: 8 a request, 4\n"
        "                             requests under way, each copied into a batch\n"
        "  prioritized_batches_per_s  the same by priority; every row gets a new priority\n"
        "  sample_p99_ms              one batch by priority, from asking to having it, while "
        "steps\n"
        "                             are inserted at full rate and snapshots are written twice a\n"
        "                             second\n"
        "  inprocess_batches_per_s, inprocess_prioritized_batches_per_s\n"
        "                             the shard's core alone, draw and copy and update, from\n"
        "                             100,000 steps, by processor time\n"
        "  bytes_per_step             growth of the process from empty to full, over the steps in\n"
        "                             it\n\n"
        "Beside them stands what is always there: raw messages of the same size between two "
        "processes over the same sockets with nobody looking at them, and copying a batch's rows "
        "from random places of memory. A ratio of 1 would be as fast as that.\n\n"
        "Examples:\n"
        "  actorq bench replay --quick\n"
        "  actorq bench replay --json >replay.json\n",
    AQ_OPTION_ROWS(option_rows),
};

const aq_options *aq_replay_bench_options(void)
{
    return &options_page;
}

void aq_replay_bench_plan_init(aq_replay_bench_plan *plan)
{
    const char *folder = getenv("TMPDIR");
    *plan = (aq_replay_bench_plan){.folder = folder != NULL && folder[0] != '\0' ? folder : "/tmp"};
}

void aq_replay_bench_plan_finish(aq_replay_bench_plan *plan)
{
    plan->transitions = plan->quick ? TRANSITIONS_QUICK : TRANSITIONS;
    plan->large_transitions = plan->quick ? LARGE_TRANSITIONS_QUICK : LARGE_TRANSITIONS;
    plan->local_transitions = plan->quick ? TRANSITIONS_QUICK : LOCAL_TRANSITIONS;
    plan->slice_ns = plan->quick ? SLICE_NS_QUICK : SLICE_NS;
}

aq_load_shape aq_replay_bench_small(void)
{
    return (aq_load_shape){.obs_count = 17,
                           .action_count = 6,
                           .n_step = N_STEP,
                           .chunk_length = CHUNK_LENGTH,
                           .chunk_count = SMALL_CHUNKS};
}

aq_load_shape aq_replay_bench_large(void)
{
    return (aq_load_shape){.obs_count = 2048,
                           .action_count = 6,
                           .n_step = N_STEP,
                           .chunk_length = CHUNK_LENGTH,
                           .chunk_count = LARGE_CHUNKS};
}

static uint32_t message_bytes(const aq_replay_load *load)
{
    const size_t chunk_bytes = (size_t)load->shape.chunk_length * aq_replay_load_step_bytes(load);
    return chunk_bytes < MESSAGE_BYTES / 4 ? MESSAGE_BYTES : LARGE_MESSAGE_BYTES;
}

aq_run_settings aq_replay_bench_settings(const aq_replay_load *load, uint32_t selector,
                                         uint64_t capacity, bool is_durable)
{
    aq_run_config config;
    aq_run_settings settings = {
        .task = "bench:Steps-v0",
        .schema = load->schema,
        .schema_hash = aq_schema_hash(&load->schema),
        .seed = 1,
        .n_step = load->shape.n_step,
        .evaluation_threshold = NAN,
        .tables = {{.name = "main",
                    .selector = selector,
                    .priority_exponent = 0.6,
                    .capacity = capacity,
                    .n_step = load->shape.n_step,
                    .sequence_period = 1,
                    .min_size = 1000,
                    .tolerance = 2000.0}},
        .table_count = 1,
        .sample_rows = AQ_REPLAY_BATCH_ROWS * AQ_REPLAY_BATCHES,
    };
    aq_settings_init(aq_run_config_table(), &config);
    config.replay.chunk_length = load->shape.chunk_length;
    config.replay.storage = is_durable ? AQ_STORAGE_SEGMENTS : AQ_STORAGE_MEMORY;
    config.replay.segment_bytes = SEGMENT_BYTES;
    config.replay.fsync_ms = FSYNC_MS;
    config.replay.snapshot_ms = SNAPSHOT_MS;
    config.net.message_bytes = message_bytes(load);
    config.net.rpc_timeout_ms = 10000;
    config.net.heartbeat_ms = 100;
    config.actor.count = 1;
    aq_run_settings_take(&settings, &config);
    return settings;
}
