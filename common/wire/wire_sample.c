/*
 * Batches to and from SampleReply. The reply is the largest message there is, some megabytes many
 * times a second, so it is packed from the batch's own columns and read straight into another's.
 *
 * Any thread; a batch has one owner.
 */
#include "common/wire/wire_sample.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/experience/finite.h"
#include "common/wire/wire_frame.h"

/* Rows of each column in one row of the batch. */
typedef struct sample_shape {
    size_t obs, next_obs, steps, length;
} sample_shape;

static sample_shape shape_of(const aq_batch *batch)
{
    bool sequences = aq_batch_has_sequences(batch);
    return (sample_shape){
        .obs = sequences ? (size_t)batch->steps + 1 : 1,
        .next_obs = sequences ? 0 : 1,
        .steps = batch->steps,
        .length = sequences ? 1 : 0,
    };
}

void aq_wire_sample_view(const aq_batch *batch, uint64_t inserted,
                         Actorq__V1__SampleReply *ret_reply)
{
    size_t rows = batch->rows;
    sample_shape shape = shape_of(batch);
    size_t steps = rows * shape.steps;
    actorq__v1__sample_reply__init(ret_reply);
    ret_reply->rows = batch->rows;
    ret_reply->obs = aq_wire_bytes(batch->obs, rows * shape.obs * batch->obs_bytes);
    ret_reply->next_obs = aq_wire_bytes(batch->next_obs, rows * shape.next_obs * batch->obs_bytes);
    ret_reply->action = aq_wire_bytes(batch->action, steps * batch->action_bytes);
    ret_reply->reward = aq_wire_bytes(batch->reward, steps * sizeof(*batch->reward));
    ret_reply->bootstrap = aq_wire_bytes(batch->bootstrap, steps * sizeof(*batch->bootstrap));
    ret_reply->probability = aq_wire_bytes(batch->weight, rows * sizeof(*batch->weight));
    ret_reply->item = aq_wire_bytes(batch->item, rows * sizeof(*batch->item));
    ret_reply->version = aq_wire_bytes(batch->version, steps * sizeof(*batch->version));
    ret_reply->length = aq_wire_bytes(batch->length, rows * shape.length * sizeof(*batch->length));
    ret_reply->inserted = inserted;
}

/* Where each column of a reply goes. */
typedef struct column_row {
    const char *name;
    const ProtobufCBinaryData *from;
    void *to;
    size_t row_bytes;
} column_row;

static int read_columns(const Actorq__V1__SampleReply *reply, aq_batch *batch, aq_error *error)
{
    const sample_shape shape = shape_of(batch);
    const column_row columns[] = {
        {"obs", &reply->obs, batch->obs, shape.obs * batch->obs_bytes},
        {"next_obs", &reply->next_obs, batch->next_obs, shape.next_obs * batch->obs_bytes},
        {"action", &reply->action, batch->action, shape.steps * batch->action_bytes},
        {"reward", &reply->reward, batch->reward, shape.steps * sizeof(*batch->reward)},
        {"bootstrap", &reply->bootstrap, batch->bootstrap, shape.steps * sizeof(*batch->bootstrap)},
        {"probability", &reply->probability, batch->weight, sizeof(*batch->weight)},
        {"item", &reply->item, batch->item, sizeof(*batch->item)},
        {"version", &reply->version, batch->version, shape.steps * sizeof(*batch->version)},
        {"length", &reply->length, batch->length, shape.length * sizeof(*batch->length)},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        const column_row *column = &columns[i];
        int rc =
            aq_wire_column_check(column->from, column->name, reply->rows, column->row_bytes, error);
        if (rc != 0) {
            return aq_fail_context(error, rc, "sample");
        }
        aq_wire_column_copy(column->to, column->from);
    }
    return 0;
}

static int check_finite(const void *column, size_t rows, size_t row_bytes, const char *name,
                        aq_error *error)
{
    size_t row_values = row_bytes / sizeof(float);
    size_t bad = aq_find_nonfinite(column, rows * row_values);
    if (bad == rows * row_values) {
        return 0;
    }
    return aq_fail(error, AQ_E_CORRUPT, "sample, row %zu: %s %zu is NaN or infinite",
                   bad / row_values, name, bad % row_values);
}

