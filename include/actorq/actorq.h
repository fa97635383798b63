/*
 * libactorq: ActorQ's policies, environments and data sets for other programs. Policies act with
 * the engine that actors run, to the last bit.
 *
 *     actorq_policy *policy;
 *     actorq_error error;
 *     if (actorq_policy_load("runs/first", NULL, &policy, &error) != 0 ||
 *         actorq_policy_act(policy, observations, 32, actions, &error) != 0) {
 *         fprintf(stderr, "%s\n", error.text);
 *     }
 *
 * What a function returns is 0, or a negative code below, and then `error` (which may be NULL) says
 * in a sentence what is wrong. Results leave through `ret_` parameters, which are untouched on
 * failure. Input that is not as described here is refused, NULL where something is to be given,
 * too; nothing ends the process.
 *
 * Handles are opaque. Several threads may use the library, each with handles of its own: one thread
 * at a time for one handle. What a handle lends is valid until it is freed.
 *
 * A row is one observation or action as float, uint8_t or, for choices, int32_t (counted from 0),
 * of the shape that an actorq_space says, C order. Rows lie behind each other, aligned for their
 * type.
 *
 * The library keeps what was published (version 1 of its symbols): later ones add functions, and
 * members at the end of the structs that it lends.
 */
#ifndef AQ_INCLUDE_ACTORQ_ACTORQ_H
#define AQ_INCLUDE_ACTORQ_ACTORQ_H

#include <actorq_env.h>
#include <stddef.h>
#include <stdint.h>

#define ACTORQ_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ACTORQ_E_NOMEM = -1,
    ACTORQ_E_INVALID = -2,
    ACTORQ_E_IO = -3,
    ACTORQ_E_NO_SPACE = -4,
    ACTORQ_E_NOT_FOUND = -5,
    ACTORQ_E_EXISTS = -6,
    ACTORQ_E_TIMEOUT = -7, /* an environment was not ready in time */
    ACTORQ_E_CLOSED = -8,
    ACTORQ_E_FULL = -9,
    ACTORQ_E_AGAIN = -10, /* the system lacks something now, such as room for a process */
    ACTORQ_E_TOO_BIG = -11,
    ACTORQ_E_CORRUPT = -12,
    ACTORQ_E_VERSION = -13,
    ACTORQ_E_SCHEMA = -14,      /* made for other observations or actions */
    ACTORQ_E_FOREIGN = -15,     /* a file of something else */
    ACTORQ_E_UNSUPPORTED = -16, /* right, but not here */
    ACTORQ_E_IN_USE = -17,
    ACTORQ_E_PEER = -18, /* an environment failed */
};

typedef struct actorq_error {
    int code;
    char text[512];
} actorq_error;

/* "0.1.0". */
ACTORQ_API const char *actorq_version(void);

/* ---- policies ------------------------------------------------------------------------------- */

typedef struct actorq_policy actorq_policy;

typedef struct actorq_policy_facts {
    const char *task;
    const char *path;      /* the file that was read */
    const char *precision; /* "int8", "fp32", "mixed" */
    const char *head;      /* how outputs become actions: "argmax", "gaussian" */
    const char *network;   /* "4-64r-64r-2", for people */
    const char *rung;      /* the kernels that this processor runs */
    uint64_t run_id;
    uint64_t version;
    uint64_t learner_step;
    uint64_t parameters;
    uint32_t output_count; /* of the network, for one observation */
    int32_t draws;         /* 1: it is a distribution, from which actors draw */
    uint64_t observation_bytes;
    uint64_t action_bytes;
    actorq_space observation;
    actorq_space action;
    uint64_t state_count; /* numbers that it keeps from step to step of an episode; 0: none */
} actorq_policy_facts;

/* Loads the policy of a policy file (policy.aq), a run folder (its best policy) or a checkpoint
 * (.aqc; the policy that was trained then, in fp32, or with learner.qat_bits in the run's format).
 * `precision` is a weight format such as "int8" or "fp32", or NULL: as it is stored. A policy in
 * fp32 is quantized when another is asked for. */
ACTORQ_API int actorq_policy_load(const char *path, const char *precision,
                                  actorq_policy **ret_policy, actorq_error *error);

/* Another handle of the same policy, for another thread. */
ACTORQ_API int actorq_policy_copy(const actorq_policy *policy, actorq_policy **ret_policy,
                                  actorq_error *error);
