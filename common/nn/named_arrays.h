/*
 * Named arrays: what a checkpoint keeps of whoever trains, as a list of arrays that live elsewhere.
 * Each has a name that is unique in its list. Plain data.
 */
#ifndef AQ_COMMON_NN_NAMED_ARRAYS_H
#define AQ_COMMON_NN_NAMED_ARRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum { AQ_ARRAYS_MAX = 64, AQ_ARRAY_NAME_MAX = 32 };

/* As they stand in files. */
enum aq_array_type { AQ_ARRAY_F32 = 1, AQ_ARRAY_F64 = 2, AQ_ARRAY_U64 = 3 };

typedef struct aq_named_array {
    char name[AQ_ARRAY_NAME_MAX]; /* lower case letters, digits, '_', '.' and '/' */
    uint32_t type;                /* enum aq_array_type */
    bool is_nonnegative;          /* no number is below 0 */
    size_t count;
    void *values;
} aq_named_array;

typedef struct aq_named_arrays {
    size_t count;
    aq_named_array arrays[AQ_ARRAYS_MAX];
} aq_named_arrays;

/* Appends one. The name fits, is not in the list yet, and there is room: whoever adds knows. */
void aq_named_arrays_add(aq_named_arrays *arrays, const char *name, enum aq_array_type type,
                         size_t count, void *values);

/* The same, of numbers that are never below 0. */
void aq_named_arrays_add_nonnegative(aq_named_arrays *arrays, const char *name,
                                     enum aq_array_type type, size_t count, void *values);

/* NULL when there is none of that name. */
const aq_named_array *aq_named_arrays_find(const aq_named_arrays *arrays, const char *name);

/* Of one value; 0 for a type that is not known. */
size_t aq_array_value_bytes(uint32_t type);
size_t aq_array_bytes(const aq_named_array *array);

/* Numbers are finite, and not below 0 where they may not be. AQ_E_CORRUPT names the array and the
 * first number that is wrong. */
int aq_array_check(const aq_named_array *array, aq_error *error) AQ_MUST_USE;

/* Of every value's bits; and of names, types and counts. Never 0. */
uint64_t aq_named_arrays_hash(const aq_named_arrays *arrays);
uint64_t aq_named_arrays_shape_hash(const aq_named_arrays *arrays);

/* Copies each array's values to the one of the same name in `to`; both have the same names, types
 * and counts (aq_named_arrays_check_same). */
void aq_named_arrays_copy(const aq_named_arrays *from, const aq_named_arrays *to);

/* AQ_E_INVALID, in words, unless `found` has exactly what is `wanted`. */
int aq_named_arrays_check_same(const aq_named_arrays *wanted, const aq_named_arrays *found,
                               aq_error *error) AQ_MUST_USE;

/* Arrays like those, of which there are some, zeroed, in one block of their own. AQ_E_NOMEM. */
int aq_named_arrays_like(const aq_named_arrays *shape, aq_named_arrays *ret_arrays) AQ_MUST_USE;

/* Frees what aq_named_arrays_like made; a zeroed struct is fine. */
void aq_named_arrays_fini(aq_named_arrays *arrays);

#endif
