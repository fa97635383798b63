/*
 * Any checkpoint frame is refused in words, or gives a checkpoint that survives being written
 * again.
 */
#include "common/base/assert.h"
#include "common/wire/wire_checkpoint.h"
#include "tests/fuzz/fuzz_frame.h"

static void write_again(const aq_checkpoint *checkpoint)
{
    aq_checkpoint again;
    aq_buffer once, twice;
    aq_buffer_init(&once, 2 * FUZZ_FRAME_BYTES_MAX);
    aq_buffer_init(&twice, 2 * FUZZ_FRAME_BYTES_MAX);
    AQ_ASSERT(aq_wire_checkpoint_pack(checkpoint, &once) == 0);
    AQ_ASSERT(aq_wire_checkpoint_unpack(once.data, once.size, &again, NULL) == 0);
    AQ_ASSERT(aq_wire_checkpoint_pack(&again, &twice) == 0);
    aq_checkpoint_fini(&again);
    fuzz_frame_assert_same(&once, &twice);
}

static void receive(const uint8_t *data, size_t size)
{
    aq_checkpoint checkpoint;
    aq_error error = {0};
    int rc = aq_wire_checkpoint_unpack(data, size, &checkpoint, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        write_again(&checkpoint);
        aq_checkpoint_fini(&checkpoint);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_frame_receive(data, size, AQ_FRAME_CHECKPOINT, receive);
}
