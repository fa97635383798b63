/*
 * A checkpoint survives its frame bit for bit; what does not fit its network is refused by name.
 */
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_policy.h"
#include "proto/checkpoint.pb-c.h"
#include "tests/support/kept_arrays.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

static void assert_same_counts(const aq_checkpoint *a, const aq_checkpoint *b)
{
    assert_true(a->run_id == b->run_id);
    assert_true(a->learner_step == b->learner_step);
    assert_true(a->env_steps == b->env_steps);
    assert_true(a->env_steps_base == b->env_steps_base);
    assert_int_equal(a->shard_count, b->shard_count);
    for (uint32_t i = 0; i < a->shard_count; i++) {
        assert_true(a->shards[i].store == b->shards[i].store);
        assert_true(a->shards[i].inserted == b->shards[i].inserted);
        assert_int_equal(a->shards[i].slot, b->shards[i].slot);
    }
    assert_true(a->policy_version == b->policy_version);
    assert_true(a->policies.versions == b->policies.versions);
    assert_true(a->policies.bytes == b->policies.bytes);
    assert_true(a->policies.bytes_fp32 == b->policies.bytes_fp32);
    assert_true(a->policies.packed_bytes_fp32 == b->policies.packed_bytes_fp32);
    assert_memory_equal(&a->wall_s, &b->wall_s, sizeof(a->wall_s));
    assert_memory_equal(&a->best_return, &b->best_return, sizeof(a->best_return));
    assert_int_equal(a->best_confirmed, b->best_confirmed);
    assert_int_equal(a->best_episodes, b->best_episodes);
    assert_true(a->best_std == b->best_std);
    assert_int_equal(a->gap_versions, b->gap_versions);
    assert_int_equal(a->gap_episodes, b->gap_episodes);
    assert_true(a->gap_mean == b->gap_mean && a->gap_squares == b->gap_squares);
}

static void assert_same(const aq_checkpoint *a, const aq_checkpoint *b)
{
    assert_same_counts(a, b);
    assert_string_equal(a->task, b->task);
    assert_string_equal(a->algorithm, b->algorithm);
    assert_string_equal(a->config, b->config);
    assert_memory_equal(&a->schema, &b->schema, sizeof(a->schema));
    assert_memory_equal(&a->spec, &b->spec, sizeof(a->spec));
    assert_int_equal(a->arrays.count, b->arrays.count);
    for (size_t i = 0; i < a->arrays.count; i++) {
        const aq_named_array *one = &a->arrays.arrays[i], *other = &b->arrays.arrays[i];
        assert_string_equal(one->name, other->name);
        assert_int_equal(one->type, other->type);
        assert_int_equal(one->count, other->count);
        assert_memory_equal(one->values, other->values, aq_array_bytes(one));
    }
    assert_int_equal(a->best_policy != NULL, b->best_policy != NULL);
}

typedef struct changed {
    aq_checkpoint original;
    aq_buffer frame;
    Actorq__V1__Checkpoint *message;
} changed;

/* The message of the original, to be changed. */
static void open_message(changed *it)
{
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_checkpoint_pack(&it->original, &it->frame), 0);
    it->message =
        (Actorq__V1__Checkpoint *)fixture_open(&it->frame, &actorq__v1__checkpoint__descriptor);
}

static void changed_setup(changed *it)
{
    fixture_checkpoint(&it->original);
    it->original.best_policy = fixture_snapshot();
    aq_buffer_init(&it->frame, FIXTURE_FRAME_MAX);
    open_message(it);
}

static void changed_teardown(changed *it)
{
    aq_buffer_fini(&it->frame);
}

static int receive(changed *it, aq_checkpoint *ret_checkpoint)
{
    return aq_wire_checkpoint_unpack(it->frame.data, it->frame.size, ret_checkpoint, &refusal);
}

static void send_changed(changed *it)
{
    fixture_pack(&it->message->base, AQ_FRAME_CHECKPOINT, &it->frame);
}

/* As the message was changed; then there is a new one. */
static void refuse(changed *it, int code, const char *words)
{
    aq_checkpoint received;
    send_changed(it);
    assert_refused(receive(it, &received), code, words);
    open_message(it);
}

TEST_IN(changed, it, a_checkpoint_survives_its_frame)
{
    aq_checkpoint received;
    assert_int_equal(receive(it, &received), 0);
    assert_same(&it->original, &received);
    assert_true(received.best_policy->version == it->original.best_policy->version);
    aq_checkpoint_fini(&received);
    assert_null(received.config);
}

