/*
 * Faults are made outside of the shard, so that the code under test is the same in every run.
 */
#include "tests/sim/sim_plant.h"
#include "tests/support/chunks.h"

#include "common/base/assert.h"
#include "common/wire/wire_experience.h"
#include "tests/support/must.h"
#include "tests/unit/common/wire/experience_read.h"

bool sim_plant_comes_after(enum sim_plant plant)
{
    return plant == SIM_PLANT_DUPLICATE || plant == SIM_PLANT_ACKNOWLEDGED;
}

/* False when the fault has nothing to work on. */
static bool change(enum sim_plant plant, aq_experience *message)
{
    switch (plant) {
    case SIM_PLANT_DUPLICATE:
        message->seq++;
        return true;
    case SIM_PLANT_ACKNOWLEDGED: /* a shard that believed it would tell it back */
        message->seq += 3;
        message->acknowledged = message->seq - 2;
        return true;
    case SIM_PLANT_LOSS:
        if (message->chunk_count < 2) {
            return false;
        }
        aq_chunk_unref(message->chunks[--message->chunk_count]);
        return true;
    case SIM_PLANT_CONTENT:
        obs_of(message->chunks[0])[0] ^= 1;
        return true;
    default:
        return false;
    }
}

bool sim_plant_frame(enum sim_plant plant, const sim_ledger *ledger, const uint8_t *frame,
                     size_t size, aq_buffer *out)
{
    aq_experience message;
    aq_error error = {0};
    if (plant == SIM_PLANT_CORRUPT) {
        int appended = aq_buffer_append(out, frame, size);
        AQ_ASSERT(appended == 0);
        out->data[size - 1] ^= 1;
        return true;
    }
    must(experience_read(frame, size, ledger->run_id, &ledger->layout, &message, &error));
    bool changed = change(plant, &message);
    if (changed) {
        must(aq_wire_experience_pack(&message, &ledger->layout, out));
    }
    experience_fini(&message);
    return changed;
}