static int check_floats(const aq_batch *batch, const aq_chunk_layout *layout, uint32_t rows,
                        aq_error *error)
{
    const sample_shape shape = shape_of(batch);
    int rc = check_finite(batch->reward, rows, shape.steps * sizeof(float), "reward", error);
    if (rc == 0 && layout->obs_is_f32) {
        rc = check_finite(batch->obs, rows, shape.obs * layout->obs_bytes, "obs", error);
    }
    if (rc == 0 && layout->obs_is_f32 && shape.next_obs > 0) {
        rc = check_finite(batch->next_obs, rows, layout->obs_bytes, "next_obs", error);
    }
    if (rc == 0 && layout->action_is_f32) {
        rc = check_finite(batch->action, rows, shape.steps * layout->action_bytes, "action", error);
    }
    return rc;
}

/* Comparisons are such that no NaN passes. */
static int check_ranges(const aq_batch *batch, const aq_chunk_layout *layout, uint32_t rows,
                        aq_error *error)
{
    const size_t steps = batch->steps;
    for (size_t i = 0; i < rows * steps; i++) {
        if (!(batch->bootstrap[i] >= 0.0f && batch->bootstrap[i] <= 1.0f)) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "sample, row %zu: bootstrap is %g; 0 to 1 are possible", i / steps,
                           (double)batch->bootstrap[i]);
        }
    }
    for (uint32_t row = 0; row < rows; row++) {
        if (!(batch->weight[row] > 0.0f && batch->weight[row] <= 1.0f)) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "sample, row %u: probability is %g; above 0 and up to 1 are possible",
                           row, (double)batch->weight[row]);
        }
    }
    for (size_t i = 0; layout->choice_count > 0 && i < rows * steps; i++) {
        int32_t choice;
        memcpy(&choice, batch->action + i * sizeof(choice), sizeof(choice));
        if (choice < 0 || (uint32_t)choice >= layout->choice_count) {
            return aq_fail(error, AQ_E_SCHEMA,
                           "sample, row %zu: action is %d; 0 to %u are possible", i / steps, choice,
                           layout->choice_count - 1);
        }
    }
    return 0;
}

static bool is_zero(const void *bytes, size_t size)
{
    const uint8_t *byte = bytes;
    return size == 0 || (byte[0] == 0 && memcmp(byte, byte + 1, size - 1) == 0);
}

/* What lies beyond the end of each sequence. */
static int check_lengths(const aq_batch *batch, uint32_t rows, aq_error *error)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t length = batch->length[row];
        if (length < 1 || length > batch->steps) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "sample, row %u: length is %u; 1 to %u are possible", row, length,
                           batch->steps);
        }
        size_t at = (size_t)row * batch->steps + length;
        size_t beyond = batch->steps - length;
        size_t obs_at = (size_t)row * ((size_t)batch->steps + 1) + length + 1;
        if (!is_zero(batch->obs + obs_at * batch->obs_bytes, beyond * batch->obs_bytes) ||
            !is_zero(batch->action + at * batch->action_bytes, beyond * batch->action_bytes) ||
            !is_zero(batch->reward + at, beyond * sizeof(*batch->reward)) ||
            !is_zero(batch->bootstrap + at, beyond * sizeof(*batch->bootstrap)) ||
            !is_zero(batch->version + at, beyond * sizeof(*batch->version))) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "sample, row %u: there is something beyond its length of %u", row,
                           length);
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

int aq_wire_sample_read(const Actorq__V1__SampleReply *reply, const aq_chunk_layout *layout,
                        aq_batch *batch, aq_error *error)
{
    AQ_ASSERT(batch->obs_bytes == layout->obs_bytes);
    AQ_ASSERT(batch->action_bytes == layout->action_bytes);
    batch->rows = 0;
    if (reply->rows < 1 || reply->rows > batch->rows_max) {
        return aq_fail(error, AQ_E_CORRUPT, "sample of %u rows; 1 to %u are possible", reply->rows,
                       batch->rows_max);
    }
    int rc = check_holdings(reply, error);
    if (rc == 0) {
        rc = read_columns(reply, batch, error);
    }
    if (rc == 0) {
        rc = check_floats(batch, layout, reply->rows, error);
    }
    if (rc == 0) {
        rc = check_ranges(batch, layout, reply->rows, error);
    }
    if (rc == 0 && aq_batch_has_sequences(batch)) {
        rc = check_lengths(batch, reply->rows, error);
    }
    if (rc == 0) {
        batch->rows = reply->rows;
    }
    return rc;
}
