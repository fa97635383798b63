/*
 * A plug-in for tests: environments that each do one thing wrong, and one that does nothing wrong.
 * Compiled several times, with FAULTY_HEAD saying what is wrong with its table.
 *
 * The state counts the steps; the observation is two floats, the count and the last action.
 */
#include <actorq_env.h>

#include <math.h>
#include <string.h>

enum { ABI_OF_TOMORROW = 1, OTHER_SIZES, NO_MAGIC, NO_ENVS, NO_SYMBOL, NO_STEP, HUGE_STATE };

#ifndef FAULTY_HEAD
#define FAULTY_HEAD 0
#endif

typedef struct state {
    int32_t steps;
    int32_t action;
} state;

static void spaces(const void *params, actorq_space *observation, actorq_space *action)
{
    (void)params;
    actorq_space_floats(observation, 2, -INFINITY, INFINITY);
    actorq_space_choices(action, 3);
}

static void too_many_spaces(const void *params, actorq_space *observation, actorq_space *action)
{
    spaces(params, observation, action);
    observation->rank = 9;
}

static void several_spaces(const void *params, actorq_space *observation, actorq_space *action)
{
    const uint32_t counts[] = {3, 2};
    spaces(params, observation, action);
    actorq_space_several(action, 2, counts);
}

static void counted_spaces(const void *params, actorq_space *observation, actorq_space *action)
{
    (void)params;
    actorq_space_choices(observation, 4);
    actorq_space_choices(action, 3);
}

static void observe(const void *params, const void *from, void *observation)
{
    const state *s = from;
    (void)params;
    ((float *)observation)[0] = (float)s->steps;
    ((float *)observation)[1] = (float)s->action;
}

static enum actorq_end reset(const void *params, void *into, actorq_rng *rng, void *observation)
{
    state *s = into;
    s->steps = 0;
    s->action = (int32_t)actorq_below(rng, 3);
    observe(params, s, observation);
    return ACTORQ_GOES_ON;
}

static enum actorq_end step(const void *params, void *into, actorq_rng *rng, const void *action,
                            void *observation, float *reward)
{
    state *s = into;
    s->steps++;
    s->action = *(const int32_t *)action;
    *reward = (float)actorq_between(rng, 0.0, 1.0);
    observe(params, s, observation);
    return s->steps == 5 ? ACTORQ_TERMINATED : ACTORQ_GOES_ON;
}

/* ---- one fault each ------------------------------------------------------------------------- */

/* A step of the good one, then what `spoil` does to it. */
#define SPOILED(name, spoil)                                                                       \
    static enum actorq_end name(const void *params, void *into, actorq_rng *rng,                   \
                                const void *action, void *observation, float *reward)              \
    {                                                                                              \
        float *row = observation;                                                                  \
        uint8_t *bytes = into;                                                                     \
        enum actorq_end end = step(params, into, rng, action, observation, reward);                \
        (void)row;                                                                                 \
        (void)bytes;                                                                               \
        spoil;                                                                                     \
        return end;                                                                                \
    }

SPOILED(step_nan, row[1] = NAN)
SPOILED(step_infinite_reward, *reward = INFINITY)
SPOILED(step_beyond, row[2] = 1.0f)
SPOILED(step_before, row[-1] = 1.0f)
SPOILED(step_beyond_state, bytes[sizeof(state)] = 1)
SPOILED(step_beyond_reward, reward[1] = 1.0f)
SPOILED(step_other_row, row[0] += 0.5f)
SPOILED(step_unknown_end, end = (enum actorq_end)17)
SPOILED(step_failed, end = ACTORQ_FAILED)

/* The action, through a pointer that forgets const. */
static void change_action(const void *action)
{
    int32_t other = 2;
    void *forgotten;
    memcpy(&forgotten, &action, sizeof(forgotten));
    memcpy(forgotten, &other, sizeof(other));
}

SPOILED(step_action, change_action(action))

static enum actorq_end step_half_row(const void *params, void *into, actorq_rng *rng,
                                     const void *action, void *observation, float *reward)
{
    state *s = into;
    (void)params;
    (void)rng;
    (void)action;
    s->steps++;
    ((float *)observation)[0] = (float)s->steps;
    *reward = 0.0f;
    return ACTORQ_GOES_ON;
}

static enum actorq_end step_no_reward(const void *params, void *into, actorq_rng *rng,
                                      const void *action, void *observation, float *reward)
{
    float ignored;
    (void)reward;
    return step(params, into, rng, action, observation, &ignored);
}

static enum actorq_end step_memory(const void *params, void *into, actorq_rng *rng,
                                   const void *action, void *observation, float *reward)
{
    static int32_t calls; /* which is forbidden */
    enum actorq_end end = step(params, into, rng, action, observation, reward);
    ((float *)observation)[0] = (float)calls++;
    return end;
}

