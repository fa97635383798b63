/*
 * Head: how a network's outputs become actions. A head is a line of AQ_HEADS, and a row of
 * functions in a file of heads/ (docs/adding-a-head.md). Nothing else asks which head a policy has.
 *
 * All of a row are functions of the outputs, of the space of actions, and of arrays that the
 * network keeps for its head (a log-deviation). A stochastic policy is a head that also draws: an
 * action with its log-probability, from noise that it is given. What is computed of a draw has the
 * same bits everywhere (exact_math.h), so that whoever has the policy and the noise, or the
 * recorded draw, can say what the actor said.
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
    X(2, TANH_BOX, tanh_box)                                                                       \
    X(3, CATEGORICAL, categorical)                                                                 \
    X(4, GAUSSIAN, gaussian)                                                                       \
    X(5, SQUASHED, squashed)                                                                       \
    X(6, GSDE, gsde)

#define AQ_HEAD_NUMBER(number, NAME, name) AQ_HEAD_##NAME = (number),
enum aq_head_number { AQ_HEADS(AQ_HEAD_NUMBER) AQ_HEADS_END };
#undef AQ_HEAD_NUMBER

/* The head's part of an exported policy (docs/export.md), as C text. '@' stands for the prefix of
 * its names, and "$outputs", "$last_output", "$elements" (of an action) and "$noise" (numbers that
 * a draw takes) for numbers. What they name is part of the file: the functions of exact_math.h,
 * @_exact_exp and so on; @_bounds[$elements][3], low, high, high - low; and @_array0, @_array1 and
 * so on, the arrays that the network keeps for the head. */
enum { AQ_HEAD_TEXTS_MAX = 5 };
typedef struct aq_head_code {
    const char *prototypes[2]; /* of PREFIX_act and, of heads that draw, PREFIX_draw, each below a
                                  comment that says what it gives */
    /* In their order: functions that PREFIX_act and PREFIX_draw call, then these two themselves,
     * which call PREFIX_forward(obs, outputs). */
    const char *texts[AQ_HEAD_TEXTS_MAX];
    bool is_in_place; /* the outputs need no array on the stack, but are where the action is */
} aq_head_code;

/* Of one observation: what is lost, and what is at stake, in one unit of the head's choice. What
 * quantizing a policy costs is the first over the second, each summed over observations: where
 * little is at stake, little can be lost. Neither is negative. */
typedef struct aq_head_cost {
    double lost;
    double at_stake;
} aq_head_cost;

/* What a head works on. */
typedef struct aq_head_terms {
    const struct aq_head *head;
    const aq_space *action;
    uint32_t width;      /* outputs of a row */
    const float *arrays; /* of the network, one after the other; NULL: it has none */
} aq_head_terms;

/* What came of a row: the action as it was taken, and for heads that keep it what was drawn. */
typedef struct aq_head_draw {
    const void *action;
    const float *drawn; /* a number for each element, before it was squashed and held */
} aq_head_draw;

/* Where gradients are added: of a row's outputs, and of the arrays. */
typedef struct aq_head_slope {
    float *outputs;
    float *arrays;
} aq_head_slope;

/* How many times the gradient of each is added. */
typedef struct aq_head_scales {
    float log_prob, entropy;
} aq_head_scales;

/* What only heads that draw have. Numbers are never NaN nor infinite where the outputs are finite;
 * for others they are whatever, but the action lies in its space. */
typedef struct aq_head_drawing {
    enum {
        AQ_DRAWS_FROM_UNIFORM,
        AQ_DRAWS_FROM_NORMAL
    } noise;                                             /* from [0, 1), or standard normal */
    uint32_t (*noise_count)(const aq_head_terms *terms); /* that one draw takes */
    bool holds_noise;                                    /* for actor.noise_steps steps */
    const struct aq_gaussian_rule *gaussian;             /* of those that draw numbers; else NULL */

    /* Writes the action of a row, and what was drawn if the head keeps it. Returns the draw's
     * log-probability (of `drawn`: a density), as log_prob would. */
    float (*draw)(const aq_head_terms *terms, const float *outputs, const float *noise,
                  void *action, float *drawn);
    float (*log_prob)(const aq_head_terms *terms, const float *outputs, const aq_head_draw *draw);

    /* How far `to` is from `from`, in nats: E_from[log from - log to]. */
    double (*kl)(const aq_head_terms *from, const float *from_outputs, const aq_head_terms *to,
                 const float *to_outputs);

    /* Returns the entropy, and adds the gradients of log_prob and of entropy: at once, as what they
     * share is most of the work. The learner goes down their sum, so where a parameter is held at a
     * bound only what goes back is added. */
    double (*slopes)(const aq_head_terms *terms, const float *outputs, const aq_head_draw *draw,
                     aq_head_scales scales, const aq_head_slope *slope);

    /* Adds the gradient of kl by `to`, `scale` times. */
    void (*kl_slope)(const aq_head_terms *from, const float *from_outputs, const aq_head_terms *to,
                     const float *to_outputs, float scale, const aq_head_slope *slope);
} aq_head_drawing;

