/*
 * A policy survives the wire and the disk bit for bit; each lie about one is refused in words that
 * name the place.
 */
#include "common/wire/wire_policy.h"
#include "proto/policy.pb-c.h"
#include "tests/support/file_kit.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/policy_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"

TEST(any_policy_survives_the_wire)
{
    aq_rng rng;
    aq_rng_init(&rng, fixture_seed(), 2);
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    for (int i = 0; i < 2000; i++) {
        aq_net_spec spec;
        aq_snapshot *received;
        fixture_random_network(&rng, &spec);
        aq_snapshot *sent = fixture_random_snapshot(&rng, &spec);
        aq_buffer_clear(frame);
        assert_int_equal(aq_wire_policy_pack(sent, frame), 0);
        assert_int_equal(aq_wire_policy_unpack(frame->data, frame->size, &received, NULL), 0);
        assert_same_policy(sent, received);
        aq_snapshot_unref(received);
        assert_int_equal(aq_wire_policy_bytes(sent), frame->size);
        aq_buffer_clear(frame);
        assert_int_equal(aq_wire_policy_pack_compact(sent, frame), 0);
        assert_true(frame->size <= aq_wire_policy_bytes(sent) + 2 * AQ_NET_LAYERS_MAX);
        assert_int_equal(aq_wire_policy_unpack_of(frame->data, frame->size, aq_net_spec_hash(&spec),
                                                  &received, NULL),
                         0);
        assert_same_policy(sent, received);
        aq_snapshot_unref(sent);
        aq_snapshot_unref(received);
    }
}

/* ---- lies ------------------------------------------------------------------------------------ */

typedef struct changed {
    aq_snapshot *snapshot;
    aq_buffer frame;
    Actorq__V1__PolicySnapshot *message;
} changed;

/* The message of the snapshot, to be changed. */
static void open_message(changed *it)
{
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_policy_pack(it->snapshot, &it->frame), 0);
    it->message = (Actorq__V1__PolicySnapshot *)fixture_open(
        &it->frame, &actorq__v1__policy_snapshot__descriptor);
}

static void changed_setup(changed *it)
{
    it->snapshot = fixture_snapshot();
    aq_buffer_init(&it->frame, FIXTURE_FRAME_MAX);
    open_message(it);
}

static void changed_teardown(changed *it)
{
    aq_buffer_fini(&it->frame);
}

/* As the message was changed; then there is a new one. */
static void refuse(changed *it, int code, const char *words)
{
    aq_snapshot *received = NULL;
    fixture_pack(&it->message->base, AQ_FRAME_POLICY, &it->frame);
    assert_refused(aq_wire_policy_unpack(it->frame.data, it->frame.size, &received, &refusal), code,
                   words);
    assert_null(received);
    open_message(it);
}

static void put_float(ProtobufCBinaryData *column, size_t index, float value)
{
    memcpy(column->data + index * sizeof(value), &value, sizeof(value));
}

TEST_IN(changed, it, numbers_that_can_not_be_are_refused)
{
    put_float(&it->message->layers[1]->weights, 4, NAN);
    refuse(it, AQ_E_CORRUPT, "layer 1, row 1: a weight is NaN");
    put_float(&it->message->layers[0]->bias, 2, -INFINITY);
    refuse(it, AQ_E_CORRUPT, "layer 0, row 2: a bias");
    put_float(&it->message->layers[0]->scale, 1, 0.0f);
    refuse(it, AQ_E_CORRUPT, "layer 0, row 1: a scale of 0");
    put_float(&it->message->layers[0]->scale, 1, -0.5f);
    refuse(it, AQ_E_CORRUPT, "layer 0, row 1: a scale of -0.5");
    put_float(&it->message->layers[0]->scale, 2, NAN);
    refuse(it, AQ_E_CORRUPT, "layer 0, row 2: a scale of");
    it->message->layers[0]->sum.data[4]++;
    refuse(it, AQ_E_CORRUPT, "layer 0, row 1: the weights add up to");
    it->message->layers[0]->weights.data[11] = 0x80;
    refuse(it, AQ_E_CORRUPT, "layer 0, row 2: a weight of -128");
    it->message->layers[1]->format = 9;
    refuse(it, AQ_E_VERSION, "layer 1: weights in format 9");
    it->message->act_rule = 9;
    refuse(it, AQ_E_VERSION, "9");
    it->message->version = 0;
    refuse(it, AQ_E_CORRUPT, "version 0");
}

