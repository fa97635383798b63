/*
 * State dict: see state_dict.h.
 */
#include "interchange/import/state_dict.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base/memory.h"
#include "common/base/parse.h"

/* Modules that are layers, in the order of the network. */
typedef struct module_list {
    size_t count;
    const aq_npz_array *weights[AQ_NET_LAYERS_MAX];
    bool is_chosen[AQ_NET_LAYERS_MAX]; /* by a name of its own, or as the first in one */
} module_list;

/* What the array is called in its module. */
static const char *part_of(const aq_npz_array *array)
{
    const char *dot = strrchr(array->name, '.');
    return dot != NULL ? dot + 1 : array->name;
}

/* The length of the module's name; 0: it is in none. */
static size_t module_length(const aq_npz_array *array)
{
    const size_t before = (size_t)(part_of(array) - array->name);
    return before > 0 ? before - 1 : 0;
}

static bool is_weights(const aq_npz_array *array)
{
    return strcmp(part_of(array), "weight") == 0;
}

static const aq_npz_array *sibling(const aq_npz_file *file, const aq_npz_array *array,
                                   const char *suffix)
{
    char name[AQ_NPZ_NAME_MAX + 32];
    const size_t length = module_length(array);
    (void)snprintf(name, sizeof(name), "%.*s%s", (int)length, array->name,
                   length > 0 ? suffix : suffix + 1);
    return aq_npz_find(file, name);
}

/* "0 (64x4), 2 (2x64)": what could have been chosen, as far as there is room. */
static const char *say_modules(const aq_npz_file *file, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < file->count; i++) {
        const aq_npz_array *array = &file->arrays[i];
        if (is_weights(array) && array->rank == 2) {
            const size_t length = module_length(array);
            const int rc =
                aq_text_format(text + used, size - used, "%s%.*s (%zux%zu)", used > 0 ? ", " : "",
                               (int)(length > 0 ? length : strlen(array->name)), array->name,
                               array->shape[0], array->shape[1]);
            used = rc == 0 ? strlen(text) : used;
            text[used] = '\0';
        }
    }
    return used > 0 ? text : "none";
}

/* ---- which ---------------------------------------------------------------------------------- */

/* Whether its module is the one chosen, or in it. */
static bool is_in(const aq_npz_array *array, const char *chosen, size_t length)
{
    const size_t own = module_length(array);
    return own >= length && strncmp(array->name, chosen, length) == 0 &&
           (own == length || length == 0 || array->name[length] == '.');
}

/* Recurrent layers and attention have weights of longer names, and so have those that are made of
 * others when they are used, by a weight norm or a spectral one: then only the bias has its own. */
static bool is_of_another_layer(const aq_npz_file *file, const aq_npz_array *array)
{
    const char *part = part_of(array);
    return strncmp(part, "weight_", strlen("weight_")) == 0 ||
           strncmp(part, "in_proj_", strlen("in_proj_")) == 0 ||
           (strcmp(part, "bias") == 0 && sibling(file, array, ".weight") == NULL);
}

static int add_modules(const aq_npz_file *file, const char *chosen, size_t length,
                       module_list *modules, aq_error *error)
{
    char text[300];
    const size_t before = modules->count;
    for (size_t i = 0; i < file->count; i++) {
        const aq_npz_array *array = &file->arrays[i];
        if (!is_in(array, chosen, length)) {
            continue;
        }
        if (is_of_another_layer(file, array)) {
            return aq_fail(error, AQ_E_UNSUPPORTED,
                           "%s is of a layer that is not known: linear layers and norms have a "
                           ".weight, with a .bias or without (--layers chooses modules)",
                           array->name);
        }
        if (!is_weights(array)) {
            continue;
        }
        if (modules->count == AQ_NET_LAYERS_MAX) {
            return aq_fail(error, AQ_E_TOO_BIG,
                           "more than %d layers; choose those of the policy with --layers: %s",
                           AQ_NET_LAYERS_MAX, say_modules(file, text, sizeof(text)));
        }
        modules->is_chosen[modules->count] = modules->count == before;
        modules->weights[modules->count++] = array;
    }
    if (modules->count == before) {
        return aq_fail(error, AQ_E_NOT_FOUND, "no weights of '%.*s' in it; there are %s",
                       length < 64 ? (int)length : 64, chosen,
                       say_modules(file, text, sizeof(text)));
    }
    return 0;
}

static int choose_modules(const aq_npz_file *file, const char *chosen, module_list *modules,
                          aq_error *error)
{
    int rc = 0;
    if (chosen == NULL) {
        return add_modules(file, "", 0, modules, error);
    }
    while (rc == 0) {
        const size_t length = strcspn(chosen, ",");
        if (length == 0) {
            return aq_fail(error, AQ_E_INVALID, "a name of --layers is empty");
        }
        rc = add_modules(file, chosen, length, modules, error);
        if (chosen[length] == '\0') {
            break;
        }
        chosen += length + 1;
    }
    return rc;
}

