/*
 * Any announcement is refused in words, or says the same when it is written again.
 */
#include "common/base/assert.h"
#include "common/wire/wire_policy.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/support/must.h"

static void receive(const uint8_t *data, size_t size)
{
    uint64_t run_id = 0, version = 0, run_id_again = 0, version_again = 0;
    aq_error error = {0};
    aq_buffer again;
    int rc = aq_wire_announce_unpack(data, size, &run_id, &version, &error);
    AQ_ASSERT(error.code == rc);
    if (rc != 0) {
        return;
    }
    aq_buffer_init(&again, FUZZ_FRAME_BYTES_MAX);
    must(aq_wire_announce_pack(run_id, version, &again));
    must(aq_wire_announce_unpack(again.data, again.size, &run_id_again, &version_again, NULL));
    AQ_ASSERT(run_id == run_id_again);
    AQ_ASSERT(version == version_again);
    aq_buffer_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_frame_receive(data, size, AQ_FRAME_ANNOUNCE, receive);
}
