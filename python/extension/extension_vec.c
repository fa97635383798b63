/*
 * actorq._actorq.Vec: environments that write into arrays. A step's observations, rewards and ends
 * are arrays of its own, made for them, so that nobody's are overwritten and nothing is copied; or,
 * where the caller asks for that, the same ones each time.
 */
#include "python/extension/extension_vec.h"

/* ---- arrays --------------------------------------------------------------------------------- */

void aq_py_vec_release(aq_py_array_view *one)
{
    if (one->object != NULL) {
        PyBuffer_Release(&one->view);
        Py_CLEAR(one->object);
    }
}

bool aq_py_vec_make_array(const aq_py_vec *self, int which, aq_py_array_view *ret_array)
{
    const bool is_row = which == OBSERVATIONS || which == FINALS;
    PyObject *dtype = is_row ? self->observations.dtype : self->dtypes[which];
    PyObject *shape = is_row ? self->observations.shape : self->scalar;
    ret_array->object =
        aq_py_array(dtype, (Py_ssize_t)aq_py_vec_facts(self)->lanes, shape, &ret_array->view);
    return ret_array->object != NULL;
}

static int fill(aq_py_vec *self)
{
    static const char *const names[ARRAY_COUNT] = {
        [REWARDS] = "float32", [TERMINATED] = "bool", [TRUNCATED] = "bool",
        [RETURNS] = "float64", [LENGTHS] = "uint32",
    };
    const actorq_vec_facts *facts = aq_py_vec_facts(self);
    if (!aq_py_rows_init(&facts->observation, "observations", &self->observations) ||
        !aq_py_rows_init(&facts->action, "actions", &self->actions)) {
        return -1;
    }
    self->scalar = PyTuple_New(0);
    self->choices = PyMem_Calloc(facts->lanes, facts->action_bytes); /* of choices four each */
    if (self->scalar == NULL || self->choices == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < ARRAY_COUNT; i++) {
        if (names[i] != NULL && (self->dtypes[i] = aq_py_dtype(names[i])) == NULL) {
            return -1;
        }
        if (!aq_py_vec_make_array(self, i, &self->kept[i])) {
            return -1;
        }
    }
    return 0;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"task", "lanes", "seed", "fresh", NULL};
    const char *task;
    PyObject *lanes_given, *seed_given;
    uint32_t lanes;
    uint64_t seed;
    int is_fresh;
    actorq_error error;
    actorq_vec *vec;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "sOOp", names, &task, &lanes_given,
                                     &seed_given, &is_fresh) ||
        !aq_py_u32(lanes_given, &lanes) || !aq_py_u64(seed_given, &seed)) {
        return NULL;
    }
    PyThreadState *others = PyEval_SaveThread();
    int rc = actorq_vec_open(task, lanes, seed, &vec, &error);
    PyEval_RestoreThread(others);
    if (rc != 0) {
        return aq_py_fail(&error);
    }
    aq_py_vec *self = (aq_py_vec *)PyType_GenericNew(type, NULL, NULL);
    if (self == NULL) {
        actorq_vec_close(vec);
        return NULL;
    }
    self->vec = vec;
    self->is_fresh = is_fresh != 0;
    if (fill(self) != 0) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    aq_py_vec *self = (aq_py_vec *)object;
    PyTypeObject *type = Py_TYPE(object);
    actorq_vec_close(self->vec);
    for (int i = 0; i < ARRAY_COUNT; i++) {
        aq_py_vec_release(&self->kept[i]);
        Py_XDECREF(self->dtypes[i]);
    }
    aq_py_rows_fini(&self->observations);
    aq_py_rows_fini(&self->actions);
    Py_XDECREF(self->scalar);
    PyMem_Free(self->choices);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static bool is_open(const aq_py_vec *self)
{
    if (self->vec == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the environments are closed");
    }
    return self->vec != NULL;
}

bool aq_py_vec_begin(aq_py_vec *self)
{
    if (self->is_busy) {
        PyErr_SetString(PyExc_RuntimeError,
                        "the environments are at work in another thread: give each thread its own");
        return false;
    }
    self->is_busy = is_open(self);
    return self->is_busy;
}

/* ---- reset ---------------------------------------------------------------------------------- */

static PyObject *reset_into(aq_py_vec *self, const uint64_t *seed,
                            const aq_py_array_view *observations)
{
    actorq_error error;
    PyThreadState *others = PyEval_SaveThread();
    int rc = actorq_vec_reset(self->vec, seed, observations->view.buf, &error);
    PyEval_RestoreThread(others);
    return rc == 0 ? Py_NewRef(observations->object) : aq_py_fail(&error);
}

static PyObject *reset(PyObject *object, PyObject *seed_or_none)
{
    aq_py_vec *self = (aq_py_vec *)object;
    const bool has_seed = seed_or_none != Py_None;
    uint64_t seed = 0;
    aq_py_array_view fresh;
    PyObject *result = NULL;
    if ((has_seed && !aq_py_u64(seed_or_none, &seed)) || !aq_py_vec_begin(self)) {
        return NULL;
    }
    if (!self->is_fresh) {
        result = reset_into(self, has_seed ? &seed : NULL, &self->kept[OBSERVATIONS]);
    } else if (aq_py_vec_make_array(self, OBSERVATIONS, &fresh)) {
        result = reset_into(self, has_seed ? &seed : NULL, &fresh);
        aq_py_vec_release(&fresh);
    }
    self->is_busy = false;
    return result;
}

/* ---- the rest ------------------------------------------------------------------------------- */

enum { VALUES_MAX = 16 };

