/*
 * A delta gives, bit for bit, the version that it was made from; another base, a damaged or cut
 * frame and every lie about a layer are refused in words.
 */
#include "common/wire/wire_delta.h"
#include "common/wire/wire_policy.h"
#include "proto/policy.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/policy_kit.h"
#include "tests/unit/common/wire/wire_fixture.h"
#include "tests/unit/common/wire/wire_random.h"

typedef struct fixture {
    aq_rng rng;
    aq_snapshot *base;
    aq_snapshot *next;
    aq_buffer frame;
    Actorq__V1__PolicyDelta *message;
} fixture;

static void fixture_setup(fixture *all)
{
    aq_rng_init(&all->rng, fixture_seed(), 3);
    all->base = fixture_snapshot();
    all->next = policy_trained(&all->rng, all->base, 0.5);
    aq_buffer_init(&all->frame, FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_delta_pack(all->base, all->next, &all->frame), 0);
}

static void fixture_teardown(fixture *all)
{
    aq_snapshot_unref(all->next);
    aq_buffer_fini(&all->frame);
}

/* From the frame to the snapshot. */
static int receive(const aq_buffer *frame, const aq_snapshot *base, aq_snapshot **ret_snapshot,
                   aq_error *error)
{
    aq_wire_delta *delta;
    int rc = aq_wire_delta_open(frame->data, frame->size, &delta, error);
    if (rc == 0) {
        rc = aq_wire_delta_apply(delta, base, ret_snapshot, error);
        aq_wire_delta_close(delta);
    }
    return rc;
}

/* ---- what comes back ------------------------------------------------------------------------ */

static void check_round_trip(const aq_snapshot *base, const aq_snapshot *next, aq_buffer *frame)
{
    aq_snapshot *received;
    aq_buffer_clear(frame);
    assert_true(aq_wire_delta_possible(base, next));
    assert_int_equal(aq_wire_delta_pack(base, next, frame), 0);
    assert_int_equal(receive(frame, base, &received, NULL), 0);
    assert_same_policy(next, received);
    aq_snapshot_unref(received);
}

TEST(any_change_of_any_policy_survives_the_wire)
{
    static const double shares[] = {0, 0.01, 0.3, 1};
    aq_rng rng;
    aq_rng_init(&rng, fixture_seed(), 2);
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    for (int i = 0; i < 1000; i++) {
        aq_net_spec spec;
        fixture_random_network(&rng, &spec);
        aq_snapshot *base = fixture_random_snapshot(&rng, &spec);
        base->version = between(&rng, 1, 1000000);
        aq_snapshot *next = policy_trained(&rng, base, shares[i % 4]);
        check_round_trip(base, next, frame);
        aq_snapshot_unref(base);
        aq_snapshot_unref(next);
    }
}

/* A chain of them ends where the learner is, whatever happened on the way. */
TEST_IN(fixture, all, a_chain_ends_with_the_learners_own_bytes)
{
    aq_net_spec spec;
    fixture_random_network(&all->rng, &spec);
    aq_snapshot *learner = fixture_random_snapshot(&all->rng, &spec);
    learner->version = 1;
    aq_snapshot *actor = aq_snapshot_ref(learner);
    for (int i = 0; i < 100; i++) {
        aq_snapshot *next = policy_trained(&all->rng, learner, 0.1);
        aq_snapshot *received;
        aq_buffer_clear(&all->frame);
        assert_int_equal(aq_wire_delta_pack(learner, next, &all->frame), 0);
        assert_int_equal(receive(&all->frame, actor, &received, NULL), 0);
        aq_snapshot_unref(learner);
        aq_snapshot_unref(actor);
        learner = next;
        actor = received;
    }
    assert_same_policy(learner, actor);
    aq_snapshot_unref(learner);
    aq_snapshot_unref(actor);
}

