/*
 * MuJoCo, as the suite uses it: one compiled model for each open environment, one mjData for each
 * lane. After a control step everything that depends on positions and velocities fits them, as in
 * the original suite: MuJoCo's own mj_step leaves it one step behind.
 *
 * MuJoCo ends the process, or waits for a key, on an error of its own, and writes a file on a
 * warning. Here both end as a call that returns false, and `failure` says why: numbers that are too
 * large or none, more contacts than there is room for. No step after that is the task's.
 *
 * Compiling is serialised; all else is one thread at a time for one model and its data.
 */
#ifndef AQ_ENVS_MUJOCO_PHYSICS_H
#define AQ_ENVS_MUJOCO_PHYSICS_H

#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_PHYSICS_FAILURE_MAX = 256 };

typedef struct aq_physics {
    mjData *data;

    /* The model without what nobody reads, and with the model's arrays: energies; geoms, where
     * nothing can touch anything; and sensors but after the last physics step of a control step.
     * They take up to a fifth of the time. */
    mjModel *lean;

    char failure[AQ_PHYSICS_FAILURE_MAX]; /* why the last call failed; else "" */
} aq_physics;

/* Compiles a description (MJCF). Release with mj_deleteModel. AQ_E_NOMEM; AQ_E_INVALID with the
 * compiler's words. */
int aq_physics_compile(const char *name, const char *description, mjModel **ret_model,
                       aq_error *error) AQ_MUST_USE;

/* AQ_E_NOMEM. */
int aq_physics_init(aq_physics *physics, const mjModel *model, aq_error *error) AQ_MUST_USE;
void aq_physics_fini(aq_physics *physics);

/* The model's initial state, with nothing derived from it: forward is to follow. */
void aq_physics_reset(aq_physics *physics, const mjModel *model);

/* Everything that follows from positions, velocities and controls, accelerations included. */
bool aq_physics_forward(aq_physics *physics, const mjModel *model) AQ_MUST_USE;

/* One control step of `substeps` physics steps under data->ctrl. The same bits as step_alone. */
bool aq_physics_step(aq_physics *physics, const mjModel *model, uint32_t substeps) AQ_MUST_USE;

/* The same by MuJoCo's functions and nothing else: a fault ends the process. For measuring. */
void aq_physics_step_alone(aq_physics *physics, const mjModel *model, uint32_t substeps);

/* Puts the geoms where their bodies are, which a step leaves out where nothing can touch anything:
 * for pictures. */
void aq_physics_place_geoms(const aq_physics *physics, const mjModel *model);

#endif
