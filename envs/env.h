/*
 * The environment interface.
 *
 * An environment is an immutable description (parameters, shared by all lanes) and a state (of one
 * lane). It holds no buffers for what it shows: the caller lends the rows that it writes into.
 * Nothing here knows about networks, threads or the time limits of episodes.
 *
 *   step() says how the step ended. A time limit is not the task's rule: the class states
 *   `step_limit`, and whoever drives the environment truncates. The observation after the last step
 *   is written before any reset.
 *
 * State is plain data, unless the class says otherwise (begin, end), as those do whose state lies
 * in a library or in another process. All randomness comes from the `rng` that is handed in: the
 * same seed and actions give the same bits.
 *
 * One thread at a time for one set of parameters and its states.
 */
#ifndef AQ_ENVS_ENV_H
#define AQ_ENVS_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/base/error.h"
#include "common/base/rng.h"
#include "common/experience/schema.h"
#include "envs/canvas.h"
#include "envs/env_options.h"

typedef struct aq_env_class aq_env_class;
struct aq_golden_values;

enum aq_step_end {
    AQ_STEP_GOES_ON = 0,
    AQ_STEP_TERMINATED = 1, /* the task ended by its own rules */
    AQ_STEP_TRUNCATED = 2,  /* it was cut from outside the rules, by a limit of its own */
    AQ_STEP_FAILED = 3,     /* nothing of this step is true; the episode is to be forgotten */
};

/* One step of `count` lanes. Rows lie behind each other as stored in columns; lane i's state is the
 * state_at[i]-th of those that lie state_stride bytes apart. */
typedef struct aq_step_rows {
    uint32_t count;
    uint8_t *states;
    size_t state_stride;
    const uint32_t *state_at;
    const void *actions;
    void *obs;
    float *rewards;
    uint8_t *ends; /* enum aq_step_end */
} aq_step_rows;

/* A picture that is made elsewhere, lent until the next call for any lane. */
typedef struct aq_env_frame {
    uint32_t rows, columns;
    const uint8_t *pixels; /* (rows, columns, 3); NULL: it is text */
    const char *text;      /* lines */
} aq_env_frame;

/* What `open` is told, and what it may change. */
typedef struct aq_env_opening {
    const char *argument; /* of a family, what follows the prefix; else "" */
    aq_env_options *options;
    uint32_t step_limit; /* this and what follows: at first the class's */
    double reward_threshold;
    const char *summary, *options_help; /* lent until `close` */
    bool can_be_drawn;
} aq_env_opening;

struct aq_env_class {
    const char *name;        /* "gym:CartPole-v1"; of a family, its prefix: "py:" */
    const char *summary;     /* one sentence, for `actorq envs` */
    const char *options;     /* "map, slippery": what `open` takes, for help; NULL: none */
    uint32_t step_limit;     /* steps after which an episode is truncated; 0: none */
    double reward_threshold; /* a greedy mean return from which it counts as solved; NaN: none */
    size_t params_bytes;
    size_t state_bytes;
    uint32_t velocities;  /* elements of an observation of floats that are, a bit each */
    bool runs_code;       /* of others, which the name brings (env_code.h) */
    const void *defaults; /* parameters of params_bytes, as they are before `open`; NULL: zeros */

    /* Changes the parameters as the task's options ask. Refuses in words: AQ_E_INVALID,
     * AQ_E_NOT_FOUND, AQ_E_UNSUPPORTED, AQ_E_NOMEM. NULL: there are none. `close` undoes it; NULL:
     * nothing to undo. */
    int (*open)(void *params, aq_env_opening *opening, aq_error *error);
    void (*close)(void *params);

    void (*schema)(const void *params, aq_schema *ret_schema);

    /* What a lane needs beyond its zeroed state; NULL: nothing. AQ_E_NOMEM, AQ_E_UNSUPPORTED. */
    int (*begin)(const void *params, void *state, aq_error *error);
    void (*end)(const void *params, void *state);