/* Writes it, and reads it back. */
static void assert_survives(changed *it, const aq_checkpoint *original)
{
    aq_checkpoint received;
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_checkpoint_pack(original, &it->frame), 0);
    assert_int_equal(receive(it, &received), 0);
    assert_same(original, &received);
    aq_checkpoint_fini(&received);
}

TEST_IN(changed, it, parameters_of_more_networks_survive_behind_the_policys)
{
    enum { MORE_MAX = 4096, EXTRA = 37 };
    static float arrays[4][MORE_MAX];
    static uint64_t adam_step = 12;
    aq_checkpoint original = it->original;
    const size_t count = original.arrays.arrays[0].count + EXTRA;
    assert_true(count <= MORE_MAX);
    for (size_t i = 0; i < MORE_MAX; i++) {
        for (size_t k = 0; k < 4; k++) {
            arrays[k][i] = (float)(i + k);
        }
    }
    kept_arrays(count, (float *const[4]){arrays[0], arrays[1], arrays[2], arrays[3]}, &adam_step,
                &original.arrays);
    assert_survives(it, &original);
}

TEST_IN(changed, it, any_number_of_arrays_of_any_type_survives)
{
    static double doubles[] = {1e9, -0.25, 7e-300, 1.0 / 3.0, 0};
    static uint64_t counts[] = {0, UINT64_MAX, 1};
    aq_checkpoint original = it->original;
    aq_named_arrays_add(&original.arrays, "statistics", AQ_ARRAY_F64, 5, doubles);
    aq_named_arrays_add(&original.arrays, "critic/log.alpha", AQ_ARRAY_U64, 3, counts);
    while (original.arrays.count < AQ_ARRAYS_MAX) {
        char name[AQ_ARRAY_NAME_MAX];
        (void)snprintf(name, sizeof(name), "array_%zu", original.arrays.count);
        aq_named_arrays_add(&original.arrays, name, AQ_ARRAY_F64, 1, doubles);
    }
    assert_survives(it, &original);
}

TEST_IN(changed, it, a_checkpoint_before_the_first_evaluation_survives)
{
    aq_checkpoint original = it->original;
    original.best_policy = NULL;
    original.best_return = NAN;
    original.best_confirmed = false;
    original.shard_count = 0;
    memset(original.shards, 0, sizeof(original.shards));
    original.config = "";
    assert_survives(it, &original);
}

TEST_IN(changed, it, what_the_best_return_is_of_survives)
{
    it->original.best_std = 12.5;
    it->original.best_episodes = 120;
    assert_survives(it, &it->original);
}

TEST_IN(changed, it, the_gap_to_fp32_survives)
{
    aq_checkpoint original = it->original;
    original.policies.packed_bytes_fp32 = 4711;
    original.gap_versions = 17;
    original.gap_episodes = 170;
    original.gap_mean = -0.125;
    original.gap_squares = 2.5;
    assert_survives(it, &original);
}

TEST_IN(changed, it, what_can_not_be_is_refused)
{
    it->message->gap_squares = -1;
    refuse(it, AQ_E_CORRUPT, "gap");
    it->message->wall_s = -1.0;
    refuse(it, AQ_E_CORRUPT, "wall_s is -1");
    it->message->wall_s = NAN;
    refuse(it, AQ_E_CORRUPT, "wall_s is");
    it->message->best_std = -1;
    refuse(it, AQ_E_CORRUPT, "best_std");
    it->message->best_return = INFINITY;
    refuse(it, AQ_E_CORRUPT, "best_return");
    protobuf_c_message_free_unpacked(&it->message->schema->base, NULL);
    it->message->schema = NULL;
    refuse(it, AQ_E_SCHEMA, "checkpoint: the schema is missing");
    it->message->task[0] = '\0';
    refuse(it, AQ_E_CORRUPT, "checkpoint: task or algorithm is empty");
    free(it->message->algorithm);
    it->message->algorithm = malloc(33);
    assert_non_null(it->message->algorithm);
    memset(it->message->algorithm, 'q', 32);
    it->message->algorithm[32] = '\0';
    refuse(it, AQ_E_CORRUPT, "algorithm is longer than 31 bytes");
    it->message->best_policy.data[40] ^= 1;
    refuse(it, AQ_E_CORRUPT, "checkpoint: best_policy: ");
}

TEST_IN(changed, it, stores_keep_their_slots)
{
    aq_checkpoint original = it->original;
    original.shards[0].slot = 63;
    original.shards[1].slot = UINT32_MAX; /* another has it by now */
    assert_survives(it, &original);
}

