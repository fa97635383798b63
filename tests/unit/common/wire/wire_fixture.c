/*
 * Fixed objects, and frames by hand. Random objects are in wire_random.c.
 */
#include "tests/unit/common/wire/wire_fixture.h"

#include "common/base/parse.h"
#include "tests/support/chunks.h"
#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"

/* ---- objects --------------------------------------------------------------------------------- */

void fixture_schema(aq_schema *ret_schema)
{
    const float high[4] = {4.8f, INFINITY, 0.418f, INFINITY};
    const float low[4] = {-4.8f, -INFINITY, -0.418f, -INFINITY};
    aq_space_init_box(&ret_schema->obs, 4, low, high);
    aq_space_init_discrete(&ret_schema->action, 2);
}

void fixture_layout(aq_layout *ret_layout)
{
    aq_schema schema;
    fixture_schema(&schema);
    assert_int_equal(aq_layout_init(&schema, 3, 8, ret_layout, NULL), 0);
}

static aq_chunk *fixed_chunk(uint32_t first, uint32_t length, uint32_t overlap)
{
    aq_layout layout;
    aq_chunk *chunk;
    fixture_layout(&layout);
    assert_int_equal(aq_chunk_create(&layout, length, &chunk), 0);
    chunk->view.episode = 12;
    chunk->view.first = first;
    chunk->view.lane = 5;
    chunk->view.length = length;
    chunk->view.overlap = (uint16_t)overlap;
    float *obs = (float *)(void *)obs_of(chunk);
    for (uint32_t i = 0; i < 4 * (length + 1); i++) {
        obs[i] = (float)(4 * first + i) * 0.125f - 1.0f;
    }
    for (uint32_t i = 0; i < length; i++) {
        int32_t choice = (int32_t)(i % 2);
        memcpy(action_of(chunk) + 4 * i, &choice, sizeof(choice));
        reward_of(chunk)[i] = 1.0f;
        version_of(chunk)[i] = 300 + i;
    }
    return chunk;
}

void fixture_experience(aq_experience *ret_experience)
{
    *ret_experience = (aq_experience){
        .run_id = FIXTURE_RUN,
        .actor = 3,
        .incarnation = UINT64_C(0xa1a2a3a4a5a6a7a8),
        .seq = 41,
        .acknowledged = 39,
        .chunk_count = 2,
        .chunks = aq_alloc(2, sizeof(aq_chunk *)),
    };
    assert_non_null(ret_experience->chunks);
    ret_experience->chunks[0] = fixed_chunk(0, 5, 0);
    ret_experience->chunks[1] = fixed_chunk(3, 4, 2);
    ret_experience->chunks[1]->view.terminated = 1;
}

static void fill_fixed_int8(aq_snapshot *snapshot)
{
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, 0, &data);
    int8_t *weights = data.weights;
    for (int output = 0; output < 3; output++) {
        data.sum[output] = 0;
        for (int input = 0; input < 4; input++) {
            weights[4 * output + input] = (int8_t)(127 - 40 * (output + input));
            data.sum[output] += weights[4 * output + input];
        }
        data.scale[output] = 0.5f / (float)(1 + output);
        data.bias[output] = 0.25f * (float)output;
    }
}

static void fill_fixed_f32(aq_snapshot *snapshot)
{
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(snapshot, 1, &data);
    float *weights = data.weights;
    for (int i = 0; i < 6; i++) {
        weights[i] = 1.5f - (float)i;
    }
    data.bias[0] = -0.5f;
    data.bias[1] = 0.5f;
}

TEST_ENDING(unref_snapshot, aq_snapshot_unref);

