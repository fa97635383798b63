/*
 * actorq._actorq.Data: a data set, piece by piece; the columns are bytes, of which the package
 * makes arrays.
 */
#include "python/extension/extension.h"

typedef struct data_object {
    PyObject head;
    actorq_data *data;
} data_object;

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"path", NULL};
    PyObject *path = NULL;
    actorq_error error;
    actorq_data *data;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O&", names, PyUnicode_FSConverter,
                                     &path)) {
        return NULL;
    }
    int rc = actorq_data_open(PyBytes_AsString(path), &data, &error);
    Py_DECREF(path);
    if (rc != 0) {
        return aq_py_fail(&error);
    }
    data_object *self = (data_object *)PyType_GenericNew(type, NULL, NULL);
    if (self == NULL) {
        actorq_data_close(data);
        return NULL;
    }
    self->data = data;
    return (PyObject *)self;
}

static void destroy(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    actorq_data_close(((data_object *)object)->data);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

static PyObject *bytes_of(const actorq_piece *piece, uint32_t i, const actorq_column *column)
{
    const uint64_t rows = (uint64_t)piece->length + column->is_boundary;
    return PyBytes_FromStringAndSize(piece->columns[i], (Py_ssize_t)(rows * column->row_bytes));
}

static PyObject *next(PyObject *object, PyObject *unused)
{
    const data_object *self = (data_object *)object;
    const actorq_data_facts *facts = actorq_data_look(self->data);
    actorq_piece piece;
    actorq_error error;
    int more;
    (void)unused;
    if (actorq_data_next(self->data, &more, &piece, &error) != 0) {
        return aq_py_fail(&error);
    }
    if (!more) {
        return Py_NewRef(Py_None);
    }
    PyObject *dict = Py_BuildValue(
        "{s:K, s:K, s:K, s:I, s:I, s:I, s:I, s:O, s:O}", "actor", (unsigned long long)piece.actor,
        "incarnation", (unsigned long long)piece.incarnation, "episode",
        (unsigned long long)piece.episode, "lane", (unsigned)piece.lane, "first",
        (unsigned)piece.first, "length", (unsigned)piece.length, "overlap", (unsigned)piece.overlap,
        "terminated", piece.terminated ? Py_True : Py_False, "truncated",
        piece.truncated ? Py_True : Py_False);
    for (uint32_t i = 0; dict != NULL && i < facts->column_count; i++) {
        if (!aq_py_set(dict, facts->columns[i].name, bytes_of(&piece, i, &facts->columns[i]))) {
            Py_CLEAR(dict);
        }
    }
    return dict;
}

static PyObject *columns_of(const actorq_data_facts *facts)
{
    PyObject *columns = PyList_New(0);
    for (uint32_t i = 0; columns != NULL && i < facts->column_count; i++) {
        const actorq_column *column = &facts->columns[i];
        PyObject *row = Py_BuildValue("{s:s, s:O, s:I, s:K}", "name", column->name, "boundary",
                                      column->is_boundary ? Py_True : Py_False, "number",
                                      (unsigned)column->number, "row_bytes",
                                      (unsigned long long)column->row_bytes);
        if (row == NULL || PyList_Append(columns, row) != 0) {
            Py_CLEAR(columns);
        }
        Py_XDECREF(row);
    }
    return columns;
}

static PyObject *get_facts(PyObject *object, void *unused)
{
    const actorq_data_facts *facts = actorq_data_look(((data_object *)object)->data);
    PyObject *dict = Py_BuildValue(
        "{s:s, s:s, s:K, s:K, s:K, s:K}", "task", facts->task, "source", facts->source, "run_id",
        (unsigned long long)facts->run_id, "pieces", (unsigned long long)facts->pieces, "steps",
        (unsigned long long)facts->steps, "episodes", (unsigned long long)facts->episodes);
    (void)unused;
    if (dict != NULL && (!aq_py_set(dict, "observation", aq_py_space(&facts->observation)) ||
                         !aq_py_set(dict, "action", aq_py_space(&facts->action)) ||
                         !aq_py_set(dict, "columns", columns_of(facts)))) {
        Py_CLEAR(dict);
    }
    return dict;
}

static PyMethodDef methods[] = {
    {"next", next, METH_NOARGS, "next()\n\nThe next piece as a dict; None at the end."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef properties[] = {
    {"facts", get_facts, NULL, "What the data set is, as a dict.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, make},          {Py_tp_dealloc, destroy},   {Py_tp_methods, methods},
    {Py_tp_getset, properties}, {Py_tp_doc, "A data set."}, {0, NULL},
};

static PyType_Spec spec = {
    .name = "actorq._actorq.Data",
    .basicsize = sizeof(data_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

PyType_Spec *const aq_py_data_spec = &spec;
