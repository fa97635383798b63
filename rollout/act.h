/*
 * Act: from observations to rows of actions, greedy or drawn, as a policy's head says
 * (common/policy/head.h).
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

/* The policy's actions for `rows` rows. The engine is of a policy for the schema and allows as
 * many. */
void aq_act_greedy(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows, void *actions);

/* Draws of all rows, and what they leave behind; see draw_source.h. */
typedef struct aq_act_draws {
    uint64_t key;
    uint64_t number; /* of these draws, in whatever order */
    uint32_t period; /* of draws that have the same noise, where the head holds it; at least 1 */
    float *drawn;    /* (rows, elements of an action), for heads that keep it */
    float *log_prob; /* (rows) */
} aq_act_draws;

/* Makes room for what a head needs that draws; nothing for others. AQ_E_NOMEM. */
int aq_act_prepare(aq_act *act, const aq_engine *engine) AQ_MUST_USE;

/* The same for a head that draws; after prepare. */
void aq_act_draw(aq_act *act, aq_engine *engine, const void *obs, uint32_t rows,
                 const aq_act_draws *draws, void *actions);

#endif
