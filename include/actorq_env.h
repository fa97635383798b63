/*
 * ActorQ plug-ins: an environment of your own in C, loaded by its task's name.
 *
 *   so:./my_env.so              the one environment of that shared object
 *   so:./my_env.so:name         one of several
 *   so:./my_env.so?check=yes    with everything checked that can be; slow, for development
 *
 * This header is all that a plug-in needs: C99 (or C++), no library. A plug-in exports one constant
 * table, `actorq_plugin_table`, which lists its environments; examples/plugin/ is a whole one.
 *
 * Rules. An environment is a description (params), which never changes once it is open, and a state
 * of each episode that is played. Both are plain bytes that ActorQ allocates, zeroes and copies
 * with memcpy: no pointers in the state. Everything that happens follows from the params, the
 * state, the action and the numbers drawn from `rng`: no static variables, no clock. Functions may
 * be called from different threads, but for one params block by one thread at a time.
 */
#ifndef AQ_INCLUDE_ACTORQ_ENV_H
#define AQ_INCLUDE_ACTORQ_ENV_H

#include <stddef.h>
#include <stdint.h>

#define ACTORQ_ENV_MAGIC UINT32_C(0x45515141)
/* Grows whenever a plug-in built for one version would be misunderstood by another. */
#define ACTORQ_ENV_ABI UINT32_C(1)

enum { ACTORQ_RANK_MAX = 4, ACTORQ_BOUNDS_MAX = 128, ACTORQ_NAME_MAX = 48, ACTORQ_ENVS_MAX = 64 };

enum actorq_space_kind { ACTORQ_BOX = 1, ACTORQ_DISCRETE = 2 };
enum actorq_dtype { ACTORQ_F32 = 1, ACTORQ_U8 = 2 };

enum actorq_end {
    ACTORQ_GOES_ON = 0,
    ACTORQ_TERMINATED = 1, /* the task ended by its own rules */
    ACTORQ_TRUNCATED = 2,  /* cut by a limit that is not one of its rules */
    ACTORQ_FAILED = 3,     /* nothing of this step is true: the episode is forgotten */
};

/* What is seen or done: a box of numbers, whose bounds are one for all elements (bound_count 1) or
 * one each and may be infinite; or one of `choice_count` choices; or, done only, several choices at
 * once, a row (rank 1) of which each goes from 0 to its own upper bound. */
typedef struct actorq_space {
    uint32_t kind;  /* enum actorq_space_kind */
    uint32_t dtype; /* enum actorq_dtype; of a box */
    uint32_t rank;
    uint32_t shape[ACTORQ_RANK_MAX]; /* of pictures: height, width, channels */
    uint32_t choice_count;           /* of ACTORQ_DISCRETE with rank 0 */
    uint32_t bound_count;
    float low[ACTORQ_BOUNDS_MAX];
    float high[ACTORQ_BOUNDS_MAX];
} actorq_space;

/* The one source of chance. */
typedef struct actorq_rng {
    uint64_t (*next)(void *source); /* 64 random bits */
    void *source;
} actorq_rng;

/* The options behind a task's name: "?wind=0.5&map=small". */
typedef struct actorq_options {
    /* The text of an option, valid until `open` returns, or NULL when it was not given. */
    const char *(*text)(void *host, const char *key);
    /* Leaves *value alone when the option was not given; 0, or -1 when it is no number from low to
     * high: give that back from `open`, ActorQ then says what is wrong. */
    int (*number)(void *host, const char *key, double low, double high, double *value);
    void *host;
} actorq_options;

/* One environment. A row is one observation as float or uint8_t, one action as float, or either as
 * int32_t for choices (counted from 0), of the shape that `spaces` says, C order, aligned for its
 * type. */
