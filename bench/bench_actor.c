/*
 * How fast an actor steps CartPole by itself: transitions a second of the whole core (act, step,
 * chunk, pack, acknowledge) under a policy of 4-64-64-2, and what its parts cost alone.
 *
 *   bench_actor [seconds a round]
 *
 * Each number is the median of ROUNDS rounds, in processor time, so that a neighbour on the same
 * machine does not count. Every message is acknowledged at once and credit does not end, so nothing
 * waits; exploration is that of a run of two actors.
 */
#include <stdio.h>
#include <stdlib.h>

#include "actor/core/actor_core.h"
#include "bench/median.h"
#include "common/base/assert.h"
#include "common/base/clock.h"
#include "common/base/parse.h"
#include "common/nn/params.h"
#include "common/sys/cpu.h"
#include "common/sys/machine.h"
#include "quantizer/quantize/quantize.h"
#include "rollout/vec_env.h"

enum { ROUNDS = 7, STEPS_BETWEEN_LOOKS = 256, LANES_MAX = 64 };

static const uint32_t lane_counts[] = {1, 8, 16, 64};

typedef struct bench {
    aq_env_task task;
    aq_schema schema;
    aq_engine *engine;
    aq_actor_core *core;
    aq_vec_env *vec;
    uint32_t lanes;
    uint64_t messages, message_bytes;
    float scores[2 * LANES_MAX];
} bench;

