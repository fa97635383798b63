/*
 * Any delta is refused in words, or gives a valid version of the base that it asks for, here that
 * of the recorded frame: a network 4-3r-2 in int8 and fp32.
 */
#include "common/base/assert.h"
#include "common/wire/wire_delta.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/unit/common/wire/wire_fixture.h"

/* The recorded base, of whatever version it is asked for. */
static aq_snapshot *make_base(const aq_delta_head *head)
{
    aq_snapshot *base = fixture_snapshot();
    base->run_id = head->run_id;
    base->version = head->base_version;
    return base;
}

static void receive(const uint8_t *data, size_t size)
{
    aq_wire_delta *delta;
    aq_snapshot *snapshot;
    aq_error error = {0};
    int rc = aq_wire_delta_open(data, size, &delta, &error);
    AQ_ASSERT(error.code == rc);
    if (rc != 0) {
        return;
    }
    aq_snapshot *base = make_base(aq_wire_delta_head(delta));
    rc = aq_wire_delta_apply(delta, base, &snapshot, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        AQ_ASSERT(aq_snapshot_validate(snapshot, NULL) == 0);
        aq_snapshot_unref(snapshot);
    }
    aq_snapshot_unref(base);
    aq_wire_delta_close(delta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_frame_receive(data, size, AQ_FRAME_POLICY_DELTA, receive);
}
