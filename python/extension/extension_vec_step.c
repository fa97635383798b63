/*
 * actorq._actorq.Vec steps: actions in whatever array they come, and arrays of what came of them.
 */
#include <string.h>

#include "python/extension/extension_vec.h"

/* ---- actions -------------------------------------------------------------------------------- */

static bool fits(int64_t choice)
{
    return choice >= INT32_MIN && choice <= INT32_MAX;
}

/* NumPy's own integers have 64 bits. Others are refused by their numbers elsewhere. */
static bool take_wide(const aq_py_vec *self, const Py_buffer *view)
{
    const int rank = self->actions.rank;
    const Py_ssize_t each = rank > 0 ? self->actions.sizes[0] : 1;
    if (self->actions.format != 'i' || view->format == NULL || view->itemsize != 8 ||
        strchr("lq", view->format[0]) == NULL || view->format[1] != '\0' ||
        view->ndim != 1 + rank || view->shape[0] != (Py_ssize_t)aq_py_vec_facts(self)->lanes ||
        view->shape[rank] != (rank > 0 ? each : view->shape[0])) {
        return false;
    }
    const int64_t *wide = view->buf;
    for (Py_ssize_t i = 0; i < view->shape[0] * each; i++) {
        if (!fits(wide[i])) {
            return false;
        }
        self->choices[i] = (int32_t)wide[i];
    }
    return true;
}

