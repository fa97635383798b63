/*
 * The counting environment of the wrappers' tests.
 */
#include "tests/unit/envs/count_env.h"

typedef struct count_params {
    uint32_t length, fail;
} count_params;

typedef struct count_state {
    uint32_t steps;
    int32_t action;
} count_state;

static int closed;

int count_env_closed(void)
{
    return closed;
}

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    count_params *p = params;
    aq_env_options *options = opening->options;
    int rc = aq_env_option_u32(options, "length", 1, 100, &p->length, error);
    return rc != 0 ? rc : aq_env_option_u32(options, "fail", 1, 100, &p->fail, error);
}

static void close_task(void *params)
{
    (void)params;
    closed++;
}

static void schema(const void *params, aq_schema *ret_schema)
{
    const float low[2] = {0.0f, 0.0f}, high[2] = {100.0f, 3.0f};
    (void)params;
    aq_space_init_box(&ret_schema->obs, 2, low, high);
    aq_space_init_discrete(&ret_schema->action, COUNT_CHOICES);
}

static void schema_image(const void *params, aq_schema *ret_schema)
{
    schema(params, ret_schema);
    ret_schema->obs = (aq_space){.kind = AQ_SPACE_BOX,
                                 .dtype = AQ_DTYPE_U8,
                                 .rank = 3,
                                 .shape = {2, 2, 2},
                                 .bound_count = 1,
                                 .low = {0.0f},
                                 .high = {255.0f}};
}

static void schema_wrong(const void *params, aq_schema *ret_schema)
{
    schema(params, ret_schema);
    ret_schema->obs.high[0] = -1.0f;
}

static void observe(const void *params, const void *state, void *obs)
{
    const count_state *s = state;
    float *row = obs;
    (void)params;
    row[0] = (float)s->steps;
    row[1] = (float)s->action;
}

static void observe_image(const void *params, const void *state, void *obs)
{
    const count_state *s = state;
    uint8_t *bytes = obs;
    (void)params;
    for (uint32_t i = 0; i < COUNT_BYTES; i++) {
        bytes[i] = (uint8_t)(10 * s->steps + i);
    }
}

static void begin_episode(count_state *s)
{
    *s = (count_state){0};
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    (void)rng;
    begin_episode(state);
    observe(params, state, obs);
    return true;
}

static bool reset_image(const void *params, void *state, aq_rng *rng, void *obs)
{
    (void)rng;
    begin_episode(state);
    observe_image(params, state, obs);
    return true;
}

static enum aq_step_end count(const count_params *p, count_state *s, const void *action,
                              float *reward)
{
    s->steps++;
    s->action = *(const int32_t *)action;
    *reward = (float)s->steps;
    if (s->steps == p->fail) {
        return AQ_STEP_FAILED;
    }
    return s->steps == p->length ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    (void)rng;
    enum aq_step_end end = count(params, state, action, reward);
    observe(params, state, obs);
    return end;
}

static enum aq_step_end step_image(const void *params, void *state, aq_rng *rng, const void *action,
                                   void *obs, float *reward)
{
    (void)rng;
    enum aq_step_end end = count(params, state, action, reward);
    observe_image(params, state, obs);
    return end;
}

static const char *failure(const void *params, const void *state)
{
    (void)params;
    (void)state;
    return "it lost count";
}

#define COUNT_CLASS(title, suffix, schema_function)                                                \
    {                                                                                              \
        .name = title, .summary = "Counts.", .options = "length, fail", .step_limit = COUNT_LIMIT, \
        .reward_threshold = 20.0, .params_bytes = sizeof(count_params),                            \
        .state_bytes = sizeof(count_state), .open = open_task, .close = close_task,                \
        .schema = schema_function, .reset = reset##suffix, .step = step##suffix,                   \
        .observe = observe##suffix, .failure = failure,                                            \
    }

const aq_env_class count_env = COUNT_CLASS("test:Count", , schema);
const aq_env_class count_env_image = COUNT_CLASS("test:CountImage", _image, schema_image);
const aq_env_class count_env_wrong = COUNT_CLASS("test:CountWrong", , schema_wrong);
