/*
 * Acting: see act.h.
 */
#include "rollout/act.h"

#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/policy/draw_source.h"

struct aq_act {
    uint32_t rows_max;
    uint32_t inputs;
    float *obs; /* (rows_max, inputs), where observations are bytes; else NULL */
    size_t action_bytes, elements;
    size_t noise_count;   /* of a row; 0: no room yet */
    float *noise;         /* (rows_max, noise_count) */
    uint64_t noise_key;   /* what it was made for */
    uint64_t noise_turn;  /* counted from 1; 0: nothing */
    uint32_t noise_first; /* the place of its first row */
    uint32_t noise_rows;  /* that have it */
    uint32_t state_width;
    float *state; /* (rows_max, state_width) */
};

int aq_act_create(const aq_schema *schema, uint32_t rows_max, aq_act **ret_act)
{
    AQ_ASSERT(rows_max >= 1);
    aq_act *act = aq_alloc(1, sizeof(*act));
    if (act == NULL) {
        return AQ_E_NOMEM;
    }
    act->rows_max = rows_max;
    act->inputs = (uint32_t)aq_space_elements(&schema->obs);
    act->action_bytes = aq_space_bytes(&schema->action);
    act->elements = aq_space_elements(&schema->action);
    if (schema->obs.dtype == AQ_DTYPE_U8) {
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
    aq_free(act->noise);
    aq_free(act->state);
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

/* ---- from step to step ---------------------------------------------------------------------- */

static int make_state(aq_act *act, uint32_t width)
{
    float *state = NULL;
    if (width == act->state_width) {
        return 0;
    }
    if (width > 0) {
        state = aq_alloc(act->rows_max, width * sizeof(*state));
        if (state == NULL) {
            return AQ_E_NOMEM;
        }
    }
    aq_free(act->state);
    act->state = state;
    act->state_width = width;
    return 0;
}

/* What a row's noise is for: of a head that draws, or of the layers of a policy that explores. */
static uint32_t noise_count(const aq_snapshot *policy)
{
    const aq_head_terms terms = aq_snapshot_terms(policy);
    const aq_head_drawing *drawing = terms.head->drawing;
    return drawing != NULL ? drawing->noise_count(&terms) : aq_net_spec_noise(&policy->spec);
}

static int make_noise(aq_act *act, const aq_snapshot *policy)
{
    const size_t count = noise_count(policy);
    if (count == 0 || count == act->noise_count) {
        return 0;
    }
    float *noise = aq_alloc(act->rows_max * count, sizeof(*noise));
    if (noise == NULL) {
        return AQ_E_NOMEM;
    }
    aq_free(act->noise);
    act->noise = noise;
    act->noise_count = count;
    act->noise_turn = 0;
    return 0;
}

size_t aq_act_row_bytes(const aq_snapshot *policy)
{
    const aq_space *obs = &policy->schema.obs;
    const size_t inputs = obs->dtype == AQ_DTYPE_U8 ? aq_space_elements(obs) : 0;
    return (inputs + noise_count(policy) + aq_net_spec_state(&policy->spec)) * sizeof(float);
}

int aq_act_prepare(aq_act *act, const aq_engine *engine)
{
    const aq_snapshot *policy = aq_engine_snapshot(engine);
    int rc = make_state(act, aq_net_spec_state(&policy->spec));
    return rc == 0 ? make_noise(act, policy) : rc;
}

static float *state_of(const aq_act *act, uint32_t row)
{
    return act->state + (size_t)row * act->state_width;
}

void aq_act_begin(aq_act *act, uint32_t row)
{
    AQ_ASSERT(row < act->rows_max);
    if (act->state_width > 0) {
        memset(state_of(act, row), 0, act->state_width * sizeof(*act->state));
    }
}

void aq_act_move(aq_act *act, uint32_t from, uint32_t to)
{
    AQ_ASSERT(from < act->rows_max);
    AQ_ASSERT(to < act->rows_max);
    if (act->state_width > 0) {
        memmove(state_of(act, to), state_of(act, from), act->state_width * sizeof(*act->state));
    }
}

float *aq_act_state(aq_act *act, uint32_t *ret_width)
{
    *ret_width = act->state_width;
    return act->state;
}

/* ---- acting --------------------------------------------------------------------------------- */

/* Bytes go in as they are where the engine takes them: two passes less over a picture. */
static const float *outputs_of(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows)
{
    AQ_ASSERT(rows <= act->rows_max);
    AQ_ASSERT(act->state_width == aq_net_spec_state(&aq_engine_snapshot(engine)->spec));
    if (act->obs != NULL && aq_engine_takes_bytes(engine)) {
        return aq_engine_step_of_bytes(engine, obs, act->state, rows);
    }
    return aq_engine_step(engine, aq_act_inputs(act, obs, rows), act->state, rows);
}

void aq_act_greedy(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows, void *actions)
{
    const aq_head_terms terms = aq_snapshot_terms(aq_engine_snapshot(engine));
    const float *outputs = outputs_of(act, engine, obs, rows);
    terms.head->act(&terms, outputs, rows, actions);
}

/* Makes the noise of the draws, but where they have that of those before. */
static void renew_noise(aq_act *act, const aq_snapshot *policy, uint32_t rows,
                        const aq_act_draws *draws)
{
    const aq_head_drawing *drawing = aq_head_of(policy->head)->drawing;
    const bool is_held = drawing == NULL || drawing->holds_noise;
    const uint64_t turn = draws->number / (is_held ? draws->period : 1);
    const uint32_t count = noise_count(policy);
    AQ_ASSERT(count <= act->noise_count);
    if (act->noise_turn != turn + 1 || act->noise_key != draws->key ||
        act->noise_first != draws->first) {
        act->noise_key = draws->key;
        act->noise_turn = turn + 1;
        act->noise_first = draws->first;
        act->noise_rows = 0;
    }
    for (; act->noise_rows < rows; act->noise_rows++) {
        const uint32_t row = act->noise_rows;
        const aq_draw_at at = {.key = draws->key,
                               .draw = turn,
                               .lane = draws->first + row,
                               .octaves = is_held ? draws->octaves : 1};
        float *noise = act->noise + row * act->noise_count;
        if (drawing != NULL) {
            aq_draw_noise(drawing, &at, count, noise);
        } else {
            aq_draw_layer_noise(&at, count, noise);
        }
    }
}

void aq_act_explore(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows,
                    const aq_act_draws *draws, void *actions)
{
    const aq_snapshot *policy = aq_engine_snapshot(engine);
    if (aq_net_spec_noise(&policy->spec) > 0) {
        renew_noise(act, policy, rows, draws);
        aq_engine_perturb(engine, act->noise);
    }
    aq_act_greedy(act, engine, obs, rows, actions);
    aq_engine_perturb(engine, NULL);
}

void aq_act_draw(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows,
                 const aq_act_draws *draws, void *actions)
{
    const aq_head_terms terms = aq_snapshot_terms(aq_engine_snapshot(engine));
    const float *outputs = outputs_of(act, engine, obs, rows);
    uint8_t *action = actions;
    renew_noise(act, aq_engine_snapshot(engine), rows, draws);
    for (size_t row = 0; row < rows; row++) {
        draws->log_prob[row] = terms.head->drawing->draw(
            &terms, outputs + row * terms.width, act->noise + row * act->noise_count,
            action + row * act->action_bytes, draws->drawn + row * act->elements);
    }
}
