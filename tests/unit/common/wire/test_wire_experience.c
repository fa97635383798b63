/*
 * Experience survives the wire bit for bit, and each lie about it is refused in words.
 */
#include "common/wire/wire_experience.h"
#include "proto/experience.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

static void assert_same_chunk(const aq_chunk *a, const aq_chunk_view *b, const aq_layout *layout)
{
    assert_true(a->view.episode == b->episode);
    assert_int_equal(a->view.first, b->first);
    assert_int_equal(a->view.lane, b->lane);
    assert_int_equal(a->view.length, b->length);
    assert_int_equal(a->view.overlap, b->overlap);
    assert_int_equal(a->view.terminated, b->terminated);
    assert_int_equal(a->view.truncated, b->truncated);
    for (uint32_t i = 0; i < layout->column_count; i++) {
        assert_memory_equal(aq_chunk_view_column(&a->view, i), aq_chunk_view_column(b, i),
                            aq_column_bytes(&layout->columns[i], b->length));
    }
}

static void assert_same(const aq_experience *a, const aq_arrival *b, const aq_layout *layout)
{
    assert_true(a->run_id == b->run_id);
    assert_true(a->actor == b->actor);
    assert_true(a->incarnation == b->incarnation);
    assert_true(a->seq == b->seq);
    assert_true(a->acknowledged == b->acknowledged);
    assert_true(a->store == b->store);
    assert_int_equal(a->chunk_count, b->chunk_count);
    for (uint32_t i = 0; i < a->chunk_count; i++) {
        assert_same_chunk(a->chunks[i], &b->chunks[i], layout);
    }
}

static int arrive(const aq_buffer *frame, uint64_t run_id, const aq_layout *layout,
                  aq_arrival **ret_arrival, aq_error *error)
{
    aq_lease *lease = fixture_lease(frame->data, frame->size);
    int rc = aq_wire_experience_arrive(lease, false, run_id, layout, ret_arrival, error);
    aq_lease_unref(lease);
    return rc;
}

/* Every field as protobuf-c would write it, none of them longer. */
static void assert_written_as_protobuf_does(const aq_buffer *frame)
{
    const size_t size = frame->size - AQ_FRAME_HEADER_BYTES;
    Actorq__V1__Experience *message =
        actorq__v1__experience__unpack(NULL, size, frame->data + AQ_FRAME_HEADER_BYTES);
    assert_non_null(message);
    assert_int_equal(actorq__v1__experience__get_packed_size(message), size);
    actorq__v1__experience__free_unpacked(message, NULL);
}

static void round_trip(aq_rng *rng)
{
    aq_schema schema;
    aq_layout layout;
    aq_experience sent;
    aq_arrival *received;
    aq_buffer frame;
    fixture_random_schema(rng, &schema);
    fixture_random_layout(rng, &schema, &layout);
    fixture_random_experience(rng, &layout, 1 + (uint32_t)aq_rng_below(rng, 10), &sent);
    aq_buffer_init(&frame, FIXTURE_FRAME_MAX);
    assert_int_equal(aq_wire_experience_pack(&sent, &layout, &frame), 0);
    assert_true(frame.size <= aq_wire_experience_bytes_max(
                                  &layout, (const aq_chunk *const *)sent.chunks, sent.chunk_count));
    assert_int_equal(arrive(&frame, FIXTURE_RUN, &layout, &received, NULL), 0);
    assert_same(&sent, received, &layout);
    assert_written_as_protobuf_does(&frame);
    experience_fini(&sent);
    aq_arrival_unref(received);
    aq_buffer_fini(&frame);
}

TEST(any_experience_survives_the_wire)
{
    aq_rng rng = rng_of(fixture_seed(), 1);
    for (int i = 0; i < 2000; i++) {
        round_trip(&rng);
    }
}

/* What the fixed experience looks like when somebody has changed it. */
typedef struct changed {
    aq_layout layout;
    aq_experience original;
    aq_buffer frame;
    Actorq__V1__Experience *message;
} changed;

/* The message of the original, to be changed. */
static void open_message(changed *it)
{
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_experience_pack(&it->original, &it->layout, &it->frame), 0);
    it->message =
        (Actorq__V1__Experience *)fixture_open(&it->frame, &actorq__v1__experience__descriptor);
}

static void changed_setup(changed *it)
{
    fixture_layout(&it->layout);
    fixture_experience(&it->original);
    aq_buffer_init(&it->frame, FIXTURE_FRAME_MAX);
    open_message(it);
}

