/*
 * Experience messages to and from their frames.
 *
 * Workload: an actor packs up to a thousand messages a second, each of up to hundreds of chunks,
 * and a shard takes them as fast as the memory is. So protobuf-c packs the header only. Chunks
 * follow it one at a time: encoded messages of one type may be joined end to end, and repeated
 * fields then add up. Both halves speak the wire format themselves: packing copies a column once
 * and allocates nothing, and unpacking leaves every column where it came to lie.
 *
 * Any thread; no state.
 */
#include "common/wire/wire_experience.h"

#include <inttypes.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/little_endian.h"
#include "common/base/varint.h"
#include "common/net/rpc/wire_scan.h"
#include "common/wire/wire_frame.h"
#include "proto/experience.pb-c.h"

/* Field numbers of experience.proto, and how each is written. */
enum {
    RUN_ID = 1,
    ACTOR = 2,
    INCARNATION = 3,
    SEQ = 4,
    ACKNOWLEDGED = 5,
    SCHEMA_HASH = 6,
    CHUNKS = 7,
    STORE = 8,
    EXPERIENCE_FIELDS = 9,

    EPISODE = 1,
    FIRST = 2,
    LANE = 3,
    LENGTH = 4,
    OVERLAP = 5,
    TERMINATED = 6,
    TRUNCATED = 7,
    OBS = 8,
    ACTION = 9,
    REWARD = 10,
    VERSION = 11,
    RECORDED = 12,
    CHUNK_FIELDS = 13,
};

_Static_assert(ACTION - OBS == (int)AQ_COLUMN_ACTION && REWARD - OBS == (int)AQ_COLUMN_REWARD &&
                   VERSION - OBS == (int)AQ_COLUMN_VERSION,
               "the first columns are fields in their order");

static const uint8_t experience_types[EXPERIENCE_FIELDS] = {
    [RUN_ID] = AQ_WIRE_FIXED64, [ACTOR] = AQ_WIRE_VARINT,        [INCARNATION] = AQ_WIRE_FIXED64,
    [SEQ] = AQ_WIRE_VARINT,     [ACKNOWLEDGED] = AQ_WIRE_VARINT, [SCHEMA_HASH] = AQ_WIRE_FIXED64,
    [CHUNKS] = AQ_WIRE_BYTES,   [STORE] = AQ_WIRE_FIXED64,
};

static const uint8_t chunk_types[CHUNK_FIELDS] = {
    [EPISODE] = AQ_WIRE_VARINT,   [FIRST] = AQ_WIRE_VARINT,   [LANE] = AQ_WIRE_VARINT,
    [LENGTH] = AQ_WIRE_VARINT,    [OVERLAP] = AQ_WIRE_VARINT, [TERMINATED] = AQ_WIRE_VARINT,
    [TRUNCATED] = AQ_WIRE_VARINT, [OBS] = AQ_WIRE_BYTES,      [ACTION] = AQ_WIRE_BYTES,
    [REWARD] = AQ_WIRE_BYTES,     [VERSION] = AQ_WIRE_BYTES,  [RECORDED] = AQ_WIRE_BYTES,
};

/* One byte of tag and the longest number behind it; a column has a tag and a length. */
enum {
    TAG_BYTES = 1,
    FIXED64_BYTES = TAG_BYTES + 8,
    UINT64_BYTES_MAX = TAG_BYTES + AQ_VARINT_BYTES_MAX,
    UINT32_BYTES_MAX = TAG_BYTES + 5,
    BOOL_BYTES = TAG_BYTES + 1,
    LENGTH_BYTES_MAX = TAG_BYTES + 5,
    HEADER_BYTES_MAX = 4 * FIXED64_BYTES + 3 * UINT64_BYTES_MAX,
    NUMBERS_BYTES_MAX = UINT64_BYTES_MAX + 4 * UINT32_BYTES_MAX + 2 * BOOL_BYTES, /* of a chunk */
    CHUNK_OVERHEAD_BYTES_MAX = LENGTH_BYTES_MAX + NUMBERS_BYTES_MAX,
};

/* These return the bytes written. */

static size_t put_tag(uint8_t *out, uint32_t field, enum aq_wire_type type)
{
    out[0] = (uint8_t)(field << 3 | type);
    return TAG_BYTES;
}