typedef struct actorq_env {
    const char *name;        /* letters, digits, '-', '_' and '.' */
    const char *summary;     /* one sentence */
    const char *options;     /* "wind, map": those that `open` takes, for help; NULL: none */
    double reward_threshold; /* a mean return that counts as solved; NAN: none */
    uint64_t params_bytes;   /* 0: none */
    uint64_t state_bytes;    /* 0: none */
    uint32_t step_limit;     /* steps after which ActorQ truncates an episode; 0: none */
    uint32_t unused;         /* 0 */

    /* Fills zeroed params. Not 0: refused, and `problem` (of that many bytes) says why in words.
     * NULL: nothing to do. `close` undoes it; NULL: nothing to undo. */
    int (*open)(void *params, const actorq_options *options, char *problem, size_t problem_bytes);
    void (*close)(void *params);

    /* Fills two zeroed spaces. */
    void (*spaces)(const void *params, actorq_space *observation, actorq_space *action);

    /* Begins an episode, from whatever the state holds, and writes the whole observation row.
     * ACTORQ_GOES_ON or ACTORQ_FAILED. */
    enum actorq_end (*reset)(const void *params, void *state, actorq_rng *rng, void *observation);

    /* Takes an action; writes the whole observation row after it, also of the last step, and the
     * reward. All numbers are finite. */
    enum actorq_end (*step)(const void *params, void *state, actorq_rng *rng, const void *action,
                            void *observation, float *reward);

    /* Writes the row that the last reset or step of this state wrote. */
    void (*observe)(const void *params, const void *state, void *observation);

    /* A picture of the state: 8-bit (height, width, 3), all of it. NULL: there is none. */
    void (*draw)(const void *params, const void *state, uint32_t width, uint32_t height,
                 uint8_t *pixels);
} actorq_env;

typedef struct actorq_plugin {
    uint32_t magic;
    uint32_t abi;
    uint32_t plugin_bytes, env_bytes, space_bytes;
    uint32_t env_count;
    const actorq_env *envs;
} actorq_plugin;

/* The first five members of the table. */
#define ACTORQ_PLUGIN_HEAD                                                                         \
    ACTORQ_ENV_MAGIC, ACTORQ_ENV_ABI, sizeof(actorq_plugin), sizeof(actorq_env),                   \
        sizeof(actorq_space)

#define ACTORQ_PLUGIN_SYMBOL "actorq_plugin_table"
#define ACTORQ_PLUGIN_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* const actorq_plugin actorq_plugin_table = {ACTORQ_PLUGIN_HEAD, count, envs}; */
extern ACTORQ_PLUGIN_EXPORT const actorq_plugin actorq_plugin_table;

#ifdef __cplusplus
}
#endif

/* A row of floats with one pair of bounds for all. */
static inline void actorq_space_floats(actorq_space *space, uint32_t count, float low, float high)
{
    space->kind = ACTORQ_BOX;
    space->dtype = ACTORQ_F32;
    space->rank = 1;
    space->shape[0] = count;
    space->bound_count = 1;
    space->low[0] = low;
    space->high[0] = high;
}

/* A picture of bytes from 0 to 255. */
static inline void actorq_space_picture(actorq_space *space, uint32_t height, uint32_t width,
                                        uint32_t channels)
{
    space->kind = ACTORQ_BOX;
    space->dtype = ACTORQ_U8;
    space->rank = 3;
    space->shape[0] = height;
    space->shape[1] = width;
    space->shape[2] = channels;
    space->bound_count = 1;
    space->low[0] = 0.0f;
    space->high[0] = 255.0f;
}

/* One of `count` choices, 0 to count - 1. */
static inline void actorq_space_choices(actorq_space *space, uint32_t count)
{
    space->kind = ACTORQ_DISCRETE;
    space->dtype = ACTORQ_F32;
    space->choice_count = count;
}

/* Several choices at once, `counts[i]` of the i-th: the action is a row of int32_t. */
static inline void actorq_space_several(actorq_space *space, uint32_t count, const uint32_t *counts)
{
    uint32_t i;
    space->kind = ACTORQ_DISCRETE;
    space->dtype = ACTORQ_F32;
    space->rank = 1;
    space->shape[0] = count;
    space->bound_count = count;
    for (i = 0; i < count && i < ACTORQ_BOUNDS_MAX; i++) {
        space->low[i] = 0.0f;
        space->high[i] = (float)(counts[i] - 1);
    }
}

/* Uniform in [0, 1), 53 bits. */
static inline double actorq_uniform(actorq_rng *rng)
{
    return (double)(rng->next(rng->source) >> 11) * (1.0 / 9007199254740992.0);
}

/* Uniform in [low, high). */
static inline double actorq_between(actorq_rng *rng, double low, double high)
{
    return low + (high - low) * actorq_uniform(rng);
}

/* Uniform in 0 to bound - 1; bound > 0. */
static inline uint64_t actorq_below(actorq_rng *rng, uint64_t bound)
{
    const uint64_t skipped = (UINT64_C(0) - bound) % bound; /* 2^64 mod bound: no bias */
    uint64_t number;
    do {
        number = rng->next(rng->source);
    } while (number < skipped);
    return number % bound;
}

#endif