static void changed_teardown(changed *it)
{
    experience_fini(&it->original);
    aq_buffer_fini(&it->frame);
}

static int receive(changed *it, aq_arrival **ret_arrival)
{
    return arrive(&it->frame, it->original.run_id, &it->layout, ret_arrival, &refusal);
}

/* As the message was changed; then there is a new one. */
static void refuse(changed *it, int code, const char *words)
{
    aq_arrival *received = NULL;
    fixture_pack(&it->message->base, AQ_FRAME_EXPERIENCE, &it->frame);
    assert_refused(receive(it, &received), code, words);
    assert_null(received);
    open_message(it);
}

TEST_IN(changed, it, the_message_packed_in_parts_is_the_message_packed_whole)
{
    aq_buffer *whole = buffer_up_to(FIXTURE_FRAME_MAX);
    fixture_pack(&it->message->base, AQ_FRAME_EXPERIENCE, whole);
    assert_same_buffers(whole, &it->frame);
}

TEST_IN(changed, it, packing_allocates_nothing_but_the_frame)
{
    aq_buffer_clear(&it->frame);
    uint64_t before = aq_memory_allocation_count();
    assert_int_equal(aq_wire_experience_pack(&it->original, &it->layout, &it->frame), 0);
    assert_int_equal(aq_memory_allocation_count(), before);
}

TEST_IN(changed, it, experience_that_is_not_for_this_run_is_refused)
{
    it->message->run_id++;
    refuse(it, AQ_E_INVALID, "run 1122334455667789");
    it->message->schema_hash++;
    refuse(it, AQ_E_SCHEMA, "another layout");
    it->message->seq = 0;
    refuse(it, AQ_E_CORRUPT, "number 0");
    for (size_t i = 0; i < it->message->n_chunks; i++) {
        protobuf_c_message_free_unpacked(&it->message->chunks[i]->base, NULL);
    }
    it->message->n_chunks = 0;
    refuse(it, AQ_E_CORRUPT, "0 chunks");
}

TEST_IN(changed, it, columns_of_other_sizes_are_refused)
{
    it->message->chunks[1]->obs.len--;
    refuse(it, AQ_E_CORRUPT, "chunk 1: obs is 79 bytes long, not 5 times 16");
    it->message->chunks[0]->action.len = 0;
    refuse(it, AQ_E_CORRUPT, "chunk 0: action is 0 bytes long");
    it->message->chunks[0]->reward.len -= 4;
    refuse(it, AQ_E_CORRUPT, "chunk 0: reward");
    it->message->chunks[0]->version.len -= 4;
    refuse(it, AQ_E_CORRUPT, "chunk 0: version");
    it->message->chunks[0]->length = UINT32_MAX; /* refused before it is made */
    refuse(it, AQ_E_CORRUPT, "4294967295 transitions");
    it->message->chunks[0]->length = 0;
    refuse(it, AQ_E_CORRUPT, "0 transitions");
}

TEST_IN(changed, it, steps_that_can_not_be_are_refused)
{
    memcpy(it->message->chunks[1]->reward.data + 8, &(float){NAN}, 4);
    refuse(it, AQ_E_CORRUPT, "chunk 1: reward 2");
    memcpy(it->message->chunks[0]->obs.data + 4, &(float){INFINITY}, 4);
    refuse(it, AQ_E_CORRUPT, "obs 0");
    memcpy(it->message->chunks[0]->action.data, &(int32_t){2}, 4);
    refuse(it, AQ_E_SCHEMA, "action 0 is 2");
    it->message->chunks[1]->overlap = 3;
    refuse(it, AQ_E_CORRUPT, "chunk 1: 3 of 4");
    it->message->chunks[1]->truncated = 1;
    refuse(it, AQ_E_CORRUPT, "both terminated and was truncated");
}

/* `count` chunks of one transition. */
static void send_many(uint32_t count, aq_buffer *frame, aq_layout *layout)
{
    aq_schema schema;
    aq_experience experience;
    aq_rng rng = rng_of(1, 1);
    fixture_schema(&schema);
    assert_int_equal(aq_layout_init(&schema, 1, 1, layout, NULL), 0);
    fixture_random_experience(&rng, layout, count, &experience);
    assert_int_equal(aq_wire_experience_pack(&experience, layout, frame), 0);
    experience_fini(&experience);
}