ACTORQ_API void actorq_policy_free(actorq_policy *policy); /* NULL is fine */

/* NULL of NULL; so it is with what else is looked at. */
ACTORQ_API const actorq_policy_facts *actorq_policy_look(const actorq_policy *policy);

/* The greedy actions for `rows` observations. */
ACTORQ_API int actorq_policy_act(actorq_policy *policy, const void *observations, uint64_t rows,
                                 void *actions, actorq_error *error);

/* Actions drawn as an actor draws them whose noise lasts a step: what comes out is a function of
 * policy, observations, `key`, `number` (of these draws) and the place of each row, at most 65536,
 * alone. log_probs (rows; NULL: nobody asks) is how likely each was. ACTORQ_E_UNSUPPORTED for a
 * policy that does not draw. */
ACTORQ_API int actorq_policy_draw(actorq_policy *policy, const void *observations, uint64_t rows,
                                  uint64_t key, uint64_t number, void *actions, float *log_probs,
                                  actorq_error *error);

/* The same of a policy that keeps a state (state_count > 0), for which the functions above are
 * ACTORQ_E_UNSUPPORTED: `states` (rows, state_count) is what each row goes on from, zeros where an
 * episode begins, and becomes what to go on from in its next step. Of others it is not looked at,
 * and may be NULL. */
ACTORQ_API int actorq_policy_act_from(actorq_policy *policy, const void *observations,
                                      uint64_t rows, float *states, void *actions,
                                      actorq_error *error);
ACTORQ_API int actorq_policy_draw_from(actorq_policy *policy, const void *observations,
                                       uint64_t rows, uint64_t key, uint64_t number, float *states,
                                       void *actions, float *log_probs, actorq_error *error);

/* What the network gives: outputs (rows, output_count). ACTORQ_E_UNSUPPORTED for a policy that
 * keeps a state. */
ACTORQ_API int actorq_policy_outputs(actorq_policy *policy, const void *observations, uint64_t rows,
                                     float *outputs, actorq_error *error);

/* What a policy is worth over greedy episodes of its task. */
typedef struct actorq_worth {
    double return_mean;
    double return_std; /* of the sample (n - 1); 0 for one episode */
    double return_min, return_max;
    uint32_t episodes;
    uint32_t cut_off; /* of them, at 10,000 steps of a task without a limit */
} actorq_worth;

/* Plays `episodes`, 1 to 1000000, as `actorq eval` does: the same seed plays the same episodes for
 * every policy. */
ACTORQ_API int actorq_policy_evaluate(actorq_policy *policy, uint32_t episodes, uint64_t seed,
                                      actorq_worth *ret_worth, actorq_error *error);

/* ---- environments --------------------------------------------------------------------------- */

/* The tasks of this build, in the order of their names; NULL past the last. Those that end with a
 * colon stand for families, such as "so:". */
ACTORQ_API const char *actorq_task_at(size_t index);

/* From here on, code that a task brings with its name (a plug-in, a Python class) is loaded whoever
 * names it: it runs as you. Else only that of the task for which environments were opened last, and
 * a policy whose file names another is not evaluated. */
ACTORQ_API void actorq_allow_code(void);

/* Environments of one task that are stepped together. An episode that ends begins anew in the same
 * step. */
typedef struct actorq_vec actorq_vec;

typedef struct actorq_vec_facts {
    const char *task;        /* its full name */
    const char *summary;     /* one sentence */
    double reward_threshold; /* NaN: none */
    uint32_t step_limit;     /* 0: none */
    uint32_t lanes;
    uint64_t observation_bytes;
    uint64_t action_bytes;
    actorq_space observation;
    actorq_space action;
} actorq_vec_facts;

/* Where a step writes: the caller's arrays, of a row for each environment. */
typedef struct actorq_rows {
    void *observations; /* to act on: of an episode that ended, the first one of the next. NULL,
                         * of one environment: an episode that ended stays, to be drawn, and the
                         * next one is begun by actorq_vec_reset */
    void *finals;       /* where the step led: of an episode that ended, its last observation */
    float *rewards;
    uint8_t *terminated; /* 1: ended by the task's own rules; else 0 */
    uint8_t *truncated;  /* 1: cut by a limit */
    double *returns;     /* of the episode that the step belongs to, that step included */
    uint32_t *lengths;   /* likewise, its steps */
} actorq_rows;