/* Like protobuf, nothing for 0. */
static size_t put_number(uint8_t *out, uint32_t field, uint64_t value)
{
    if (value == 0) {
        return 0;
    }
    const size_t size = put_tag(out, field, AQ_WIRE_VARINT);
    return size + aq_varint_put(out + size, value);
}

static size_t put_length(uint8_t *out, uint32_t field, size_t length)
{
    const size_t size = put_tag(out, field, AQ_WIRE_BYTES);
    return size + aq_varint_put(out + size, length);
}

static size_t put_numbers(const aq_chunk_view *view, uint8_t *out)
{
    size_t size = put_number(out, EPISODE, view->episode);
    size += put_number(out + size, FIRST, view->first);
    size += put_number(out + size, LANE, view->lane);
    size += put_number(out + size, LENGTH, view->length);
    size += put_number(out + size, OVERLAP, view->overlap);
    size += put_number(out + size, TERMINATED, view->terminated);
    return size + put_number(out + size, TRUNCATED, view->truncated);
}

/* The columns' own bytes are copied once: a chunk begins with its size, so sizes come first. */
static int append_chunk(const aq_chunk_view *view, const aq_layout *layout, aq_buffer *out)
{
    uint8_t numbers[NUMBERS_BYTES_MAX];
    const size_t numbers_size = put_numbers(view, numbers);
    size_t size = numbers_size;
    uint8_t *at;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const size_t bytes = aq_column_bytes(&layout->columns[i], view->length);
        size += TAG_BYTES + aq_varint_size(bytes) + bytes;
    }
    int rc = aq_buffer_extend_unset(out, TAG_BYTES + aq_varint_size(size) + size, &at);
    if (rc != 0) {
        return rc;
    }
    at += put_length(at, CHUNKS, size);
    memcpy(at, numbers, numbers_size);
    at += numbers_size;
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const size_t bytes = aq_column_bytes(&layout->columns[i], view->length);
        at += put_length(at, i < AQ_COLUMNS_STANDARD ? OBS + i : RECORDED, bytes);
        memcpy(at, aq_chunk_view_column(view, i), bytes);
        at += bytes;
    }
    return 0;
}

int aq_wire_experience_pack(const aq_experience *experience, const aq_layout *layout,
                            aq_buffer *out)
{
    size_t start;
    AQ_ASSERT(experience->chunk_count >= 1);
    AQ_ASSERT(experience->chunk_count <= AQ_EXPERIENCE_CHUNKS_MAX);
    int rc = aq_frame_begin(out, &start);
    if (rc != 0) {
        return rc;
    }
    Actorq__V1__Experience header;
    actorq__v1__experience__init(&header);
    header.run_id = experience->run_id;
    header.actor = experience->actor;
    header.incarnation = experience->incarnation;
    header.seq = experience->seq;
    header.acknowledged = experience->acknowledged;
    header.schema_hash = layout->hash;
    header.store = experience->store;
    rc = aq_message_append(&header.base, out);
    for (uint32_t i = 0; rc == 0 && i < experience->chunk_count; i++) {
        rc = append_chunk(&experience->chunks[i]->view, layout, out);
    }
    return aq_frame_finish(out, start, AQ_FRAME_EXPERIENCE, experience->is_sealed, rc);
}

