/*
 * The actor's core: credit, policies and their versions, messages, draining. Messages are unpacked
 * and looked into, as a shard would.
 */
#include "actor/core/actor_core.h"
#include "common/config/explore.h"
#include "common/experience/experience.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/common/wire/experience_read.h"

enum { MEMBER = 7, SLOT = 1 };
#define INCARNATION UINT64_C(0x1234)

TEST_ENDING(destroy_core, aq_actor_core_destroy);
TEST_ENDING(destroy_engine, aq_engine_destroy);

static void open_shard(aq_actor_core *core)
{
    uint32_t shard;
    assert_int_equal(aq_shard_spread_open(aq_actor_core_spread(core), 1, &shard), 0);
    assert_int_equal(shard, 0);
    aq_shard_spread_set_taking(aq_actor_core_spread(core), shard, true);
}

static aq_actor_core *core_of(const aq_run_settings *settings)
{
    aq_actor_core *core = NULL;
    const aq_actor_core_config config = {
        .run_id = KIT_RUN, .member = MEMBER, .incarnation = INCARNATION, .slot = SLOT};
    assert_succeeds(aq_actor_core_create(settings, &config, &core, &refusal));
    at_end(destroy_core, core);
    open_shard(core);
    return core;
}

/* What its one shard says at first. */
static void grant(aq_actor_core *core, uint64_t granted)
{
    const aq_shard_mark mark = {.shard_incarnation = 1, .expected = 1};
    aq_shard_spread_answered(aq_actor_core_spread(core), 0, 0, &mark, granted);
}

static aq_actor_core *core_with_credit(uint64_t granted)
{
    aq_run_settings settings = kit_settings();
    aq_actor_core *core = core_of(&settings);
    grant(core, granted);
    return core;
}

/* Of a policy that so many steps of training made. */
static aq_engine *engine_after(uint64_t learner_step, uint64_t version, int32_t choice)
{
    aq_engine *engine = NULL;
    aq_snapshot *snapshot = kit_policy(KIT_RUN, version, choice);
    snapshot->learner_step = learner_step;
    assert_int_equal(aq_engine_create(snapshot, KIT_ENVS, 0, &engine, NULL), 0);
    aq_snapshot_unref(snapshot);
    at_end(destroy_engine, engine);
    return engine;
}

static aq_engine *engine_of(uint64_t version, int32_t choice)
{
    return engine_after(0, version, choice);
}

/* All that the core sends until now, unpacked; the sum of what `look` makes of each chunk. */
typedef uint64_t (*chunk_fn)(const aq_chunk *chunk);

static uint64_t send_all(aq_actor_core *core, int64_t now_ns, chunk_fn look)
{
    aq_run_settings settings = kit_settings();
    aq_layout layout;
    const uint8_t *frame;
    size_t size;
    uint64_t sum = 0;
    assert_int_equal(aq_layout_init(&settings.schema, settings.n_step,
                                    settings.config.replay.chunk_length, &layout, NULL),
                     0);
    while (aq_actor_core_next(core, 0, now_ns, &frame, &size)) {
        aq_experience experience;
        assert_int_equal(experience_read(frame, size, KIT_RUN, &layout, &experience, NULL), 0);
        assert_int_equal(experience.actor, MEMBER);
        assert_int_equal(experience.incarnation, INCARNATION);
        for (uint32_t i = 0; i < experience.chunk_count; i++) {
            sum += look(experience.chunks[i]);
        }
        experience_fini(&experience);
        aq_shard_spread_sent(aq_actor_core_spread(core), 0, now_ns);
    }
    return sum;
}

static uint64_t fresh_of(const aq_chunk *chunk)
{
    return aq_chunk_view_fresh(&chunk->view);
}

static uint64_t count_of(const aq_chunk *chunk)
{
    (void)chunk;
    return 1;
}

static void acknowledge_all(aq_actor_core *core, int64_t now_ns, uint64_t granted)
{
    uint64_t acknowledged, known_granted;
    aq_shard_spread_known(aq_actor_core_spread(core), 0, &acknowledged, &known_granted);
    acknowledged += aq_actor_core_counters(core).unacknowledged;
    const aq_shard_mark mark = {
        .shard_incarnation = 1,
        .acknowledged = acknowledged,
        .expected = acknowledged + 1,
    };
    aq_shard_spread_answered(aq_actor_core_spread(core), 0, now_ns, &mark, granted);
}

