/*
 * What arrives is what protobuf-c would have unpacked: the same frames are accepted, and the same
 * numbers and bytes come out, for messages that are written in unusual ways, and for ones that
 * are damaged.
 */
#include "common/net/rpc/wire_scan.h"
#include "common/wire/wire_experience.h"
#include "proto/experience.pb-c.h"
#include "tests/support/test.h"
#include "tests/unit/common/wire/wire_fixture.h"

enum { ROUNDS = 3000, MUTATIONS = 20 };

/* ---- protobuf-c's answer --------------------------------------------------------------------- */

static const ProtobufCBinaryData *column_of(const Actorq__V1__Chunk *chunk, uint32_t column)
{
    const ProtobufCBinaryData *const columns[] = {&chunk->obs, &chunk->action, &chunk->reward,
                                                  &chunk->version};
    return column < AQ_COLUMNS_STANDARD ? columns[column]
                                        : &chunk->recorded[column - AQ_COLUMNS_STANDARD];
}

static int judge_chunk(const Actorq__V1__Chunk *chunk, const aq_layout *layout)
{
    aq_chunk_view view = {
        .episode = chunk->episode,
        .first = chunk->first,
        .lane = chunk->lane,
        .length = chunk->length,
        .overlap = (uint16_t)chunk->overlap,
        .terminated = chunk->terminated != 0,
        .truncated = chunk->truncated != 0,
    };
    if (chunk->length < 1 || chunk->length > layout->length_max ||
        chunk->overlap >= chunk->length ||
        chunk->n_recorded != layout->column_count - AQ_COLUMNS_STANDARD) {
        return AQ_E_CORRUPT;
    }
    uint8_t *block = aq_alloc(aq_layout_bytes(layout, chunk->length), 1);
    assert_non_null(block);
    aq_chunk_view_lay(&view, layout, block);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < layout->column_count; i++) {
        const ProtobufCBinaryData *column = column_of(chunk, i);
        if (column->len == aq_column_bytes(&layout->columns[i], chunk->length)) {
            memcpy(block + view.at[i], column->data, column->len);
        } else {
            rc = AQ_E_CORRUPT;
        }
    }
    rc = rc == 0 ? aq_chunk_view_validate(&view, layout, NULL) : rc;
    aq_free(block);
    return rc;
}

static int judge(const Actorq__V1__Experience *message, const aq_layout *layout)
{
    int rc = 0;
    if (message->run_id != FIXTURE_RUN) {
        return AQ_E_INVALID;
    }
    if (message->schema_hash != layout->hash) {
        return AQ_E_SCHEMA;
    }
    if (message->seq == 0 || message->n_chunks < 1 ||
        message->n_chunks > AQ_EXPERIENCE_CHUNKS_MAX) {
        return AQ_E_CORRUPT;
    }
    for (size_t i = 0; rc == 0 && i < message->n_chunks; i++) {
        rc = judge_chunk(message->chunks[i], layout);
    }
    return rc;
}

/* ---- the comparison -------------------------------------------------------------------------- */

static void assert_same_chunk(const aq_chunk_view *view, const Actorq__V1__Chunk *chunk)
{
    assert_true(view->episode == chunk->episode);
    assert_int_equal(view->first, chunk->first);
    assert_int_equal(view->lane, chunk->lane);
    assert_int_equal(view->length, chunk->length);
    assert_int_equal(view->overlap, chunk->overlap);
    assert_int_equal(view->terminated, chunk->terminated != 0);
    assert_int_equal(view->truncated, chunk->truncated != 0);
    for (uint32_t i = 0; i < AQ_COLUMNS_STANDARD + chunk->n_recorded; i++) {
        const ProtobufCBinaryData *column = column_of(chunk, i);
        assert_memory_equal(aq_chunk_view_column(view, i), column->data, column->len);
    }
}

static void assert_same(const aq_arrival *arrival, const Actorq__V1__Experience *message)
{
    assert_true(arrival->run_id == message->run_id);
    assert_true(arrival->actor == message->actor);
    assert_true(arrival->incarnation == message->incarnation);
    assert_true(arrival->seq == message->seq);
    assert_true(arrival->acknowledged == message->acknowledged);
    assert_true(arrival->store == message->store);
    assert_int_equal(arrival->chunk_count, message->n_chunks);
    for (uint32_t i = 0; i < arrival->chunk_count; i++) {
        assert_same_chunk(&arrival->chunks[i], message->chunks[i]);
    }
}

/* protobuf-c takes a flag that is written as something else for a flag; we don't. */
static bool has_odd_flag(const aq_wire_field *chunk)
{
    aq_wire_scan scan = aq_wire_scan_of(chunk->bytes, chunk->size);
    aq_wire_field field;
    while (aq_wire_scan_next(&scan, &field) > 0) {
        if ((field.number == 6 || field.number == 7) && field.type != AQ_WIRE_VARINT) {
            return true;
        }
    }
    return false;
}

