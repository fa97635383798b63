/*
 * What the two files of actorq._actorq.Vec share: its object, and what a step needs of it.
 */
#ifndef AQ_PYTHON_EXTENSION_EXTENSION_VEC_H
#define AQ_PYTHON_EXTENSION_EXTENSION_VEC_H

#include "python/extension/extension.h"

/* The arrays that a step writes, in the order of its tuple. */
enum {
    OBSERVATIONS,
    REWARDS,
    TERMINATED,
    TRUNCATED,
    FINALS,
    FRESH_COUNT,
    RETURNS = FRESH_COUNT,
    LENGTHS,
    ARRAY_COUNT
};

typedef struct aq_py_array_view {
    PyObject *object;
    Py_buffer view;
} aq_py_array_view;

typedef struct aq_py_vec {
    PyObject head;
    actorq_vec *vec;
    aq_py_rows observations, actions;
    PyObject *dtypes[ARRAY_COUNT]; /* NULL of observations and finals */
    PyObject *scalar;              /* () */
    aq_py_array_view kept[ARRAY_COUNT];
    int32_t *choices; /* (lanes, choices at once): wider ones, made narrow */
    bool is_fresh;    /* each step has arrays of its own */
    bool is_busy;
} aq_py_vec;

static inline const actorq_vec_facts *aq_py_vec_facts(const aq_py_vec *self)
{
    return actorq_vec_look(self->vec);
}

/* Takes them for this thread, until is_busy is false again. False: an exception is raised. */
bool aq_py_vec_begin(aq_py_vec *self);

/* A new array of one of these kinds; false: an exception is raised. */
bool aq_py_vec_make_array(const aq_py_vec *self, int which, aq_py_array_view *ret_array);
void aq_py_vec_release(aq_py_array_view *array);

/* Its methods step and step_one. */
PyObject *aq_py_vec_step(PyObject *self, PyObject *actions);
PyObject *aq_py_vec_step_one(PyObject *self, PyObject *action);

#endif