/* ---- credit --------------------------------------------------------------------------------- */

TEST(without_credit_nothing_is_stepped)
{
    aq_run_settings settings = kit_settings();
    aq_actor_core *core = core_of(&settings);
    assert_int_equal(aq_actor_core_step(core, 0), 0);
    assert_true(aq_actor_core_needs_credit(core));
    assert_int_equal(aq_actor_core_counters(core).env_steps, 0);
}

TEST(it_steps_as_far_as_credit_goes_and_goes_on_with_more)
{
    aq_actor_core *core = core_with_credit(3 * KIT_ENVS + KIT_ENVS - 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(aq_actor_core_step(core, i), KIT_ENVS);
    }
    assert_int_equal(aq_actor_core_step(core, 3), 0); /* not enough for all environments */
    assert_true(aq_actor_core_needs_credit(core));
    acknowledge_all(core, 3, 4 * KIT_ENVS);
    assert_int_equal(aq_actor_core_step(core, 4), KIT_ENVS);
    assert_int_equal(aq_actor_core_step(core, 5), 0);
    assert_int_equal(aq_actor_core_counters(core).env_steps, 4 * KIT_ENVS);
}

TEST(a_grant_never_shrinks)
{
    aq_actor_core *core = core_with_credit(2 * KIT_ENVS);
    uint64_t acknowledged, granted;
    const aq_shard_mark restarted = {.shard_incarnation = 2, .expected = 1};
    aq_shard_spread_answered(aq_actor_core_spread(core), 0, 0, &restarted, 0);
    aq_shard_spread_known(aq_actor_core_spread(core), 0, &acknowledged, &granted);
    assert_int_equal(granted, 2 * KIT_ENVS);
    assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
}

TEST(a_full_outbox_stops_it_whatever_the_credit)
{
    aq_actor_core *core = core_with_credit(UINT64_C(1) << 40);
    int64_t now_ns = 0;
    while (aq_actor_core_step(core, now_ns) > 0) {
        now_ns += KIT_FLUSH_MS * AQ_NS_PER_MS;
        (void)send_all(core, now_ns, count_of);
        assert_true(aq_actor_core_counters(core).env_steps < 100000);
    }
    assert_false(aq_actor_core_needs_credit(core));
    acknowledge_all(core, now_ns, 0);
    assert_int_equal(aq_actor_core_step(core, now_ns), KIT_ENVS);
}

/* ---- policies ------------------------------------------------------------------------------- */

static uint32_t versions_allowed; /* as a bit set */
static int32_t choice_expected;   /* of versions above 0 */

static uint64_t check_versions(const aq_chunk *chunk)
{
    for (uint32_t row = 0; row < chunk->view.length; row++) {
        int32_t choice;
        memcpy(&choice, action_of(chunk) + row * sizeof(choice), sizeof(choice));
        assert_true((versions_allowed >> version_of(chunk)[row] & 1) == 1);
        if (version_of(chunk)[row] > 0) {
            assert_int_equal(choice, choice_expected);
        }
    }
    return 1;
}

TEST(without_a_policy_it_acts_at_random_as_version_0)
{
    aq_actor_core *core = core_with_credit(4000);
    while (aq_actor_core_step(core, 0) > 0) {
        versions_allowed = 1u << 0;
        (void)send_all(core, 0, check_versions);
        acknowledge_all(core, 0, 0);
    }
    /* At random the pole falls after about 20 steps; either action alone is over within 10. */
    assert_true(aq_actor_core_counters(core).return_mean > 12.0);
    assert_int_equal(aq_actor_core_counters(core).policy_version, 0);
}

TEST(each_step_is_stamped_with_the_version_that_chose_it)
{
    aq_actor_core *core = core_with_credit(UINT64_C(1) << 40);
    aq_engine *first = engine_of(3, 1);
    aq_engine *second = engine_of(5, 1);
    choice_expected = 1;
    versions_allowed = 1u << 0 | 1u << 3 | 1u << 5;
    assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
    assert_null(aq_actor_core_set_engine(core, first));
    assert_int_equal(aq_actor_core_counters(core).policy_version, 3);
    assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
    assert_ptr_equal(aq_actor_core_set_engine(core, second), first);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
    }
    aq_actor_core_drain(core);
    assert_true(send_all(core, 0, check_versions) > 0);
    assert_ptr_equal(aq_actor_core_set_engine(core, NULL), second);
}