size_t aq_wire_experience_bytes_max(const aq_layout *layout, const aq_chunk *const *chunks,
                                    uint32_t chunk_count)
{
    size_t bytes = AQ_FRAME_HEADER_BYTES + HEADER_BYTES_MAX;
    for (uint32_t i = 0; i < chunk_count; i++) {
        bytes += CHUNK_OVERHEAD_BYTES_MAX + layout->column_count * LENGTH_BYTES_MAX +
                 aq_layout_bytes(layout, chunks[i]->view.length);
    }
    return bytes;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* The next field that this program knows; otherwise as aq_wire_scan_next. One that is written in
 * another way than it should be makes the message none. */
static int next_known(aq_wire_scan *scan, const uint8_t *types, uint32_t type_count,
                      aq_wire_field *ret_field)
{
    for (;;) {
        int rc = aq_wire_scan_next(scan, ret_field);
        if (rc <= 0) {
            return rc;
        }
        if (ret_field->number >= 1 && ret_field->number < type_count) {
            return ret_field->type == types[ret_field->number] ? 1 : AQ_E_CORRUPT;
        }
    }
}

/* Everything but the chunks, which are only counted. */
typedef struct experience_head {
    uint64_t values[EXPERIENCE_FIELDS];
    size_t chunk_count;
} experience_head;

static int read_head(const uint8_t *payload, size_t size, experience_head *ret_head,
                     aq_error *error)
{
    aq_wire_scan scan = aq_wire_scan_of(payload, size);
    experience_head head = {.chunk_count = 0};
    aq_wire_field field;
    int rc;
    while ((rc = next_known(&scan, experience_types, EXPERIENCE_FIELDS, &field)) > 0) {
        head.chunk_count += field.number == CHUNKS;
        head.values[field.number] = field.value;
    }
    if (rc != 0) {
        return aq_fail(error, rc, "the %zu bytes in the frame are no Experience", size);
    }
    *ret_head = head;
    return 0;
}

static int check_head(const experience_head *head, uint64_t run_id, const aq_layout *layout,
                      aq_error *error)
{
    if (head->values[RUN_ID] != run_id) {
        return aq_fail(error, AQ_E_INVALID,
                       "experience of run %016" PRIx64 "; this is run %016" PRIx64,
                       head->values[RUN_ID], run_id);
    }
    if (head->values[SCHEMA_HASH] != layout->hash) {
        return aq_fail(error, AQ_E_SCHEMA,
                       "experience of another layout: %016" PRIx64 "; this run's is %016" PRIx64,
                       head->values[SCHEMA_HASH], layout->hash);
    }
    if (head->values[SEQ] == 0) {
        return aq_fail(error, AQ_E_CORRUPT, "experience number 0; numbers start at 1");
    }
    if (head->chunk_count < 1 || head->chunk_count > AQ_EXPERIENCE_CHUNKS_MAX) {
        return aq_fail(error, AQ_E_CORRUPT, "experience of %zu chunks; 1 to %d are possible",
                       head->chunk_count, AQ_EXPERIENCE_CHUNKS_MAX);
    }
    return 0;
}

/* Before anything else looks at the rows: the chunk is as long as its columns are. */
static int check_sizes(const aq_wire_field *fields, const aq_wire_field *columns,
                       const aq_layout *layout, aq_error *error)
{
    const uint32_t length = (uint32_t)fields[LENGTH].value;
    const uint32_t overlap = (uint32_t)fields[OVERLAP].value;
    if (length < 1 || length > layout->length_max) {
        return aq_fail(error, AQ_E_CORRUPT, "%u transitions; 1 to %u are possible", length,
                       layout->length_max);
    }
    if (overlap >= length) {
        return aq_fail(error, AQ_E_CORRUPT, "%u of %u transitions are repeated", overlap, length);
    }
    for (uint32_t i = 0; i < layout->column_count; i++) {
        const aq_column *column = &layout->columns[i];
        if (columns[i].size != aq_column_bytes(column, length)) {
            return aq_fail(error, AQ_E_CORRUPT, "%s is %zu bytes long, not %zu times %u",
                           column->name, columns[i].size, aq_column_values(column, length),
                           column->bytes);
        }
    }
    return 0;
}

/* Every field once, of those that repeat the last; and the columns, in the layout's order. */
static int read_chunk(const aq_wire_field *message, const aq_layout *layout, aq_wire_field *fields,
                      aq_wire_field *columns, aq_error *error)
{
    aq_wire_scan scan = aq_wire_scan_of(message->bytes, message->size);
    uint32_t count = AQ_COLUMNS_STANDARD;
    aq_wire_field field;
    int rc;
    while ((rc = next_known(&scan, chunk_types, CHUNK_FIELDS, &field)) > 0) {
        fields[field.number] = field;
        if (field.number == RECORDED && count++ < layout->column_count) {
            columns[count - 1] = field;
        }
    }
    if (rc != 0) {
        return aq_fail(error, rc, "these %zu bytes are no Chunk", message->size);
    }
    if (count != layout->column_count) {
        return aq_fail(error, AQ_E_CORRUPT, "%u columns, not %u", count, layout->column_count);
    }
    memcpy(columns, &fields[OBS], AQ_COLUMNS_STANDARD * sizeof(*columns));
    return 0;
}

static int view_chunk(const aq_wire_field *message, const uint8_t *base, const aq_layout *layout,
                      aq_chunk_view *ret_view, aq_error *error)
{
    aq_wire_field fields[CHUNK_FIELDS] = {{.number = 0}};
    aq_wire_field columns[AQ_COLUMNS_MAX] = {{.number = 0}};
    int rc = read_chunk(message, layout, fields, columns, error);
    if (rc == 0) {
        rc = check_sizes(fields, columns, layout, error);
    }
    if (rc != 0) {
        return rc;
    }
    aq_chunk_view view = {
        .base = base,
        .episode = fields[EPISODE].value,
        .first = (uint32_t)fields[FIRST].value,
        .lane = (uint32_t)fields[LANE].value,
        .length = (uint32_t)fields[LENGTH].value,
        .overlap = (uint16_t)fields[OVERLAP].value,
        .terminated = fields[TERMINATED].value != 0,
        .truncated = fields[TRUNCATED].value != 0,
    };
    for (uint32_t i = 0; i < layout->column_count; i++) {
        view.at[i] = (uint32_t)(columns[i].bytes - base);
    }
    rc = aq_chunk_view_validate(&view, layout, error);
    if (rc != 0) {
        return rc;
    }
    *ret_view = view;
    return 0;
}

/* A second pass over what read_head has passed. */
static int view_chunks(const uint8_t *payload, size_t size, const aq_layout *layout,
                       aq_arrival *arrival, aq_error *error)
{
    aq_wire_scan scan = aq_wire_scan_of(payload, size);
    aq_wire_field field;
    uint32_t chunk = 0;
    while (next_known(&scan, experience_types, EXPERIENCE_FIELDS, &field) > 0) {
        if (field.number != CHUNKS) {
            continue;
        }
        int rc = view_chunk(&field, payload, layout, &arrival->chunks[chunk], error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "experience, chunk %u", chunk);
        }
        chunk++;
    }
    AQ_ASSERT(chunk == arrival->chunk_count);
    return 0;
}

