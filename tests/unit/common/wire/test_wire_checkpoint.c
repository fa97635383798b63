/*
 * A checkpoint survives its frame bit for bit; what does not fit its network is refused by name.
 */
#include <math.h>

#include <stdlib.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/wire/wire_checkpoint.h"
#include "common/wire/wire_policy.h"
#include "proto/checkpoint.pb-c.h"
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
    assert_true(a->policy_versions == b->policy_versions);
    assert_true(a->broadcast_bytes == b->broadcast_bytes);
    assert_true(a->broadcast_bytes_fp32 == b->broadcast_bytes_fp32);
    assert_true(a->adam_step == b->adam_step);
    assert_memory_equal(&a->wall_s, &b->wall_s, sizeof(a->wall_s));
    assert_memory_equal(&a->best_return, &b->best_return, sizeof(a->best_return));
    assert_int_equal(a->best_confirmed, b->best_confirmed);
    assert_int_equal(a->statistics_count, b->statistics_count);
    if (a->statistics_count > 0) {
        assert_memory_equal(a->statistics, b->statistics, a->statistics_count * sizeof(double));
    }
    assert_int_equal(a->gap_versions, b->gap_versions);
    assert_int_equal(a->gap_episodes, b->gap_episodes);
    assert_true(a->gap_mean == b->gap_mean && a->gap_squares == b->gap_squares);
}

static void assert_same(const aq_checkpoint *a, const aq_checkpoint *b)
{
    size_t bytes = a->parameter_count * sizeof(float);
    assert_same_counts(a, b);
    assert_string_equal(a->task, b->task);
    assert_string_equal(a->algorithm, b->algorithm);
    assert_string_equal(a->config, b->config);
    assert_memory_equal(&a->schema, &b->schema, sizeof(a->schema));
    assert_memory_equal(&a->spec, &b->spec, sizeof(a->spec));
    assert_int_equal(a->parameter_count, b->parameter_count);
    assert_memory_equal(a->parameters, b->parameters, bytes);
    assert_memory_equal(a->target, b->target, bytes);
    assert_memory_equal(a->adam_m, b->adam_m, bytes);
    assert_memory_equal(a->adam_v, b->adam_v, bytes);
    assert_int_equal(a->best_policy != NULL, b->best_policy != NULL);
}

typedef struct changed {
    aq_checkpoint original;
    aq_buffer frame;
    Actorq__V1__Checkpoint *message;
    aq_error error;
} changed;

static int open_fixed(void **state)
{
    static changed it;
    memset(&it, 0, sizeof(it));
    fixture_checkpoint(&it.original);
    it.original.best_policy = fixture_snapshot();
    aq_buffer_init(&it.frame, FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_checkpoint_pack(&it.original, &it.frame), 0);
    it.message =
        (Actorq__V1__Checkpoint *)fixture_open(&it.frame, &actorq__v1__checkpoint__descriptor);
    *state = &it;
    return 0;
}

static int close_fixed(void **state)
{
    changed *it = *state;
    aq_snapshot_unref(it->original.best_policy);
    aq_buffer_fini(&it->frame);
    if (it->message != NULL) {
        protobuf_c_message_free_unpacked(&it->message->base, NULL);
    }
    return 0;
}

static int receive(changed *it, aq_checkpoint *ret_checkpoint)
{
    return aq_wire_checkpoint_unpack(it->frame.data, it->frame.size, ret_checkpoint, &it->error);
}

static void send_changed(changed *it)
{
    fixture_close(&it->message->base, AQ_FRAME_CHECKPOINT, &it->frame);
    it->message = NULL;
}

