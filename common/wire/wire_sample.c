/*
 * Batches to and from SampleReply. The reply is the largest message there is, some megabytes many
 * times a second, so it is packed from the batch's own columns and read straight into another's.
 *
 * Any thread; a batch has one owner.
 */
#include "common/wire/wire_sample.h"

#include <math.h>
#include <string.h>

#include "common/wire/wire_frame.h"

/* Frame, and the tags and lengths of the columns. */
enum { ENVELOPE_BYTES = 1024 };

size_t aq_wire_sample_bytes(const aq_layout *layout, uint32_t sequence_length, uint32_t rows)
{
    return rows * aq_batch_row_bytes(layout, sequence_length) + ENVELOPE_BYTES;
}

/* Where each of a batch's columns stands in the message; a priority does not. */
static const size_t fields[AQ_BATCH_COLUMNS_STANDARD] = {
    [AQ_BATCH_OBS] = offsetof(Actorq__V1__SampleReply, obs),
    [AQ_BATCH_NEXT_OBS] = offsetof(Actorq__V1__SampleReply, next_obs),
    [AQ_BATCH_ACTION] = offsetof(Actorq__V1__SampleReply, action),
    [AQ_BATCH_REWARD] = offsetof(Actorq__V1__SampleReply, reward),
    [AQ_BATCH_BOOTSTRAP] = offsetof(Actorq__V1__SampleReply, bootstrap),
    [AQ_BATCH_WEIGHT] = offsetof(Actorq__V1__SampleReply, probability),
    [AQ_BATCH_LENGTH] = offsetof(Actorq__V1__SampleReply, length),
    [AQ_BATCH_ITEM] = offsetof(Actorq__V1__SampleReply, item),
    [AQ_BATCH_VERSION] = offsetof(Actorq__V1__SampleReply, version),
};

/* False for what does not travel. */
static bool place_of(const Actorq__V1__SampleReply *reply, uint32_t column,
                     ProtobufCBinaryData **ret_place)
{
    if (column >= AQ_BATCH_RECORDED) {
        *ret_place = &reply->recorded[column - AQ_BATCH_RECORDED];
        return true;
    }
    *ret_place = (ProtobufCBinaryData *)(void *)((uint8_t *)(uintptr_t)reply + fields[column]);
    return fields[column] != 0;
}

void aq_wire_sample_view(const aq_batch *batch, uint64_t inserted,
                         ProtobufCBinaryData recorded[AQ_BATCH_RECORDED_MAX],
                         Actorq__V1__SampleReply *ret_reply)
{
    actorq__v1__sample_reply__init(ret_reply);
    ret_reply->rows = batch->rows;
    ret_reply->inserted = inserted;
    ret_reply->n_recorded = batch->column_count - AQ_BATCH_RECORDED;
    ret_reply->recorded = recorded;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const aq_batch_column *column = &batch->columns[i];
        ProtobufCBinaryData *place;
        if (place_of(ret_reply, i, &place)) {
            *place = aq_wire_bytes(column->bytes, batch->rows * aq_batch_column_bytes(column));
        }
    }
}

/* Its size first, so that the checks of the values have something to look at. */
static int read_column(const Actorq__V1__SampleReply *reply, aq_batch *batch, uint32_t number,
                       aq_error *error)
{
    const aq_batch_column *column = &batch->columns[number];
    ProtobufCBinaryData *from;
    if (!place_of(reply, number, &from)) {
        return 0;
    }
    int rc = aq_wire_column_check(from, column->is.name, reply->rows, aq_batch_column_bytes(column),
                                  error);
    if (rc == 0) {
        aq_wire_column_copy(column->bytes, from);
    }
    return rc;
}

/* How long sequences are, which says what sizes all else has. */
static int read_lengths(const Actorq__V1__SampleReply *reply, aq_batch *batch, aq_error *error)
{
    uint32_t longest = 1;
    int rc = read_column(reply, batch, AQ_BATCH_LENGTH, error);
    for (uint32_t row = 0; rc == 0 && row < reply->rows; row++) {
        const uint32_t length = batch->length[row];
        if (length < 1 || length > batch->steps_max) {
            return aq_fail(error, AQ_E_CORRUPT, "row %u: length is %u; 1 to %u are possible", row,
                           length, batch->steps_max);
        }
        longest = length > longest ? length : longest;
    }
    if (rc == 0) {
        aq_batch_fit(batch, longest);
    }
    return rc;
}