/* Borrows the numbers of each value, and returns how many there are; -1: an exception is raised. */
static int take_values(PyObject *named, actorq_value *values, Py_buffer *views)
{
    PyObject *name, *numbers;
    Py_ssize_t place = 0;
    int count = 0;
    while (count < VALUES_MAX && PyDict_Next(named, &place, &name, &numbers)) {
        values[count].name = PyUnicode_AsUTF8AndSize(name, NULL);
        if (values[count].name == NULL ||
            PyObject_GetBuffer(numbers, &views[count], PyBUF_C_CONTIGUOUS) != 0) {
            while (count > 0) {
                PyBuffer_Release(&views[--count]);
            }
            return -1;
        }
        values[count].numbers = views[count].buf;
        values[count].count = (uint64_t)views[count].len / sizeof(double);
        count++;
    }
    return count;
}

/* put(lane, {name: float64 array}) */
static PyObject *put(PyObject *object, PyObject *arguments)
{
    aq_py_vec *self = (aq_py_vec *)object;
    uint32_t lane;
    PyObject *index, *named, *result = NULL;
    Py_buffer views[VALUES_MAX];
    actorq_value values[VALUES_MAX];
    aq_py_array_view row;
    actorq_error error;
    if (!PyArg_ParseTuple(arguments, "OO!", &index, &PyDict_Type, &named) ||
        !aq_py_u32(index, &lane) || !aq_py_vec_begin(self)) {
        return NULL;
    }
    int count = take_values(named, values, views);
    if (count >= 0) {
        row.object = aq_py_array(self->observations.dtype, -1, self->observations.shape, &row.view);
        if (row.object != NULL) {
            int rc = actorq_vec_put(self->vec, lane, values, (size_t)count, row.view.buf, &error);
            result = rc == 0 ? Py_NewRef(row.object) : aq_py_fail(&error);
            aq_py_vec_release(&row);
        }
        while (count > 0) {
            PyBuffer_Release(&views[--count]);
        }
    }
    self->is_busy = false;
    return result;
}

/* draw(lane, array of (height, width, 3) bytes) */
static PyObject *draw(PyObject *object, PyObject *arguments)
{
    aq_py_vec *self = (aq_py_vec *)object;
    uint32_t lane;
    PyObject *index, *pixels, *result = NULL;
    Py_buffer view;
    actorq_error error;
    if (!PyArg_ParseTuple(arguments, "OO", &index, &pixels) || !aq_py_u32(index, &lane) ||
        PyObject_GetBuffer(pixels, &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) {
        return NULL;
    }
    if (view.ndim != 3 || view.shape[2] != 3 || view.itemsize != 1) {
        PyErr_SetString(PyExc_ValueError, "a picture is an array of (height, width, 3) bytes");
    } else if (aq_py_vec_begin(self)) {
        int rc = actorq_vec_draw(self->vec, lane, (uint32_t)view.shape[1], (uint32_t)view.shape[0],
                                 view.buf, &error);
        result = rc == 0 ? Py_NewRef(Py_None) : aq_py_fail(&error);
        self->is_busy = false;
    }
    PyBuffer_Release(&view);
    return result;
}

static PyObject *close_all(PyObject *object, PyObject *unused)
{
    aq_py_vec *self = (aq_py_vec *)object;
    (void)unused;
    if (self->vec != NULL) {
        if (!aq_py_vec_begin(self)) {
            return NULL;
        }
        actorq_vec_close(self->vec);
        self->vec = NULL;
        self->is_busy = false;
    }
    return Py_NewRef(Py_None);
}

static PyObject *get_kept(PyObject *object, void *which)
{
    PyObject *kept = ((aq_py_vec *)object)->kept[*(const int *)which].object;
    return Py_NewRef(kept);
}

static PyObject *get_facts(PyObject *object, void *unused)
{
    aq_py_vec *self = (aq_py_vec *)object;
    (void)unused;
    if (!is_open(self)) {
        return NULL;
    }
    const actorq_vec_facts *facts = aq_py_vec_facts(self);
    PyObject *dict =
        Py_BuildValue("{s:s, s:s, s:d, s:I, s:I}", "task", facts->task, "summary", facts->summary,
                      "reward_threshold", facts->reward_threshold, "step_limit",
                      (unsigned)facts->step_limit, "lanes", (unsigned)facts->lanes);
    if (dict != NULL && (!aq_py_set(dict, "observation", aq_py_space(&facts->observation)) ||
                         !aq_py_set(dict, "action", aq_py_space(&facts->action)))) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyMethodDef methods[] = {
    {"reset", reset, METH_O, "reset(seed or None)\n\nAll at the start of an episode."},
    {"step", aq_py_vec_step, METH_O,
     "step(actions)\n\n(observations, rewards, terminated, truncated, finals, ended)"},
    {"step_one", aq_py_vec_step_one, METH_O,
     "step_one(action)\n\n(what it led to, reward, terminated, truncated), of one environment"},
    {"put", put, METH_VARARGS, "put(lane, {name: numbers})\n\nPuts one into a state."},
    {"draw", draw, METH_VARARGS, "draw(lane, pixels)\n\nDraws one."},
    {"close", close_all, METH_NOARGS, "close()"},
    {NULL, NULL, 0, NULL},
};

static int returns_place = RETURNS, lengths_place = LENGTHS;

static PyGetSetDef properties[] = {
    {"facts", get_facts, NULL, "What the environments are, as a dict.", NULL},
    {"returns", get_kept, NULL, "Of the episodes that the last step belonged to.", &returns_place},
    {"lengths", get_kept, NULL, "Of the episodes that the last step belonged to.", &lengths_place},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, make},
    {Py_tp_dealloc, destroy},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, "Environments of one task that are stepped together."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name = "actorq._actorq.Vec",
    .basicsize = sizeof(aq_py_vec),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

PyType_Spec *const aq_py_vec_spec = &spec;
