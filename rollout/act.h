/*
 * Act: from observations to rows of actions, greedy or drawn, as a policy's head says
 * (common/policy/head.h).
 *
 * A policy that keeps a state from step to step has one for each row, which belongs to an episode:
 * whoever begins one there says so.
 *
 * Observations in bytes are divided by 255 for the network. One thread at a time; nothing is
 * allocated after create but by aq_act_prepare.
 */
#ifndef AQ_ROLLOUT_ACT_H
#define AQ_ROLLOUT_ACT_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/experience/schema.h"
#include "quantizer/engine/engine.h"

typedef struct aq_act aq_act;

/* For up to `rows_max` rows, at least 1, of that schema. AQ_E_NOMEM. */
int aq_act_create(const aq_schema *schema, uint32_t rows_max, aq_act **ret_act) AQ_MUST_USE;
void aq_act_destroy(aq_act *act); /* NULL is fine */

/* What the engine sees of `rows` observation rows: themselves, or floats that hold until the next
 * call. */
const float *aq_act_inputs(aq_act *act, const void *obs, uint32_t rows);

/* Makes room for what a policy keeps from step to step, or needs in order to draw; nothing for
 * others. The state of rows is zeros then, unless it was as wide before. AQ_E_NOMEM. */
int aq_act_prepare(aq_act *act, const aq_engine *engine) AQ_MUST_USE;

/* Bytes that this takes for each row, once it is prepared for the policy. */
size_t aq_act_row_bytes(const aq_snapshot *policy);

/* From the next call on the row is of another episode: its state is zeros. */
void aq_act_begin(aq_act *act, uint32_t row);

/* What is in a row goes on in another. */
void aq_act_move(aq_act *act, uint32_t from, uint32_t to);

/* The states of all rows, (rows_max, *ret_width), from which the next call goes on; of no width
 * before there is a policy that keeps one. */
float *aq_act_state(aq_act *act, uint32_t *ret_width);

/* The policy's actions for `rows` rows, the first ones; after prepare. The engine is of a policy
 * for the schema and allows as many. */
void aq_act_greedy(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows, void *actions);

/* Draws of all rows, and what they leave behind; see draw_source.h. */
typedef struct aq_act_draws {
    uint64_t key;
    uint64_t number;  /* of these draws, in whatever order */
    uint32_t first;   /* the place of the first row among all that have this number */
    uint32_t period;  /* of draws that have the same noise, where it is held; at least 1 */
    uint32_t octaves; /* of noise that is held */
    float *drawn;     /* (rows, elements of an action), for heads that keep it */
    float *log_prob;  /* (rows) */
} aq_act_draws;

/* The same by layers that take noise, if the policy has any: each row has its own, which is held
 * for the period. `drawn` and `log_prob` are not looked at. */
void aq_act_explore(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows,
                    const aq_act_draws *draws, void *actions);

/* The same for a head that draws. */
void aq_act_draw(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows,
                 const aq_act_draws *draws, void *actions);

#endif
