/*
 * The module itself, and what its types share: see extension.h.
 */
#include "python/extension/extension.h"

#include <string.h>

static PyObject *refusal;                 /* actorq.Error */
static PyObject *make_empty, *make_dtype; /* numpy.empty and numpy.dtype; NULL: not imported yet */
static PyObject *convert;                 /* actorq._arrays.as_rows */

/* ---- errors and dicts ----------------------------------------------------------------------- */

/* Of a path that is no UTF-8, or a text that was cut within a character, the rest is told. */
PyObject *aq_py_fail(const actorq_error *error)
{
    PyObject *kind = error->code == ACTORQ_E_INVALID ? PyExc_ValueError
                     : error->code == ACTORQ_E_NOMEM ? PyExc_MemoryError
                                                     : refusal;
    PyObject *text = PyUnicode_DecodeUTF8(error->text, (Py_ssize_t)strlen(error->text), "replace");
    if (text != NULL) {
        PyErr_SetObject(kind, text);
        Py_DECREF(text);
    }
    return NULL;
}

/* As operator.index has it, so that whole numbers of NumPy are taken, too. */
static bool whole_up_to(PyObject *object, uint64_t most, uint64_t *ret_value)
{
    PyObject *whole = PyNumber_Index(object);
    if (whole == NULL) {
        return false;
    }
    const unsigned long long value = PyLong_AsUnsignedLongLong(whole);
    const bool fits = PyErr_Occurred() == NULL && value <= most;
    if (!fits) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "%S is not from 0 to %llu", whole,
                     (unsigned long long)most);
    }
    Py_DECREF(whole);
    *ret_value = value;
    return fits;
}

bool aq_py_u64(PyObject *object, uint64_t *ret_value)
{
    return whole_up_to(object, UINT64_MAX, ret_value);
}

bool aq_py_u32(PyObject *object, uint32_t *ret_value)
{
    uint64_t value = 0;
    const bool fits = whole_up_to(object, UINT32_MAX, &value);
    *ret_value = (uint32_t)value;
    return fits;
}

bool aq_py_set(PyObject *dict, const char *name, PyObject *value)
{
    const bool is_set = value != NULL && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return is_set;
}

static PyObject *bounds_of(const float *bounds, uint32_t count)
{
    PyObject *all = PyTuple_New(count);
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        PyObject *bound = PyFloat_FromDouble((double)bounds[i]);
        if (bound == NULL || PyTuple_SetItem(all, i, bound) != 0) {
            Py_CLEAR(all);
        }
    }
    return all;
}

static PyObject *shape_of(const actorq_space *space)
{
    PyObject *shape = PyTuple_New(space->rank);
    for (uint32_t i = 0; shape != NULL && i < space->rank; i++) {
        PyObject *size = PyLong_FromUnsignedLong(space->shape[i]);
        if (size == NULL || PyTuple_SetItem(shape, i, size) != 0) {
            Py_CLEAR(shape);
        }
    }
    return shape;
}

/* Of several choices at once. */
static PyObject *counts_of(const actorq_space *space)
{
    PyObject *all = PyTuple_New(space->bound_count);
    for (uint32_t i = 0; all != NULL && i < space->bound_count; i++) {
        PyObject *count = PyLong_FromUnsignedLong((unsigned long)space->high[i] + 1);
        if (count == NULL || PyTuple_SetItem(all, i, count) != 0) {
            Py_CLEAR(all);
        }
    }
    return all;
}

