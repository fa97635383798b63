/*
 * Head: how a network's outputs become actions. A head is a line of AQ_HEADS, and a row of
 * functions in a file of heads/ (docs/adding-a-head.md). Nothing else asks which head a policy has.
 *
 * All of a row are functions of the outputs and of the space of actions. A stochastic policy is
 * another head, whose row also draws an action with its log-probability, and gives
 * log-probabilities and entropies with their gradients; what it acts by greedily, and what it costs
 * to quantize it, stand where they do for the others.
 *
 * Constant; any thread.
 */
#ifndef AQ_COMMON_POLICY_HEAD_H
#define AQ_COMMON_POLICY_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/experience/schema.h"
#include "common/policy/netspec.h"

struct aq_exploration;

/* The numbers are those of the wire. */
#define AQ_HEADS(X)                                                                                \
    X(1, ARGMAX, argmax)                                                                           \
    X(2, TANH_BOX, tanh_box)

#define AQ_HEAD_NUMBER(number, NAME, name) AQ_HEAD_##NAME = (number),
enum aq_head_number { AQ_HEADS(AQ_HEAD_NUMBER) AQ_HEADS_END };
#undef AQ_HEAD_NUMBER

/* The head's part of an exported policy (docs/export.md), as C text. '@' stands for the prefix of
 * its names, and "$outputs", "$last_output" and "$elements" (of an action) for numbers. */
typedef struct aq_head_code {
    const char *helpers;   /* functions that `act` calls; NULL: none */
    const char *prototype; /* of PREFIX_act, below a comment that says what it gives */
    const char *act;       /* PREFIX_act, which calls PREFIX_forward(obs, outputs) */
    bool has_bounds;       /* it reads PREFIX_bounds[elements][3]: low, high, high - low */
    bool keeps_outputs;    /* they are an array of its own, on the stack */
} aq_head_code;

/* Of one observation: what is lost, and what is at stake, in one unit of the head's choice. What
 * quantizing a policy costs is the first over the second, each summed over observations: where
 * little is at stake, little can be lost. Neither is negative. */
typedef struct aq_head_cost {
    double lost;
    double at_stake;
} aq_head_cost;

typedef struct aq_head {
    const char *name; /* as people see it */

    /* Whether it can make actions of the space from what the network gives. AQ_E_SCHEMA. */
    int (*check)(const aq_net_spec *spec, const aq_space *action, aq_error *error);

    /* The greedy actions for `rows` rows of `width` outputs, in the space, one after the other. */
    void (*act)(const aq_space *action, const float *outputs, uint32_t width, uint32_t rows,
                void *actions);

    /* Changes one greedy action so that it explores; see exploration.h. */
    void (*explore)(const aq_space *action, const struct aq_exploration *how, aq_rng *rng,
                    void *greedy);

    /* What it costs to act by a row of outputs where `exact` are those of fp32. */
    aq_head_cost (*cost)(const float *exact, const float *outputs, uint32_t width);

    aq_head_code code;
} aq_head;

/* NULL for a number that is no head's. */
const aq_head *aq_head_of(uint32_t number);
const char *aq_head_name(uint32_t number); /* "argmax", "continuous"; "unknown" */

/* ---- for the rows --------------------------------------------------------------------------- */

/* Index of the greatest value; the first of equals. NaN never wins; 0 if all are NaN. count > 0. */
uint32_t aq_argmax(const float *values, uint32_t count);

#endif
