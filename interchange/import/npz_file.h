/*
 * NPZ file: named arrays as numpy.savez writes them, a ZIP archive of .npy files that are not
 * compressed. Any bytes may come: every size and place is checked before it is believed.
 *
 * Nothing is copied: arrays lie in the file's bytes, which outlive them. Any thread.
 */
#ifndef AQ_INTERCHANGE_IMPORT_NPZ_FILE_H
#define AQ_INTERCHANGE_IMPORT_NPZ_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/error.h"

enum {
    AQ_NPZ_ARRAYS_MAX = 512,
    AQ_NPZ_NAME_MAX = 128,
    AQ_NPZ_RANK_MAX = 8,
    AQ_NPZ_TYPE_BYTES = 16
};

typedef struct aq_npz_array {
    char name[AQ_NPZ_NAME_MAX];   /* without ".npy" */
    char type[AQ_NPZ_TYPE_BYTES]; /* of its values, as NumPy writes it, plain and cut off */
    uint32_t value_bytes;         /* 2, 4 or 8, of floats; 0: other values, which nobody reads */
    bool is_turned;               /* the first dimension runs fastest */
    uint32_t rank;
    size_t shape[AQ_NPZ_RANK_MAX];
    size_t count;          /* of its values */
    const uint8_t *values; /* little-endian */
} aq_npz_array;

typedef struct aq_npz_file {
    size_t count;
    aq_npz_array arrays[AQ_NPZ_ARRAYS_MAX]; /* in the order of the file */
} aq_npz_file;

/* AQ_E_FOREIGN for what is no such file, AQ_E_CORRUPT for one that is damaged, AQ_E_UNSUPPORTED for
 * a compressed one and for a pickle, AQ_E_TOO_BIG; in words. */
int aq_npz_read(const uint8_t *bytes, size_t size, aq_npz_file *ret_file,
                aq_error *error) AQ_MUST_USE;

/* Whether bytes of any kind begin as a pickle does; and what is said of one. */
bool aq_npz_is_pickle(const uint8_t *bytes, size_t size);
int aq_npz_refuse_pickle(aq_error *error) AQ_MUST_USE;

/* One .npy file; its name is the caller's. */
int aq_npy_read(const uint8_t *bytes, size_t size, aq_npz_array *ret_array,
                aq_error *error) AQ_MUST_USE;

/* NULL when there is none of that name. */
const aq_npz_array *aq_npz_find(const aq_npz_file *file, const char *name);

/* The values of floats of rank 2 at most, as floats, the last dimension fastest; out has room for
 * `count`. */
void aq_npz_floats(const aq_npz_array *array, float *out);

#endif
