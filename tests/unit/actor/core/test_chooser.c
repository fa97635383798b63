/*
 * The chooser of an actor: what a policy draws is drawn anew at each step, and what it keeps is
 * recorded until another episode begins there.
 */
#include "actor/core/chooser.h"

#include "common/experience/column_catalog.h"
#include "tests/support/policy_of.h"
#include "tests/support/test.h"
#include "tests/unit/actor/core_kit.h"

enum { WIDTH = 3, STEPS = 40 };

typedef struct stand {
    aq_run_settings settings;
    aq_env *env;
    aq_env_task task;
    aq_record record;
    aq_chooser chooser;
    aq_engine *engine;
} stand;

/* Its weights are 0: each choice is as likely as the other, and its state grows. */
static aq_engine *drawing_engine(const aq_schema *schema)
{
    const aq_layer_spec layers[] = {aq_layer_linear(4, 3 * WIDTH, AQ_ACTIVATION_NONE),
                                    aq_layer_gru(WIDTH),
                                    aq_layer_linear(WIDTH, 2, AQ_ACTIVATION_NONE)};
    aq_snapshot_layer_data layer;
    aq_engine *engine = NULL;
    aq_net_spec spec = net_of(layers);
    aq_snapshot *snapshot = policy_of(&spec, AQ_HEAD_CATEGORICAL, "gym:CartPole-v1", schema);
    aq_snapshot_layer_edit(snapshot, 0, &layer);
    for (uint32_t i = 2 * WIDTH; i < 3 * WIDTH; i++) {
        layer.bias[i] = 1.0f;
    }
    assert_succeeds(aq_engine_create(snapshot, KIT_ENVS, 0, &engine, &refusal));
    return engine;
}

static void stand_setup(stand *s)
{
    s->settings = kit_settings();
    s->settings.recorded[0] =
        (aq_column){AQ_STATE_COLUMN, AQ_DTYPE_F32, AQ_PER_BOUNDARY, 4 * WIDTH, {0}, {0}};
    s->settings.recorded_count = 1;
    assert_succeeds(aq_env_open("gym:CartPole-v1", &s->env, &refusal));
    assert_succeeds(aq_env_task_init(s->env, &s->task, &refusal));
    assert_int_equal(aq_record_init(&s->record, &s->settings, KIT_ENVS), 0);
    assert_int_equal(aq_chooser_init(&s->chooser, &s->task, &s->settings.config, 0, 5, &s->record),
                     0);
    s->engine = drawing_engine(&s->settings.schema);
}

static void stand_teardown(stand *s)
{
    aq_engine_destroy(s->engine);
    aq_chooser_fini(&s->chooser);
    aq_record_fini(&s->record);
    aq_env_task_fini(&s->task);
    aq_env_unref(s->env);
}

TEST_IN(stand, s, each_step_draws_anew)
{
    const float obs[KIT_ENVS][4] = {{0}};
    int ones = 0;
    for (int i = 0; i < STEPS; i++) {
        int32_t action;
        assert_int_equal(aq_chooser_choose(&s->chooser, s->engine, obs), 0);
        memcpy(&action, s->chooser.actions, sizeof(action));
        ones += action;
    }
    assert_in_range(ones, STEPS / 5, STEPS - STEPS / 5);
}

TEST_IN(stand, s, what_is_kept_is_recorded_until_an_episode_begins)
{
    const float obs[KIT_ENVS][4] = {{0}};
    assert_int_equal(s->chooser.state_width, WIDTH);
    assert_int_equal(aq_chooser_choose(&s->chooser, s->engine, obs), 0);
    aq_chooser_begin(&s->chooser, 1);
    for (size_t lane = 0; lane < KIT_ENVS; lane++) {
        for (size_t i = 0; i < WIDTH; i++) {
            const float kept = s->chooser.state[lane * WIDTH + i];
            assert_true(lane == 1 ? kept == 0.0f : kept > 0.1f);
        }
    }
}