static void refuse(changed *it, int code, const char *words)
{
    aq_checkpoint received;
    send_changed(it);
    assert_int_equal(receive(it, &received), code);
    if (strstr(it->error.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", it->error.text, words);
    }
}

TEST_WITH(a_checkpoint_survives_its_frame, open_fixed, close_fixed)
{
    changed *it = *state;
    aq_checkpoint received;
    assert_int_equal(receive(it, &received), 0);
    assert_same(&it->original, &received);
    assert_true(received.best_policy->version == it->original.best_policy->version);
    aq_checkpoint_fini(&received);
    assert_null(received.parameters);
}

TEST_WITH(parameters_of_more_networks_survive_behind_the_policys, open_fixed, close_fixed)
{
    enum { MORE_MAX = 4096, EXTRA = 37 };
    static float arrays[4][MORE_MAX];
    changed *it = *state;
    aq_checkpoint original = it->original;
    aq_checkpoint received;
    assert_true(original.parameter_count + EXTRA <= MORE_MAX);
    for (size_t i = 0; i < MORE_MAX; i++) {
        for (size_t k = 0; k < 4; k++) {
            arrays[k][i] = (float)(i + k);
        }
    }
    original.parameter_count += EXTRA;
    original.parameters = arrays[0];
    original.target = arrays[1];
    original.adam_m = arrays[2];
    original.adam_v = arrays[3];
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_checkpoint_pack(&original, &it->frame), 0);
    assert_int_equal(receive(it, &received), 0);
    assert_same(&original, &received);
    aq_checkpoint_fini(&received);
}

TEST_WITH(fewer_parameters_than_the_network_has_are_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->parameter_count = it->original.parameter_count - 1;
    refuse(it, AQ_E_CORRUPT, "parameter_count");
}

TEST_WITH(more_parameters_than_are_possible_are_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->parameter_count = UINT64_MAX;
    refuse(it, AQ_E_CORRUPT, "parameter_count");
}

TEST_WITH(arrays_of_another_length_than_said_are_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->parameter_count = it->original.parameter_count + 1;
    refuse(it, AQ_E_CORRUPT, "parameters");
}

TEST_WITH(a_checkpoint_before_the_first_evaluation_survives, open_fixed, close_fixed)
{
    changed *it = *state;
    aq_checkpoint original = it->original;
    aq_checkpoint received;
    original.best_policy = NULL;
    original.best_return = NAN;
    original.best_confirmed = false;
    original.shard_count = 0;
    memset(original.shards, 0, sizeof(original.shards));
    original.config = "";
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_checkpoint_pack(&original, &it->frame), 0);
    assert_int_equal(receive(it, &received), 0);
    assert_same(&original, &received);
    aq_checkpoint_fini(&received);
}

TEST_WITH(statistics_and_the_gap_to_fp32_survive, open_fixed, close_fixed)
{
    const double statistics[] = {1e9, -0.25, 7e-300, 1.0 / 3.0, 0};
    changed *it = *state;
    aq_checkpoint original = it->original;
    aq_checkpoint received;
    original.statistics = statistics;
    original.statistics_count = 5;
    original.gap_versions = 17;
    original.gap_episodes = 170;
    original.gap_mean = -0.125;
    original.gap_squares = 2.5;
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_checkpoint_pack(&original, &it->frame), 0);
    assert_int_equal(receive(it, &received), 0);
    assert_same(&original, &received);
    aq_checkpoint_fini(&received);
}

/* The message owns the bytes, and frees them as protobuf-c does. */
static void set_statistics(changed *it, const double *values, size_t size)
{
    it->message->statistics.data = malloc(size);
    memcpy(it->message->statistics.data, values, size);
    it->message->statistics.len = size;
}

TEST_WITH(statistics_that_are_no_numbers_are_refused, open_fixed, close_fixed)
{
    const double statistics[] = {1, (double)NAN};
    changed *it = *state;
    set_statistics(it, statistics, sizeof(statistics));
    refuse(it, AQ_E_CORRUPT, "statistics: number 1");
}

TEST_WITH(a_part_of_a_statistic_is_refused, open_fixed, close_fixed)
{
    const double statistics[] = {1, 2};
    changed *it = *state;
    set_statistics(it, statistics, 13);
    refuse(it, AQ_E_CORRUPT, "statistics is 13 bytes");
}

TEST_WITH(a_gap_that_can_not_be_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->gap_squares = -1;
    refuse(it, AQ_E_CORRUPT, "gap");
}

