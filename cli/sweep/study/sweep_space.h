/*
 * Sweep space: which settings a sweep varies, and over what. Each is a dimension with a scale on
 * which it is drawn evenly, so that methods only know places between 0 and 1.
 *
 * A point has a value for each dimension, as the text that `--set` takes; what a text says is what
 * is trained, so places are taken from texts, too. Pure functions; any thread.
 */
#ifndef AQ_CLI_SWEEP_STUDY_SWEEP_SPACE_H
#define AQ_CLI_SWEEP_STUDY_SWEEP_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/choice.h"
#include "common/settings/settings.h"

enum {
    AQ_SWEEP_DIMS_MAX = 21, /* as many as Sobol's sequence has here */
    AQ_SWEEP_CHOICES_MAX = 32,
    AQ_SWEEP_VALUE_MAX = 64, /* bytes of a value as text */
    AQ_SWEEP_GRID_MAX = 65536,
};

#define AQ_SWEEP_SCALES(X)                                                                         \
    X(AQ_SWEEP_LINEAR, "linear")                                                                   \
    X(AQ_SWEEP_LOG, "log")                                                                         \
    X(AQ_SWEEP_POW2, "pow2")   /* powers of two alone */                                           \
    X(AQ_SWEEP_LOGIT, "logit") /* dense at both ends of 0 to 1, as a discount is */                \
    X(AQ_SWEEP_CHOICE, "choice")
enum aq_sweep_scale { AQ_SWEEP_SCALES(AQ_CHOICE_CONSTANT) };

typedef struct aq_sweep_dim {
    char key[AQ_SETTINGS_KEY_MAX + 1];
    enum aq_sweep_scale scale;
    bool is_whole;    /* a whole number */
    double low, high; /* not of choices */
    char choices[AQ_SWEEP_CHOICES_MAX][AQ_SWEEP_VALUE_MAX];
    size_t count; /* of choices; else how many places a grid has on it */
    /* Counts only where an earlier dimension, which has choices, has one of these; -1: always. */
    int when;
    uint32_t when_choices; /* a bit each */
} aq_sweep_dim;

typedef struct aq_sweep_space {
    aq_sweep_dim dims[AQ_SWEEP_DIMS_MAX];
    size_t count;
} aq_sweep_space;

/* "" where a dimension does not count. */
typedef struct aq_sweep_point {
    char values[AQ_SWEEP_DIMS_MAX][AQ_SWEEP_VALUE_MAX];
} aq_sweep_point;

/* The value at a place from 0 to 1. */
void aq_sweep_dim_value(const aq_sweep_dim *dim, double place, char out[AQ_SWEEP_VALUE_MAX]);

/* That number, or the nearest that is whole where it has to be, and within the range. */
void aq_sweep_dim_number(const aq_sweep_dim *dim, double number, char out[AQ_SWEEP_VALUE_MAX]);

/* Where a value lies, within 0 to 1; of a choice the middle of its share. */
double aq_sweep_dim_place(const aq_sweep_dim *dim, const char *value);

/* The choice of that text; `count` when there is none. */
size_t aq_sweep_dim_choice(const aq_sweep_dim *dim, const char *value);

/* Whether dimension `index` counts, by the values of those before it. */
bool aq_sweep_counts(const aq_sweep_space *space, size_t index, const aq_sweep_point *point);

/* The point at places, one for each dimension. */
void aq_sweep_point_at(const aq_sweep_space *space, const double *places,
                       aq_sweep_point *ret_point);

/* How many points a grid has, each once: of those that only differ where it does not count, and of
 * those that a range with few values gives again, the first; more than AQ_SWEEP_GRID_MAX when they
 * are too many. */
size_t aq_sweep_grid_size(const aq_sweep_space *space);

/* Number `index` of them, below the size; the last dimension goes round first. */
void aq_sweep_grid_point(const aq_sweep_space *space, size_t index, aq_sweep_point *ret_point);

#endif