TEST_IN(changed, it, tensors_of_other_sizes_are_refused)
{
    it->message->layers[0]->weights.len--;
    refuse(it, AQ_E_CORRUPT, "layer 0: weights is 11 bytes long, not 12 times 1");
    it->message->layers[1]->bias.len -= 4;
    refuse(it, AQ_E_CORRUPT, "layer 1: bias is 4 bytes long");
    it->message->arrays = (ProtobufCBinaryData){.data = calloc(1, 4), .len = 4};
    refuse(it, AQ_E_CORRUPT, "arrays is 4 bytes long, not 0 times 4");
    it->message->layers[0]->scale.len = 0;
    refuse(it, AQ_E_CORRUPT, "layer 0: scale is 0 bytes long");
    it->message->layers[0]->sum.len -= 1;
    refuse(it, AQ_E_CORRUPT, "layer 0: sum is 11 bytes long");
    it->message->layers[1]->scale = it->message->layers[0]->scale;
    it->message->layers[0]->scale = (ProtobufCBinaryData){0};
    refuse(it, AQ_E_CORRUPT, "layer 0: scale is 0 bytes long");
    it->message->layers[1]->sum = it->message->layers[1]->bias;
    it->message->layers[1]->bias = (ProtobufCBinaryData){0};
    refuse(it, AQ_E_CORRUPT, "layer 1: sum is 8 bytes long, not 0 times 4");
}

TEST_IN(changed, it, tensors_that_their_layer_cannot_have_are_refused)
{
    ProtobufCBinaryData *weights = &it->message->layers[0]->weights;
    it->message->layers[0]->format = AQ_FORMAT_INT8_SPARSE;
    free(weights->data);
    *weights = (ProtobufCBinaryData){2 * AQ_BLOCK_BYTES, calloc(2, AQ_BLOCK_BYTES)};
    assert_non_null(weights->data);
    refuse(it, AQ_E_CORRUPT, "layer 0: 2 blocks of a matrix that has 1");
    it->message->network->layers[0]->kind = AQ_LAYER_NORM;
    it->message->network->layers[0]->activation = AQ_ACTIVATION_NONE;
    it->message->network->layers[0]->outputs = it->message->network->layers[1]->inputs = 4;
    refuse(it, AQ_E_CORRUPT, "layer 0: weights in int8, of a kind of layer that has fp32 alone");
}

TEST_IN(changed, it, a_network_that_fits_nothing_else_is_refused)
{
    it->message->network->layers[0]->outputs = 4;
    refuse(it, AQ_E_CORRUPT, "layer 1 takes 3 values, but layer 0 gives 4");
    it->message->network->layers[1]->outputs = UINT32_MAX; /* refused before it is allocated */
    refuse(it, AQ_E_CORRUPT, "its output is 4294967295; 1 to 16384 are possible");
    protobuf_c_message_free_unpacked(&it->message->layers[1]->base, NULL);
    it->message->n_layers = 1;
    refuse(it, AQ_E_CORRUPT, "tensors for 1 layers of a network that has 2");
    it->message->schema->observation->shape[0] = 5;
    it->message->schema->observation->n_low = 1;
    it->message->schema->observation->n_high = 1;
    refuse(it, AQ_E_SCHEMA, "the network takes 4 values, an observation has 5");
    it->message->schema->action->choice_count = 3;
    refuse(it, AQ_E_SCHEMA, "the network gives 2 values for 3 choices");
}

TEST_IN(changed, it, what_must_be_there_is_missed)
{
    protobuf_c_message_free_unpacked(&it->message->network->base, NULL);
    it->message->network = NULL;
    refuse(it, AQ_E_CORRUPT, "policy: the network is missing");
    protobuf_c_message_free_unpacked(&it->message->schema->base, NULL);
    it->message->schema = NULL;
    refuse(it, AQ_E_SCHEMA, "policy: the schema is missing");
}

TEST_IN(changed, it, a_task_whose_name_is_too_long_is_refused)
{
    free(it->message->task);
    it->message->task = malloc(AQ_TASK_NAME_MAX + 1);
    assert_non_null(it->message->task);
    memset(it->message->task, 'a', AQ_TASK_NAME_MAX);
    it->message->task[AQ_TASK_NAME_MAX] = '\0';
    refuse(it, AQ_E_CORRUPT, "policy: the task's name is longer than 127 bytes");
}

