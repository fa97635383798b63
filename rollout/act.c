/*
 * Acting: see act.h. Everything is rounded to float at each step, as an exported policy does it.
 */
#include "rollout/act.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"

struct aq_act {
    uint32_t rows_max;
    uint32_t inputs;
    uint32_t scores_count; /* choices, or elements of an action */
    bool is_choice;
    float *obs;    /* (rows_max, inputs), where observations are bytes; else NULL */
    float *scores; /* (rows_max, scores_count), for choices; else NULL */
    float *low;    /* (scores_count), for boxes; else NULL */
    float *range;  /* likewise: high - low */
    float *high;   /* likewise */
};

static int take_bounds(aq_act *act, const aq_space *space)
{
    act->low = aq_alloc(act->scores_count, sizeof(*act->low));
    act->range = aq_alloc(act->scores_count, sizeof(*act->range));
    act->high = aq_alloc(act->scores_count, sizeof(*act->high));
    if (act->low == NULL || act->range == NULL || act->high == NULL) {
        return AQ_E_NOMEM;
    }
    for (uint32_t i = 0; i < act->scores_count; i++) {
        const uint32_t bound = space->bound_count > 1 ? i : 0;
        act->low[i] = space->low[bound];
        act->high[i] = space->high[bound];
        act->range[i] = space->high[bound] - space->low[bound];
    }
    return 0;
}

int aq_act_create(const aq_env_task *task, uint32_t rows_max, aq_act **ret_act)
{
    AQ_ASSERT(rows_max >= 1);
    aq_act *act = aq_alloc(1, sizeof(*act));
    if (act == NULL) {
        return AQ_E_NOMEM;
    }
    act->rows_max = rows_max;
    act->inputs = task->obs_elements;
    act->scores_count = task->score_count;
    act->is_choice = task->act_rule == AQ_ACT_ARGMAX;
    int rc = 0;
    if (task->obs_dtype == AQ_DTYPE_U8) {
        act->obs = aq_alloc(rows_max, act->inputs * sizeof(*act->obs));
        rc = act->obs != NULL ? 0 : AQ_E_NOMEM;
    }
    if (rc == 0 && act->is_choice) {
        act->scores = aq_alloc(rows_max, act->scores_count * sizeof(*act->scores));
        rc = act->scores != NULL ? 0 : AQ_E_NOMEM;
    } else if (rc == 0) {
        rc = take_bounds(act, &task->env->schema.action);
    }
    if (rc != 0) {
        aq_act_destroy(act);
        return rc;
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
    aq_free(act->scores);
    aq_free(act->low);
    aq_free(act->range);
    aq_free(act->high);
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

/* NaN is held to the lower bound. */
static float hold(const aq_act *act, uint32_t element, float value)
{
    if (!(value >= act->low[element])) {
        return act->low[element];
    }
    return value <= act->high[element] ? value : act->high[element];
}

static void spread(const aq_act *act, uint32_t rows, float *actions)
{
    for (uint32_t row = 0; row < rows; row++) {
        float *action = actions + (size_t)row * act->scores_count;
        for (uint32_t i = 0; i < act->scores_count; i++) {
            action[i] = hold(act, i, act->low[i] + (action[i] + 1.0f) / 2.0f * act->range[i]);
        }
    }
}

void aq_act_greedy(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows, void *actions)
{
    const float *inputs = aq_act_inputs(act, obs, rows);
    if (!act->is_choice) {
        aq_engine_forward(engine, inputs, rows, actions);
        spread(act, rows, actions);
        return;
    }
    int32_t *choices = actions;
    aq_engine_forward(engine, inputs, rows, act->scores);
    for (uint32_t row = 0; row < rows; row++) {
        choices[row] =
            (int32_t)aq_argmax(act->scores + (size_t)row * act->scores_count, act->scores_count);
    }
}

void aq_act_random(const aq_act *act, aq_rng *rng, void *action)
{
    if (act->is_choice) {
        *(int32_t *)action = (int32_t)aq_rng_below(rng, act->scores_count);
        return;
    }
    float *elements = action;
    for (uint32_t i = 0; i < act->scores_count; i++) {
        elements[i] =
            hold(act, i, (float)aq_rng_range(rng, (double)act->low[i], (double)act->high[i]));
    }
}

void aq_act_disturb(const aq_act *act, aq_rng *rng, double sigma, void *action)
{
    float *elements = action;
    AQ_ASSERT(!act->is_choice);
    for (uint32_t i = 0; i < act->scores_count; i++) {
        const double half = (double)act->range[i] / 2.0;
        elements[i] =
            hold(act, i, (float)((double)elements[i] + sigma * half * aq_rng_normal(rng)));
    }
}