/* Opens `lanes` environments, 1 to 4096, each at the start of an episode. The task may have options
 * behind it ("gym:Pendulum-v1?time_limit=100"), and may be a plug-in of one's own ("so:./mine.so"):
 * naming it here is what allows its code. */
ACTORQ_API int actorq_vec_open(const char *task, uint32_t lanes, uint64_t seed,
                               actorq_vec **ret_vec, actorq_error *error);
ACTORQ_API void actorq_vec_close(actorq_vec *vec); /* NULL is fine */

ACTORQ_API const actorq_vec_facts *actorq_vec_look(const actorq_vec *vec);

/* All environments at the start of an episode, whose observations are written. Environment i draws
 * from stream i of `seed`; NULL: chance goes on from where it is. Where the process of environments
 * in Python died, waits for the next one. ACTORQ_E_PEER: an environment could not be reset. */
ACTORQ_API int actorq_vec_reset(actorq_vec *vec, const uint64_t *seed, void *observations,
                                actorq_error *error);

/* Steps each environment once. Numbers beyond the bounds of the action space are held between them;
 * NaN, and choices that there are not, are refused, and then nothing is stepped. ret_ended is how
 * many episodes ended. ACTORQ_E_PEER: an environment failed, whose episode is lost; all are to be
 * reset. */
ACTORQ_API int actorq_vec_step(actorq_vec *vec, const void *actions, const actorq_rows *rows,
                               uint32_t *ret_ended, actorq_error *error);

/* Numbers of a state under the name that recordings have for them: "state" of the classics, "qpos",
 * "qvel" and so on of the control suite (docs/environment-checks.md). */
typedef struct actorq_value {
    const char *name;
    uint64_t count;
    const double *numbers;
} actorq_value;

/* Puts one environment into a state, and writes its observation row. ACTORQ_E_UNSUPPORTED for a
 * task that cannot: others, and those with options that change what is seen or earned. */
ACTORQ_API int actorq_vec_put(actorq_vec *vec, uint32_t lane, const actorq_value *values,
                              size_t count, void *observation, actorq_error *error);

/* A picture of one environment: 8-bit (height, width, 3). ACTORQ_E_UNSUPPORTED for a task of which
 * there is none. */
ACTORQ_API int actorq_vec_draw(actorq_vec *vec, uint32_t lane, uint32_t width, uint32_t height,
                               uint8_t *pixels, actorq_error *error);

/* ---- data sets ------------------------------------------------------------------------------ */

/* Recorded experience (docs/data-sets.md), read piece by piece, each a part of one episode. */
typedef struct actorq_data actorq_data;

enum { ACTORQ_COLUMNS_MAX = 8 };

typedef struct actorq_column {
    const char *name;     /* "obs", "action", "reward", "version", and what was recorded besides */
    uint32_t is_boundary; /* 1: a row more than there are steps, the last of what came of them */
    uint32_t number;      /* 1 float, 2 uint8_t, 3 int32_t, 4 uint32_t */
    uint64_t row_bytes;
} actorq_column;

typedef struct actorq_data_facts {
    const char *task;
    const char *source;
    uint64_t run_id;
    uint64_t pieces;
    uint64_t steps; /* each counted once */
    uint64_t episodes;
    uint32_t column_count;
    actorq_column columns[ACTORQ_COLUMNS_MAX];
    actorq_space observation;
    actorq_space action;
} actorq_data_facts;

typedef struct actorq_piece {
    uint64_t actor, incarnation, episode; /* with the lane: which episode */
    uint32_t lane;
    uint32_t first;      /* index in its episode of the first step */
    uint32_t length;     /* steps */
    uint32_t overlap;    /* of them, how many an earlier piece has already */
    uint32_t terminated; /* 1: the episode ended so after the last step */
    uint32_t truncated;
    const void *columns[ACTORQ_COLUMNS_MAX]; /* lent until the next call */
} actorq_piece;

ACTORQ_API int actorq_data_open(const char *path, actorq_data **ret_data, actorq_error *error);
ACTORQ_API void actorq_data_close(actorq_data *data); /* NULL is fine */
ACTORQ_API const actorq_data_facts *actorq_data_look(const actorq_data *data);

/* The next piece, whose check sums were right; *ret_more is 0, and nothing else is touched, at the
 * end and ever after. */
ACTORQ_API int actorq_data_next(actorq_data *data, int *ret_more, actorq_piece *ret_piece,
                                actorq_error *error);

#ifdef __cplusplus
}
#endif

#endif
