/*
 * MuJoCo behind our fence: the same bits as MuJoCo alone, and as good as new after a fault.
 */
#include "envs/mujoco/models.h"
#include "envs/mujoco/physics.h"
#include "tests/support/test.h"

enum { STEPS = 200 };

static mjModel *compile(const char *name, const char *description)
{
    mjModel *model;
    assert_succeeds(aq_physics_compile(name, description, &model, &refusal));
    return model;
}

static void init(aq_physics *physics, const mjModel *model)
{
    assert_succeeds(aq_physics_init(physics, model, &refusal));
    aq_physics_reset(physics, model);
    assert_true(aq_physics_forward(physics, model));
}

static void assert_same(const mjtNum *ours, const mjtNum *theirs, int count)
{
    assert_memory_equal(ours, theirs, (size_t)count * sizeof(mjtNum));
}

/* -- steps ------------------------------------------------------------------------------------ */

static void check_steps(const char *name, const char *description, uint32_t substeps)
{
    aq_rng rng;
    aq_physics ours;
    aq_physics alone;
    mjModel *model = compile(name, description);
    init(&ours, model);
    init(&alone, model);
    aq_rng_init(&rng, 1, 1);
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < model->nu; k++) {
            ours.data->ctrl[k] = aq_rng_range(&rng, -1, 1);
            alone.data->ctrl[k] = ours.data->ctrl[k];
        }
        assert_true(aq_physics_step(&ours, model, substeps));
        aq_physics_step_alone(&alone, model, substeps);
        assert_same(ours.data->qpos, alone.data->qpos, model->nq);
        assert_same(ours.data->qvel, alone.data->qvel, model->nv);
        assert_same(ours.data->xpos, alone.data->xpos, 3 * model->nbody);
        if (model->nsensordata > 0) {
            assert_same(ours.data->sensordata, alone.data->sensordata, model->nsensordata);
        }
    }
    aq_physics_fini(&ours);
    aq_physics_fini(&alone);
    mj_deleteModel(model);
}

TEST(steps_and_sensors_are_those_of_mujoco_alone)
{
    check_steps("cheetah", aq_mjcf_cheetah, 1);
    check_steps("finger", aq_mjcf_finger, 2);
    check_steps("hopper", aq_mjcf_hopper, 4);
    check_steps("humanoid", aq_mjcf_humanoid, 5);
    check_steps("walker", aq_mjcf_walker, 10);
}

TEST(so_they_are_with_runge_and_kuttas_method)
{
    check_steps("acrobot", aq_mjcf_acrobot, 1);
    check_steps("cartpole", aq_mjcf_cartpole, 2);
}

/* -- faults ----------------------------------------------------------------------------------- */

TEST(after_a_failure_a_reset_is_as_good_as_new)
{
    aq_physics failed;
    aq_physics fresh;
    mjModel *model = compile("humanoid", aq_mjcf_humanoid);
    init(&failed, model);
    init(&fresh, model);
    failed.data->qvel[7] = INFINITY;
    assert_false(aq_physics_step(&failed, model, 5));
    aq_physics_reset(&failed, model);
    assert_true(aq_physics_forward(&failed, model));
    for (int i = 0; i < STEPS; i++) {
        assert_true(aq_physics_step(&failed, model, 5));
        assert_true(aq_physics_step(&fresh, model, 5));
        assert_same(failed.data->qpos, fresh.data->qpos, model->nq);
        assert_same(failed.data->sensordata, fresh.data->sensordata, model->nsensordata);
    }
    aq_physics_fini(&failed);
    aq_physics_fini(&fresh);
    mj_deleteModel(model);
}
