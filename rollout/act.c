/*
 * Acting: see act.h.
 */
#include "rollout/act.h"

#include "common/base/assert.h"
#include "common/base/memory.h"

struct aq_act {
    uint32_t rows_max;
    uint32_t inputs;
    float *obs; /* (rows_max, inputs), where observations are bytes; else NULL */
};

int aq_act_create(const aq_env_task *task, uint32_t rows_max, aq_act **ret_act)
{
    AQ_ASSERT(rows_max >= 1);
    aq_act *act = aq_alloc(1, sizeof(*act));
    if (act == NULL) {
        return AQ_E_NOMEM;
    }
    act->rows_max = rows_max;
    act->inputs = task->obs_elements;
    if (task->obs_dtype == AQ_DTYPE_U8) {
        act->obs = aq_alloc(rows_max, act->inputs * sizeof(*act->obs));
        if (act->obs == NULL) {
            aq_act_destroy(act);
            return AQ_E_NOMEM;
        }
    }
    *ret_act = act;
    return 0;
}

void aq_act_destroy(aq_act *act)
{
    if (act == NULL) {
        return;
    }
    aq_free(act->obs);
    aq_free(act);
}

const float *aq_act_inputs(aq_act *act, const void *obs, uint32_t rows)
{
    AQ_ASSERT(rows <= act->rows_max);
    if (act->obs == NULL) {
        return obs;
    }
    const uint8_t *bytes = obs;
    const size_t count = (size_t)rows * act->inputs;
    for (size_t i = 0; i < count; i++) {
        act->obs[i] = (float)bytes[i] / 255.0f;
    }
    return act->obs;
}

void aq_act_greedy(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows, void *actions)
{
    const aq_snapshot *policy = aq_engine_snapshot(engine);
    const float *outputs = aq_engine_outputs(engine, aq_act_inputs(act, obs, rows), rows);
    aq_head_of(policy->head)
        ->act(&policy->schema.action, outputs, aq_net_spec_outputs(&policy->spec), rows, actions);
}