static int read_columns(const Actorq__V1__SampleReply *reply, aq_batch *batch, aq_error *error)
{
    int rc = 0;
    if (reply->n_recorded != batch->column_count - AQ_BATCH_RECORDED) {
        return aq_fail(error, AQ_E_CORRUPT, "%zu recorded columns, not %u", reply->n_recorded,
                       batch->column_count - AQ_BATCH_RECORDED);
    }
    if (aq_batch_has_sequences(batch)) {
        rc = read_lengths(reply, batch, error);
    }
    for (uint32_t i = 0; rc == 0 && i < batch->column_count; i++) {
        rc = read_column(reply, batch, i, error);
    }
    return rc;
}

/* Of what actors sent. */
static int check_values(const aq_batch *batch, uint32_t rows, aq_error *error)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < batch->column_count; i++) {
        const aq_batch_column *column = &batch->columns[i];
        if (column->gather != AQ_GATHER_NONE) {
            rc = aq_column_check(&column->is, column->bytes, (size_t)rows * column->values, error);
        }
    }
    return rc;
}

/* Of what the shard worked out. Comparisons are such that no NaN passes. */
static int check_ranges(const aq_batch *batch, uint32_t rows, aq_error *error)
{
    const size_t steps = batch->steps;
    for (size_t i = 0; i < rows * steps; i++) {
        if (!(batch->bootstrap[i] >= 0.0f && batch->bootstrap[i] <= 1.0f)) {
            return aq_fail(error, AQ_E_CORRUPT, "row %zu: bootstrap is %g; 0 to 1 are possible",
                           i / steps, (double)batch->bootstrap[i]);
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        if (!(batch->weight[row] > 0.0f && batch->weight[row] <= 1.0f)) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "row %u: probability is %g; above 0 and up to 1 are possible", row,
                           (double)batch->weight[row]);
        }
    }
    return 0;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* What lies beyond the end of a sequence. */
static int check_beyond(const aq_batch *batch, uint32_t row, aq_error *error)
{
    const uint32_t length = batch->length[row];
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const aq_batch_column *column = &batch->columns[i];
        const size_t used = aq_column_values(&column->is, length);
        const size_t values = column->values;
        const uint8_t *of_row = column->bytes + row * aq_batch_column_bytes(column);
        if (used < values &&
            !is_zero(of_row + used * column->is.bytes, (values - used) * column->is.bytes)) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "row %u: there is something beyond its length of %u", row, length);
        }
    }
    return 0;
}

static int check_holdings(const Actorq__V1__SampleReply *reply, aq_error *error)
{
    if (reply->items < 1) {
        return aq_fail(error, AQ_E_CORRUPT, "sample of a table that holds nothing");
    }
    if (!isfinite(reply->mass) || reply->mass <= 0.0) {
        return aq_fail(error, AQ_E_CORRUPT,
                       "sample of a table of mass %g; finite and above 0 is possible", reply->mass);
    }
    return 0;
}

int aq_wire_sample_read(const Actorq__V1__SampleReply *reply, aq_batch *batch, aq_error *error)
{
    batch->rows = 0;
    if (reply->rows < 1 || reply->rows > batch->rows_max) {
        return aq_fail(error, AQ_E_CORRUPT, "sample of %u rows; 1 to %u are possible", reply->rows,
                       batch->rows_max);
    }
    int rc = check_holdings(reply, error);
    if (rc != 0) {
        return rc;
    }
    rc = read_columns(reply, batch, error);
    if (rc == 0) {
        rc = check_values(batch, reply->rows, error);
    }
    if (rc == 0) {
        rc = check_ranges(batch, reply->rows, error);
    }
    for (uint32_t row = 0; rc == 0 && aq_batch_has_sequences(batch) && row < reply->rows; row++) {
        rc = check_beyond(batch, row, error);
    }
    if (rc != 0) {
        return aq_fail_context(error, rc, "sample");
    }
    batch->rows = reply->rows;
    return 0;
}