typedef struct aq_head {
    const char *name; /* as people see it */

    /* Whether it can make actions of the space from what the network gives. AQ_E_SCHEMA. */
    int (*check)(const aq_net_spec *spec, const aq_space *action, aq_error *error);

    /* The greedy actions for `rows` rows of outputs, in the space, one after the other. */
    void (*act)(const aq_head_terms *terms, const float *outputs, uint32_t rows, void *actions);

    /* Changes one greedy action so that it explores; see exploration.h. NULL: it draws. */
    void (*explore)(const aq_space *action, const struct aq_exploration *how, aq_rng *rng,
                    void *greedy);

    /* What it costs to act by a row of outputs where `exact` are those of fp32. */
    aq_head_cost (*cost)(const aq_head_terms *terms, const float *exact, const float *outputs);

    const aq_head_drawing *drawing; /* NULL: it acts greedily, and explores */
    const aq_head_code *code;
    const aq_head_code *code_of_row; /* of several choices at once; NULL: it makes none */
} aq_head;

/* NULL for a number that is no head's. */
const aq_head *aq_head_of(uint32_t number);
const char *aq_head_name(uint32_t number); /* "argmax", "continuous"; "unknown" */

/* ---- for the rows --------------------------------------------------------------------------- */

/* `check` and `act` of heads that choose the greatest output. */
int aq_greatest_check(const aq_net_spec *spec, const aq_space *action, aq_error *error) AQ_MUST_USE;
void aq_greatest_act(const aq_head_terms *terms, const float *outputs, uint32_t rows,
                     void *actions);

/* Parts of aq_head_code that heads share: @_greatest(outputs, count), @_scale(@_bounds, $elements,
 * action) from -1 to 1, and what the greatest output or outputs that are spread so make of
 * PREFIX_act. */
extern const char aq_greatest_text[], aq_scale_text[];
extern const char aq_greatest_prototype_one[], aq_greatest_act_one[]; /* of a lone choice */
extern const char aq_greatest_prototype_row[], aq_greatest_act_row[]; /* of several at once */
extern const char aq_scale_prototype[], aq_scale_act_text[];

#define AQ_LOG_DEVIATION_ARRAY                                                                     \
    "log_deviation" /* of heads that keep theirs in the network's arrays */

/* Of an action. */
static inline uint32_t aq_head_elements(const aq_head_terms *terms)
{
    return (uint32_t)aq_space_elements(terms->action);
}

/* How many choices an action is, and how many of the outputs are those of each: those of several
 * choices lie behind each other. Where there is one part, it has all outputs. */
static inline uint32_t aq_head_parts(const aq_head_terms *terms)
{
    return aq_space_is_several(terms->action) ? terms->action->shape[0] : 1;
}
static inline uint32_t aq_head_width(const aq_head_terms *terms, uint32_t part)
{
    return aq_space_is_several(terms->action) ? aq_space_choices(terms->action, part)
                                              : terms->width;
}

/* Index of the greatest value; the first of equals. NaN never wins; 0 if all are NaN. count > 0. */
uint32_t aq_argmax(const float *values, uint32_t count);

/* How far the softmax of `to` is from that of `from`: sum_k p[k] log(p[k] / q[k]), at least 0, by
 * logarithms, so that no probability is too small for it. NaN stays. */
double aq_choices_kl(const float *from, const float *to, uint32_t count);

/* `value`, -1 to 1, spread between the bounds of element `i` of a box and held there, rounded to
 * float at each step, as in the exported text. NaN is the middle: neither bound is far. */
float aq_head_spread(const aq_space *action, size_t i, float value);

/* AQ_E_UNSUPPORTED, in words, when a policy is exported whose actions have bounds with no range
 * between them that a float tells. */
int aq_head_check_range(const aq_space *action, aq_error *error) AQ_MUST_USE;

/* AQ_E_SCHEMA unless the space is a box of floats. */
int aq_head_check_box(const aq_space *action, aq_error *error) AQ_MUST_USE;

#endif
