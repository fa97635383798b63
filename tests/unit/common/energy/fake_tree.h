/*
 * A tree of small files such as /proc and /sys show, below a folder.
 */
#ifndef AQ_TESTS_UNIT_COMMON_ENERGY_FAKE_TREE_H
#define AQ_TESTS_UNIT_COMMON_ENERGY_FAKE_TREE_H

#include "tests/support/file_kit.h"
#include "tests/support/test.h"

/* The file below the folder, with those on the way; what was there is replaced in place. */
void fake_tree_write(const char *tree, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A zone of powercap below `powercap/`. */
void fake_tree_zone(const char *tree, const char *zone, const char *name, uint64_t energy_uj,
                    uint64_t range_uj);
void fake_tree_energy(const char *tree, const char *zone, uint64_t energy_uj);

#endif