TEST(a_run_that_begins_at_random_waits_for_a_policy_that_was_trained)
{
    aq_run_settings settings = kit_settings();
    settings.config.actor.random_first = true;
    aq_actor_core *core = core_of(&settings);
    grant(core, UINT64_C(1) << 40);
    aq_engine *untrained = engine_after(0, 1, 1), *trained = engine_after(100, 2, 1);
    choice_expected = 1;
    versions_allowed = 1u << 0;
    (void)aq_actor_core_set_engine(core, untrained);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
    }
    assert_true(send_all(core, 0, check_versions) > 0);
    assert_ptr_equal(aq_actor_core_set_engine(core, trained), untrained);
    assert_int_equal(aq_actor_core_counters(core).policy_version, 2);
    versions_allowed |= 1u << 2;
    assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
    aq_actor_core_drain(core);
    assert_true(send_all(core, 0, check_versions) > 0);
}

static uint64_t random_choices;

static uint64_t count_choices(const aq_chunk *chunk)
{
    for (uint32_t row = chunk->view.overlap; row < chunk->view.length; row++) {
        int32_t choice;
        memcpy(&choice, action_of(chunk) + row * sizeof(choice), sizeof(choice));
        random_choices += choice == 0;
    }
    return aq_chunk_view_fresh(&chunk->view);
}

/* How many steps were sent when all that is granted is spent; random_choices of them chose 0. */
static uint64_t spend(aq_actor_core *core, uint64_t granted)
{
    uint64_t total = 0;
    random_choices = 0;
    acknowledge_all(core, 0, granted);
    while (aq_actor_core_step(core, 0) > 0) {
        total += send_all(core, 0, count_choices);
        acknowledge_all(core, 0, 0);
    }
    return total;
}

/* Within 4 standard deviations. */
static void assert_chosen_at_random(uint64_t total, double share)
{
    const double deviation = sqrt(share * (1.0 - share) / (double)total);
    assert_near((double)random_choices / (double)total, share, 4.0 * deviation);
}

TEST(exploration_has_its_share_of_the_actions)
{
    aq_run_settings settings = kit_settings();
    settings.config.actor.epsilon_base = 0.5;
    settings.config.actor.epsilon_alpha = 0.0; /* everywhere */
    aq_actor_core *core = core_of(&settings);
    (void)aq_actor_core_set_engine(core, engine_of(1, 1));
    const uint64_t steps = test_rounds(10000), total = spend(core, steps);
    assert_chosen_at_random(total, 0.25); /* half explore, half of those choose 0 */
    assert_true(total > steps - steps / 10);

    settings.config.actor.epsilon_base = 0.0; /* as a live setting */
    aq_actor_core_explore(core, &settings.config, 0);
    (void)spend(core, 2 * steps);
    assert_true(random_choices < 100); /* what was in open chunks */
}

/* Half of the actions that explore choose 0. */
static double share_at(const aq_run_config *config, uint32_t slot)
{
    double share = 0.0;
    for (uint32_t env = 0; env < KIT_ENVS; env++) {
        share += aq_explore_rate(config, slot, env) / KIT_ENVS / 2;
    }
    return share;
}

TEST(exploration_is_of_the_slot_that_an_actor_has_now)
{
    aq_run_settings settings = kit_settings();
    settings.config.actor.count = 5;
    settings.config.actor.epsilon_base = 0.5;
    settings.config.actor.epsilon_alpha = 5.0;
    assert_true(share_at(&settings.config, 0) > 1.5 * share_at(&settings.config, 4));
    aq_actor_core *core = core_of(&settings);
    (void)aq_actor_core_set_engine(core, engine_of(1, 1));
    aq_actor_core_explore(core, &settings.config, 4);
    assert_chosen_at_random(spend(core, test_rounds(10000)), share_at(&settings.config, 4));
}