static bool is_odd(const aq_buffer *payload)
{
    aq_wire_scan scan = aq_wire_scan_of(payload->data, payload->size);
    aq_wire_field field;
    while (aq_wire_scan_next(&scan, &field) > 0) {
        if (field.number == 7 && field.type == AQ_WIRE_BYTES && has_odd_flag(&field)) {
            return true;
        }
    }
    return false;
}

/* Both answers to one payload, which are one; true when it is accepted. */
static bool compare(const aq_buffer *payload, const aq_layout *layout)
{
    aq_arrival *arrival = NULL;
    aq_buffer frame;
    aq_buffer_init(&frame, FIXTURE_FRAME_MAX);
    fixture_frame(payload->data, payload->size, AQ_FRAME_EXPERIENCE, &frame);
    aq_lease *lease = fixture_lease(frame.data, frame.size);
    Actorq__V1__Experience *message =
        actorq__v1__experience__unpack(NULL, payload->size, payload->data);
    int rc = aq_wire_experience_arrive(lease, false, FIXTURE_RUN, layout, &arrival, NULL);
    if (message == NULL || is_odd(payload)) { /* a wrong run is noticed before a bad chunk is */
        assert_int_not_equal(rc, 0);
    } else {
        assert_int_equal(rc, judge(message, layout));
    }
    if (rc == 0) {
        assert_same(arrival, message);
    }
    if (message != NULL) {
        actorq__v1__experience__free_unpacked(message, NULL);
    }
    aq_arrival_unref(arrival);
    aq_lease_unref(lease);
    aq_buffer_fini(&frame);
    return rc == 0;
}

/* ---- a writer that uses every freedom -------------------------------------------------------- */

static void put(aq_buffer *out, const void *bytes, size_t size)
{
    assert_int_equal(aq_buffer_append(out, bytes, size), 0);
}

/* In up to ten bytes, which is longer than most numbers need. */
static void put_varint(aq_rng *rng, aq_buffer *out, uint64_t value, uint32_t bytes_max)
{
    uint8_t bytes[10];
    uint32_t size = 0, padding = aq_rng_below(rng, 4) == 0 ? (uint32_t)aq_rng_below(rng, 4) : 0;
    do {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    } while (value != 0);
    while (padding-- > 0 && size < bytes_max) {
        bytes[size++] = 0x80;
    }
    bytes[size - 1] &= 0x7f;
    put(out, bytes, size);
}

static void put_tag(aq_rng *rng, aq_buffer *out, uint32_t number, uint32_t type)
{
    put_varint(rng, out, (uint64_t)number << 3 | type, 5);
}

static void put_number(aq_rng *rng, aq_buffer *out, uint32_t number, uint64_t value)
{
    put_tag(rng, out, number, 0);
    put_varint(rng, out, value, 10);
}

static void put_fixed64(aq_rng *rng, aq_buffer *out, uint32_t number, uint64_t value)
{
    put_tag(rng, out, number, 1);
    put(out, &value, sizeof(value));
}

static void put_bytes(aq_rng *rng, aq_buffer *out, uint32_t number, const void *bytes, size_t size)
{
    put_tag(rng, out, number, 2);
    put_varint(rng, out, size, 5);
    put(out, bytes, size);
}

/* Of a later version of the protocol. */
static void put_unknown(aq_rng *rng, aq_buffer *out)
{
    const uint8_t bytes[16] = {0x3a, 5};
    uint32_t number = 20 + (uint32_t)aq_rng_below(rng, 100000);
    switch (aq_rng_below(rng, 12)) {
    case 0:
        put_number(rng, out, number, aq_rng_next(rng));
        break;
    case 1:
        put_fixed64(rng, out, number, aq_rng_next(rng));
        break;
    case 2:
        put_bytes(rng, out, number, bytes, (size_t)aq_rng_below(rng, sizeof(bytes)));
        break;
    case 3:
        put_tag(rng, out, number, 5);
        put(out, bytes, 4);
        break;
    default:
        break;
    }
}

static void put_chunk_field(aq_rng *rng, aq_buffer *out, const aq_chunk *chunk,
                            const aq_layout *layout, uint32_t number)
{
    const uint64_t values[8] = {0,
                                chunk->view.episode,
                                chunk->view.first,
                                chunk->view.lane,
                                chunk->view.length,
                                chunk->view.overlap,
                                chunk->view.terminated,
                                chunk->view.truncated};
    if (aq_rng_below(rng, 8) == 0) { /* the first of two doesn't count */
        uint64_t other = aq_rng_next(rng);
        number < 8 ? put_number(rng, out, number, other) : put_bytes(rng, out, number, &other, 5);
    }
    if (number < 8) {
        put_number(rng, out, number, values[number]);
    } else {
        put_bytes(rng, out, number, aq_chunk_view_column(&chunk->view, number - 8),
                  aq_column_bytes(&layout->columns[number - 8], chunk->view.length));
    }
    put_unknown(rng, out);
}

