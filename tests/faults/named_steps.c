/*
 * Named steps: an environment whose observations say which they are: the process (a number that is
 * drawn once), its episode, the step in it, and a counter of all its steps. Whoever reads steps
 * back can tell what is missing, what is there twice and what was never made, without asking the
 * code that kept them. Episodes pay more and more, so that there always is a new best policy.
 */
#include <math.h>

#include <actorq_env.h>

#define NUMBERS_MAX 16777216.0f /* whole numbers that a float holds */

typedef struct state {
    float process, episode, step, counter;
} state;

static void spaces(const void *params, actorq_space *observation, actorq_space *action)
{
    (void)params;
    actorq_space_floats(observation, 4, 0.0f, NUMBERS_MAX);
    action->kind = ACTORQ_DISCRETE;
    action->choice_count = 2;
}

static void observe(const void *params, const void *given, void *observation)
{
    const state *now = given;
    float *row = observation;
    (void)params;
    row[0] = now->process;
    row[1] = now->episode;
    row[2] = now->step;
    row[3] = now->counter;
}

static enum actorq_end reset(const void *params, void *given, actorq_rng *rng, void *observation)
{
    state *now = given;
    if (now->process == 0.0f) {
        now->process = 1.0f + (float)(rng->next(rng->source) >> 41);
    }
    now->episode += 1.0f;
    now->step = 0.0f;
    observe(params, given, observation);
    return ACTORQ_GOES_ON;
}

static enum actorq_end step(const void *params, void *given, actorq_rng *rng, const void *action,
                            void *observation, float *reward)
{
    state *now = given;
    (void)rng;
    (void)action;
    now->step += 1.0f;
    now->counter += 1.0f;
    observe(params, given, observation);
    *reward = now->episode * 1e-4f;
    return now->step >= 5.0f + fmodf(now->episode, 7.0f) ? ACTORQ_TERMINATED : ACTORQ_GOES_ON;
}

static const actorq_env envs[] = {{
    .name = "named_steps",
    .summary = "Each observation says which it is",
    .reward_threshold = NAN,
    .state_bytes = sizeof(state),
    .spaces = spaces,
    .reset = reset,
    .step = step,
    .observe = observe,
}};

ACTORQ_PLUGIN_EXPORT const actorq_plugin actorq_plugin_table = {ACTORQ_PLUGIN_HEAD, 1, envs};