int aq_wire_experience_arrive(aq_lease *frame, bool is_proved, uint64_t run_id,
                              const aq_layout *layout, aq_arrival **ret_arrival, aq_error *error)
{
    experience_head head = {.chunk_count = 0}; /* gcc cannot tell that failures are none */
    aq_arrival *arrival;
    const uint8_t *payload;
    size_t size;
    int rc = is_proved ? aq_frame_check_proved(frame->bytes, frame->size, AQ_FRAME_EXPERIENCE,
                                               &payload, &size, error)
                       : aq_frame_check(frame->bytes, frame->size, AQ_FRAME_EXPERIENCE, &payload,
                                        &size, error);
    if (rc == 0) {
        rc = read_head(payload, size, &head, error);
    }
    if (rc == 0) {
        rc = check_head(&head, run_id, layout, error);
    }
    if (rc != 0) {
        return rc;
    }
    rc = aq_arrival_create((uint32_t)head.chunk_count, frame, &arrival);
    if (rc != 0) {
        return aq_fail(error, rc, "no memory for experience of %zu chunks", head.chunk_count);
    }
    (void)aq_lease_ref(frame);
    arrival->run_id = run_id;
    arrival->actor = head.values[ACTOR];
    arrival->incarnation = head.values[INCARNATION];
    arrival->seq = head.values[SEQ];
    arrival->acknowledged = head.values[ACKNOWLEDGED];
    arrival->store = head.values[STORE];
    rc = view_chunks(payload, size, layout, arrival, error);
    if (rc != 0) {
        aq_arrival_unref(arrival);
        return rc;
    }
    *ret_arrival = arrival;
    return 0;
}

int aq_wire_experience_copy_as(const aq_lease *frame, uint64_t incarnation, aq_buffer *out)
{
    size_t start = out->size;
    aq_wire_field field;
    int rc = aq_buffer_append(out, frame->bytes, frame->size);
    if (rc != 0) {
        return rc;
    }
    aq_wire_scan scan =
        aq_wire_scan_of(frame->bytes + AQ_FRAME_HEADER_BYTES, frame->size - AQ_FRAME_HEADER_BYTES);
    for (rc = aq_wire_scan_next(&scan, &field); rc > 0; rc = aq_wire_scan_next(&scan, &field)) {
        if (field.number == INCARNATION) {
            uint8_t *end = out->data + start + (size_t)(scan.at - frame->bytes);
            aq_u64_put(end - sizeof(incarnation), incarnation);
        }
    }
    AQ_ASSERT(rc == 0); /* it has arrived */
    aq_frame_end(out, start, AQ_FRAME_EXPERIENCE);
    return 0;
}