TEST_IN(fixture, all, what_did_not_change_takes_no_bytes)
{
    aq_snapshot *base = policy_plain();
    aq_snapshot *next = policy_trained(&all->rng, base, 0);
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_delta_pack(base, next, &all->frame), 0);
    assert_true(all->frame.size < 128);
    aq_snapshot_unref(next);
    next = policy_trained(&all->rng, base, 0.01);
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_delta_pack(base, next, &all->frame), 0);
    assert_true(all->frame.size < 66560 / 16); /* of the int8 weights */
    aq_snapshot_unref(base);
    aq_snapshot_unref(next);
}

/* ---- what is no change of it ---------------------------------------------------------------- */

TEST_IN(fixture, all, another_run_format_or_mask_is_no_change)
{
    assert_true(aq_wire_delta_possible(all->base, all->next));
    assert_false(aq_wire_delta_possible(all->next, all->base));
    assert_false(aq_wire_delta_possible(all->base, all->base));
    all->next->run_id++;
    assert_false(aq_wire_delta_possible(all->base, all->next));
    all->next->run_id--;
    all->next->task[0] ^= 1;
    assert_false(aq_wire_delta_possible(all->base, all->next));
    all->next->task[0] ^= 1;
    all->next->head = AQ_HEAD_TANH_BOX;
    assert_false(aq_wire_delta_possible(all->base, all->next));
    all->next->head = all->base->head;
    all->next->layers[0].format = AQ_FORMAT_INT8_TENSOR;
    assert_false(aq_wire_delta_possible(all->base, all->next));
}

TEST(another_mask_is_no_change)
{
    static const size_t blocks[] = {1};
    static const uint32_t formats[] = {AQ_FORMAT_INT8_SPARSE};
    aq_snapshot *policies[2];
    aq_net_spec spec;
    assert_int_equal(aq_net_spec_init_mlp(8, NULL, 0, 2, AQ_ACTIVATION_RELU, &spec, NULL), 0);
    for (uint32_t i = 0; i < 2; i++) {
        aq_snapshot_layer_data data;
        assert_int_equal(aq_snapshot_create(&spec, formats, blocks, &policies[i]), 0);
        aq_snapshot_layer_edit(policies[i], 0, &data);
        data.mask[0] = 1;
        policies[i]->version = i + 1;
    }
    assert_true(aq_wire_delta_possible(policies[0], policies[1]));
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(policies[1], 0, &data);
    data.mask[0] = 2;
    assert_false(aq_wire_delta_possible(policies[0], policies[1]));
    aq_snapshot_unref(policies[0]);
    aq_snapshot_unref(policies[1]);
}

TEST_IN(fixture, all, the_head_says_what_it_is_about)
{
    aq_wire_delta *delta;
    assert_int_equal(aq_wire_delta_open(all->frame.data, all->frame.size, &delta, NULL), 0);
    const aq_delta_head *head = aq_wire_delta_head(delta);
    assert_true(head->run_id == all->base->run_id);
    assert_true(head->version == all->next->version);
    assert_true(head->base_version == all->base->version);
    assert_int_equal(head->bytes, all->frame.size);
    aq_wire_delta_close(delta);
    aq_wire_delta_close(NULL);
}

TEST_IN(fixture, all, another_base_is_refused_by_its_version)
{
    aq_snapshot *received = NULL;
    assert_refused(receive(&all->frame, all->next, &received, &refusal), AQ_E_INVALID,
                   "a change of version 17, not of version");
    assert_null(received);
}

TEST_IN(fixture, all, a_base_that_only_says_so_is_refused_by_the_check_sum)
{
    aq_snapshot *received = NULL;
    aq_snapshot *other = policy_trained(&all->rng, all->base, 0.9);
    other->version = all->base->version;
    assert_refused(receive(&all->frame, other, &received, &refusal), AQ_E_CORRUPT,
                   "is not what was sent");
    assert_null(received);
    aq_snapshot_unref(other);
}

/* ---- lies ------------------------------------------------------------------------------------ */

/* The message from `base` to `next`, to be changed. */
static void open_message(fixture *all)
{
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_delta_pack(all->base, all->next, &all->frame), 0);
    all->message =
        (Actorq__V1__PolicyDelta *)fixture_open(&all->frame, &actorq__v1__policy_delta__descriptor);
}