PyObject *aq_py_space(const actorq_space *space)
{
    PyObject *dict = PyDict_New();
    if (dict == NULL) {
        return NULL;
    }
    const bool is_box = space->kind == ACTORQ_BOX, is_row = !is_box && space->rank > 0;
    const bool made =
        is_box ? aq_py_set(dict, "kind", PyUnicode_FromString("box")) &&
                     aq_py_set(
                         dict, "dtype",
                         PyUnicode_FromString(space->dtype == ACTORQ_U8 ? "uint8" : "float32")) &&
                     aq_py_set(dict, "shape", shape_of(space)) &&
                     aq_py_set(dict, "low", bounds_of(space->low, space->bound_count)) &&
                     aq_py_set(dict, "high", bounds_of(space->high, space->bound_count))
               : aq_py_set(dict, "kind", PyUnicode_FromString("discrete")) &&
                     (is_row ? aq_py_set(dict, "nvec", counts_of(space))
                             : aq_py_set(dict, "n", PyLong_FromUnsignedLong(space->choice_count)));
    if (!made) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* ---- NumPy ---------------------------------------------------------------------------------- */

static PyObject *import(const char *module_name, const char *name)
{
    PyObject *module = PyImport_ImportModule(module_name);
    PyObject *found = module != NULL ? PyObject_GetAttrString(module, name) : NULL;
    Py_XDECREF(module);
    return found;
}

/* Once, when arrays are wanted for the first time. */
static int import_numpy(void)
{
    if (make_empty != NULL) {
        return 0;
    }
    convert = import("actorq._arrays", "as_rows");
    make_dtype = convert != NULL ? import("numpy", "dtype") : NULL;
    make_empty = make_dtype != NULL ? import("numpy", "empty") : NULL;
    return make_empty != NULL ? 0 : -1;
}

PyObject *aq_py_dtype(const char *name)
{
    return import_numpy() == 0 ? PyObject_CallFunction(make_dtype, "s", name) : NULL;
}

PyObject *aq_py_array(PyObject *dtype, Py_ssize_t count, PyObject *row_shape, Py_buffer *ret_view)
{
    PyObject *shape = NULL;
    if (count < 0) {
        shape = Py_NewRef(row_shape);
    } else {
        const Py_ssize_t rank = PyTuple_Size(row_shape);
        shape = PyTuple_New(rank + 1);
        PyObject *rows = shape != NULL ? PyLong_FromSsize_t(count) : NULL;
        if (rows == NULL || PyTuple_SetItem(shape, 0, rows) != 0) {
            Py_XDECREF(shape);
            return NULL;
        }
        for (Py_ssize_t i = 0; i < rank; i++) {
            (void)PyTuple_SetItem(shape, i + 1, Py_NewRef(PyTuple_GetItem(row_shape, i)));
        }
    }
    PyObject *array = PyObject_CallFunctionObjArgs(make_empty, shape, dtype, NULL);
    Py_DECREF(shape);
    if (array != NULL &&
        PyObject_GetBuffer(array, ret_view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) != 0) {
        Py_CLEAR(array);
    }
    return array;
}

bool aq_py_rows_init(const actorq_space *space, const char *what, aq_py_rows *rows)
{
    const bool is_box = space->kind == ACTORQ_BOX;
    const bool is_bytes = is_box && space->dtype == ACTORQ_U8;
    *rows = (aq_py_rows){.what = what, .format = is_bytes ? 'B' : is_box ? 'f' : 'i'};
    rows->dtype = aq_py_dtype(is_bytes ? "uint8" : is_box ? "float32" : "int32");
    rows->shape = shape_of(space);
    rows->rank = (int)space->rank;
    for (int i = 0; i < rows->rank; i++) {
        rows->sizes[i] = (Py_ssize_t)space->shape[i];
    }
    return rows->dtype != NULL && rows->shape != NULL;
}

void aq_py_rows_fini(aq_py_rows *rows)
{
    Py_CLEAR(rows->dtype);
    Py_CLEAR(rows->shape);
}

/* Whether the buffer holds rows as they are wanted; then also how many. */
static bool fits(const aq_py_rows *rows, const Py_buffer *view, aq_py_lent *lent)
{
    const int above = view->ndim - rows->rank;
    if (view->format == NULL || view->format[0] != rows->format || view->format[1] != '\0' ||
        above < 0 || above > 1) {
        return false;
    }
    for (int i = 0; i < rows->rank; i++) {
        if (view->shape[above + i] != rows->sizes[i]) {
            return false;
        }
    }
    lent->is_single = above == 0;
    lent->count = above == 0 ? 1 : view->shape[0];
    return true;
}

/* PyBUF_FORMAT of memory that is not laid out like this is refused by who has it. */
static bool borrow(const aq_py_rows *rows, PyObject *values, aq_py_lent *ret_lent)
{
    if (PyObject_GetBuffer(values, &ret_lent->view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    if (fits(rows, &ret_lent->view, ret_lent)) {
        return true;
    }
    PyBuffer_Release(&ret_lent->view);
    return false;
}

bool aq_py_rows_take(const aq_py_rows *rows, PyObject *values, aq_py_lent *ret_lent)
{
    if (PyObject_CheckBuffer(values) && borrow(rows, values, ret_lent)) {
        return true;
    }
    PyObject *array =
        PyObject_CallFunction(convert, "OOOs", values, rows->dtype, rows->shape, rows->what);
    if (array == NULL) {
        return false;
    }
    const bool is_taken = borrow(rows, array, ret_lent);
    Py_DECREF(array); /* the view has a reference of its own */
    if (!is_taken) {
        PyErr_Format(PyExc_ValueError, "%s could not be converted", rows->what);
    }
    return is_taken;
}

PyObject *aq_py_rows_make(const aq_py_rows *rows, const aq_py_lent *like, Py_buffer *ret_view)
{
    return aq_py_array(rows->dtype, like->is_single ? -1 : like->count, rows->shape, ret_view);
}

/* ---- the module ----------------------------------------------------------------------------- */

static PyObject *tasks(PyObject *self, PyObject *unused)
{
    PyObject *names = PyList_New(0);
    (void)self;
    (void)unused;
    for (size_t i = 0; names != NULL && actorq_task_at(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(actorq_task_at(i));
        if (name == NULL || PyList_Append(names, name) != 0) {
            Py_CLEAR(names);
        }
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *allow_code(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    actorq_allow_code();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"tasks", tasks, METH_NOARGS, "tasks() -> list[str]\n\nThe tasks of this build, by name."},
    {"allow_code", allow_code, METH_NOARGS,
     "allow_code()\n\nFrom here on, a plug-in or Python class that a policy file names as its task "
     "is loaded: it runs as you."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "actorq._actorq",
    .m_doc = "libactorq with NumPy arrays; see the package actorq.",
    .m_size = -1,
    .m_methods = functions,
};

static int add_type(PyObject *module, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    int rc = type != NULL ? PyModule_AddObjectRef(module, name, type) : -1;
    Py_XDECREF(type);
    return rc;
}

PyMODINIT_FUNC PyInit__actorq(void)
{
    PyObject *module = PyModule_Create(&definition);
    refusal =
        PyErr_NewExceptionWithDoc("actorq.Error", "What libactorq refused, in words.", NULL, NULL);
    if (module == NULL || refusal == NULL || PyModule_AddObjectRef(module, "Error", refusal) != 0 ||
        PyModule_AddStringConstant(module, "version", actorq_version()) != 0 ||
        add_type(module, "Policy", aq_py_policy_spec) != 0 ||
        add_type(module, "Vec", aq_py_vec_spec) != 0 ||
        add_type(module, "Data", aq_py_data_spec) != 0) {
        Py_CLEAR(module);
    }
    return module;
}