TEST(as_many_chunks_as_are_possible_arrive)
{
    aq_layout layout;
    aq_arrival *received;
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    send_many(AQ_EXPERIENCE_CHUNKS_MAX, frame, &layout);
    assert_int_equal(arrive(frame, FIXTURE_RUN, &layout, &received, NULL), 0);
    assert_int_equal(received->chunk_count, AQ_EXPERIENCE_CHUNKS_MAX);
    aq_arrival_unref(received);
}

TEST(one_chunk_more_is_refused)
{
    const uint8_t empty_chunk[] = {7 << 3 | 2, 0};
    aq_layout layout;
    aq_arrival *received;
    size_t size;
    aq_buffer *frame = buffer_up_to(FIXTURE_FRAME_MAX);
    aq_buffer *longer = buffer_up_to(FIXTURE_FRAME_MAX);
    send_many(AQ_EXPERIENCE_CHUNKS_MAX, frame, &layout);
    assert_int_equal(aq_buffer_append(frame, empty_chunk, sizeof(empty_chunk)), 0);
    const uint8_t *payload = fixture_payload(frame, &size);
    fixture_frame(payload, size, AQ_FRAME_EXPERIENCE, longer);
    assert_refused(arrive(longer, FIXTURE_RUN, &layout, &received, &refusal), AQ_E_CORRUPT,
                   "4097 chunks");
}

/* The longest numbers there are: the bound is reached but for the lengths of columns. */
TEST_IN(changed, it, the_largest_size_is_a_close_bound)
{
    aq_experience *experience = &it->original;
    experience->run_id = UINT64_MAX;
    experience->actor = UINT64_MAX;
    experience->seq = UINT64_MAX;
    experience->acknowledged = UINT64_MAX;
    experience->store = UINT64_MAX;
    for (uint32_t i = 0; i < 2; i++) {
        experience->chunks[i]->view.episode = UINT64_MAX;
        experience->chunks[i]->view.first = UINT32_MAX;
        experience->chunks[i]->view.lane = UINT32_MAX;
        experience->chunks[i]->view.overlap = UINT16_MAX;
        experience->chunks[i]->view.terminated = 1;
        experience->chunks[i]->view.truncated = 1;
    }
    size_t bound =
        aq_wire_experience_bytes_max(&it->layout, (const aq_chunk *const *)experience->chunks, 2);
    aq_buffer_clear(&it->frame);
    assert_int_equal(aq_wire_experience_pack(experience, &it->layout, &it->frame), 0);
    assert_true(it->frame.size <= bound);
    assert_true(bound - it->frame.size < 2 * 27);
}

TEST_IN(changed, it, a_frame_past_the_limit_is_not_begun)
{
    size_t size = it->frame.size;
    for (size_t limit = 4; limit < size + 3; limit++) {
        aq_buffer *small = buffer_up_to(limit);
        assert_int_equal(aq_buffer_append(small, "abc", 3), 0);
        assert_int_equal(aq_wire_experience_pack(&it->original, &it->layout, small), AQ_E_TOO_BIG);
        assert_int_equal(small->size, 3);
    }
}

TEST_IN(changed, it, without_memory_nothing_is_kept)
{
    aq_arrival *received = NULL;
    aq_lease *lease = fixture_lease(it->frame.data, it->frame.size);
    aq_memory_fail_at(1, 1);
    assert_int_equal(
        aq_wire_experience_arrive(lease, false, FIXTURE_RUN, &it->layout, &received, &refusal),
        AQ_E_NOMEM);
    aq_memory_fail_at(0, 0);
    assert_null(received);
    assert_says(refusal.text, "no memory");
    assert_int_equal(lease->references, 1);
    aq_lease_unref(lease);
}

TEST_IN(changed, it, columns_stay_where_they_are)
{
    aq_arrival *received;
    aq_lease *lease = fixture_lease(it->frame.data, it->frame.size);
    uint64_t before = aq_memory_allocation_count();
    assert_int_equal(
        aq_wire_experience_arrive(lease, false, FIXTURE_RUN, &it->layout, &received, NULL), 0);
    assert_int_equal(aq_memory_allocation_count(), before + 1);
    assert_ptr_equal(received->frame, lease);
    assert_int_equal(lease->references, 2);
    aq_lease_unref(lease);
    for (uint32_t i = 0; i < received->chunk_count; i++) {
        assert_true(aq_chunk_view_column(&received->chunks[i], AQ_COLUMN_OBS) > lease->bytes);
        assert_true(aq_chunk_view_column(&received->chunks[i], AQ_COLUMN_OBS) <
                    lease->bytes + lease->size);
    }
    assert_same(&it->original, received, &it->layout);
    aq_arrival_unref(received);
}