/* As the message was changed; then there is a new one. */
static void refuse(fixture *all, int code, const char *words)
{
    aq_snapshot *received = NULL;
    fixture_pack(&all->message->base, AQ_FRAME_POLICY_DELTA, &all->frame);
    assert_refused(receive(&all->frame, all->base, &received, &refusal), code, words);
    assert_null(received);
    open_message(all);
}

TEST_IN(fixture, all, a_change_that_can_not_be_is_refused)
{
    open_message(all);
    all->message->crc ^= 1;
    refuse(all, AQ_E_CORRUPT, "is not what was sent");
    all->message->version = 17;
    refuse(all, AQ_E_CORRUPT, "version 17 as a change of version 17");
    protobuf_c_message_free_unpacked(&all->message->layers[1]->base, NULL);
    all->message->n_layers = 1;
    refuse(all, AQ_E_CORRUPT, "changes of 1 layers of a network that has 2");
    all->message->arrays = (ProtobufCBinaryData){.data = calloc(1, 4), .len = 4};
    refuse(all, AQ_E_CORRUPT, "arrays is 4 bytes long, not 0 times 4");
    all->message->layers[0]->compressed = 1;
    refuse(all, AQ_E_CORRUPT, "no zstd frame");
    all->message->layers[1]->compressed |= 64;
    refuse(all, AQ_E_VERSION, "compressed in a way (6");
    all->message->layers[1]->input_zero = UINT32_MAX;
    refuse(all, AQ_E_CORRUPT, "is not what was sent");
}

TEST_IN(fixture, all, a_tensor_of_another_size_is_refused)
{
    aq_snapshot_unref(all->next);
    all->next = policy_trained(&all->rng, all->base, 1);
    open_message(all);
    assert_int_equal(all->message->layers[0]->weights.len, 12);
    all->message->layers[0]->weights.len = 11;
    refuse(all, AQ_E_CORRUPT, "policy delta: layer 0: weights is 11 bytes long");
}

/* ---- damage ---------------------------------------------------------------------------------- */

TEST_IN(fixture, all, every_flipped_bit_is_refused)
{
    for (size_t bit = 0; bit < all->frame.size * 8; bit++) {
        aq_snapshot *received = NULL;
        all->frame.data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        assert_true(receive(&all->frame, all->base, &received, &refusal) < 0);
        assert_null(received);
        all->frame.data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
    }
}

TEST_IN(fixture, all, every_cut_is_refused)
{
    const size_t size = all->frame.size;
    for (all->frame.size = 0; all->frame.size < size; all->frame.size++) {
        aq_snapshot *received = NULL;
        assert_true(receive(&all->frame, all->base, &received, &refusal) < 0);
        assert_null(received);
    }
}

TEST_IN(fixture, all, a_full_policy_is_no_delta_and_the_other_way_round)
{
    aq_snapshot *received = NULL;
    assert_int_equal(aq_wire_policy_unpack(all->frame.data, all->frame.size, &received, &refusal),
                     AQ_E_INVALID);
    aq_buffer_clear(&all->frame);
    assert_int_equal(aq_wire_policy_pack(all->next, &all->frame), 0);
    assert_int_equal(receive(&all->frame, all->base, &received, &refusal), AQ_E_INVALID);
    assert_null(received);
}

TEST_IN(fixture, all, each_allocation_may_fail)
{
    aq_snapshot *received;
    int rc;
    assert_made_despite_failures(received, receive(&all->frame, all->base, &received, &refusal));
    assert_same_policy(all->next, received);
    aq_snapshot_unref(received);
    aq_buffer_fini(&all->frame);
    EACH_ALLOCATION_FAILS(rc) {
        assert_int_equal(all->frame.size, 0);
        aq_buffer_fini(&all->frame);
        rc = aq_wire_delta_pack(all->base, all->next, &all->frame);
    }
}