TEST_IN(changed, it, an_unmeasured_error_may_be_absent)
{
    aq_snapshot *received;
    protobuf_c_message_free_unpacked(&it->message->quant_error->base, NULL);
    it->message->quant_error = NULL;
    fixture_pack(&it->message->base, AQ_FRAME_POLICY, &it->frame);
    assert_int_equal(aq_wire_policy_unpack(it->frame.data, it->frame.size, &received, NULL), 0);
    assert_int_equal(received->quant_error.rows, 0);
    aq_snapshot_unref(received);
}

TEST_IN(changed, it, each_allocation_may_fail)
{
    aq_snapshot *received;
    assert_made_despite_failures(
        received, aq_wire_policy_unpack(it->frame.data, it->frame.size, &received, &refusal));
    assert_same_policy(it->snapshot, received);
    aq_snapshot_unref(received);
}

/* Of 1 MiB in fp32. */
static aq_snapshot *large_snapshot(void)
{
    const uint32_t hidden[] = {512, 512};
    const aq_snapshot *model = fixture_snapshot();
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(4, hidden, 2, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    return policy_of(&spec, model->head, model->task, &model->schema);
}

enum { SMALL_BYTES = 64 << 10 }; /* all that is no tensor */

/* A policy near the bounds takes its file and its tensors, each once. */
TEST(reading_takes_twice_what_the_file_takes)
{
    const char *path = file_in(file_folder(), "policy.aq");
    const aq_snapshot *large = large_snapshot();
    const size_t bytes = aq_wire_policy_bytes(large);
    aq_buffer *frame = buffer_up_to(4 << 20);
    aq_snapshot *read;
    assert_int_equal(aq_policy_file_write(path, large, NULL), 0);
    assert_int_equal(aq_wire_policy_pack(large, frame), 0);

    uint64_t before = aq_memory_allocated_bytes();
    assert_succeeds(aq_wire_policy_unpack(frame->data, frame->size, &read, &refusal));
    assert_in_range(aq_memory_allocated_bytes() - before, bytes / 2, bytes + SMALL_BYTES);
    aq_snapshot_unref(read);

    before = aq_memory_allocated_bytes();
    assert_succeeds(aq_policy_file_read(path, &read, &refusal));
    assert_in_range(aq_memory_allocated_bytes() - before, bytes, 2 * bytes + SMALL_BYTES);
    aq_snapshot_unref(read);
}

/* What lies about its network has taken nothing yet. */
TEST(a_policy_of_another_network_takes_nothing)
{
    const aq_snapshot *large = large_snapshot();
    aq_buffer *frame = buffer_up_to(4 << 20);
    aq_snapshot *read;
    assert_int_equal(aq_wire_policy_pack(large, frame), 0);
    const uint64_t before = aq_memory_allocated_bytes();
    assert_refused(aq_wire_policy_unpack_of(frame->data, frame->size, 1, &read, &refusal),
                   AQ_E_SCHEMA, "another network");
    assert_in_range(aq_memory_allocated_bytes() - before, 0, SMALL_BYTES);
}

/* ---- files ----------------------------------------------------------------------------------- */

TEST(a_policy_survives_a_file)
{
    const char *path = file_in(file_folder(), "policy.aq");
    aq_snapshot *read = NULL;
    aq_snapshot *written = fixture_snapshot();
    assert_int_equal(aq_policy_file_write(path, written, NULL), 0);
    assert_int_equal(aq_policy_file_read(path, &read, NULL), 0);
    assert_same_policy(written, read);
    aq_snapshot_unref(read);
}

TEST(a_damaged_file_is_named)
{
    const char *path = file_in(file_folder(), "policy.aq");
    aq_snapshot *read;
    file_put_text(path, "<html><body>no policy</body>");
    assert_refused(aq_policy_file_read(path, &read, &refusal), AQ_E_FOREIGN, path);
}

TEST(a_file_that_is_not_there_is_named)
{
    aq_snapshot *read;
    assert_refused(aq_policy_file_read("/nowhere/policy.aq", &read, &refusal), AQ_E_NOT_FOUND,
                   "/nowhere/policy.aq");
}
