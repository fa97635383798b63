/*
 * The counting environment of the tests.
 */
#include "tests/unit/rollout/tally_env.h"

#include "common/base/assert.h"
#include "common/base/parse.h"
#include "tests/support/must.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"

typedef struct tally_params {
    float quarter;
    uint32_t fail_step, nan_step; /* of an episode; 0: none */
    uint32_t fail_once;           /* likewise, in every other episode of a lane */
    uint32_t fail_resets;         /* so many fail before each that does not */
    uint32_t fail_percent;        /* of the episodes, by what they are drawn from, in a step */
    uint32_t lose_percent;        /* likewise, in their reset */
} tally_params;

typedef struct tally_state {
    uint32_t steps, length, failed_resets, has_failed, is_doomed;
    float draw;
} tally_state;

static int open_task(void *params, aq_env_opening *opening, aq_error *error)
{
    aq_env_options *options = opening->options;
    *(tally_params *)params = (tally_params){.quarter = 0.25f};
    tally_params *tally = params;
    int rc = aq_env_option_u32(options, "fail_step", 1, TALLY_LENGTH_MAX, &tally->fail_step, error);
    rc = rc != 0
             ? rc
             : aq_env_option_u32(options, "nan_step", 1, TALLY_LENGTH_MAX, &tally->nan_step, error);
    rc = rc != 0 ? rc
                 : aq_env_option_u32(options, "fail_once", 1, TALLY_LENGTH_MAX, &tally->fail_once,
                                     error);
    rc = rc != 0 ? rc
                 : aq_env_option_u32(options, "fail_percent", 1, 100, &tally->fail_percent, error);
    rc = rc != 0 ? rc
                 : aq_env_option_u32(options, "lose_percent", 1, 100, &tally->lose_percent, error);
    return rc != 0 ? rc
                   : aq_env_option_u32(options, "fail_resets", 1, 1000, &tally->fail_resets, error);
}

static void schema(const void *params, aq_schema *ret_schema)
{
    const float low[TALLY_OBS] = {0.0f, 0.0f, 0.0f, 0.0f};
    const float high[TALLY_OBS] = {TALLY_LENGTH_MAX, TALLY_LENGTH_MAX, 1.0f, 1.0f};
    (void)params;
    aq_space_init_box(&ret_schema->obs, TALLY_OBS, low, high);
    aq_space_init_discrete(&ret_schema->action, TALLY_CHOICES);
}

static void schema_boundless(const void *params, aq_schema *ret_schema)
{
    const float low[1] = {-1.0f}, high[1] = {INFINITY};
    schema(params, ret_schema);
    aq_space_init_box(&ret_schema->action, 1, low, high);
}

static void schema_bytes_chosen(const void *params, aq_schema *ret_schema)
{
    schema(params, ret_schema);
    ret_schema->action = ret_schema->obs;
    ret_schema->action.dtype = AQ_DTYPE_U8;
}

static void observe(const void *params, const void *state, void *obs)
{
    const tally_state *tally = state;
    float *row = obs;
    (void)params;
    row[0] = (float)tally->steps;
    row[1] = (float)tally->length;
    row[2] = tally->draw;
    row[3] = 1.0f;
}

static bool reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    const tally_params *p = params;
    tally_state *tally = state;
    if (tally->failed_resets < p->fail_resets) {
        tally->failed_resets++;
        return false;
    }
    tally->failed_resets = 0;
    tally->steps = 0;
    tally->length = 1 + (uint32_t)aq_rng_below(rng, TALLY_LENGTH_MAX);
    tally->draw = (float)aq_rng_uniform(rng);
    tally->is_doomed = tally->draw * 100.0f < (float)p->fail_percent;
    observe(params, tally, obs);
    return tally->draw * 100.0f >= (float)p->lose_percent;
}