/* Half of the way to nothing, so a quarter explores, and an eighth chooses 0. */
TEST(exploration_falls_with_the_training_of_the_policy)
{
    aq_run_settings settings = kit_settings();
    settings.config.actor.epsilon_base = 0.5;
    settings.config.actor.epsilon_alpha = 0.0;
    settings.config.actor.explore_end = 0.0;
    settings.config.actor.explore_steps = 1000;
    aq_actor_core *core = core_of(&settings);
    (void)aq_actor_core_set_engine(core, engine_after(500, 1, 1));
    assert_chosen_at_random(spend(core, test_rounds(10000)), 0.125);
}

TEST(incarnations_and_slots_play_different_episodes)
{
    aq_run_settings settings = kit_settings();
    aq_actor_core *cores[3] = {NULL};
    const uint8_t *frames[3];
    size_t sizes[3];
    for (uint32_t i = 0; i < 3; i++) {
        const aq_actor_core_config config = {
            .run_id = KIT_RUN, .member = MEMBER, .incarnation = i == 2 ? 9 : 8, .slot = i == 1};
        assert_int_equal(aq_actor_core_create(&settings, &config, &cores[i], NULL), 0);
        open_shard(cores[i]);
        grant(cores[i], 16 * KIT_ENVS);
        while (aq_actor_core_step(cores[i], 0) > 0) {
        }
        assert_true(aq_actor_core_next(cores[i], 0, 0, &frames[i], &sizes[i]));
    }
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3;
        assert_true(sizes[i] != sizes[next] || memcmp(frames[i], frames[next], sizes[i]) != 0);
    }
    for (int i = 0; i < 3; i++) {
        aq_actor_core_destroy(cores[i]);
    }
}

/* ---- messages ------------------------------------------------------------------------------- */

TEST(an_open_chunk_is_held_back_for_the_flush_time_only)
{
    aq_actor_core *core = core_with_credit(UINT64_C(1) << 40);
    const int64_t flush_ns = KIT_FLUSH_MS * AQ_NS_PER_MS;
    for (int i = 0; i < 3; i++) { /* an n-step item each, no chunk full */
        assert_int_equal(aq_actor_core_step(core, 5), KIT_ENVS);
    }
    assert_int_equal(aq_actor_core_due_ns(core, 0), 5 + flush_ns);
    assert_int_equal(send_all(core, 4 + flush_ns, fresh_of), 0);
    assert_int_equal(send_all(core, 5 + flush_ns, fresh_of), 3 * KIT_ENVS);
    assert_int_equal(aq_actor_core_due_ns(core, 0), INT64_MAX);
}

/* A chunk that was too short to be closed when the others were flushed is due by its own age. */
TEST(whatever_is_due_is_offered_at_that_time)
{
    const int64_t flush_ns = KIT_FLUSH_MS * AQ_NS_PER_MS;
    for (uint64_t steps = 1; steps < 40; steps++) {
        aq_actor_core *core = core_with_credit(steps * KIT_ENVS);
        int64_t now_ns = 0;
        const uint8_t *frame;
        size_t size;
        while (aq_actor_core_step(core, now_ns) > 0) {
            now_ns += flush_ns * 3 / 10; /* so that flushes come in the middle of episodes */
            (void)send_all(core, now_ns, count_of);
            acknowledge_all(core, now_ns, 0);
        }
        for (int i = 0; i < 4; i++) {
            int64_t due_ns = aq_actor_core_due_ns(core, 0);
            if (due_ns == INT64_MAX) {
                break;
            }
            now_ns = due_ns > now_ns ? due_ns : now_ns;
            /* At the worst once for nothing, since the bound was low; then it has what it said. */
            bool has = aq_actor_core_next(core, 0, now_ns, &frame, &size);
            assert_true(has || aq_actor_core_due_ns(core, 0) > now_ns);
            if (has) {
                aq_shard_spread_sent(aq_actor_core_spread(core), 0, now_ns);
            }
        }
        assert_int_equal(aq_actor_core_due_ns(core, 0), INT64_MAX);
    }
}

