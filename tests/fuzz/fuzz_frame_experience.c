/*
 * Any experience frame is refused in words, or gives valid chunks that survive being sent on.
 */
#include <math.h>

#include "common/base/assert.h"
#include "common/wire/wire_experience.h"
#include "tests/fuzz/fuzz_frame.h"
#include "tests/unit/common/wire/experience_read.h"

/* What the recorded frame is of. */
#define RUN UINT64_C(0x1122334455667788)

static void make_layout(aq_schema *schema, aq_layout *layout)
{
    const float high[4] = {4.8f, INFINITY, 0.418f, INFINITY};
    const float low[4] = {-4.8f, -INFINITY, -0.418f, -INFINITY};
    aq_space_init_box(&schema->obs, 4, low, high);
    aq_space_init_discrete(&schema->action, 2);
    AQ_ASSERT(aq_layout_init(schema, 3, 8, layout, NULL) == 0);
}

static void send_on(aq_experience *experience, const aq_layout *layout)
{
    aq_experience again;
    aq_buffer once, twice;
    aq_buffer_init(&once, 2 * FUZZ_FRAME_BYTES_MAX);
    aq_buffer_init(&twice, 2 * FUZZ_FRAME_BYTES_MAX);
    for (uint32_t i = 0; i < experience->chunk_count; i++) {
        AQ_ASSERT(aq_chunk_view_validate(&experience->chunks[i]->view, layout, NULL) == 0);
    }
    AQ_ASSERT(aq_wire_experience_pack(experience, layout, &once) == 0);
    AQ_ASSERT(once.size <= aq_wire_experience_bytes_max(layout,
                                                        (const aq_chunk *const *)experience->chunks,
                                                        experience->chunk_count));
    AQ_ASSERT(experience_read(once.data, once.size, experience->run_id, layout, &again, NULL) == 0);
    AQ_ASSERT(aq_wire_experience_pack(&again, layout, &twice) == 0);
    experience_fini(&again);
    fuzz_frame_assert_same(&once, &twice);
}

static void receive(const uint8_t *data, size_t size)
{
    aq_schema schema;
    aq_layout layout;
    aq_experience experience;
    aq_error error = {0};
    make_layout(&schema, &layout);
    int rc = experience_read(data, size, RUN, &layout, &experience, &error);
    AQ_ASSERT(error.code == rc);
    if (rc == 0) {
        send_on(&experience, &layout);
        experience_fini(&experience);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_frame_receive(data, size, AQ_FRAME_EXPERIENCE, receive);
}