aq_snapshot *fixture_snapshot(void)
{
    const uint32_t hidden = 3;
    const uint32_t formats[2] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32};
    aq_net_spec spec;
    aq_snapshot *snapshot;
    assert_int_equal(aq_net_spec_init_mlp(4, &hidden, 1, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    assert_int_equal(aq_snapshot_create(&spec, formats, NULL, &snapshot), 0);
    snapshot->run_id = FIXTURE_RUN;
    snapshot->version = 17;
    snapshot->learner_step = 1700;
    snapshot->head = AQ_HEAD_ARGMAX;
    snapshot->quant_error = (aq_quant_error){256, 0.0078125f, 0.015625f, 0.0625f, 0.25f};
    assert_int_equal(aq_text_set(snapshot->task, sizeof(snapshot->task), "gym:CartPole-v1"), 0);
    fixture_schema(&snapshot->schema);
    fill_fixed_int8(snapshot);
    fill_fixed_f32(snapshot);
    assert_int_equal(aq_snapshot_validate(snapshot, NULL), 0);
    at_end(unref_snapshot, snapshot);
    return snapshot;
}

void fixture_checkpoint(aq_checkpoint *ret_checkpoint)
{
    enum { COUNT = 4 * 3 + 3 + 3 * 2 + 2 };
    static float parameters[COUNT], target[COUNT], adam_m[COUNT], adam_v[COUNT];
    static uint64_t adam_step = 1800;
    const uint32_t hidden = 3;
    for (int i = 0; i < COUNT; i++) {
        parameters[i] = 0.5f * (float)i - 4.0f;
        target[i] = 0.25f * (float)i;
        adam_m[i] = -0.125f * (float)i;
        adam_v[i] = 0.0625f * (float)i;
    }
    memset(ret_checkpoint, 0, sizeof(*ret_checkpoint));
    *ret_checkpoint = (aq_checkpoint){
        .run_id = FIXTURE_RUN,
        .task = "gym:CartPole-v1",
        .algorithm = "dqn",
        .learner_step = 1800,
        .env_steps = 64000,
        .env_steps_base = 1000,
        .shard_count = 2,
        .shards = {{UINT64_C(0xb1b2b3b4b5b6b7b8), 40000, 0},
                   {UINT64_C(0xc1c2c3c4c5c6c7c8), 23000, 0}},
        .policy_version = 17,
        .policies.versions = 17,
        .policies.bytes = 5000,
        .policies.bytes_fp32 = 15000,
        .wall_s = 12.5,
        .best_return = 200.25,
        .best_confirmed = true,
        .config = "task: gym:CartPole-v1\nseed: 7\n",
    };
    kept_arrays(COUNT, (float *const[4]){parameters, target, adam_m, adam_v}, &adam_step,
                &ret_checkpoint->arrays);
    fixture_schema(&ret_checkpoint->schema);
    assert_int_equal(
        aq_net_spec_init_mlp(4, &hidden, 1, 2, AQ_ACTIVATION_RELU, &ret_checkpoint->spec, NULL), 0);
}

/* ---- frames ---------------------------------------------------------------------------------- */

const uint8_t *fixture_payload(const aq_buffer *frame, size_t *ret_size)
{
    assert_true(frame->size >= AQ_FRAME_HEADER_BYTES);
    *ret_size = frame->size - AQ_FRAME_HEADER_BYTES;
    return frame->data + AQ_FRAME_HEADER_BYTES;
}

void fixture_frame(const uint8_t *payload, size_t size, enum aq_frame_kind kind, aq_buffer *out)
{
    size_t start;
    aq_buffer_clear(out);
    assert_int_equal(aq_frame_begin(out, &start), 0);
    assert_int_equal(aq_buffer_append(out, payload, size), 0);
    aq_frame_end(out, start, kind);
}

aq_lease *fixture_lease(const void *bytes, size_t size)
{
    aq_lease *lease;
    assert_int_equal(aq_lease_copy(bytes, size, &lease), 0);
    return lease;
}

static void free_message(void *message)
{
    protobuf_c_message_free_unpacked(message, NULL);
}

ProtobufCMessage *fixture_open(const aq_buffer *frame, const ProtobufCMessageDescriptor *descriptor)
{
    size_t size;
    const uint8_t *payload = fixture_payload(frame, &size);
    ProtobufCMessage *message = protobuf_c_message_unpack(descriptor, NULL, size, payload);
    assert_non_null(message);
    at_end(free_message, message);
    return message;
}

void fixture_pack(const ProtobufCMessage *message, enum aq_frame_kind kind, aq_buffer *out)
{
    size_t start;
    uint8_t *room;
    aq_buffer_clear(out);
    assert_int_equal(aq_frame_begin(out, &start), 0);
    assert_int_equal(aq_buffer_extend(out, protobuf_c_message_get_packed_size(message), &room), 0);
    protobuf_c_message_pack(message, room);
    aq_frame_end(out, start, kind);
}
