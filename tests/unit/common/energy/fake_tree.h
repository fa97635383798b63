/*
 * A tree of small files such as /proc and /sys show, in a folder of its own.
 */
#ifndef AQ_TESTS_UNIT_COMMON_ENERGY_FAKE_TREE_H
#define AQ_TESTS_UNIT_COMMON_ENERGY_FAKE_TREE_H

#include "tests/support/test.h"

typedef struct fake_tree {
    char root[64];
} fake_tree;

fake_tree *fake_tree_open(void);
void fake_tree_close(fake_tree *tree);

/* The file below the root, with its folders; what was there is replaced in place. */
void fake_tree_write(const fake_tree *tree, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fake_tree_make_dir(const fake_tree *tree, const char *path);

/* A zone of powercap below `powercap/`. */
void fake_tree_zone(const fake_tree *tree, const char *zone, const char *name, uint64_t energy_uj,
                    uint64_t range_uj);
void fake_tree_energy(const fake_tree *tree, const char *zone, uint64_t energy_uj);

/* ROOT/PATH; static storage, until the next call. */
const char *fake_tree_path(const fake_tree *tree, const char *path);

#endif
