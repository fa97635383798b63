/*
 * The control suite: tasks of continuous control whose physics is MuJoCo's. A domain is a body with
 * its description; a task is a domain with a start, an observation and a reward. All is computed in
 * double, as in the original, and rounded to float where it is stored.
 *
 * A domain's file (dmc_*.c) defines an aq_suite_domain, and with AQ_SUITE_CLASS a class for each
 * task, whose names suite_classes.h lists. suite.c does the rest.
 *
 * One thread at a time for one open environment and its lanes.
 */
#ifndef AQ_ENVS_MUJOCO_SUITE_H
#define AQ_ENVS_MUJOCO_SUITE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "envs/env.h"
#include "envs/env_golden.h"
#include "envs/env_physics.h"
#include "envs/mujoco/physics.h"

enum {
    AQ_SUITE_OBS_MAX = 96,
    AQ_SUITE_CTRL_MAX = 32,
    AQ_SUITE_IDS_MAX = 16,
    AQ_SUITE_STEP_LIMIT = 1000,
};

/* Of the nine numbers of an orientation (xmat): how far its z axis points along x, y and z, and so
 * on. */
enum {
    AQ_SUITE_XX,
    AQ_SUITE_XY,
    AQ_SUITE_XZ,
    AQ_SUITE_YX,
    AQ_SUITE_YY,
    AQ_SUITE_YZ,
    AQ_SUITE_ZX,
    AQ_SUITE_ZY,
    AQ_SUITE_ZZ,
};

/* Something of the description that the domain's code refers to. */
typedef struct aq_suite_name {
    mjtObj kind;
    const char *name;
} aq_suite_name;

typedef struct aq_suite_domain {
    const char *name;        /* "cartpole" */
    const char *description; /* MJCF: aq_mjcf_cartpole */
    uint32_t substeps;       /* physics steps of one control step */

    /* Whose numbers become aq_suite.ids, in this order; the rest is empty. */
    aq_suite_name names[AQ_SUITE_IDS_MAX];
} aq_suite_domain;

typedef struct aq_suite_task aq_suite_task;

/* An open environment. */
typedef struct aq_suite {
    const aq_suite_task *task;
    mjModel *model;
    int ids[AQ_SUITE_IDS_MAX];
} aq_suite;

/* One lane. */
typedef struct aq_suite_lane {
    aq_physics physics;
    mjtNum
        target[3]; /* what task->placed names, in the world. The model is shared by all lanes, so it
                         is kept beside it: no target takes part in the physics. */
} aq_suite_lane;

/* Draws an episode's first state into data->qpos, data->qvel and target. False: MuJoCo failed, or
 * nothing fitting was found. */
typedef bool aq_suite_start(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng);

struct aq_suite_task {
    const aq_suite_domain *domain;
    double goal; /* a speed, a size, a height: what distinguishes the tasks of a domain */
    uint32_t obs_count;
    const char *placed; /* how recordings name the place of the target that an episode puts
                           somewhere ("target_geom_pos"); NULL: there is none */

    /* Changes the model when the environment is opened; NULL: it is as described. */
    void (*adapt)(aq_suite *suite);

    /* All of that holds the model's initial state; what follows from it is computed before (with
     * `forward_first`) and after. */
    aq_suite_start *start;
    bool forward_first;

    void (*observe)(const aq_suite *suite, const aq_suite_lane *lane, double *obs);
    double (*reward)(const aq_suite *suite, const aq_suite_lane *lane);
};

/* Every joint at random: uniform within its limits; a hinge without, uniform in a turn; the
 * orientation of a free joint from four numbers uniform in [0, 1), which favours one octant, as the
 * original does. Slides without limits and the place of a free joint stay. As a start it looks for
 * no contacts: feet may be in the floor. */
bool aq_suite_randomize_joints(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng);

/* Calls `draw` until nothing touches anything. */
bool aq_suite_start_without_contact(const aq_suite *suite, aq_suite_lane *lane, aq_rng *rng,
                                    aq_suite_start *draw);

static inline double aq_suite_distance(const mjtNum a[3], const mjtNum b[3])
{
    const double x = a[0] - b[0];
    const double y = a[1] - b[1];
    const double z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* The mean over the controls of max(0, 1 - control^2). */
double aq_suite_small_controls(const aq_suite *suite, const aq_suite_lane *lane);

/* Where a body is, its orientation, the numbers of a sensor: by its place among the domain's
 * names. */
static inline const mjtNum *aq_suite_position(const aq_suite *suite, const aq_suite_lane *lane,
                                              int name)
{
    return lane->physics.data->xpos + (ptrdiff_t)3 * suite->ids[name];
}

static inline const mjtNum *aq_suite_orientation(const aq_suite *suite, const aq_suite_lane *lane,
                                                 int name)
{
    return lane->physics.data->xmat + (ptrdiff_t)9 * suite->ids[name];
}

static inline const mjtNum *aq_suite_sensor(const aq_suite *suite, const aq_suite_lane *lane,
                                            int name)
{
    return lane->physics.data->sensordata + suite->model->sensor_adr[suite->ids[name]];
}

/* Copies into *obs and moves it on. */
void aq_suite_put(double **obs, const mjtNum *numbers, int count);

/* What AQ_SUITE_CLASS makes the members of a class of. */
int aq_suite_open(void *params, aq_env_opening *opening, aq_error *error) AQ_MUST_USE;
void aq_suite_close(void *params);
void aq_suite_schema(const void *params, aq_schema *ret_schema);
int aq_suite_begin(const void *params, void *state, aq_error *error) AQ_MUST_USE;
void aq_suite_end(const void *params, void *state);
bool aq_suite_reset(const void *params, void *state, aq_rng *rng, void *obs);
enum aq_step_end aq_suite_step(const void *params, void *state, aq_rng *rng, const void *action,
                               void *obs, float *reward);
const char *aq_suite_failure(const void *params, const void *state);
void aq_suite_observe(const void *params, const void *state, void *obs);
void aq_suite_draw(const void *params, const void *state, aq_canvas *canvas);
int aq_suite_put_golden(const void *params, void *state, const aq_golden_values *values,
                        aq_error *error) AQ_MUST_USE;
extern const struct aq_env_physics aq_suite_physics;

/* Defines the class aq_dmc_<id> ("dmc:<id>") of an aq_suite_task, whose members follow. */
#define AQ_SUITE_CLASS(id, text, ...)                                                              \
    const aq_env_class aq_dmc_##id = {                                                             \
        .name = "dmc:" #id,                                                                        \
        .summary = (text),                                                                         \
        .step_limit = AQ_SUITE_STEP_LIMIT,                                                         \
        .reward_threshold = NAN,                                                                   \
        .params_bytes = sizeof(aq_suite),                                                          \
        .state_bytes = sizeof(aq_suite_lane),                                                      \
        .defaults = &(const aq_suite){.task = &(const aq_suite_task){__VA_ARGS__}},                \
        .open = aq_suite_open,                                                                     \
        .close = aq_suite_close,                                                                   \
        .schema = aq_suite_schema,                                                                 \
        .begin = aq_suite_begin,                                                                   \
        .end = aq_suite_end,                                                                       \
        .reset = aq_suite_reset,                                                                   \
        .step = aq_suite_step,                                                                     \
        .failure = aq_suite_failure,                                                               \
        .observe = aq_suite_observe,                                                               \
        .draw = aq_suite_draw,                                                                     \
        .put = aq_suite_put_golden,                                                                \
        .physics = &aq_suite_physics,                                                              \
    }

#endif
