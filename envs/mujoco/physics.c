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

/* A rotation in space has four numbers and three velocities. */
static bool has_quaternions(const mjModel *model)
{
    return model->nq != model->nv;
}

int aq_physics_init(aq_physics *physics, const mjModel *model, aq_error *error)
{
    aq_physics made = {0};
    if (has_quaternions(model)) {
        made.given_qpos = aq_alloc((size_t)model->nq, sizeof(*made.given_qpos));
        if (made.given_qpos == NULL) {
            goto fail;
        }
    }
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
    aq_free(physics->given_qpos);
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

static void keep_given_qpos(aq_physics *physics, const mjModel *model)
{
    if (physics->given_qpos != NULL) {
        memcpy(physics->given_qpos, physics->data->qpos, (size_t)model->nq * sizeof(mjtNum));
    }
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
    const mjModel *last = model->nsensor > 0 ? model : physics->lean;
    jmp_buf here;
    if (setjmp(here) != 0) {
        return fail(physics);
    }
    way_out = &here;
    integrate(last, physics->lean, physics->data, substeps);
    keep_given_qpos(physics, model);
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
    keep_given_qpos(physics, model);
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
    keep_given_qpos(physics, model);
}

/* -- saving ----------------------------------------------------------------------------------- */

/* What a state consists of, in the order in which it is saved. */
typedef struct saved_part {
    mjtNum *numbers;
    int count;
} saved_part;

enum { SAVED_PARTS = 7 };

static void list_parts(const aq_physics *physics, const mjModel *model,
                       saved_part ret_parts[SAVED_PARTS])
{
    mjData *data = physics->data;
    mjtNum *qpos = physics->given_qpos != NULL ? physics->given_qpos : data->qpos;
    ret_parts[0] = (saved_part){&data->time, 1};
    ret_parts[1] = (saved_part){qpos, model->nq};
    ret_parts[2] = (saved_part){data->qvel, model->nv};
    ret_parts[3] = (saved_part){data->act, model->na};
    ret_parts[4] = (saved_part){data->ctrl, model->nu};
    ret_parts[5] = (saved_part){data->qacc_warmstart, model->nv};
    ret_parts[6] = (saved_part){data->sensordata, model->nsensordata};
}

size_t aq_physics_saved_count(const mjModel *model)
{
    return 1 + (size_t)model->nq + 2 * (size_t)model->nv + (size_t)model->na + (size_t)model->nu +
           (size_t)model->nsensordata;
}

void aq_physics_save(const aq_physics *physics, const mjModel *model, void *out)
{
    saved_part parts[SAVED_PARTS];
    list_parts(physics, model, parts);
    char *end = out;
    for (int i = 0; i < SAVED_PARTS; i++) {
        const size_t bytes = (size_t)parts[i].count * sizeof(*parts[i].numbers);
        memcpy(end, parts[i].numbers, bytes);
        end += bytes;
    }
}

static void put(const saved_part parts[SAVED_PARTS], const double *numbers)
{
    for (int i = 0; i < SAVED_PARTS; i++) {
        memcpy(parts[i].numbers, numbers, (size_t)parts[i].count * sizeof(*numbers));
        numbers += parts[i].count;
    }
}

bool aq_physics_load(aq_physics *physics, const mjModel *model, const double *numbers)
{
    saved_part parts[SAVED_PARTS];
    list_parts(physics, model, parts);
    aq_physics_reset(physics, model);
    put(parts, numbers);
    if (physics->given_qpos != NULL) {
        mju_copy(physics->data->qpos, physics->given_qpos, model->nq);
    }
    if (!aq_physics_forward(physics, model)) {
        return false;
    }
    put(parts, numbers); /* forward made sensors and a warm start of another acceleration */
    return true;
}