TEST_IN(changed, it, what_was_read_can_be_written_again)
{
    aq_checkpoint received;
    assert_int_equal(receive(it, &received), 0);
    aq_buffer *again = buffer_up_to(FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_checkpoint_pack(&received, again), 0);
    assert_same_buffers(again, &it->frame);
    aq_checkpoint_fini(&received);
}

TEST_IN(changed, it, arrays_that_can_not_be_are_refused)
{
    it->message->arrays[0]->values.len -= 4;
    refuse(it, AQ_E_CORRUPT, "checkpoint: its parameters are not the 23 of its network");
    it->message->network->layers[0]->outputs = 4;
    it->message->network->layers[1]->inputs = 4;
    refuse(it, AQ_E_CORRUPT, "its parameters are not the 30 of its network");
    it->message->arrays[1]->values.len -= 1;
    refuse(it, AQ_E_CORRUPT, "target is 91 bytes long, no number of 4");
    it->message->arrays[2]->type = 4;
    refuse(it, AQ_E_VERSION, "adam_m: numbers of type 4");
    memcpy(it->message->arrays[3]->name, "adam_m", 7);
    refuse(it, AQ_E_CORRUPT, "two arrays adam_m");
    it->message->arrays[1]->name[0] = '\x1b';
    refuse(it, AQ_E_CORRUPT, "array 1 has a name that none of ours has");
    memcpy(it->message->arrays[0]->values.data + 4 * 7, &(float){NAN}, 4);
    refuse(it, AQ_E_CORRUPT, "checkpoint: parameters: number 7 is NaN");
}

TEST_IN(changed, it, more_stores_than_there_can_be_are_refused)
{
    Actorq__V1__ShardCount count;
    Actorq__V1__ShardCount *pointers[AQ_STORES_MAX + 1];
    Actorq__V1__ShardCount **kept = it->message->shards;
    actorq__v1__shard_count__init(&count);
    for (size_t i = 0; i <= AQ_STORES_MAX; i++) {
        pointers[i] = &count;
    }
    it->message->n_shards = AQ_STORES_MAX + 1;
    it->message->shards = pointers;
    fixture_pack(&it->message->base, AQ_FRAME_CHECKPOINT, &it->frame);
    it->message->n_shards = 2;
    it->message->shards = kept;
    aq_checkpoint received;
    assert_refused(receive(it, &received), AQ_E_CORRUPT, "checkpoint: 1025 stores");
}

/* Puts another policy into the checkpoint. */
static void set_best_policy(changed *it, aq_snapshot *snapshot)
{
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_policy_pack(snapshot, frame), 0);
    free(it->message->best_policy.data);
    it->message->best_policy.data = malloc(frame->size);
    assert_non_null(it->message->best_policy.data);
    memcpy(it->message->best_policy.data, frame->data, frame->size);
    it->message->best_policy.len = frame->size;
    aq_snapshot_unref(snapshot);
}

TEST_IN(changed, it, a_best_policy_of_another_network_is_refused)
{
    const uint32_t hidden = 4;
    aq_net_spec spec;
    aq_rng rng = rng_of(1, 1);
    assert_int_equal(aq_net_spec_init_mlp(4, &hidden, 1, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    set_best_policy(it, fixture_random_snapshot(&rng, &spec));
    refuse(it, AQ_E_CORRUPT, "best_policy is of another network");
}

TEST_IN(changed, it, a_best_policy_of_another_schema_is_refused)
{
    aq_rng rng = rng_of(1, 1);
    set_best_policy(it, fixture_random_snapshot(&rng, &it->original.spec));
    refuse(it, AQ_E_CORRUPT, "best_policy is of another schema");
}

TEST_IN(changed, it, each_allocation_of_reading_may_fail)
{
    aq_checkpoint received;
    int rc;
    EACH_ALLOCATION_FAILS(rc) {
        rc = receive(it, &received);
    }
    assert_same(&it->original, &received);
    aq_checkpoint_fini(&received);
}

TEST_IN(changed, it, each_allocation_of_writing_may_fail)
{
    int rc;
    aq_buffer_fini(&it->frame);
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(it->frame.size, 0);
        aq_buffer_fini(&it->frame);
        rc = aq_wire_checkpoint_pack(&it->original, &it->frame);
    }
}

TEST_IN(changed, it, a_checkpoint_past_the_limit_is_not_begun)
{
    size_t size = it->frame.size;
    for (size_t limit = 1; limit < size; limit += 7) {
        aq_buffer *small = buffer_up_to(limit);
        assert_int_equal(aq_wire_checkpoint_pack(&it->original, small), AQ_E_TOO_BIG);
        assert_int_equal(small->size, 0);
    }
}
