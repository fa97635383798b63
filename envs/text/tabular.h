/*
 * Tabular: what the toy-text tasks have in common. A state is a number below state_count; rules say
 * what may come of each action in each state, with which chance; a step draws one of that. Tabular
 * methods can ask for all of it.
 *
 * The observation is the state itself.
 *
 * The classes bring these parameters as their defaults; the rest of their members is here. Any
 * thread for one state.
 */
#ifndef AQ_ENVS_TEXT_TABULAR_H
#define AQ_ENVS_TEXT_TABULAR_H

#include "envs/env.h"
#include "envs/env_golden.h"

enum { AQ_TABULAR_OUTCOMES_MAX = 3 };

typedef struct aq_tabular aq_tabular;

/* What may come of one action in one state. */
typedef struct aq_tabular_outcome {
    double chance;
    uint32_t next;
    double reward;
    bool terminated;
} aq_tabular_outcome;

typedef struct aq_tabular_rules {
    /* Writes what may come, at most AQ_TABULAR_OUTCOMES_MAX, with chances that sum to 1, in the
     * original's order; returns how many. */
    size_t (*outcomes)(const aq_tabular *table, uint32_t cell, uint32_t action,
                       aq_tabular_outcome *ret_outcomes);
    /* Whether an episode may begin there; all that may are equally likely. */
    bool (*is_start)(const aq_tabular *table, uint32_t cell);
} aq_tabular_rules;

/* Parameters of a class. */
struct aq_tabular {
    const aq_tabular_rules *rules;
    uint32_t state_count;
    uint32_t action_count;
    uint32_t start_count; /* states in which an episode may begin */
    uint32_t rows, columns;
    const char *cells; /* (rows, columns): a letter each; NULL where the task needs none */
    bool is_slippery;
};

typedef struct aq_tabular_state {
    uint32_t cell;
} aq_tabular_state;

/* As aq_env_class.open: counts the starts. Classes with options of their own call it last. */
int aq_tabular_open(void *params, aq_env_opening *opening, aq_error *error) AQ_MUST_USE;

/* A move by one cell that the edge stops; `down` and `right` are -1, 0 or 1. */
uint32_t aq_tabular_moved(const aq_tabular *table, uint32_t cell, int down, int right);

/* Where the corner of that cell lies in the picture; fractions are between corners. */
aq_point aq_tabular_point(const aq_tabular *table, const aq_canvas *canvas, double row,
                          double column);

/* Members of aq_env_class. */
void aq_tabular_schema(const void *params, aq_schema *ret_schema);
bool aq_tabular_reset(const void *params, void *state, aq_rng *rng, void *obs);
enum aq_step_end aq_tabular_step(const void *params, void *state, aq_rng *rng, const void *action,
                                 void *obs, float *reward);
void aq_tabular_observe(const void *params, const void *state, void *obs);
int aq_tabular_put(const void *params, void *state, const aq_golden_values *values,
                   aq_error *error) AQ_MUST_USE;

/* All members that the classes have in common. */
#define AQ_TABULAR_MEMBERS                                                                         \
    .params_bytes = sizeof(aq_tabular), .state_bytes = sizeof(aq_tabular_state),                   \
    .schema = aq_tabular_schema, .reset = aq_tabular_reset, .step = aq_tabular_step,               \
    .observe = aq_tabular_observe, .put = aq_tabular_put

#endif
