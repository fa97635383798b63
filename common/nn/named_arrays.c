/*
 * Named arrays: see named_arrays.h.
 */
#include "common/nn/named_arrays.h"

#include <math.h>
#include <string.h>

#include "common/base/arrays.h"
#include "common/base/assert.h"
#include "common/base/fnv1a.h"
#include "common/base/memory.h"
#include "common/base/parse.h"

static aq_named_array *append(aq_named_arrays *arrays, const char *name)
{
    AQ_ASSERT(arrays->count < AQ_ARRAYS_MAX);
    AQ_ASSERT(aq_named_arrays_find(arrays, name) == NULL);
    aq_named_array *added = &arrays->arrays[arrays->count++];
    int rc = aq_text_set(added->name, sizeof(added->name), name);
    AQ_ASSERT(rc == 0);
    return added;
}

void aq_named_arrays_add(aq_named_arrays *arrays, const char *name, enum aq_array_type type,
                         size_t count, void *values)
{
    aq_named_array *added = append(arrays, name);
    added->type = type;
    added->is_nonnegative = false;
    added->count = count;
    added->values = values;
}

void aq_named_arrays_add_nonnegative(aq_named_arrays *arrays, const char *name,
                                     enum aq_array_type type, size_t count, void *values)
{
    aq_named_arrays_add(arrays, name, type, count, values);
    arrays->arrays[arrays->count - 1].is_nonnegative = true;
}

const aq_named_array *aq_named_arrays_find(const aq_named_arrays *arrays, const char *name)
{
    for (size_t i = 0; i < arrays->count; i++) {
        if (strcmp(arrays->arrays[i].name, name) == 0) {
            return &arrays->arrays[i];
        }
    }
    return NULL;
}

size_t aq_array_value_bytes(uint32_t type)
{
    switch (type) {
    case AQ_ARRAY_F32:
        return sizeof(float);
    case AQ_ARRAY_F64:
        return sizeof(double);
    case AQ_ARRAY_U64:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

size_t aq_array_bytes(const aq_named_array *array)
{
    return array->count * aq_array_value_bytes(array->type);
}

int aq_array_check(const aq_named_array *array, aq_error *error)
{
    const float *singles = array->values;
    const double *doubles = array->values;
    for (size_t i = 0; array->type != AQ_ARRAY_U64 && i < array->count; i++) {
        const double value = array->type == AQ_ARRAY_F32 ? (double)singles[i] : doubles[i];
        if (!isfinite(value)) {
            return aq_fail(error, AQ_E_CORRUPT, "%s: number %zu is NaN or infinite", array->name,
                           i);
        }
        if (array->is_nonnegative && value < 0.0) {
            return aq_fail(error, AQ_E_CORRUPT, "%s: number %zu is %g, less than 0", array->name, i,
                           value);
        }
    }
    return 0;
}

void aq_named_arrays_copy(const aq_named_arrays *from, const aq_named_arrays *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const aq_named_array *source = &from->arrays[i];
        const aq_named_array *goal = aq_named_arrays_find(to, source->name);
        AQ_ASSERT(goal != NULL);
        AQ_ASSERT(goal->type == source->type && goal->count == source->count);
        if (source->count > 0) {
            memcpy(goal->values, source->values, aq_array_bytes(source));
        }
    }
}

int aq_named_arrays_check_same(const aq_named_arrays *wanted, const aq_named_arrays *found,
                               aq_error *error)
{
    for (size_t i = 0; i < wanted->count; i++) {
        const aq_named_array *one = &wanted->arrays[i];
        const aq_named_array *other = aq_named_arrays_find(found, one->name);
        if (other == NULL) {
            return aq_fail(error, AQ_E_INVALID, "there is no array %s in it", one->name);
        }
        if (other->type != one->type || other->count != one->count) {
            return aq_fail(error, AQ_E_INVALID, "its array %s has %zu numbers, not %zu", one->name,
                           other->count, one->count);
        }
    }
    for (size_t i = 0; i < found->count; i++) {
        if (aq_named_arrays_find(wanted, found->arrays[i].name) == NULL) {
            return aq_fail(error, AQ_E_INVALID, "there is an array %s in it, which is not wanted",
                           found->arrays[i].name);
        }
    }
    return 0;
}

int aq_named_arrays_like(const aq_named_arrays *shape, aq_named_arrays *ret_arrays)
{
    size_t offsets[AQ_ARRAYS_MAX];
    size_t bytes = 0;
    AQ_ASSERT(shape->count > 0);
    for (size_t i = 0; i < shape->count; i++) {
        offsets[i] = aq_arrays_add(&bytes, shape->arrays[i].count,
                                   aq_array_value_bytes(shape->arrays[i].type));
    }
    uint8_t *block = aq_alloc(1, bytes);
    if (block == NULL) {
        return AQ_E_NOMEM;
    }
    *ret_arrays = *shape;
    for (size_t i = 0; i < shape->count; i++) {
        ret_arrays->arrays[i].values = block + offsets[i];
    }
    return 0;
}

void aq_named_arrays_fini(aq_named_arrays *arrays)
{
    if (arrays->count > 0) {
        aq_free(arrays->arrays[0].values); /* the first one begins the block */
    }
    arrays->count = 0;
}

/* A word at once, for there are millions: one that differs makes another hash. */
uint64_t aq_named_arrays_hash(const aq_named_arrays *arrays)
{
    uint64_t hash = AQ_FNV1A_START;
    for (size_t i = 0; i < arrays->count; i++) {
        const uint8_t *bytes = arrays->arrays[i].values;
        const size_t end = aq_array_bytes(&arrays->arrays[i]);
        for (size_t at = 0; at < end; at += sizeof(uint32_t)) {
            uint32_t word;
            memcpy(&word, bytes + at, sizeof(word));
            hash = (hash ^ word) * AQ_FNV1A_PRIME;
        }
    }
    return aq_fnv1a_end(hash);
}

uint64_t aq_named_arrays_shape_hash(const aq_named_arrays *arrays)
{
    uint64_t hash = AQ_FNV1A_START;
    for (size_t i = 0; i < arrays->count; i++) {
        const aq_named_array *array = &arrays->arrays[i];
        for (const char *at = array->name; *at != '\0'; at++) {
            hash = aq_fnv1a_word(hash, (uint8_t)*at);
        }
        hash = aq_fnv1a_word(hash, array->type);
        hash = aq_fnv1a_word(hash, (uint32_t)array->count);
    }
    return aq_fnv1a_end(hash);
}