    bool works_elsewhere; /* in another process, whose time this one's processor time lacks */

    /* Writes the first observation row. False: it failed (AQ_STEP_FAILED), to be tried later. */
    bool (*reset)(const void *params, void *state, aq_rng *rng, void *obs);

    /* Waits while every `reset` would fail because a process that died is being started again; for
     * one start at most. For those who cannot come back later. NULL: there is no such process. */
    void (*await)(const void *params);

    /* For environments that work while others do: told every lane's action before the first of them
     * is stepped. NULL: none. */
    void (*announce)(const void *params, void *state, const void *action);

    /* `action` is one row as stored in columns (int32 for a discrete one) and within the schema.
     * Writes the observation row after the step and the reward. After any other end than
     * AQ_STEP_GOES_ON the next call is `reset`. */
    enum aq_step_end (*step)(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward);

    /* `step` of many lanes, with the same bits, for environments whose steps draw nothing at random
     * and cost less than a call: their numbers can be worked on as vectors. NULL: `step` is called
     * for each. */
    void (*step_rows)(const void *params, const aq_step_rows *rows);

    /* Why the lane's last step or reset failed, in words, one line or, with a traceback, several;
     * valid until its next call. NULL, or no function: it does not say. */
    const char *(*failure)(const void *params, const void *state);

    /* Writes the observation row of the state, as the last reset or step did. */
    void (*observe)(const void *params, const void *state, void *obs);

    /* A policy by hand, from an observation row to an action row, as something to compare learned
     * ones with; NULL: there is none. */
    void (*script)(const void *params, const void *obs, void *action);

    /* A picture of the state; NULL: there is none. `frame` is for environments that have one made:
     * false when that failed, and then the lane has to be reset. */
    void (*draw)(const void *params, const void *state, aq_canvas *canvas);
    bool (*frame)(const void *params, void *state, aq_env_frame *ret_frame);

    /* Puts the state (zeroed, or of an episode) at the start of a control step with values that a
     * recording of the original has (env_golden.h), as the original does before it observes. What
     * the recording does not name keeps what an episode begins with, where that is no matter of
     * chance, or 0; values that the task has no use for are ignored. AQ_E_INVALID, in words: one
     * that is needed is missing or has another length. NULL: nothing can be put into it. */
    int (*put)(const void *params, void *state, const struct aq_golden_values *values,
               aq_error *error);

    /* What its physics costs alone (env_physics.h); NULL: it has no library for that. */
    const struct aq_env_physics *physics;
};

/* The class of that name without options, or of its family, or NULL. "CartPole-v1" alone is
 * accepted when it is unambiguous, and "gym:cartpole" is the newest version. */
const aq_env_class *aq_env_find(const char *name);

/* All classes, in the order of their names; NULL past the last. */
size_t aq_env_count(void);
const aq_env_class *aq_env_at(size_t index);

/* For `step` where `step_rows` has the rules: its only lane. */
static inline enum aq_step_end
aq_step_one_row(void (*step_rows)(const void *params, const aq_step_rows *rows), const void *params,
                void *state, const void *action, void *obs, float *reward)
{
    uint8_t end;
    const uint32_t state_at = 0;
    const aq_step_rows row = {
        .count = 1,
        .states = state,
        .state_at = &state_at,
        .actions = action,
        .obs = obs,
        .rewards = reward,
        .ends = &end,
    };
    step_rows(params, &row);
    return end;
}

static inline void *aq_step_rows_state(const aq_step_rows *rows, uint32_t lane)
{
    return rows->states + rows->state_at[lane] * rows->state_stride;
}

/* Whether the class is opened with what follows its name, as "py:" and "so:" are. */
static inline bool aq_env_is_family(const aq_env_class *env)
{
    const size_t length = strlen(env->name);
    return length > 0 && env->name[length - 1] == ':';
}

#endif