/* The actions of all environments; *ret_lent is to be released unless its `obj` is NULL. */
static const void *take_actions(const aq_py_vec *self, PyObject *actions, aq_py_lent *ret_lent)
{
    Py_buffer view;
    ret_lent->view.obj = NULL;
    if (PyObject_CheckBuffer(actions) &&
        PyObject_GetBuffer(actions, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0) {
        const bool is_taken = take_wide(self, &view);
        PyBuffer_Release(&view);
        if (is_taken) {
            return self->choices;
        }
    }
    PyErr_Clear();
    if (!aq_py_rows_take(&self->actions, actions, ret_lent)) {
        return NULL;
    }
    if (ret_lent->is_single || ret_lent->count != (Py_ssize_t)aq_py_vec_facts(self)->lanes) {
        PyErr_Format(PyExc_ValueError, "actions for %zd environments; there are %u",
                     ret_lent->count, (unsigned)aq_py_vec_facts(self)->lanes);
        PyBuffer_Release(&ret_lent->view);
        ret_lent->view.obj = NULL;
        return NULL;
    }
    return ret_lent->view.buf;
}

/* ---- step ----------------------------------------------------------------------------------- */

static int step_into(aq_py_vec *self, const void *actions, aq_py_array_view *arrays,
                     uint32_t *ret_ended)
{
    const actorq_rows rows = {
        .observations = arrays[OBSERVATIONS].view.buf,
        .finals = arrays[FINALS].view.buf,
        .rewards = arrays[REWARDS].view.buf,
        .terminated = arrays[TERMINATED].view.buf,
        .truncated = arrays[TRUNCATED].view.buf,
        .returns = self->kept[RETURNS].view.buf,
        .lengths = self->kept[LENGTHS].view.buf,
    };
    actorq_error error;
    PyThreadState *others = PyEval_SaveThread();
    int rc = actorq_vec_step(self->vec, actions, &rows, ret_ended, &error);
    PyEval_RestoreThread(others);
    if (rc != 0) {
        (void)aq_py_fail(&error);
    }
    return rc;
}

static PyObject *step_with(aq_py_vec *self, const void *actions, aq_py_array_view *arrays)
{
    uint32_t ended;
    if (step_into(self, actions, arrays, &ended) != 0) {
        return NULL;
    }
    return Py_BuildValue("(OOOOOI)", arrays[OBSERVATIONS].object, arrays[REWARDS].object,
                         arrays[TERMINATED].object, arrays[TRUNCATED].object, arrays[FINALS].object,
                         (unsigned)ended);
}

static PyObject *step_fresh(aq_py_vec *self, const void *actions)
{
    aq_py_array_view arrays[FRESH_COUNT] = {{NULL}};
    int made = 0;
    while (made < FRESH_COUNT && aq_py_vec_make_array(self, made, &arrays[made])) {
        made++;
    }
    PyObject *result = made == FRESH_COUNT ? step_with(self, actions, arrays) : NULL;
    for (int i = 0; i < made; i++) {
        aq_py_vec_release(&arrays[i]);
    }
    return result;
}

PyObject *aq_py_vec_step(PyObject *object, PyObject *actions)
{
    aq_py_vec *self = (aq_py_vec *)object;
    aq_py_lent lent;
    if (!aq_py_vec_begin(self)) {
        return NULL;
    }
    const void *taken = take_actions(self, actions, &lent);
    PyObject *result = taken == NULL    ? NULL
                       : self->is_fresh ? step_fresh(self, taken)
                                        : step_with(self, taken, self->kept);
    self->is_busy = false;
    if (lent.view.obj != NULL) {
        PyBuffer_Release(&lent.view);
    }
    return result;
}

/* The action of the only environment; *ret_lent as above. */
static const void *take_action(const aq_py_vec *self, PyObject *action, aq_py_lent *ret_lent)
{
    ret_lent->view.obj = NULL;
    if (self->actions.format == 'i' && self->actions.rank == 0 && PyIndex_Check(action)) {
        const Py_ssize_t choice = PyNumber_AsSsize_t(action, NULL);
        if (!PyErr_Occurred() && !fits(choice)) {
            PyErr_Format(PyExc_ValueError, "action %R is none of the choices", action);
        }
        self->choices[0] = (int32_t)choice;
        return PyErr_Occurred() ? NULL : self->choices;
    }
    if (!aq_py_rows_take(&self->actions, action, ret_lent)) {
        return NULL;
    }
    if (!ret_lent->is_single) {
        PyErr_SetString(PyExc_ValueError, "one environment takes one action");
        return NULL;
    }
    return ret_lent->view.buf;
}

/* What the step led to, a row without an axis for it, is an array of its own. What is to be acted
 * on has no place: the end of an episode can be drawn until a reset. */
static PyObject *step_alone(aq_py_vec *self, const void *action)
{
    aq_py_array_view arrays[FRESH_COUNT];
    PyObject *result = NULL;
    uint32_t ended;
    memcpy(arrays, self->kept, sizeof(arrays));
    arrays[OBSERVATIONS].view.buf = NULL;
    aq_py_array_view *led_to = &arrays[FINALS];
    led_to->object =
        aq_py_array(self->observations.dtype, -1, self->observations.shape, &led_to->view);
    if (led_to->object != NULL && step_into(self, action, arrays, &ended) == 0) {
        result = Py_BuildValue("(OfOO)", led_to->object,
                               (double)*(const float *)arrays[REWARDS].view.buf,
                               *(const uint8_t *)arrays[TERMINATED].view.buf ? Py_True : Py_False,
                               *(const uint8_t *)arrays[TRUNCATED].view.buf ? Py_True : Py_False);
    }
    aq_py_vec_release(led_to);
    return result;
}

PyObject *aq_py_vec_step_one(PyObject *object, PyObject *action)
{
    aq_py_vec *self = (aq_py_vec *)object;
    aq_py_lent lent;
    if (!aq_py_vec_begin(self)) {
        return NULL;
    }
    PyObject *result = NULL;
    if (aq_py_vec_facts(self)->lanes != 1) {
        PyErr_SetString(PyExc_ValueError, "there are several environments: step() is theirs");
    } else {
        const void *taken = take_action(self, action, &lent);
        result = taken != NULL ? step_alone(self, taken) : NULL;
        if (lent.view.obj != NULL) {
            PyBuffer_Release(&lent.view);
        }
    }
    self->is_busy = false;
    return result;
}
