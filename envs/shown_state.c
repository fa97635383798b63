/*
 * Shown state: see shown_state.h.
 */
#include "envs/shown_state.h"

#include <string.h>

#include "common/base/assert.h"

int aq_shown_state_option(aq_env_options *options, uint32_t *shown, aq_error *error)
{
    static const char *const words[] = {"no", "yes", "bytes", NULL};
    return aq_env_option_choice(options, "one_hot", words, shown, error);
}

void aq_shown_state_space(uint32_t shown, uint32_t states, aq_space *ret_space)
{
    const float low = 0.0f, high = shown == AQ_SHOWN_BYTES ? 255.0f : 1.0f;
    if (shown == AQ_SHOWN_CHOICE) {
        aq_space_init_discrete(ret_space, states);
        return;
    }
    aq_space_init_box(ret_space, 1, &low, &high);
    ret_space->shape[0] = states; /* one bound for all of them */
    ret_space->dtype = shown == AQ_SHOWN_BYTES ? AQ_DTYPE_U8 : AQ_DTYPE_F32;
}

void aq_shown_state_write(uint32_t shown, uint32_t states, uint32_t state, void *obs)
{
    AQ_ASSERT(state < states);
    if (shown == AQ_SHOWN_CHOICE) {
        *(int32_t *)obs = (int32_t)state;
    } else if (shown == AQ_SHOWN_BYTES) {
        memset(obs, 0, states);
        ((uint8_t *)obs)[state] = UINT8_MAX;
    } else {
        memset(obs, 0, states * sizeof(float));
        ((float *)obs)[state] = 1.0f;
    }
}
