/*
 * Train grid: settings with several values each, of which every combination is trained: --grid.
 */
#ifndef AQ_CLI_TRAIN_TRAIN_GRID_H
#define AQ_CLI_TRAIN_TRAIN_GRID_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/settings/settings.h"

enum {
    AQ_GRID_AXES_MAX = 8,
    AQ_GRID_VALUES_MAX = 32,
    AQ_GRID_VALUE_MAX = 64,
    AQ_GRID_NAME_MAX = 256
};

typedef struct aq_grid_axis {
    char key[AQ_SETTINGS_KEY_MAX + 1];
    char values[AQ_GRID_VALUES_MAX][AQ_GRID_VALUE_MAX];
    size_t count;
} aq_grid_axis;

/* count 0: none was asked for. */
typedef struct aq_train_grid {
    aq_grid_axis axes[AQ_GRID_AXES_MAX];
    size_t count;
} aq_train_grid;

/* For AQ_TO: "learner.learning_rate=1e-3,3e-4"; lists are apart by semicolons:
 * "learner.hidden=64,64;128,128". AQ_E_INVALID for what the table of settings refuses. */
int aq_train_grid_take(void *grid, const char *value, aq_error *error) AQ_MUST_USE;

/* How many combinations there are; 1 of no axis. */
size_t aq_train_grid_size(const aq_train_grid *grid);

/* Number `index` of them: a name for its folder, "learning_rate=1e-3,n_step=3", and what --set
 * would be given for it, in `texts`, which the assignments get. AQ_E_FULL, AQ_E_TOO_BIG. */
int aq_train_grid_point(const aq_train_grid *grid, size_t index, char ret_name[AQ_GRID_NAME_MAX],
                        char (*texts)[AQ_SETTINGS_KEY_MAX + 1 + AQ_GRID_VALUE_MAX],
                        aq_settings_assignments *assignments, aq_error *error) AQ_MUST_USE;

#endif