static aq_engine *make_engine(const bench *all, uint32_t format)
{
    const uint32_t hidden[] = {64, 64};
    aq_net_spec spec;
    aq_params params;
    aq_rng rng;
    aq_snapshot *snapshot;
    aq_engine *engine;
    const aq_quantize_meta meta = {
        .run_id = 1,
        .version = 1,
        .task = all->task.env->name,
        .schema = &all->schema,
        .head = AQ_HEAD_ARGMAX,
    };
    aq_rng_init(&rng, 1, 0);
    int rc = aq_net_spec_init_mlp(4, hidden, 2, 2, AQ_ACTIVATION_RELU, &spec, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_params_init(&spec, &params);
    AQ_ASSERT(rc == 0);
    aq_params_randomize(&spec, &params, &rng);
    rc = aq_quantize(&spec, &params, &(aq_quantize_plan){.format = format}, &meta, &snapshot, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_engine_create(snapshot, LANES_MAX, aq_cpu_flags(), &engine, NULL);
    AQ_ASSERT(rc == 0);
    aq_snapshot_unref(snapshot);
    aq_params_fini(&params);
    return engine;
}

static aq_actor_core *make_core(const bench *all)
{
    aq_actor_core *core;
    aq_run_config config;
    aq_run_settings settings = {
        .schema = all->schema,
        .schema_hash = all->task.schema_hash,
        .seed = 1,
        .n_step = 3,
    };
    aq_settings_init(aq_run_config_table(), &config);
    config.actor.envs = all->lanes;
    aq_run_settings_take(&settings, &config);
    int rc = aq_text_set(settings.task, sizeof(settings.task), all->task.env->name);
    AQ_ASSERT(rc == 0);
    const aq_actor_core_config of_core = {.run_id = 1, .member = 1, .incarnation = 1};
    rc = aq_actor_core_create(&settings, &of_core, &core, NULL);
    AQ_ASSERT(rc == 0);
    uint32_t shard;
    rc = aq_shard_spread_open(aq_actor_core_spread(core), 1, &shard);
    AQ_ASSERT(rc == 0);
    aq_shard_spread_set_taking(aq_actor_core_spread(core), shard, true);
    return core;
}

/* ---- what is measured ----------------------------------------------------------------------- */

/* Each does some batched steps. */
typedef void (*work_fn)(bench *all);

static void acknowledge_all(bench *all, int64_t now_ns)
{
    aq_shard_spread *spread = aq_actor_core_spread(all->core);
    const uint64_t sent = aq_shard_spread_count_of(spread, 0).sent;
    const aq_shard_mark mark = {.shard_incarnation = 1, .acknowledged = sent, .expected = sent + 1};
    aq_shard_spread_answered(spread, 0, now_ns, &mark, UINT64_MAX / 2);
}

static void whole_core(bench *all)
{
    const uint8_t *frame;
    size_t size;
    for (int i = 0; i < STEPS_BETWEEN_LOOKS; i++) {
        int64_t now_ns = aq_clock_monotonic_ns();
        (void)aq_actor_core_step(all->core, now_ns);
        while (aq_actor_core_next(all->core, 0, now_ns, &frame, &size)) {
            aq_shard_spread_sent(aq_actor_core_spread(all->core), 0, now_ns);
            all->messages++;
            all->message_bytes += size;
            acknowledge_all(all, now_ns);
        }
    }
}

static void network_alone(bench *all)
{
    for (int i = 0; i < STEPS_BETWEEN_LOOKS; i++) {
        aq_engine_forward(all->engine, (const float *)(const void *)all->vec->obs, all->lanes,
                          all->scores);
    }
}

static void environments_alone(bench *all)
{
    int32_t actions[LANES_MAX];
    for (int i = 0; i < STEPS_BETWEEN_LOOKS; i++) {
        for (uint32_t lane = 0; lane < all->lanes; lane++) {
            actions[lane] = (i + (int)lane) & 1; /* to and fro: an episode of some length */
        }
        (void)aq_vec_env_step(all->vec, actions, 0);
    }
}

/* Nanoseconds a transition. */
static double measure(bench *all, work_fn work, double round_s)
{
    double rounds[ROUNDS];
    work(all); /* warm */
    for (int round = 0; round < ROUNDS; round++) {
        int64_t start_ns = aq_clock_cpu_ns();
        int64_t spent_ns;
        uint64_t steps = 0;
        do {
            work(all);
            steps += (uint64_t)STEPS_BETWEEN_LOOKS * all->lanes;
            spent_ns = aq_clock_cpu_ns() - start_ns;
        } while ((double)spent_ns < round_s * (double)AQ_NS_PER_S);
        rounds[round] = (double)spent_ns / (double)steps;
    }
    return aq_median(rounds, ROUNDS);
}

static void run_case(bench *all, uint32_t format, uint32_t lanes, double round_s)
{
    all->lanes = lanes;
    all->messages = all->message_bytes = 0;
    all->engine = make_engine(all, format);
    all->core = make_core(all);
    int rc = aq_vec_env_create(&all->task, lanes, 1, &all->vec, NULL);
    AQ_ASSERT(rc == 0);
    acknowledge_all(all, 0);
    (void)aq_actor_core_set_engine(all->core, all->engine);
    double core_ns = measure(all, whole_core, round_s);
    double network_ns = measure(all, network_alone, round_s);
    double env_ns = measure(all, environments_alone, round_s);
    (void)printf("%-5s %5u  %9.0f %8.1f %8.1f %8.1f %8.1f  %7.0f\n", aq_format_name(format), lanes,
                 1e9 / core_ns, core_ns, network_ns, env_ns, core_ns - network_ns - env_ns,
                 all->messages > 0 ? (double)all->message_bytes / (double)all->messages : 0.0);
    (void)aq_actor_core_set_engine(all->core, NULL);
    aq_actor_core_destroy(all->core);
    aq_vec_env_destroy(all->vec);
    aq_engine_destroy(all->engine);
}

int main(int argc, char **argv)
{
    static bench all;
    double round_s = 0.2;
    if (argc > 2 || (argc == 2 && (aq_parse_f64(argv[1], &round_s) != 0 || !(round_s > 0)))) {
        (void)fprintf(stderr, "usage: bench_actor [seconds a round]\n");
        return EXIT_FAILURE;
    }
    aq_env *env;
    int rc = aq_env_open("gym:CartPole-v1", &env, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_env_task_init(env, &all.task, NULL);
    AQ_ASSERT(rc == 0);
    all.schema = env->schema;
    aq_env_unref(env);
    char flags[AQ_CPU_TEXT_MAX];
    (void)printf("%s, %s\n", aq_machine_model(),
                 aq_cpu_flags_text(aq_cpu_flags(), flags, sizeof(flags)));
    (void)printf("                          ns a transition:\n");
    (void)printf("format lanes   steps/s    core  network      env     rest  bytes a message\n");
    for (size_t i = 0; i < sizeof(lane_counts) / sizeof(lane_counts[0]); i++) {
        run_case(&all, AQ_FORMAT_INT8_CHANNEL, lane_counts[i], round_s);
        run_case(&all, AQ_FORMAT_F32, lane_counts[i], round_s);
    }
    aq_env_task_fini(&all.task);
    return EXIT_SUCCESS;
}
