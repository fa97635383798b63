/*
 * NPZ kit: archives as numpy.savez writes them, array by array, for tests of what reads them.
 */
#ifndef AQ_TESTS_UNIT_INTERCHANGE_NPZ_KIT_H
#define AQ_TESTS_UNIT_INTERCHANGE_NPZ_KIT_H

#include "common/base/buffer.h"

typedef struct npz_kit {
    aq_buffer file; /* the caller frees it, and the list */
    aq_buffer list;
    uint32_t count;
} npz_kit;

void npz_kit_init(npz_kit *kit);
void npz_kit_fini(npz_kit *kit);

/* What NumPy says of an array, as "'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", and
 * its bytes. The name ends with ".npy". */
void npz_kit_add(npz_kit *kit, const char *name, const char *head, const void *bytes, size_t size);

/* (rows, columns) floats 0.01, 0.02, ..., or of one dimension where there are no columns. */
void npz_kit_add_ramp(npz_kit *kit, const char *name, size_t rows, size_t columns);

/* The list at the end; kit->file is the archive then. */
void npz_kit_end(npz_kit *kit);

#endif
