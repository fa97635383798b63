/*
 * The counting environment of the tests.
 */
#include "tests/unit/rollout/tally_env.h"

#include <math.h>
#include <string.h>

#include "common/base/assert.h"

typedef struct tally_state {
    uint32_t steps, length;
    float draw;
} tally_state;

static void init_params(void *params)
{
    *(float *)params = 0.25f;
}

static void schema(const void *params, aq_schema *ret_schema)
{
    const float low[TALLY_OBS] = {0.0f, 0.0f, 0.0f, 0.0f};
    const float high[TALLY_OBS] = {TALLY_LENGTH_MAX, TALLY_LENGTH_MAX, 1.0f, 1.0f};
    (void)params;
    aq_space_init_box(&ret_schema->obs, TALLY_OBS, low, high);
    aq_space_init_discrete(&ret_schema->action, TALLY_CHOICES);
}

static void schema_u8(const void *params, aq_schema *ret_schema)
{
    schema(params, ret_schema);
    ret_schema->obs.dtype = AQ_DTYPE_U8;
}

static void schema_box(const void *params, aq_schema *ret_schema)
{
    schema(params, ret_schema);
    ret_schema->action = ret_schema->obs;
}

static void observe(const tally_state *state, float *obs)
{
    obs[0] = (float)state->steps;
    obs[1] = (float)state->length;
    obs[2] = state->draw;
    obs[3] = 1.0f;
}

static void reset(const void *params, void *state, aq_rng *rng, void *obs)
{
    tally_state *tally = state;
    (void)params;
    tally->steps = 0;
    tally->length = 1 + (uint32_t)aq_rng_below(rng, TALLY_LENGTH_MAX);
    tally->draw = (float)aq_rng_uniform(rng);
    observe(tally, obs);
}

static bool step(const void *params, void *state, aq_rng *rng, const void *action, void *obs,
                 float *reward)
{
    tally_state *tally = state;
    tally->steps++;
    tally->draw = (float)aq_rng_uniform(rng);
    observe(tally, obs);
    *reward = (float)*(const int32_t *)action + *(const float *)params * (float)tally->steps;
    return tally->steps >= tally->length;
}

#define TALLY_CLASS(title, schema_function)                                                        \
    {                                                                                              \
        .name = title, .summary = "Counts.", .step_limit = TALLY_LIMIT, .reward_threshold = NAN,   \
        .params_bytes = sizeof(float), .state_bytes = sizeof(tally_state),                         \
        .init_params = init_params, .schema = schema_function, .reset = reset, .step = step,       \
    }

const aq_env_class tally_env = TALLY_CLASS("test:Tally", schema);
const aq_env_class tally_env_u8 = TALLY_CLASS("test:TallyU8", schema_u8);
const aq_env_class tally_env_box = TALLY_CLASS("test:TallyBox", schema_box);

aq_snapshot *tally_policy(const float *bias)
{
    const uint32_t format = AQ_FORMAT_F32;
    aq_snapshot *snapshot = NULL;
    aq_snapshot_layer_data layer;
    aq_net_spec spec;
    int rc =
        aq_net_spec_init_mlp(TALLY_OBS, NULL, 0, TALLY_CHOICES, AQ_ACTIVATION_RELU, &spec, NULL);
    AQ_ASSERT(rc == 0);
    rc = aq_snapshot_create(&spec, &format, &snapshot);
    AQ_ASSERT(rc == 0);
    snapshot->run_id = 1;
    snapshot->version = 1;
    snapshot->act_rule = AQ_ACT_ARGMAX;
    memcpy(snapshot->task, "test:Tally", sizeof("test:Tally"));
    schema(NULL, &snapshot->schema);
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    memcpy(layer.bias, bias, TALLY_CHOICES * sizeof(*bias));
    return snapshot;
}
