/*
 * An actor in a paced run: it waits for the version that is wanted, and what it has made is on its
 * way as soon as there is no credit for more.
 */
#include "actor/core/actor_core.h"
#include "common/experience/column_catalog.h"
#include "tests/support/chunks.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"
#include "tests/unit/common/wire/experience_read.h"

typedef struct paced_desk {
    aq_run_settings settings;
    aq_layout layout;
    aq_actor_core *core;
} paced_desk;

/* desk->settings are there. */
static void begin_set(paced_desk *desk)
{
    uint32_t shard;
    assert_succeeds(aq_run_settings_layout(&desk->settings, &desk->layout, &refusal));
    const aq_actor_core_config config = {.run_id = KIT_RUN, .member = 7, .incarnation = 1};
    assert_succeeds(aq_actor_core_create(&desk->settings, &config, &desk->core, &refusal));
    assert_int_equal(aq_shard_spread_open(aq_actor_core_spread(desk->core), 1, &shard), 0);
    aq_shard_spread_set_taking(aq_actor_core_spread(desk->core), shard, true);
}

static void begin(paced_desk *desk, uint32_t versions_max)
{
    desk->settings = kit_settings();
    desk->settings.tables[0].n_step = 1;
    desk->settings.n_step = 1;
    desk->settings.versions_max = versions_max;
    begin_set(desk);
}

static void paced_desk_setup(paced_desk *desk)
{
    begin(desk, 1);
}

static void adopt(paced_desk *desk, uint64_t version)
{
    aq_engine *engine = NULL;
    if (version > 0) {
        aq_snapshot *snapshot = kit_policy(KIT_RUN, version, 0);
        assert_int_equal(aq_engine_create(snapshot, KIT_ENVS, 0, &engine, NULL), 0);
        aq_snapshot_unref(snapshot);
    }
    aq_engine_destroy(aq_actor_core_set_engine(desk->core, engine));
}

static void paced_desk_teardown(paced_desk *desk)
{
    adopt(desk, 0);
    aq_actor_core_destroy(desk->core);
}

static void grant(paced_desk *desk, uint64_t granted, uint64_t version_min)
{
    const aq_shard_mark mark = {.shard_incarnation = 1, .expected = 1};
    aq_shard_spread_answered(aq_actor_core_spread(desk->core), 0, 0, &mark, granted);
    aq_shard_spread_expect(aq_actor_core_spread(desk->core), 0, version_min);
}

static uint32_t step_out(paced_desk *desk)
{
    uint32_t made = 0, last;
    do {
        last = aq_actor_core_step(desk->core, 0);
        made += last;
    } while (last > 0);
    return made;
}

/* What is sent at this moment: its steps, each chunk of one version if asked; in *ret_chunks. */
static uint64_t send(paced_desk *desk, bool one_version, uint32_t *ret_chunks)
{
    const uint8_t *frame;
    size_t size;
    uint64_t steps = 0;
    *ret_chunks = 0;
    while (aq_actor_core_next(desk->core, 0, 0, &frame, &size)) {
        aq_experience message;
        assert_int_equal(experience_read(frame, size, KIT_RUN, &desk->layout, &message, NULL), 0);
        for (uint32_t i = 0; i < message.chunk_count; i++) {
            const aq_chunk *chunk = message.chunks[i];
            const uint32_t last = chunk->view.length - 1;
            assert_true(!one_version || version_of(chunk)[0] == version_of(chunk)[last]);
            steps += aq_chunk_view_fresh(&chunk->view);
        }
        *ret_chunks += message.chunk_count;
        experience_fini(&message);
        aq_shard_spread_sent(aq_actor_core_spread(desk->core), 0, 0);
    }
    return steps;
}

TEST_IN(paced_desk, desk, it_does_not_step_before_it_has_the_version)
{
    grant(desk, 2 * KIT_ENVS, 5);
    assert_int_equal(step_out(desk), 0);
    assert_int_equal(aq_actor_core_version_min(desk->core), 5);
    adopt(desk, 4);
    assert_int_equal(step_out(desk), 0);
    assert_false(aq_actor_core_needs_credit(desk->core));
    adopt(desk, 6);
    assert_int_equal(step_out(desk), 2 * KIT_ENVS);
    assert_int_equal(aq_actor_core_version_min(desk->core), 0); /* nothing is to be made */
}

TEST_IN(paced_desk, desk, what_is_made_goes_at_once_when_credit_ends)
{
    uint32_t chunks;
    adopt(desk, 1);
    grant(desk, 3 * KIT_ENVS, 1);
    assert_int_equal(step_out(desk), 3 * KIT_ENVS);
    assert_int_equal(send(desk, true, &chunks), 3 * KIT_ENVS);
    assert_int_equal(chunks, KIT_ENVS);
}

TEST_IN(paced_desk, desk, a_new_version_begins_new_chunks)
{
    uint32_t chunks;
    adopt(desk, 1);
    grant(desk, 4 * KIT_ENVS, 1);
    (void)aq_actor_core_step(desk->core, 0);
    adopt(desk, 2);
    assert_int_equal(step_out(desk), 3 * KIT_ENVS);
    assert_int_equal(send(desk, true, &chunks), 4 * KIT_ENVS);
    assert_int_equal(chunks, 2 * KIT_ENVS);
}

TEST_IN(paced_desk, desk, where_more_versions_count_chunks_go_on)
{
    uint32_t chunks;
    paced_desk_teardown(desk);
    begin(desk, 2);
    adopt(desk, 1);
    grant(desk, 4 * KIT_ENVS, 1);
    (void)aq_actor_core_step(desk->core, 0);
    adopt(desk, 2);
    assert_int_equal(step_out(desk), 3 * KIT_ENVS);
    assert_int_equal(send(desk, false, &chunks), 4 * KIT_ENVS);
    assert_int_equal(chunks, KIT_ENVS);
}

TEST_IN(paced_desk, desk, nothing_goes_because_of_time)
{
    const uint8_t *frame;
    size_t size;
    adopt(desk, 1);
    grant(desk, 100 * KIT_ENVS, 1);
    (void)aq_actor_core_step(desk->core, 0);
    assert_false(aq_actor_core_next(desk->core, 0, 100 * AQ_NS_PER_S, &frame, &size));
}

/* Not paced. */
static void begin_recording(paced_desk *desk, const aq_column *column)
{
    desk->settings = kit_settings();
    desk->settings.recorded_count = 1;
    desk->settings.recorded[0] = *column;
    begin_set(desk);
}

TEST(who_records_what_a_policy_leaves_does_not_step_before_there_is_one)
{
    const aq_run_settings settings = kit_settings();
    aq_column recorded[] = {{.name = ""},
                            {AQ_STATE_COLUMN, AQ_DTYPE_F32, AQ_PER_BOUNDARY, 8, {0}, {0}}};
    assert_succeeds(aq_column_find("log_prob", &settings.schema, &recorded[0]));
    EACH_ROW(i, recorded) {
        paced_desk desk;
        begin_recording(&desk, &recorded[i]);
        grant(&desk, 2 * KIT_ENVS, 0);
        assert_int_equal(step_out(&desk), 0);
        adopt(&desk, 1);
        assert_int_equal(step_out(&desk), 2 * KIT_ENVS);
        paced_desk_teardown(&desk);
    }
}
