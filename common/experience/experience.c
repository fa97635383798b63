/*
 * Letting go of an experience message.
 */
#include "common/experience/experience.h"

#include <string.h>

#include "common/base/memory.h"

void aq_experience_fini(aq_experience *experience)
{
    for (uint32_t i = 0; experience->chunks != NULL && i < experience->chunk_count; i++) {
        aq_chunk_unref(experience->chunks[i]);
    }
    aq_free(experience->chunks);
    memset(experience, 0, sizeof(*experience));
}
