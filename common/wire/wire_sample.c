/*
 * Batches to and from SampleReply. The reply is the largest message there is, some megabytes many
 * times a second, so it is packed from the batch's own columns and read straight into another's.
 *
 * Any thread; a batch has one owner.
 */
#include "common/wire/wire_sample.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/rl/finite.h"
#include "common/wire/wire_frame.h"

void aq_wire_sample_view(const aq_batch *batch, uint64_t inserted,
                         Actorq__V1__SampleReply *ret_reply)
{
    size_t rows = batch->rows;
    actorq__v1__sample_reply__init(ret_reply);
    ret_reply->rows = batch->rows;
    ret_reply->obs = aq_wire_bytes(batch->obs, rows * batch->obs_bytes);
    ret_reply->next_obs = aq_wire_bytes(batch->next_obs, rows * batch->obs_bytes);
    ret_reply->action = aq_wire_bytes(batch->action, rows * batch->action_bytes);
    ret_reply->reward = aq_wire_bytes(batch->reward, rows * sizeof(*batch->reward));
    ret_reply->bootstrap = aq_wire_bytes(batch->bootstrap, rows * sizeof(*batch->bootstrap));
    ret_reply->weight = aq_wire_bytes(batch->weight, rows * sizeof(*batch->weight));
    ret_reply->item = aq_wire_bytes(batch->item, rows * sizeof(*batch->item));
    ret_reply->version = aq_wire_bytes(batch->version, rows * sizeof(*batch->version));
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
    const column_row columns[] = {
        {"obs", &reply->obs, batch->obs, batch->obs_bytes},
        {"next_obs", &reply->next_obs, batch->next_obs, batch->obs_bytes},
        {"action", &reply->action, batch->action, batch->action_bytes},
        {"reward", &reply->reward, batch->reward, sizeof(*batch->reward)},
        {"bootstrap", &reply->bootstrap, batch->bootstrap, sizeof(*batch->bootstrap)},
        {"weight", &reply->weight, batch->weight, sizeof(*batch->weight)},
        {"item", &reply->item, batch->item, sizeof(*batch->item)},
        {"version", &reply->version, batch->version, sizeof(*batch->version)},
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
    int rc = check_finite(batch->reward, rows, sizeof(float), "reward", error);
    if (rc == 0 && layout->obs_is_f32) {
        rc = check_finite(batch->obs, rows, layout->obs_bytes, "obs", error);
    }
    if (rc == 0 && layout->obs_is_f32) {
        rc = check_finite(batch->next_obs, rows, layout->obs_bytes, "next_obs", error);
    }
    if (rc == 0 && layout->action_is_f32) {
        rc = check_finite(batch->action, rows, layout->action_bytes, "action", error);
    }
    if (rc == 0) {
        rc = check_finite(batch->weight, rows, sizeof(float), "weight", error);
    }
    return rc;
}

static int check_ranges(const aq_batch *batch, const aq_chunk_layout *layout, uint32_t rows,
                        aq_error *error)
{
    for (uint32_t row = 0; row < rows; row++) {
        if (!(batch->bootstrap[row] >= 0.0f && batch->bootstrap[row] <= 1.0f)) {
            return aq_fail(error, AQ_E_CORRUPT,
                           "sample, row %u: bootstrap is %g; 0 to 1 are possible", row,
                           (double)batch->bootstrap[row]);
        }
        if (batch->weight[row] < 0.0f) {
            return aq_fail(error, AQ_E_CORRUPT, "sample, row %u: weight is %g, less than 0", row,
                           (double)batch->weight[row]);
        }
    }
    for (uint32_t row = 0; layout->choice_count > 0 && row < rows; row++) {
        int32_t choice;
        memcpy(&choice, batch->action + row * sizeof(choice), sizeof(choice));
        if (choice < 0 || (uint32_t)choice >= layout->choice_count) {
            return aq_fail(error, AQ_E_SCHEMA, "sample, row %u: action is %d; 0 to %u are possible",
                           row, choice, layout->choice_count - 1);
        }
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
    int rc = read_columns(reply, batch, error);
    if (rc == 0) {
        rc = check_floats(batch, layout, reply->rows, error);
    }
    if (rc == 0) {
        rc = check_ranges(batch, layout, reply->rows, error);
    }
    if (rc == 0) {
        batch->rows = reply->rows;
    }
    return rc;
}
