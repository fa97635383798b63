/*
 * A control step with the Euler integrator begins with mj_step2: the first half of the first step
 * was done by the mj_step1 that ended the step before. With Runge and Kutta's method mj_step starts
 * anew, so all that is needed behind it is where things are.
 */
#include "envs/mujoco/physics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/memory.h"
#include "common/base/mutex.h"

/* MuJoCo's compiler swaps the error handler, and reads files, through globals of its own. */
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t handlers_are_set = PTHREAD_ONCE_INIT;

static _Thread_local jmp_buf *way_out; /* NULL: MuJoCo was not called through this file */
static _Thread_local char last_error[AQ_PHYSICS_FAILURE_MAX];

static void on_error(const char *message)
{
    (void)snprintf(last_error, sizeof(last_error), "MuJoCo: %s", message);
    if (way_out == NULL) {
        /* MuJoCo would go on with broken data if this returned. */
        aq_assert_failed(last_error, __FILE__, __LINE__);
    }
    longjmp(*way_out, 1);
}

/* mjData counts warnings, and is_quiet() finds them there. */
static void on_warning(const char *message)
{
    (void)message;
}

static void set_handlers(void)
{
    mju_user_error = on_error;
    mju_user_warning = on_warning;
}

/* -- compiling -------------------------------------------------------------------------------- */

/* MuJoCo reads descriptions from files, of which this is one in memory. The text is freed by
 * mj_deleteVFS, so MuJoCo's allocator makes it. */
static bool put_into(mjVFS *files, const char *file_name, const char *description)
{
    const size_t length = strlen(description);
    AQ_ASSERT(length < INT32_MAX);
    if (mj_makeEmptyFileVFS(files, file_name, (int)length) != 0) {
        return false;
    }
    memcpy(files->filedata[mj_findFileVFS(files, file_name)], description, length);
    return true;
}

int aq_physics_compile(const char *name, const char *description, mjModel **ret_model,
                       aq_error *error)
{
    char file_name[64];
    char words[512] = "";
    (void)pthread_once(&handlers_are_set, set_handlers);
    (void)snprintf(file_name, sizeof(file_name), "%s.xml", name);

    mjVFS *files = aq_alloc(1, sizeof(*files)); /* 2 MB: too large for a stack */
    if (files == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "%s: out of memory", name);
    }
    mj_defaultVFS(files);
    mjModel *volatile model = NULL;
    jmp_buf here;
    aq_mutex_lock(&compiling);
    if (setjmp(here) == 0) {
        way_out = &here;
        if (put_into(files, file_name, description)) {
            model = mj_loadXML(file_name, files, words, sizeof(words));
        }
        mj_freeLastXML();
    } else {
        (void)snprintf(words, sizeof(words), "%s", last_error);
    }
    way_out = NULL;
    aq_mutex_unlock(&compiling);
    mj_deleteVFS(files);
    aq_free(files);
    if (model == NULL) {
        return aq_fail(error, AQ_E_INVALID, "%s: the description does not compile: %s", name,
                       words);
    }
    *ret_model = model;
    return 0;
}

/* -- data ------------------------------------------------------------------------------------- */

static mjData *make_data(const mjModel *model)
{
    mjData *volatile data = NULL;
    jmp_buf here;
    if (setjmp(here) == 0) {
        way_out = &here;
        data = mj_makeData(model);
    }
    way_out = NULL;
    return data;
}

int aq_physics_init(aq_physics *physics, const mjModel *model, aq_error *error)
{
    aq_physics made = {0};
    made.lean = aq_alloc(1, sizeof(*made.lean));
    if (made.lean == NULL) {
        goto fail;
    }
    *made.lean = *model;
    made.lean->opt.disableflags |= mjDSBL_SENSOR;
    made.lean->opt.enableflags &= ~mjENBL_ENERGY;
    if (model->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) {
        made.lean->ngeom = 0;
    }
    made.data = make_data(model);
    if (made.data == NULL) {
        goto fail;
    }
    *physics = made;
    return 0;

fail:
    aq_physics_fini(&made);
    return aq_fail(error, AQ_E_NOMEM, "out of memory");
}