TEST_WITH(stores_keep_their_slots, open_fixed, close_fixed)
{
    changed *it = *state;
    aq_checkpoint original = it->original;
    aq_checkpoint received;
    original.shards[0].slot = 63;
    original.shards[1].slot = UINT32_MAX; /* another has it by now */
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_checkpoint_pack(&original, &it->frame), 0);
    assert_int_equal(receive(it, &received), 0);
    assert_same(&original, &received);
    aq_checkpoint_fini(&received);
}

TEST_WITH(what_was_read_can_be_written_again, open_fixed, close_fixed)
{
    changed *it = *state;
    aq_checkpoint received;
    aq_buffer again;
    assert_int_equal(receive(it, &received), 0);
    aq_buffer_init(&again, FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_checkpoint_pack(&received, &again), 0);
    assert_int_equal(again.size, it->frame.size);
    assert_memory_equal(again.data, it->frame.data, again.size);
    aq_buffer_fini(&again);
    aq_checkpoint_fini(&received);
}

TEST_WITH(each_array_must_have_the_networks_size, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->target.len -= 4;
    refuse(it, AQ_E_CORRUPT, "checkpoint: target is 88 bytes long, not 23 times 4");
}

TEST_WITH(an_array_that_is_not_there_is_named, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->adam_m.len = 0;
    refuse(it, AQ_E_CORRUPT, "checkpoint: adam_m is 0 bytes long");
}

TEST_WITH(another_network_does_not_take_these_parameters, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->network->layers[0]->outputs = 4;
    it->message->network->layers[1]->inputs = 4;
    refuse(it, AQ_E_CORRUPT, "parameters is 92 bytes long, not 30 times 4");
}

TEST_WITH(a_parameter_that_is_no_number_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    const float nan_value = NAN;
    memcpy(it->message->parameters.data + 4 * 7, &nan_value, 4);
    refuse(it, AQ_E_CORRUPT, "checkpoint: parameters: number 7 is NaN");
}

TEST_WITH(a_negative_second_moment_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    const float negative = -1.0f;
    memcpy(it->message->adam_v.data + 4 * 22, &negative, 4);
    refuse(it, AQ_E_CORRUPT, "checkpoint: adam_v: number 22 is -1");
}

TEST_WITH(a_time_that_is_no_time_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->wall_s = -1.0;
    refuse(it, AQ_E_CORRUPT, "wall_s is -1");
}

TEST_WITH(an_infinite_return_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->best_return = INFINITY;
    refuse(it, AQ_E_CORRUPT, "best_return");
}

TEST_WITH(more_shards_than_there_can_be_are_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    Actorq__V1__ShardCount count;
    Actorq__V1__ShardCount *pointers[AQ_CHECKPOINT_SHARDS_MAX + 1];
    Actorq__V1__ShardCount **kept = it->message->shards;
    actorq__v1__shard_count__init(&count);
    for (size_t i = 0; i <= AQ_CHECKPOINT_SHARDS_MAX; i++) {
        pointers[i] = &count;
    }
    it->message->n_shards = AQ_CHECKPOINT_SHARDS_MAX + 1;
    it->message->shards = pointers;
    aq_buffer_clear(&it->frame);
    size_t start;
    uint8_t *room;
    size_t size = protobuf_c_message_get_packed_size(&it->message->base);
    assert_int_equal(aq_frame_begin(&it->frame, &start), 0);
    assert_int_equal(aq_buffer_extend(&it->frame, size, &room), 0);
    protobuf_c_message_pack(&it->message->base, room);
    aq_frame_end(&it->frame, start, AQ_FRAME_CHECKPOINT);
    it->message->n_shards = 2;
    it->message->shards = kept;
    aq_checkpoint received;
    assert_int_equal(receive(it, &received), AQ_E_CORRUPT);
    assert_non_null(strstr(it->error.text, "checkpoint: 65 shards"));
}

TEST_WITH(a_checkpoint_without_a_schema_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    protobuf_c_message_free_unpacked(&it->message->schema->base, NULL);
    it->message->schema = NULL;
    refuse(it, AQ_E_SCHEMA, "checkpoint: the schema is missing");
}