static enum actorq_end reset_ended(const void *params, void *into, actorq_rng *rng,
                                   void *observation)
{
    (void)reset(params, into, rng, observation);
    return ACTORQ_TERMINATED;
}

/* A state that can be counted, until it is outside of its space. */
static void observe_counted(const void *params, const void *from, void *observation)
{
    (void)params;
    *(int32_t *)observation = ((const state *)from)->steps;
}

static enum actorq_end reset_counted(const void *params, void *into, actorq_rng *rng,
                                     void *observation)
{
    float row[2];
    (void)reset(params, into, rng, row);
    observe_counted(params, into, observation);
    return ACTORQ_GOES_ON;
}

static enum actorq_end step_counted(const void *params, void *into, actorq_rng *rng,
                                    const void *action, void *observation, float *reward)
{
    float row[2];
    (void)step(params, into, rng, action, row, reward);
    observe_counted(params, into, observation);
    return ACTORQ_GOES_ON;
}

static int open_refusing(void *params, const actorq_options *options, char *problem,
                         size_t problem_bytes)
{
    double speed = 0.0;
    (void)params;
    if (options->number(options->host, "speed", 0.0, 1.0, &speed) != 0) {
        return -1;
    }
    if (options->text(options->host, "map") != NULL) {
        return 0;
    }
    strncpy(problem, "it needs a map", problem_bytes);
    return -1;
}

/* ---- the table ------------------------------------------------------------------------------ */

#define STATE_BYTES (FAULTY_HEAD == HUGE_STATE ? (uint64_t)1 << 40 : sizeof(state))
#define STEP        (FAULTY_HEAD == NO_STEP ? NULL : step)

#define ENV(env_name, step_function)                                                               \
    {                                                                                              \
        .name = env_name, .summary = "A test.", .reward_threshold = NAN,                           \
        .state_bytes = STATE_BYTES, .step_limit = 50, .spaces = spaces, .reset = reset,            \
        .step = step_function, .observe = observe                                                  \
    }

static const actorq_env envs[] = {
    ENV("good", STEP),
    ENV("nan", step_nan),
    ENV("infinite-reward", step_infinite_reward),
    ENV("beyond", step_beyond),
    ENV("before", step_before),
    ENV("beyond-state", step_beyond_state),
    ENV("beyond-reward", step_beyond_reward),
    ENV("other-row", step_other_row),
    ENV("unknown-end", step_unknown_end),
    ENV("failed", step_failed),
    ENV("action", step_action),
    ENV("half-row", step_half_row),
    ENV("no-reward", step_no_reward),
    ENV("memory", step_memory),
    {.name = "counted",
     .summary = "A test.",
     .reward_threshold = NAN,
     .state_bytes = sizeof(state),
     .spaces = counted_spaces,
     .reset = reset_counted,
     .step = step_counted,
     .observe = observe_counted},
    {.name = "ended",
     .summary = "A test.",
     .reward_threshold = NAN,
     .state_bytes = sizeof(state),
     .spaces = spaces,
     .reset = reset_ended,
     .step = step,
     .observe = observe},
    {.name = "refusing",
     .summary = "A test.",
     .reward_threshold = 3.0,
     .state_bytes = sizeof(state),
     .open = open_refusing,
     .spaces = spaces,
     .reset = reset,
     .step = step,
     .observe = observe},
    {.name = "several",
     .summary = "A test.",
     .reward_threshold = NAN,
     .state_bytes = sizeof(state),
     .spaces = several_spaces,
     .reset = reset,
     .step = step,
     .observe = observe},
    {.name = "spaces",
     .summary = "A test.",
     .reward_threshold = NAN,
     .state_bytes = sizeof(state),
     .spaces = too_many_spaces,
     .reset = reset,
     .step = step,
     .observe = observe},
};

#if FAULTY_HEAD != 5
const actorq_plugin actorq_plugin_table = {
    .magic = FAULTY_HEAD == NO_MAGIC ? 0x1234 : ACTORQ_ENV_MAGIC,
    .abi = FAULTY_HEAD == ABI_OF_TOMORROW ? 7 : ACTORQ_ENV_ABI,
    .plugin_bytes = sizeof(actorq_plugin),
    .env_bytes = FAULTY_HEAD == OTHER_SIZES ? 24 : sizeof(actorq_env),
    .space_bytes = sizeof(actorq_space),
    .env_count = FAULTY_HEAD == NO_ENVS ? 0 : sizeof(envs) / sizeof(envs[0]),
    .envs = envs,
};
#else
extern ACTORQ_PLUGIN_EXPORT const actorq_env *other_table(void);
const actorq_env *other_table(void)
{
    return envs;
}
#endif
