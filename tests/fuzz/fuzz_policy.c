/*
 * Any policy frame is refused in words, or gives a valid snapshot that survives being sent on.
 */
#include "common/base/assert.h"
#include "common/wire/wire_policy.h"
#include "tests/fuzz/fuzz_frame.h"

static void send_on(const aq_snapshot *snapshot)
{
    aq_snapshot *again;
    aq_buffer once, twice;
    aq_buffer_init(&once, 2 * FUZZ_FRAME_BYTES_MAX);
    aq_buffer_init(&twice, 2 * FUZZ_FRAME_BYTES_MAX);
    AQ_ASSERT(aq_snapshot_validate(snapshot, NULL) == 0);
    AQ_ASSERT(aq_wire_policy_pack(snapshot, &once) == 0);
    AQ_ASSERT(aq_wire_policy_unpack(once.data, once.size, &again, NULL) == 0);
    AQ_ASSERT(aq_wire_policy_pack(again, &twice) == 0);
    aq_snapshot_unref(again);
    fuzz_frame_assert_same(&once, &twice);
}

static void receive(const uint8_t *data, size_t size)
{
    aq_snapshot *snapshot;
    aq_error error = {0};
    int rc = aq_wire_policy_unpack(data, size, &snapshot, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        send_on(snapshot);
        aq_snapshot_unref(snapshot);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_frame_receive(data, size, AQ_FRAME_POLICY, receive);
}
