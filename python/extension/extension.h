/*
 * The module actorq._actorq: the public C library (include/actorq/actorq.h) with NumPy arrays
 * instead of pointers. It is thin: it looks at shapes and types, lets others have the interpreter
 * while the library works, and knows nothing else. What users see is written in Python around it.
 *
 * Python's limited API alone (3.11), so that one build serves all later versions; NumPy is called,
 * not linked, and only imported when the first array is made.
 *
 * The thread that holds the interpreter.
 */
#ifndef AQ_PYTHON_EXTENSION_EXTENSION_H
#define AQ_PYTHON_EXTENSION_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <actorq/actorq.h>
#include <stdbool.h>

/* Raises what the library refused, as ValueError, MemoryError or actorq.Error. Returns NULL. */
PyObject *aq_py_fail(const actorq_error *error);

/* A whole number of Python or NumPy. False: an exception is raised, for one that does not fit
 * OverflowError in words. The letters "K" and "I" of PyArg_ParseTuple would take its last bits. */
bool aq_py_u64(PyObject *object, uint64_t *ret_value);
bool aq_py_u32(PyObject *object, uint32_t *ret_value);

/* A space as a dict: "kind" is "box", with "dtype", "shape", "low" and "high" (one number or one
 * for each element), or "discrete", with "n" or, of several choices, "nvec". */
PyObject *aq_py_space(const actorq_space *space);

/* Sets a dict's value, and drops the reference to it. False: an exception is raised. */
bool aq_py_set(PyObject *dict, const char *name, PyObject *value);

/* What rows of a space are to NumPy. */
typedef struct aq_py_rows {
    PyObject *dtype; /* a NumPy dtype */
    PyObject *shape; /* of one row */
    char format;     /* its letter in a buffer */
    int rank;
    Py_ssize_t sizes[ACTORQ_RANK_MAX];
    const char *what; /* "observations", for people */
} aq_py_rows;

/* False: an exception is raised. `fini` is due in any case. */
bool aq_py_rows_init(const actorq_space *space, const char *what, aq_py_rows *rows);
void aq_py_rows_fini(aq_py_rows *rows);

/* Values that were lent by an object. */
typedef struct aq_py_lent {
    Py_buffer view;
    Py_ssize_t count; /* of rows */
    bool is_single;   /* one row without an axis for it */
} aq_py_lent;

/* Borrows an array as rows: as it is where it can be, else converted. False: an exception says
 * in words what is wrong. To be released with PyBuffer_Release(&lent->view). */
bool aq_py_rows_take(const aq_py_rows *rows, PyObject *values, aq_py_lent *ret_lent);

/* A new array of rows as many as were lent, with a view to write to it. NULL: an exception is
 * raised. */
PyObject *aq_py_rows_make(const aq_py_rows *rows, const aq_py_lent *like, Py_buffer *ret_view);

/* A new array of `count` rows, or of one without an axis when it is -1. */
PyObject *aq_py_array(PyObject *dtype, Py_ssize_t count, PyObject *row_shape, Py_buffer *ret_view);

/* numpy.dtype(name); a new reference. */
PyObject *aq_py_dtype(const char *name);

extern PyType_Spec *const aq_py_policy_spec, *const aq_py_vec_spec, *const aq_py_data_spec;

#endif
