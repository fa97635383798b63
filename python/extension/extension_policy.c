/*
 * actorq._actorq.Policy: a policy that acts on arrays.
 */
#include <string.h>

#include "python/extension/extension.h"

/* Multiplications from which on others may have the interpreter meanwhile: less is done sooner than
 * it is handed over. */
#define WORK_SHARED UINT64_C(200000)

typedef struct policy_object {
    PyObject head;
    actorq_policy *policy;
    aq_py_rows observations, actions;
    aq_py_rows states; /* nothing where the policy keeps none */
    PyObject *floats;  /* the dtype of float32 */
    PyObject *outputs; /* (n,): the shape of what the network gives */
    bool is_busy;      /* in some thread, which may not hold the interpreter */
} policy_object;

static const actorq_policy_facts *facts_of(const policy_object *self)
{
    return actorq_policy_look(self->policy);
}

/* Takes the policy. */
static int fill(policy_object *self, actorq_policy *policy)
{
    self->policy = policy;
    const actorq_policy_facts *facts = facts_of(self);
    if (!aq_py_rows_init(&facts->observation, "observations", &self->observations) ||
        !aq_py_rows_init(&facts->action, "actions", &self->actions)) {
        return -1;
    }
    const actorq_space state = {.kind = ACTORQ_BOX,
                                .dtype = ACTORQ_F32,
                                .rank = 1,
                                .shape = {(uint32_t)facts->state_count}};
    if (facts->state_count > 0 && !aq_py_rows_init(&state, "states", &self->states)) {
        return -1;
    }
    self->floats = aq_py_dtype("float32");
    self->outputs = Py_BuildValue("(I)", (unsigned)facts->output_count);
    return self->floats != NULL && self->outputs != NULL ? 0 : -1;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"path", "precision", NULL};
    PyObject *path = NULL;
    const char *precision = NULL;
    actorq_error error;
    actorq_policy *policy;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&|z", names, PyUnicode_FSConverter,
                                     &path, &precision)) {
        return NULL;
    }
    const char *bytes = PyBytes_AsString(path);
    int rc = actorq_policy_load(bytes, precision, &policy, &error);
    Py_DECREF(path);
    if (rc != 0) {
        return aq_py_fail(&error);
    }
    policy_object *self = (policy_object *)PyType_GenericNew(type, NULL, NULL);
    if (self == NULL) {
        actorq_policy_free(policy);
        return NULL;
    }
    if (fill(self, policy) != 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    policy_object *self = (policy_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    actorq_policy_free(self->policy);
    aq_py_rows_fini(&self->observations);
    aq_py_rows_fini(&self->actions);
    aq_py_rows_fini(&self->states);
    Py_XDECREF(self->floats);
    Py_XDECREF(self->outputs);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *copy(PyObject *object, PyObject *unused)
{
    policy_object *self = (policy_object *)object;
    actorq_policy *policy;
    actorq_error error;
    (void)unused;
    if (actorq_policy_copy(self->policy, &policy, &error) != 0) {
        return aq_py_fail(&error);
    }
    policy_object *other = (policy_object *)PyType_GenericNew(Py_TYPE(object), NULL, NULL);
    if (other == NULL) {
        actorq_policy_free(policy);
        return NULL;
    }
    if (fill(other, policy) != 0) {
        Py_CLEAR(other);
    }
    return (PyObject *)other;
}

/* ---- acting --------------------------------------------------------------------------------- */

typedef enum job_kind { JOB_ACT, JOB_DRAW, JOB_OUTPUTS } job_kind;

typedef struct job {
    job_kind kind;
    uint64_t key, number;
    aq_py_lent obs;
    Py_buffer out, log_probs;
    Py_buffer states; /* no buf: none are given */
} job;

static int work(policy_object *self, job *j, actorq_error *error)
{
    const uint64_t rows = (uint64_t)j->obs.count;
    switch (j->kind) {
    case JOB_DRAW:
        return actorq_policy_draw_from(self->policy, j->obs.view.buf, rows, j->key, j->number,
                                       j->states.buf, j->out.buf, j->log_probs.buf, error);
    case JOB_OUTPUTS:
        return actorq_policy_outputs(self->policy, j->obs.view.buf, rows, j->out.buf, error);
    default:
        return actorq_policy_act_from(self->policy, j->obs.view.buf, rows, j->states.buf,
                                      j->out.buf, error);
    }
}

static int work_apart(policy_object *self, job *j, actorq_error *error)
{
    if ((uint64_t)j->obs.count * facts_of(self)->parameters < WORK_SHARED) {
        return work(self, j, error);
    }
    PyThreadState *others = PyEval_SaveThread();
    int rc = work(self, j, error);
    PyEval_RestoreThread(others);
    return rc;
}

/* The array that comes of the job, whose observations are lent; NULL: an exception is raised. */
static PyObject *result_of(policy_object *self, job *j)
{
    actorq_error error;
    PyObject *out = j->kind == JOB_OUTPUTS
                        ? aq_py_array(self->floats, j->obs.is_single ? -1 : j->obs.count,
                                      self->outputs, &j->out)
                        : aq_py_rows_make(&self->actions, &j->obs, &j->out);
    if (out == NULL) {
        return NULL;
    }
    int rc = work_apart(self, j, &error);
    PyBuffer_Release(&j->out);
    if (rc != 0) {
        (void)aq_py_fail(&error);
        Py_CLEAR(out);
    }
    return out;
}

/* Takes the policy for this thread, until is_busy is false again. False: an exception is raised. */
static bool begin(policy_object *self)
{
    if (self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError, "the policy acts in another thread: give each thread "
                                            "one of its own, by policy.copy()");
        return false;
    }
    self->is_busy = true;
    return true;
}

/* The observations are lent. */
static PyObject *draw_both(policy_object *self, job *j)
{
    PyObject *both = NULL, *scalar = PyTuple_New(0);
    PyObject *log_probs =
        scalar != NULL
            ? aq_py_array(self->floats, j->obs.is_single ? -1 : j->obs.count, scalar, &j->log_probs)
            : NULL;
    Py_XDECREF(scalar);
    if (log_probs == NULL) {
        return NULL;
    }
    PyObject *actions = result_of(self, j);
    PyBuffer_Release(&j->log_probs);
    if (actions != NULL) {
        both = PyTuple_Pack(2, actions, log_probs);
        Py_DECREF(actions);
    }
    Py_DECREF(log_probs);
    return both;
}

static PyObject *done_of(policy_object *self, job *j)
{
    return j->kind == JOB_DRAW ? draw_both(self, j) : result_of(self, j);
}

/* A copy of the states that the rows go on from, in which they go on. */
static PyObject *copy_states(const policy_object *self, PyObject *values, job *j)
{
    aq_py_lent lent;
    PyObject *states = NULL;
    if (facts_of(self)->state_count == 0) {
        PyErr_SetString(PyExc_ValueError, "the policy keeps no state from step to step");
        return NULL;
    }
    if (!aq_py_rows_take(&self->states, values, &lent)) {
        return NULL;
    }
    if (lent.count != j->obs.count) {
        PyErr_Format(PyExc_ValueError, "states of %zd rows, and observations of %zd", lent.count,
                     j->obs.count);
    } else {
        states = aq_py_rows_make(&self->states, &j->obs, &j->states);
    }
    if (states != NULL) {
        memcpy(j->states.buf, lent.view.buf, (size_t)j->states.len);
    }
    PyBuffer_Release(&lent.view);
    return states;
}

/* What comes of a job, and the states behind; the observations are lent. */
static PyObject *go_on(policy_object *self, job *j, PyObject *values)
{
    PyObject *both = NULL, *states = copy_states(self, values, j);
    if (states == NULL) {
        return NULL;
    }
    PyObject *done = done_of(self, j);
    PyBuffer_Release(&j->states);
    if (done != NULL) {
        both = PyTuple_Pack(2, done, states);
        Py_DECREF(done);
    }
    Py_DECREF(states);
    return both;
}

/* `states` may be NULL: the policy keeps none. */
static PyObject *do_job(PyObject *object, job *j, PyObject *observations, PyObject *states)
{
    policy_object *self = (policy_object *)object;
    PyObject *done = NULL;
    if (!begin(self)) {
        return NULL;
    }
    if (aq_py_rows_take(&self->observations, observations, &j->obs)) {
        done = states != NULL ? go_on(self, j, states) : done_of(self, j);
        PyBuffer_Release(&j->obs.view);
    }
    self->is_busy = false;
    return done;
}

static PyObject *act(PyObject *self, PyObject *observations)
{
    job j = {.kind = JOB_ACT};
    return do_job(self, &j, observations, NULL);
}

static PyObject *outputs(PyObject *self, PyObject *observations)
{
    job j = {.kind = JOB_OUTPUTS};
    return do_job(self, &j, observations, NULL);
}

static PyObject *draw(PyObject *self, PyObject *arguments)
{
    PyObject *observations, *key, *number;
    job j = {.kind = JOB_DRAW};
    return PyArg_ParseTuple(arguments, "OOO", &observations, &key, &number) &&
                   aq_py_u64(key, &j.key) && aq_py_u64(number, &j.number)
               ? do_job(self, &j, observations, NULL)
               : NULL;
}

static PyObject *draw_from(PyObject *self, PyObject *arguments)
{
    PyObject *observations, *key, *number, *states;
    job j = {.kind = JOB_DRAW};
    return PyArg_ParseTuple(arguments, "OOOO", &observations, &key, &number, &states) &&
                   aq_py_u64(key, &j.key) && aq_py_u64(number, &j.number)
               ? do_job(self, &j, observations, states)
               : NULL;
}

static PyObject *act_from(PyObject *self, PyObject *arguments)
{
    PyObject *observations, *states;
    job j = {.kind = JOB_ACT};
    return PyArg_ParseTuple(arguments, "OO", &observations, &states)
               ? do_job(self, &j, observations, states)
               : NULL;
}

static PyObject *evaluate(PyObject *object, PyObject *arguments)
{
    policy_object *self = (policy_object *)object;
    PyObject *episodes_given, *seed_given;
    uint32_t episodes;
    uint64_t seed;
    actorq_worth worth;
    actorq_error error;
    if (!PyArg_ParseTuple(arguments, "OO", &episodes_given, &seed_given) ||
        !aq_py_u32(episodes_given, &episodes) || !aq_py_u64(seed_given, &seed) || !begin(self)) {
        return NULL;
    }
    PyThreadState *others = PyEval_SaveThread();
    int rc = actorq_policy_evaluate(self->policy, episodes, seed, &worth, &error);
    PyEval_RestoreThread(others);
    self->is_busy = false;
    return rc != 0 ? aq_py_fail(&error)
                   : Py_BuildValue("{s:d, s:d, s:d, s:d, s:I, s:I}", "return_mean",
                                   worth.return_mean, "return_std", worth.return_std, "return_min",
                                   worth.return_min, "return_max", worth.return_max, "episodes",
                                   (unsigned)worth.episodes, "cut_off", (unsigned)worth.cut_off);
}

static PyObject *get_facts(PyObject *object, void *unused)
{
    const actorq_policy_facts *facts = facts_of((policy_object *)object);
    PyObject *dict = Py_BuildValue(
        "{s:s, s:N, s:s, s:s, s:s, s:s, s:K, s:K, s:K, s:K, s:I, s:O, s:K}", "task", facts->task,
        "path", PyUnicode_DecodeFSDefault(facts->path), "precision", facts->precision, "head",
        facts->head, "network", facts->network, "rung", facts->rung, "run_id",
        (unsigned long long)facts->run_id, "version", (unsigned long long)facts->version,
        "learner_step", (unsigned long long)facts->learner_step, "parameters",
        (unsigned long long)facts->parameters, "output_count", (unsigned)facts->output_count,
        "draws", facts->draws ? Py_True : Py_False, "state_count",
        (unsigned long long)facts->state_count);
    (void)unused;
    if (dict != NULL && (!aq_py_set(dict, "observation", aq_py_space(&facts->observation)) ||
                         !aq_py_set(dict, "action", aq_py_space(&facts->action)))) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyMethodDef methods[] = {
    {"act", act, METH_O,
     "act(observations)\n\nThe greedy actions for an observation, or for rows of them."},
    {"draw", draw, METH_VARARGS,
     "draw(observations, key, number)\n\nActions drawn as actors draw them, and how likely each "
     "was: a pure function of its arguments."},
    {"act_from", act_from, METH_VARARGS,
     "act_from(observations, states)\n\nOf a policy that keeps a state, the greedy actions and "
     "the states to go on from: (actions, states). Zeros are an episode's first."},
    {"draw_from", draw_from, METH_VARARGS,
     "draw_from(observations, key, number, states)\n\nThe same of draw: ((actions, log_probs), "
     "states)."},
    {"outputs", outputs, METH_O, "outputs(observations)\n\nWhat the network gives."},
    {"evaluate", evaluate, METH_VARARGS,
     "evaluate(episodes, seed)\n\nGreedy episodes of its task, as actorq eval plays them."},
    {"copy", copy, METH_NOARGS, "copy()\n\nThe same policy, for another thread."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"facts", get_facts, NULL, "What the policy is, as a dict.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, make},          {Py_tp_dealloc, destroy}, {Py_tp_methods, methods},
    {Py_tp_getset, properties}, {Py_tp_doc, "A policy."}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "actorq._actorq.Policy",
    .basicsize = sizeof(policy_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

PyType_Spec *const aq_py_policy_spec = &spec;
