/*
 * Any text in a recording's place is refused in words, or is a recording whose every value can be
 * looked at.
 */
#include "bench/env_replay/recording.h"
#include "common/base/assert.h"
#include "tests/fuzz/fuzz_place.h"
#include "tests/fuzz/fuzz_target.h"

/* Every value is looked at, so that the sanitizers look, too. */
static void touch(const aq_golden_values *values)
{
    static volatile double sum;
    for (size_t i = 0; i < values->count; i++) {
        for (size_t k = 0; k < values->rows[i].count; k++) {
            sum = sum + values->rows[i].numbers[k];
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    aq_recording *recording = NULL;
    aq_golden_values values;
    aq_error error = {0};
    int rc = aq_recording_read(fuzz_place_write("recording.json", data, size), &recording, &error);
    AQ_ASSERT(error.code == rc);
    if (rc != 0) {
        return 0;
    }
    if (recording->form == AQ_RECORDING_EPISODE) {
        aq_recording_at_start(recording, &values);
        touch(&values);
    }
    for (size_t step = 0; recording->form != AQ_RECORDING_TABLE && step < recording->step_count;
         step++) {
        size_t reset;
        aq_recording_at_step(recording, step, &values);
        touch(&values);
        if (aq_recording_reset_after(recording, step, &reset)) {
            aq_recording_at_reset(recording, reset, &values);
            touch(&values);
        }
    }
    aq_recording_free(recording);
    return 0;
}