/* ---- one layer ------------------------------------------------------------------------------ */

static int check_array(const aq_npz_array *array, uint32_t rank, aq_error *error)
{
    if (array->value_bytes == 0) {
        return aq_fail(error, AQ_E_UNSUPPORTED,
                       "%s holds values of type '%s'; little-endian floats are read, '<f4', '<f8' "
                       "and '<f2'",
                       array->name, array->type);
    }
    for (uint32_t i = 0; i < array->rank; i++) {
        if (array->shape[i] == 0 || array->shape[i] > AQ_NET_WIDTH_MAX) {
            return aq_fail(error, AQ_E_TOO_BIG, "%s has %zu rows or columns; 1 to %u are possible",
                           array->name, array->shape[i], AQ_NET_WIDTH_MAX);
        }
    }
    return array->rank == rank ? 0
                               : aq_fail(error, AQ_E_UNSUPPORTED,
                                         "%s has %u dimensions; a linear layer has 2, a norm 1, "
                                         "and others are not known",
                                         array->name, array->rank);
}

/* The floats of an array, which the caller frees. */
static int read_floats(const aq_npz_array *array, float **ret_values, aq_error *error)
{
    float *values = aq_alloc(array->count, sizeof(*values));
    if (values == NULL) {
        return aq_fail(error, AQ_E_NOMEM, "no memory for %s", array->name);
    }
    aq_npz_floats(array, values);
    *ret_values = values;
    return 0;
}

static int check_module(const aq_npz_file *file, const aq_npz_array *weights, aq_error *error)
{
    const aq_npz_array *bias = sibling(file, weights, ".bias");
    int rc = check_array(weights, weights->rank == 1 ? 1 : 2, error);
    if (rc == 0 && sibling(file, weights, ".running_mean") != NULL) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED, "%s is of a batch norm, which no policy here has",
                     weights->name);
    }
    if (rc == 0 && weights->rank == 1 && bias == NULL) {
        rc = aq_fail(error, AQ_E_UNSUPPORTED,
                     "%s has one dimension and no bias beside it: PReLU, an RMS norm and a layer "
                     "norm without bias look the same; for the last, add a bias of zeros to the "
                     "arrays",
                     weights->name);
    }
    if (rc == 0 && bias != NULL) {
        rc = check_array(bias, 1, error);
        if (rc == 0 && bias->count != weights->shape[0]) {
            rc = aq_fail(error, AQ_E_INVALID, "%s has %zu values for %zu rows", bias->name,
                         bias->count, weights->shape[0]);
        }
    }
    return rc;
}

static int add_layer(const aq_npz_file *file, const aq_npz_array *weights, aq_foreign_net *net,
                     aq_error *error)
{
    const aq_npz_array *bias = sibling(file, weights, ".bias");
    float *weight = NULL, *biases = NULL;
    int rc = check_module(file, weights, error);
    rc = rc != 0 ? rc : read_floats(weights, &weight, error);
    if (rc == 0 && bias != NULL) {
        rc = read_floats(bias, &biases, error);
    }
    const uint32_t rows = (uint32_t)weights->shape[0];
    if (rc == 0) {
        rc = weights->rank == 1
                 ? aq_foreign_norm(net, weight, biases, rows, error)
                 : aq_foreign_linear(net, weight, biases, rows, (uint32_t)weights->shape[1], error);
        rc = rc != 0 ? aq_fail_context(error, rc, "%s", weights->name) : 0;
    }
    aq_free(weight);
    aq_free(biases);
    return rc;
}

/* ---- what stands between -------------------------------------------------------------------- */

/* The number that ends the module's name; -1: none. */
static int64_t number_of(const aq_npz_array *weights, size_t *ret_before)
{
    char digits[24];
    size_t end = module_length(weights), start = end;
    int64_t number = -1;
    while (start > 0 && weights->name[start - 1] >= '0' && weights->name[start - 1] <= '9') {
        start--;
    }
    (void)snprintf(digits, sizeof(digits), "%.*s", (int)(end - start), weights->name + start);
    *ret_before = start;
    return aq_parse_i64(digits, &number) == 0 ? number : -1;
}

/* From one module of a list to another, by their numbers; 0: they are in no list together. */
static int64_t steps_between(const aq_npz_array *first, const aq_npz_array *second)
{
    size_t before_first, before_second;
    const int64_t one = number_of(first, &before_first), two = number_of(second, &before_second);
    const bool is_list = one >= 0 && two >= 0 && before_first == before_second &&
                         (before_first == 0 || first->name[before_first - 1] == '.') &&
                         strncmp(first->name, second->name, before_first) == 0;
    return is_list ? two - one : 0;
}