static enum aq_step_end step(const void *params, void *state, aq_rng *rng, const void *action,
                             void *obs, float *reward)
{
    const tally_params *p = params;
    tally_state *tally = state;
    tally->steps++;
    tally->draw = (float)aq_rng_uniform(rng);
    if (tally->steps == p->fail_once) {
        tally->has_failed = !tally->has_failed;
    }
    if (tally->is_doomed || tally->steps == p->fail_step ||
        (tally->steps == p->fail_once && tally->has_failed)) {
        return AQ_STEP_FAILED;
    }
    observe(params, tally, obs);
    *reward = (float)*(const int32_t *)action + p->quarter * (float)tally->steps;
    if (tally->steps == p->nan_step) {
        ((float *)obs)[2] = NAN;
    }
    return tally->steps >= tally->length ? AQ_STEP_TERMINATED : AQ_STEP_GOES_ON;
}

#define TALLY_CLASS(title, schema_function)                                                        \
    {                                                                                              \
        .name = title, .summary = "Counts.", .step_limit = TALLY_LIMIT, .reward_threshold = NAN,   \
        .options = "fail_step, fail_once, nan_step, fail_resets, fail_percent, lose_percent",      \
        .params_bytes = sizeof(tally_params), .state_bytes = sizeof(tally_state),                  \
        .open = open_task, .schema = schema_function, .reset = reset, .step = step,                \
        .observe = observe,                                                                        \
    }

const aq_env_class tally_env = TALLY_CLASS("test:Tally", schema);
const aq_env_class tally_env_boundless = TALLY_CLASS("test:TallyBoundless", schema_boundless);
const aq_env_class tally_env_bytes = TALLY_CLASS("test:TallyBytes", schema_bytes_chosen);

aq_env *tally_open(const aq_env_class *class, const char *options)
{
    char name[AQ_TASK_NAME_MAX];
    aq_env *env = NULL;
    must(aq_text_format(name, sizeof(name), "%s%s", class->name, options));
    must(aq_env_open_class(class, name, &env, NULL));
    return env;
}

aq_env_task tally_task(const char *options)
{
    aq_env_task task;
    aq_env *env = tally_open(&tally_env, options);
    must(aq_env_task_init(env, &task, NULL));
    aq_env_unref(env);
    return task;
}

aq_snapshot *tally_policy(const float *bias)
{
    const aq_net_spec spec =
        net_of((aq_layer_spec[]){aq_layer_linear(TALLY_OBS, TALLY_CHOICES, AQ_ACTIVATION_NONE)});
    aq_snapshot_layer_data layer;
    aq_schema its = {0};
    schema(NULL, &its);
    aq_snapshot *snapshot = policy_of(&spec, AQ_HEAD_ARGMAX, "test:Tally", &its);
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    memcpy(layer.bias, bias, TALLY_CHOICES * sizeof(*bias));
    return snapshot;
}

TEST_ENDING(destroy_engine, aq_engine_destroy);

aq_engine *tally_engine(const aq_env *env, uint32_t choice, uint64_t version, size_t rows)
{
    float bias[TALLY_CHOICES] = {0.0f};
    aq_engine *engine = NULL;
    bias[choice] = 1.0f;
    aq_snapshot *snapshot = tally_policy(bias);
    snapshot->version = version;
    must(aq_text_set(snapshot->task, sizeof(snapshot->task), env->name));
    must(aq_engine_create(snapshot, rows, 0, &engine, NULL));
    at_end(destroy_engine, engine);
    return engine;
}

aq_trial_result tally_trial(aq_env *env, aq_engine *engine, uint32_t lanes, uint32_t episodes,
                            uint64_t seed)
{
    aq_env_task task;
    aq_trial *trial = NULL;
    enum aq_trial_state state;
    must(aq_env_task_init(env, &task, NULL));
    must(aq_trial_create(&task, episodes, lanes, &trial, NULL));
    aq_env_task_fini(&task);
    aq_trial_start(trial, episodes, seed);
    int64_t now_ns = 0;
    do {
        const int64_t due_ns = aq_trial_due_ns(trial);
        now_ns = due_ns > now_ns ? due_ns : now_ns;
        state = aq_trial_step(trial, engine, now_ns);
    } while (state == AQ_TRIAL_GOES_ON);
    AQ_ASSERT(state == AQ_TRIAL_DONE);
    aq_trial_result result = aq_trial_result_of(trial);
    aq_trial_destroy(trial);
    return result;
}
