/*
 * Greedy observations: see greedy_obs.h.
 */
#include "rollout/greedy_obs.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "rollout/vec_env.h"

/* Acts on each lane's row, and steps. */
static void step(aq_vec_env *vec, aq_engine *engine, float *scores)
{
    int32_t actions[AQ_GREEDY_OBS_LANES];
    const uint32_t choices = vec->task.choice_count;
    aq_engine_forward(engine, vec->obs, vec->lanes, scores);
    for (uint32_t lane = 0; lane < vec->lanes; lane++) {
        actions[lane] = (int32_t)aq_argmax(scores + (size_t)lane * choices, choices);
    }
    aq_vec_env_step(vec, actions);
}

int aq_greedy_obs(const aq_env_task *task, aq_engine *engine, size_t rows, uint64_t seed,
                  float *obs)
{
    const size_t width = task->obs_elements;
    aq_vec_env *vec = NULL;
    AQ_ASSERT(rows > 0);
    AQ_ASSERT(aq_engine_rows_max(engine) >= AQ_GREEDY_OBS_LANES);

    int rc = aq_vec_env_create(task, AQ_GREEDY_OBS_LANES, seed, &vec);
    if (rc != 0) {
        return rc;
    }
    float *scores = aq_alloc((size_t)AQ_GREEDY_OBS_LANES * task->choice_count, sizeof(*scores));
    rc = scores != NULL ? 0 : AQ_E_NOMEM;
    for (size_t row = 0; rc == 0 && row < rows;) {
        const size_t left = rows - row;
        const size_t taken = left < vec->lanes ? left : vec->lanes;
        memcpy(obs + row * width, vec->obs, taken * width * sizeof(*obs));
        row += taken;
        if (row < rows) {
            step(vec, engine, scores);
        }
    }
    aq_free(scores);
    aq_vec_env_destroy(vec);
    return rc;
}