static void shuffle(aq_rng *rng, uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i + 1;
    }
    for (uint32_t i = count; aq_rng_below(rng, 2) == 0 && i > 1; i--) {
        uint32_t other = (uint32_t)aq_rng_below(rng, i), kept = numbers[i - 1];
        numbers[i - 1] = numbers[other];
        numbers[other] = kept;
    }
}

static void put_chunk(aq_rng *rng, aq_buffer *out, const aq_chunk *chunk, const aq_layout *layout)
{
    uint32_t numbers[11];
    aq_buffer bytes;
    aq_buffer_init(&bytes, FIXTURE_FRAME_MAX);
    shuffle(rng, numbers, 11);
    for (uint32_t i = 0; i < 11; i++) {
        put_chunk_field(rng, &bytes, chunk, layout, numbers[i]);
    }
    for (uint32_t i = AQ_COLUMNS_STANDARD; i < layout->column_count; i++) {
        put_bytes(rng, &bytes, 12, aq_chunk_view_column(&chunk->view, i),
                  aq_column_bytes(&layout->columns[i], chunk->view.length));
        put_unknown(rng, &bytes);
    }
    put_bytes(rng, out, 7, bytes.data, bytes.size);
    aq_buffer_fini(&bytes);
}

static void put_experience_field(aq_rng *rng, aq_buffer *out, const aq_experience *experience,
                                 const aq_layout *layout, uint32_t number)
{
    const uint64_t values[9] = {
        [1] = experience->run_id, experience->actor, experience->incarnation, experience->seq,
        experience->acknowledged, layout->hash,      [8] = experience->store};
    if (number == 1 || number == 3 || number == 6 || number == 8) {
        put_fixed64(rng, out, number, values[number]);
    } else {
        put_number(rng, out, number, values[number]);
    }
}

static void write_freely(aq_rng *rng, aq_buffer *out, const aq_experience *experience,
                         const aq_layout *layout)
{
    uint32_t numbers[8], next_chunk = 0;
    shuffle(rng, numbers, 8);
    for (uint32_t i = 0; i < 8; i++) {
        if (numbers[i] == 7) {
            put_chunk(rng, out, experience->chunks[next_chunk++], layout);
        } else {
            put_experience_field(rng, out, experience, layout, numbers[i]);
        }
        put_unknown(rng, out);
    }
    while (next_chunk < experience->chunk_count) {
        put_chunk(rng, out, experience->chunks[next_chunk++], layout);
    }
}

static void make_random(aq_rng *rng, aq_buffer *ret_payload, aq_layout *ret_layout)
{
    aq_schema schema;
    aq_experience experience;
    fixture_random_schema(rng, &schema);
    fixture_random_layout(rng, &schema, ret_layout);
    fixture_random_experience(rng, ret_layout, 1 + (uint32_t)aq_rng_below(rng, 4), &experience);
    aq_buffer_init(ret_payload, FIXTURE_FRAME_MAX);
    write_freely(rng, ret_payload, &experience, ret_layout);
    experience_fini(&experience);
}

/* ---- tests ----------------------------------------------------------------------------------- */

TEST(a_message_may_be_written_in_any_way_that_protobuf_allows)
{
    aq_rng rng = rng_of(fixture_seed(), 11);
    for (int i = 0; i < ROUNDS; i++) {
        aq_layout layout;
        aq_buffer payload;
        make_random(&rng, &payload, &layout);
        assert_true(compare(&payload, &layout));
        aq_buffer_fini(&payload);
    }
}

/* Changed bits, and bytes that are missing or too many, mostly where tags and lengths are. */
static void damage(aq_rng *rng, aq_buffer *payload)
{
    size_t near = aq_rng_below(rng, 2) == 0 && payload->size > 64 ? 64 : payload->size;
    size_t at = (size_t)aq_rng_below(rng, near);
    switch (aq_rng_below(rng, 4)) {
    case 0:
        payload->size = at + 1;
        break;
    case 1:
        memmove(payload->data + at, payload->data + at + 1, payload->size - at - 1);
        payload->size--;
        break;
    default:
        payload->data[at] ^= (uint8_t)(1u << aq_rng_below(rng, 8));
        break;
    }
}

TEST(damage_is_judged_as_protobuf_judges_it)
{
    int accepted = 0, refused = 0;
    aq_rng rng = rng_of(fixture_seed(), 12);
    for (int i = 0; i < ROUNDS / 3; i++) {
        aq_layout layout;
        aq_buffer payload, damaged;
        make_random(&rng, &payload, &layout);
        aq_buffer_init(&damaged, FIXTURE_FRAME_MAX);
        for (int k = 0; k < MUTATIONS; k++) {
            aq_buffer_clear(&damaged);
            put(&damaged, payload.data, payload.size);
            for (uint64_t n = aq_rng_below(&rng, 3); n > 0 && damaged.size > 1; n--) {
                damage(&rng, &damaged);
            }
            if (compare(&damaged, &layout)) {
                accepted++;
            } else {
                refused++;
            }
        }
        aq_buffer_fini(&payload);
        aq_buffer_fini(&damaged);
    }
    assert_true(accepted > 1000 && refused > 1000);
}
