/*
 * Any delta is refused in words, or gives a valid version of the base that it asks for: a network
 * 4-3r-2 in int8 and fp32, like that of the recorded frame.
 */
#include <string.h>

#include "common/base/assert.h"
#include "common/wire/wire_delta.h"
#include "tests/fuzz/fuzz_frame.h"

static aq_snapshot *make_base(const aq_delta_head *head)
{
    static const uint32_t hidden[] = {3};
    static const uint32_t formats[] = {AQ_FORMAT_INT8_CHANNEL, AQ_FORMAT_F32};
    aq_snapshot *base;
    aq_net_spec spec;
    int rc = aq_net_spec_init_mlp(4, hidden, 1, 2, AQ_ACTIVATION_RELU, &spec, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_snapshot_create(&spec, formats, &base);
    AQ_ASSERT(rc == 0);
    aq_snapshot_layer_data data;
    aq_snapshot_layer_edit(base, 0, &data);
    memset(data.weights, 1, base->layers[0].weights_bytes);
    for (size_t i = 0; i < base->layers[0].sizes.scales; i++) {
        data.scale[i] = 1.0f;
    }
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
    aq_buffer mended;
    receive(data, size);
    if (fuzz_frame_mend(data, size, AQ_FRAME_POLICY_DELTA, &mended)) {
        receive(mended.data, mended.size);
        aq_buffer_fini(&mended);
    }
    return 0;
}
