/*
 * Chunks, messages and settings for tests.
 */
#include "tests/unit/replay/replay_kit.h"

#include "common/base/parse.h"
#include "common/wire/wire_experience.h"
#include "tests/support/chunks.h"
#include "tests/support/run_settings_kit.h"
#include "tests/support/test.h"

aq_run_settings kit_settings(void)
{
    static const float low[2] = {-1e9f, -1e9f};
    static const float high[2] = {1e9f, 1e9f};
    aq_run_settings settings = run_settings_kit();
    aq_schema schema;
    int rc = aq_text_set(settings.task, sizeof(settings.task), "test:Steps-v0");
    assert_int_equal(rc, 0);
    settings.seed = 1;
    settings.n_step = KIT_N_STEP;
    settings.sample_rows = 16;
    settings.tables[0].capacity = 1000;
    settings.tables[0].n_step = KIT_N_STEP;
    settings.tables[0].min_size = 20;
    settings.tables[0].samples_per_insert = 4.0;
    settings.tables[0].tolerance = 40.0;
    settings.config.replay.chunk_length = KIT_CHUNK_LENGTH;
    settings.config.replay.storage = AQ_STORAGE_MEMORY;
    settings.config.replay.segment_bytes = 1 << 20;
    settings.config.replay.fsync_ms = 0;
    settings.config.replay.snapshot_ms = 1000;
    settings.config.net.message_bytes = 65536;
    settings.config.actor.envs = 2;
    settings.config.actor.count = 1;
    aq_space_init_box(&schema.obs, 2, low, high);
    aq_space_init_discrete(&schema.action, 2);
    run_settings_kit_schema(&settings, &schema);
    return settings;
}

aq_layout kit_layout(void)
{
    aq_run_settings settings = kit_settings();
    aq_layout layout;
    assert_succeeds(aq_layout_init(&settings.schema, settings.n_step,
                                   (uint32_t)settings.config.replay.chunk_length, &layout, NULL));
    return layout;
}

aq_chunk *kit_chunk(const aq_layout *layout, uint64_t first_step, uint32_t length, uint32_t overlap,
                    enum kit_end end)
{
    aq_chunk *chunk = NULL;
    assert_int_equal(aq_chunk_create(layout, length, &chunk), 0);
    chunk->view.first = overlap > 0 ? KIT_CHUNK_LENGTH : 0;
    chunk->view.length = length;
    chunk->view.overlap = overlap;
    chunk->view.terminated = end == KIT_TERMINATED;
    chunk->view.truncated = end == KIT_TRUNCATED;
    for (uint32_t row = 0; row <= length; row++) {
        float obs[2] = {(float)(first_step + row), (float)(first_step + row) + 0.25f};
        memcpy(obs_of(chunk) + (size_t)row * sizeof(obs), obs, sizeof(obs));
    }
    for (uint32_t row = 0; row < length; row++) {
        int32_t action = (int32_t)((first_step + row) % 2);
        memcpy(action_of(chunk) + row * sizeof(action), &action, sizeof(action));
        reward_of(chunk)[row] = (float)(first_step + row);
        version_of(chunk)[row] = (uint32_t)(first_step + row);
    }
    assert_int_equal(aq_chunk_view_validate(&chunk->view, layout, NULL), 0);
    return chunk;
}

aq_experience kit_message(uint64_t actor, uint64_t seq, uint64_t acknowledged, uint64_t first_step,
                          uint32_t steps)
{
    aq_layout layout = kit_layout();
    aq_experience message = {
        .run_id = KIT_RUN_ID,
        .actor = actor,
        .incarnation = 1000 + actor,
        .seq = seq,
        .acknowledged = acknowledged,
        .chunk_count = (steps + KIT_CHUNK_LENGTH - 1) / KIT_CHUNK_LENGTH,
    };
    message.chunks = aq_alloc(message.chunk_count, sizeof(*message.chunks));
    assert_non_null(message.chunks);
    for (uint32_t i = 0; i < message.chunk_count; i++) {
        uint32_t done = i * KIT_CHUNK_LENGTH;
        uint32_t length = steps - done < KIT_CHUNK_LENGTH ? steps - done : KIT_CHUNK_LENGTH;
        message.chunks[i] = kit_chunk(&layout, first_step + done, length, 0, KIT_TERMINATED);
    }
    return message;
}

aq_arrival *kit_arrival(aq_experience *message)
{
    aq_layout layout = kit_layout();
    aq_buffer frame;
    aq_lease *lease = NULL;
    aq_arrival *arrival = NULL;
    aq_buffer_init(&frame, 1 << 20);
    assert_int_equal(aq_wire_experience_pack(message, &layout, &frame), 0);
    assert_int_equal(aq_lease_copy(frame.data, frame.size, &lease), 0);
    assert_succeeds(
        aq_wire_experience_arrive(lease, false, message->run_id, &layout, &arrival, &refusal));
    aq_lease_unref(lease);
    aq_buffer_fini(&frame);
    experience_fini(message);
    return arrival;
}

aq_shard_run kit_run(const aq_run_settings *settings)
{
    return (aq_shard_run){
        .settings = settings,
        .run_id = KIT_RUN_ID,
        .store = KIT_STORE,
        .incarnation = 5,
        .seed = 6,
    };
}

TEST_ENDING(destroy_batch, aq_batch_destroy);

aq_batch *kit_batch(const aq_replay_core *core, uint32_t rows)
{
    aq_batch *batch = NULL;
    assert_int_equal(aq_batch_create(aq_replay_core_layout(core), 0, rows, &batch), 0);
    at_end(destroy_batch, batch);
    return batch;
}

void kit_drop_core(void *core)
{
    aq_replay_core_destroy(core);
}

aq_table_spec kit_spec(uint64_t min_size, double samples_per_insert, double tolerance)
{
    aq_run_settings settings = kit_settings();
    aq_table_spec spec = settings.tables[0];
    spec.min_size = min_size;
    spec.samples_per_insert = samples_per_insert;
    spec.tolerance = tolerance;
    return spec;
}

aq_credit_supply kit_supply(const aq_replay_limiter *limiter)
{
    return (aq_credit_supply){
        .headroom = aq_replay_limiter_headroom(limiter),
        .width = aq_replay_limiter_width(limiter),
        .learner_waits = !aq_replay_limiter_may_sample(limiter, limiter->rows_max),
    };
}