TEST(out_of_credit_what_is_closed_goes_at_once)
{
    aq_actor_core *core = core_with_credit(8 * KIT_ENVS); /* a chunk each */
    while (aq_actor_core_step(core, 0) > 0) {
    }
    assert_true(aq_actor_core_due_ns(core, 0) <= 0);
    assert_true(send_all(core, 0, fresh_of) >= 8);
}

TEST(everything_stepped_is_sent_but_what_is_no_item_yet)
{
    aq_actor_core *core = core_with_credit(1000 * KIT_ENVS);
    const uint64_t granted = 1000 * KIT_ENVS;
    int64_t now_ns = 0;
    uint64_t sent = 0;
    while (aq_actor_core_step(core, now_ns) > 0) {
        now_ns += AQ_NS_PER_MS;
        sent += send_all(core, now_ns, fresh_of);
        acknowledge_all(core, now_ns, 0);
    }
    now_ns += KIT_FLUSH_MS * AQ_NS_PER_MS;
    sent += send_all(core, now_ns, fresh_of);
    assert_true(sent <= granted);
    assert_true(granted - sent <= 2 * KIT_ENVS); /* n - 1 each */
}

TEST(a_new_connection_gets_everything_again)
{
    aq_actor_core *core = core_with_credit(8 * KIT_ENVS);
    while (aq_actor_core_step(core, 0) > 0) {
    }
    uint64_t first = send_all(core, 0, fresh_of);
    aq_shard_spread_resend(aq_actor_core_spread(core), 0, 1);
    assert_int_equal(send_all(core, 1, fresh_of), first);
    assert_int_equal(aq_actor_core_counters(core).resent,
                     aq_actor_core_counters(core).unacknowledged);
}

TEST(draining_closes_what_is_open_and_waits_for_acknowledgement)
{
    aq_actor_core *core = core_with_credit(UINT64_C(1) << 40);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
    }
    assert_false(aq_actor_core_drained(core));
    aq_actor_core_drain(core);
    assert_int_equal(aq_actor_core_step(core, 0), 0);
    assert_false(aq_actor_core_drained(core));
    assert_int_equal(send_all(core, 0, fresh_of), 5 * KIT_ENVS);
    assert_false(aq_actor_core_drained(core));
    acknowledge_all(core, 0, 0);
    assert_true(aq_actor_core_drained(core));
}

TEST(draining_a_fresh_core_is_done_at_once)
{
    aq_run_settings settings = kit_settings();
    aq_actor_core *core = core_of(&settings);
    aq_actor_core_drain(core);
    assert_true(aq_actor_core_drained(core));
}

/* ---- memory and refusals -------------------------------------------------------------------- */

TEST(a_step_allocates_chunks_only)
{
    aq_run_settings settings = kit_settings();
    settings.config.replay.chunk_length =
        512; /* no chunk is full, none is flushed, so only ends open new ones */
    settings.config.net.message_bytes = 1 << 20;
    aq_actor_core *core = core_of(&settings);
    acknowledge_all(core, 0, UINT64_C(1) << 40);
    (void)aq_actor_core_set_engine(core, engine_of(1, 1));
    uint64_t missing = KIT_ENVS; /* chunks that the next step has to open */
    for (int i = 0; i < 2000; i++) {
        uint64_t episodes = aq_actor_core_counters(core).episodes;
        uint64_t allocations = aq_memory_allocation_count();
        assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
        assert_int_equal(aq_memory_allocation_count() - allocations, missing);
        missing = aq_actor_core_counters(core).episodes - episodes;
        const uint8_t *frame;
        size_t size;
        while (aq_actor_core_next(core, 0, 0, &frame, &size)) {
            aq_shard_spread_sent(aq_actor_core_spread(core), 0, 0);
        }
        acknowledge_all(core, 0, 0);
    }
}

TEST(without_memory_for_a_chunk_it_steps_later)
{
    aq_actor_core *core = core_with_credit(UINT64_C(1) << 40);
    aq_memory_fail_at(2, 1);
    assert_int_equal(aq_actor_core_step(core, 0), 0);
    assert_int_equal(aq_actor_core_step(core, 0), 0);
    aq_memory_fail_at(0, 0);
    assert_int_equal(aq_actor_core_counters(core).env_steps, 0);
    assert_int_equal(aq_actor_core_step(core, 0), KIT_ENVS);
}
