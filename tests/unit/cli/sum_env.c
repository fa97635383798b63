/*
 * Sum env: see sum_env.h.
 */
#include "tests/unit/cli/sum_env.h"
#include "envs/env_golden.h"
#include "envs/env_physics.h"
#include "tests/support/test.h"

enum { STEP_LIMIT = 8 };

typedef struct sum_params {
    uint32_t fail_step;
    bool fails_resets;
} sum_params;

typedef struct sum_state {
    double x;
    uint32_t steps;
} sum_state;

sum_env_calls sum_env_counts;

TEST_ENDING(unref_env, aq_env_unref);

aq_env *sum_env_open(const aq_env_class *class, const char *options)
{
    char name[AQ_TASK_NAME_MAX];
    aq_env *env = NULL;
    (void)snprintf(name, sizeof(name), "%s%s", class->name, options);
    assert_succeeds(aq_env_open_class(class, name, &env, &refusal));
    sum_env_counts = (sum_env_calls){0};
    at_end(unref_env, env);
    return env;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static int open_sum(void *params, aq_env_opening *opening, aq_error *error)
{
    sum_params *p = params;
    aq_env_options *options = opening->options;
    int rc = aq_env_option_u32(options, "fail_step", 1, 100, &p->fail_step, error);
    return rc != 0 ? rc : aq_env_option_bool(options, "fail_resets", &p->fails_resets, error);
}

static void schema_of(uint32_t actions, aq_schema *ret_schema)
{
    const float low[] = {-1, -1}, high[] = {1, 1};
    const float least = -INFINITY, most = INFINITY;
    aq_space_init_box(&ret_schema->obs, 1, &least, &most);
    aq_space_init_box(&ret_schema->action, actions, low, high);
}

static void schema_plain(const void *params, aq_schema *ret_schema)
{
    (void)params;
    schema_of(1, ret_schema);
}

static void schema_exact(const void *params, aq_schema *ret_schema)
{
    (void)params;
    schema_of(2, ret_schema);
}

static int begin(const void *params, void *state, aq_error *error)
{
    (void)params;
    (void)state;
    (void)error;
    sum_env_counts.begins++;
    return 0;
}

static void end(const void *params, void *state)
{
    (void)params;
    (void)state;
    sum_env_counts.ends++;
}

static void observe(const void *params, const void *state, void *obs)
{
    (void)params;
    *(float *)obs = (float)((const sum_state *)state)->x;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    (void)rng;
    *(sum_state *)state = (sum_state){0};
    observe(params, state, obs);
    return !((const sum_params *)params)->fails_resets;
}

static enum aq_step_end add(const void *params, sum_state *s, double action)
{
    s->x += action / 2;
    s->steps++;
    sum_env_counts.steps++;
    sum_env_counts.actions += action;
    if (s->steps == ((const sum_params *)params)->fail_step) {
        return AQ_STEP_FAILED;
    }
    return s->x >= 4 ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    (void)rng;
    const float number = *(const float *)action;
    enum aq_step_end ended = add(params, state, (double)number);
    observe(params, state, obs);
    *reward = number;
    return ended;
}

static const char *failure(const void *params, const void *state)
{
    (void)params;
    (void)state;
    return "it was asked to";
}

static int put(const void *params, void *state, const aq_golden_values *values, aq_error *error)
{
    sum_state *s = state;
    (void)params;
    int rc = aq_golden_copy(values, "state", 1, &s->x, error);
    s->steps = 0;
    return rc;
}

static size_t get(const void *params, const void *state, const char *name, double *out, size_t room)
{
    (void)params;
    if (strcmp(name, "state") != 0 || room < 1) {
        return 0;
    }
    *out = ((const sum_state *)state)->x;
    return 1;
}

static void exact_observe(const void *params, const void *state, double *obs, double *reward)
{
    (void)params;
    *obs = ((const sum_state *)state)->x;
    *reward = *obs * 2;
}

static enum aq_step_end exact_step(const void *params, void *state, aq_rng *rng,
                                   const double *action, double *obs, double *reward)
{
    (void)rng;
    enum aq_step_end ended = add(params, state, action[0]);
    *obs = ((const sum_state *)state)->x;
    *reward = action[0];
    return ended;
}

static void physics_start(const void *params, void *state, aq_rng *rng)
{
    (void)params;
    (void)state;
    (void)rng;
    sum_env_counts.physics_starts++;
}

static void physics_step(const void *params, void *state, const void *action)
{
    (void)params;
    (void)state;
    sum_env_counts.physics_steps++;
    sum_env_counts.physics_actions += (double)*(const float *)action;
}

static const struct aq_env_physics physics = {.start = physics_start, .step = physics_step};

#define SUM_MEMBERS                                                                                \
    .summary = "Adds its actions up.", .options = "fail_step, fail_resets",                        \
    .step_limit = STEP_LIMIT, .reward_threshold = (double)NAN, .params_bytes = sizeof(sum_params), \
    .state_bytes = sizeof(sum_state), .open = open_sum, .begin = begin, .end = end,                \
    .reset = reset, .step = step, .failure = failure, .observe = observe

const aq_env_class sum_env_plain = {
    .name = "sum:Plain", .schema = schema_plain, .put = put, SUM_MEMBERS};
const aq_env_class sum_env_exact = {
    .name = "sum:Exact", .schema = schema_exact, .put = put, .physics = &physics, SUM_MEMBERS};
const aq_env_class sum_env_closed = {.name = "sum:Closed", .schema = schema_plain, SUM_MEMBERS};

/* ---- a table -------------------------------------------------------------------------------- */

static void schema_table(const void *params, aq_schema *ret_schema)
{
    (void)params;
    aq_space_init_discrete(&ret_schema->obs, 2);
    aq_space_init_discrete(&ret_schema->action, 2);
}

static void observe_cell(const void *params, const void *state, void *obs)
{
    (void)params;
    *(int32_t *)obs = *(const int32_t *)state;
}

static bool reset_cell(const void *params, void *state, aq_rng *rng, void *obs)
{
    (void)rng;
    *(int32_t *)state = 0;
    observe_cell(params, state, obs);
    return true;
}

static enum aq_step_end step_cell(const void *params, void *state, aq_rng *rng, const void *action,
                                  void *obs, float *reward)
{
    const bool goes = *(const int32_t *)action == 1 && aq_rng_uniform(rng) < 0.5;
    *(int32_t *)state = goes ? 1 : 0;
    *reward = goes ? 5.0f : *(const int32_t *)action == 1 ? -1.0f : 0.0f;
    observe_cell(params, state, obs);
    return goes ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static int put_cell(const void *params, void *state, const aq_golden_values *values,
                    aq_error *error)
{
    double cell;
    (void)params;
    int rc = aq_golden_copy(values, "state", 1, &cell, error);
    if (rc == 0) {
        *(int32_t *)state = (int32_t)cell;
    }
    return rc;
}

static size_t get_cell(const void *params, const void *state, const char *name, double *out,
                       size_t room)
{
    (void)params;
    (void)name;
    if (room > 0) {
        *out = *(const int32_t *)state;
    }
    return room > 0;
}

static size_t outcomes(const void *params, uint32_t cell, uint32_t action,
                       aq_tabular_outcome *ret_outcomes)
{
    (void)params;
    if (cell == 1) {
        ret_outcomes[0] = (aq_tabular_outcome){1, 1, 0, true};
        return 1;
    }
    if (action == 0) {
        ret_outcomes[0] = (aq_tabular_outcome){1, 0, 0, false};
        return 1;
    }
    ret_outcomes[0] = (aq_tabular_outcome){0.5, 0, -1, false};
    ret_outcomes[1] = (aq_tabular_outcome){0.5, 1, 5, true};
    return 2;
}

static double start_chance(const void *params, uint32_t cell)
{
    (void)params;
    return cell == 0 ? 1 : 0;
}

const aq_env_class sum_env_table = {
    .name = "sum:Table",
    .summary = "Two cells.",
    .reward_threshold = (double)NAN,
    .params_bytes = 1,
    .state_bytes = sizeof(int32_t),
    .schema = schema_table,
    .reset = reset_cell,
    .step = step_cell,
    .observe = observe_cell,
    .put = put_cell,
};

const aq_original *sum_env_original(const aq_env_class *class)
{
    static const aq_original plain = {.get = get};
    static const aq_original exact = {.get = get, .observe = exact_observe, .step = exact_step};
    static const aq_original table = {
        .get = get_cell, .outcomes = outcomes, .start_chance = start_chance};
    return class == &sum_env_plain   ? &plain
           : class == &sum_env_exact ? &exact
           : class == &sum_env_table ? &table
                                     : NULL;
}