void aq_physics_fini(aq_physics *physics)
{
    mj_deleteData(physics->data);
    aq_free(physics->lean);
    *physics = (aq_physics){0};
}

/* -- stepping --------------------------------------------------------------------------------- */

static bool explain_warning(aq_physics *physics)
{
    const mjWarningStat *warnings = physics->data->warning;
    for (int i = 0; i < mjNWARNING; i++) {
        if (warnings[i].number != 0) {
            (void)snprintf(physics->failure, sizeof(physics->failure), "MuJoCo: %s",
                           mju_warningText(i, warnings[i].lastinfo));
        }
    }
    return false;
}

/* Whether MuJoCo has warned of nothing; else says of what. */
static inline bool is_quiet(aq_physics *physics)
{
    int warned = 0;
    for (int i = 0; i < mjNWARNING; i++) {
        warned |= physics->data->warning[i].number;
    }
    physics->failure[0] = '\0';
    return warned == 0 || explain_warning(physics);
}

/* After a longjmp from on_error. */
static bool fail(aq_physics *physics)
{
    way_out = NULL;
    memcpy(physics->failure, last_error, sizeof(physics->failure));
    return false;
}

static bool uses_euler(const mjModel *model)
{
    return model->opt.integrator == mjINT_EULER;
}

/* `between` is the model for all steps but the last. */
static void integrate(const mjModel *model, const mjModel *between, mjData *data, uint32_t substeps)
{
    uint32_t done = 0;
    if (uses_euler(model)) {
        mj_step2(substeps > 1 ? between : model, data);
        done = 1;
    }
    for (; done < substeps; done++) {
        mj_step(done + 1 < substeps ? between : model, data);
    }
}

static void derive(const mjModel *model, mjData *data)
{
    if (uses_euler(model)) {
        mj_step1(model, data);
    } else {
        mj_kinematics(model, data);
    }
}

void aq_physics_step_alone(aq_physics *physics, const mjModel *model, uint32_t substeps)
{
    integrate(model, model, physics->data, substeps);
    derive(model, physics->data);
}

void aq_physics_place_geoms(const aq_physics *physics, const mjModel *model)
{
    if (physics->lean->ngeom != model->ngeom) {
        mj_kinematics(model, physics->data);
    }
}

bool aq_physics_step(aq_physics *physics, const mjModel *model, uint32_t substeps)
{
    jmp_buf here;
    if (setjmp(here) != 0) {
        return fail(physics);
    }
    way_out = &here;
    const mjModel *last = model->nsensor > 0 ? model : physics->lean;
    integrate(last, physics->lean, physics->data, substeps);
    derive(last, physics->data);
    way_out = NULL;
    return is_quiet(physics);
}

bool aq_physics_forward(aq_physics *physics, const mjModel *model)
{
    jmp_buf here;
    if (setjmp(here) != 0) {
        return fail(physics);
    }
    way_out = &here;
    mj_forward(model, physics->data);
    way_out = NULL;
    return is_quiet(physics);
}

/* mj_resetData also clears 0.8 MB that forward overwrites, which would cost the small domains a
 * twentieth of their speed. After a failure it is not known what was left behind. */
void aq_physics_reset(aq_physics *physics, const mjModel *model)
{
    mjData *data = physics->data;
    if (physics->failure[0] != '\0') {
        mj_resetData(model, data);
    }
    data->time = 0;
    mju_copy(data->qpos, model->qpos0, model->nq);
    mju_zero(data->qvel, model->nv);
    mju_zero(data->act, model->na);
    mju_zero(data->ctrl, model->nu);
    mju_zero(data->qacc, model->nv);
    mju_zero(data->qacc_warmstart, model->nv);
    mju_zero(data->sensordata, model->nsensordata);
}