/* Whether something stands between two modules of one list. */
static bool is_apart(const aq_npz_array *first, const aq_npz_array *second)
{
    return steps_between(first, second) > 1;
}

/* The linear layer that layer i, a norm, follows; NULL: it is no norm, or follows none. */
static const aq_npz_array *normed_by(const module_list *modules, size_t i)
{
    return i > 0 && modules->weights[i]->rank == 1 && modules->weights[i - 1]->rank == 2
               ? modules->weights[i - 1]
               : NULL;
}

/* Whether the activation follows layer i, which is not the last: the norm of a linear layer comes
 * before it, unless there is a gap, and then it is not there a second time. Other norms have none
 * but in a gap. */
static bool is_activated(const module_list *modules, size_t i)
{
    const aq_npz_array *own = modules->weights[i], *next = modules->weights[i + 1];
    const aq_npz_array *linear = normed_by(modules, i);
    if (linear != NULL) {
        return !is_apart(linear, own);
    }
    return (own->rank == 2 && next->rank == 2) || is_apart(own, next);
}

/* With a gap on both sides of a norm, as a Dropout makes one. */
static bool is_ambiguous(const module_list *modules, size_t i)
{
    const aq_npz_array *own = modules->weights[i], *linear = normed_by(modules, i);
    return linear != NULL && is_apart(linear, own) && is_apart(own, modules->weights[i + 1]);
}

/* Whether the next module is the next of a list, too, and was not chosen by its own name: then
 * nothing stands between the two in a Sequential, while other lists have what the code puts there.
 */
static bool is_next(const module_list *modules, size_t i)
{
    return steps_between(modules->weights[i], modules->weights[i + 1]) == 1 &&
           !modules->is_chosen[i + 1];
}

static int fail_next(const module_list *modules, size_t i, uint32_t activation, aq_error *error)
{
    const aq_npz_array *own = modules->weights[i], *next = modules->weights[i + 1];
    const char *name = aq_activation_name((enum aq_activation)activation);
    return aq_fail(
        error, AQ_E_UNSUPPORTED,
        "nothing stands between %s and %s if they are of a Sequential, and arrays do not "
        "tell; if %s does, name each module: --layers %.*s,%.*s; if not, export the "
        "network as ONNX",
        own->name, next->name, name, (int)module_length(own), own->name, (int)module_length(next),
        next->name);
}

static int activate(const module_list *modules, size_t i, uint32_t activation, aq_foreign_net *net,
                    aq_error *error)
{
    if (i + 1 == modules->count) {
        return 0;
    }
    if (is_ambiguous(modules, i)) {
        return aq_fail(
            error, AQ_E_UNSUPPORTED,
            "something stands before and behind %s, a norm: numbers do not tell which is "
            "the activation",
            modules->weights[i]->name);
    }
    if (!is_activated(modules, i)) {
        return 0;
    }
    if (activation == 0) {
        return aq_fail(error, AQ_E_INVALID,
                       "arrays do not tell what stands behind %s; name it with --activation",
                       modules->weights[i]->name);
    }
    if (activation != AQ_ACTIVATION_NONE && is_next(modules, i)) {
        return fail_next(modules, i, activation, error);
    }
    return activation == AQ_ACTIVATION_NONE
               ? 0
               : aq_foreign_activate(net, (enum aq_activation)activation, error);
}

/* As Stable-Baselines3 and CleanRL call it. */
static int add_deviations(const aq_npz_file *file, aq_foreign_net *net, aq_error *error)
{
    const aq_npz_array *array = aq_npz_find(file, "log_std");
    float *values = NULL;
    array = array != NULL ? array : aq_npz_find(file, "actor_logstd");
    if (array == NULL) {
        return 0;
    }
    int rc = check_array(array, array->rank, error);
    rc = rc != 0 ? rc : read_floats(array, &values, error);
    rc = rc != 0 ? rc : aq_foreign_deviate(net, values, (uint32_t)array->count, error);
    aq_free(values);
    return rc;
}

int aq_state_dict_read(const aq_npz_file *file, const aq_state_dict_how *how, aq_foreign_net *net,
                       aq_error *error)
{
    module_list modules = {0};
    char text[300];
    int rc = choose_modules(file, how->layers, &modules, error);
    for (size_t i = 0; rc == 0 && i < modules.count; i++) {
        rc = add_layer(file, modules.weights[i], net, error);
        if (rc == AQ_E_INVALID && how->layers == NULL) {
            return aq_fail_context(error, rc, "of %s, not all may be the policy's (--layers)",
                                   say_modules(file, text, sizeof(text)));
        }
        rc = rc != 0 ? rc : activate(&modules, i, how->activation, net, error);
    }
    return rc != 0 ? rc : add_deviations(file, net, error);
}