TEST_WITH(a_checkpoint_without_a_task_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->task[0] = '\0';
    refuse(it, AQ_E_CORRUPT, "checkpoint: task or algorithm is empty");
}

TEST_WITH(an_algorithm_whose_name_is_too_long_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    free(it->message->algorithm);
    it->message->algorithm = malloc(33);
    assert_non_null(it->message->algorithm);
    memset(it->message->algorithm, 'q', 32);
    it->message->algorithm[32] = '\0';
    refuse(it, AQ_E_CORRUPT, "algorithm is longer than 31 bytes");
}

TEST_WITH(a_damaged_best_policy_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    it->message->best_policy.data[40] ^= 1;
    refuse(it, AQ_E_CORRUPT, "checkpoint: best_policy: ");
}

/* Puts another policy into the checkpoint. */
static void set_best_policy(changed *it, aq_snapshot *snapshot)
{
    aq_buffer frame;
    aq_buffer_init(&frame, FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_policy_pack(snapshot, &frame), 0);
    free(it->message->best_policy.data);
    it->message->best_policy.data = malloc(frame.size);
    assert_non_null(it->message->best_policy.data);
    memcpy(it->message->best_policy.data, frame.data, frame.size);
    it->message->best_policy.len = frame.size;
    aq_buffer_fini(&frame);
    aq_snapshot_unref(snapshot);
}

TEST_WITH(a_best_policy_of_another_network_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    const uint32_t hidden = 4;
    aq_net_spec spec;
    aq_rng rng;
    aq_rng_init(&rng, 1, 1);
    assert_int_equal(aq_net_spec_init_mlp(4, &hidden, 1, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    set_best_policy(it, fixture_random_snapshot(&rng, &spec));
    refuse(it, AQ_E_CORRUPT, "best_policy is of another network");
}

TEST_WITH(a_best_policy_of_another_schema_is_refused, open_fixed, close_fixed)
{
    changed *it = *state;
    aq_rng rng;
    aq_rng_init(&rng, 1, 1);
    set_best_policy(it, fixture_random_snapshot(&rng, &it->original.spec));
    refuse(it, AQ_E_CORRUPT, "best_policy is of another schema");
}

TEST_WITH(each_allocation_of_reading_may_fail, open_fixed, close_fixed)
{
    changed *it = *state;
    aq_checkpoint received;
    int rc = AQ_E_NOMEM;
    for (uint64_t nth = 1; rc != 0; nth++) {
        assert_true(nth < 1000);
        aq_memory_fail_at(nth, 0);
        rc = receive(it, &received);
        aq_memory_fail_at(0, 0);
        assert_true(rc == 0 || rc == AQ_E_NOMEM);
    }
    assert_same(&it->original, &received);
    aq_checkpoint_fini(&received);
}

TEST_WITH(each_allocation_of_writing_may_fail, open_fixed, close_fixed)
{
    changed *it = *state;
    int rc = AQ_E_NOMEM;
    for (uint64_t nth = 1; rc != 0; nth++) {
        assert_true(nth < 1000);
        aq_buffer_fini(&it->frame);
        aq_memory_fail_at(nth, 0);
        rc = aq_wire_checkpoint_pack(&it->original, &it->frame);
        aq_memory_fail_at(0, 0);
        assert_true(rc == 0 || (rc == AQ_E_NOMEM && it->frame.size == 0));
    }
}

TEST_WITH(a_checkpoint_past_the_limit_is_not_begun, open_fixed, close_fixed)
{
    changed *it = *state;
    size_t size = it->frame.size;
    aq_buffer small;
    for (size_t limit = 1; limit < size; limit += 7) {
        aq_buffer_init(&small, limit);
        assert_int_equal(aq_wire_checkpoint_pack(&it->original, &small), AQ_E_TOO_BIG);
        assert_int_equal(small.size, 0);
        aq_buffer_fini(&small);
    }
}

#define CHANGED(test) cmocka_unit_test_setup_teardown(test, open_fixed, close_fixed)
