/*
 * Sweep space: see sweep_space.h.
 */
#include "cli/sweep/study/sweep_space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/assert.h"
#include "common/base/parse.h"

/* ---- scales --------------------------------------------------------------------------------- */

static double within(double value, double low, double high)
{
    return fmax(low, fmin(high, value));
}

/* A value as a number that is drawn evenly, and back. */
static double straighten(const aq_sweep_dim *dim, double value)
{
    return dim->scale == AQ_SWEEP_LOG     ? log(value)
           : dim->scale == AQ_SWEEP_POW2  ? log2(value)
           : dim->scale == AQ_SWEEP_LOGIT ? log(value / (1 - value))
                                          : value;
}

static double bend(const aq_sweep_dim *dim, double even)
{
    return dim->scale == AQ_SWEEP_LOG     ? exp(even)
           : dim->scale == AQ_SWEEP_POW2  ? exp2(rint(even))
           : dim->scale == AQ_SWEEP_LOGIT ? 1 / (1 + exp(-even))
                                          : even;
}

/* Near 1 the digits behind the nines count. */
static int digits_of(const aq_sweep_dim *dim)
{
    return dim->scale == AQ_SWEEP_LOGIT ? 6 : dim->scale == AQ_SWEEP_POW2 ? 10 : 4;
}

void aq_sweep_dim_number(const aq_sweep_dim *dim, double number, char out[AQ_SWEEP_VALUE_MAX])
{
    const double value = within(dim->is_whole ? rint(number) : number, dim->low, dim->high);
    double read;
    if (dim->is_whole) {
        (void)snprintf(out, AQ_SWEEP_VALUE_MAX, "%.0f", value);
        return;
    }
    (void)snprintf(out, AQ_SWEEP_VALUE_MAX, "%.*g", digits_of(dim), value);
    if (aq_parse_f64(out, &read) != 0 || read < dim->low || read > dim->high) { /* by rounding */
        (void)snprintf(out, AQ_SWEEP_VALUE_MAX, "%.17g", value);
    }
}

static double number_at(const aq_sweep_dim *dim, double place)
{
    const double low = straighten(dim, dim->low), high = straighten(dim, dim->high);
    const bool is_rounded =
        dim->scale == AQ_SWEEP_POW2 || (dim->scale == AQ_SWEEP_LINEAR && dim->is_whole);
    const double ends = is_rounded ? 0.4999 : 0; /* which are as likely as the rest */
    return bend(dim, low - ends + (high - low + 2 * ends) * place);
}

void aq_sweep_dim_value(const aq_sweep_dim *dim, double place, char out[AQ_SWEEP_VALUE_MAX])
{
    const double inside = within(place, 0, 1);
    if (dim->scale == AQ_SWEEP_CHOICE) {
        const size_t index = (size_t)(inside * (double)dim->count);
        (void)snprintf(out, AQ_SWEEP_VALUE_MAX, "%s",
                       dim->choices[index < dim->count ? index : dim->count - 1]);
    } else {
        aq_sweep_dim_number(dim, number_at(dim, inside), out);
    }
}

size_t aq_sweep_dim_choice(const aq_sweep_dim *dim, const char *value)
{
    size_t index = 0;
    while (index < dim->count && strcmp(dim->choices[index], value) != 0) {
        index++;
    }
    return index;
}

double aq_sweep_dim_place(const aq_sweep_dim *dim, const char *value)
{
    double number = dim->low;
    if (dim->scale == AQ_SWEEP_CHOICE) {
        return ((double)aq_sweep_dim_choice(dim, value) + 0.5) / (double)dim->count;
    }
    if (aq_parse_f64(value, &number) != 0) {
        number = dim->low;
    }
    const double low = straighten(dim, dim->low), high = straighten(dim, dim->high);
    return within((straighten(dim, within(number, dim->low, dim->high)) - low) / (high - low), 0,
                  1);
}

/* ---- points --------------------------------------------------------------------------------- */

bool aq_sweep_counts(const aq_sweep_space *space, size_t index, const aq_sweep_point *point)
{
    const aq_sweep_dim *dim = &space->dims[index];
    if (dim->when < 0) {
        return true;
    }
    const char *value = point->values[dim->when];
    const size_t choice = aq_sweep_dim_choice(&space->dims[dim->when], value);
    return choice < space->dims[dim->when].count && (dim->when_choices >> choice & 1) != 0;
}

void aq_sweep_point_at(const aq_sweep_space *space, const double *places, aq_sweep_point *ret_point)
{
    aq_sweep_point point = {0};
    for (size_t i = 0; i < space->count; i++) {
        if (aq_sweep_counts(space, i, &point)) {
            aq_sweep_dim_value(&space->dims[i], places[i], point.values[i]);
        }
    }
    *ret_point = point;
}

/* ---- grids ---------------------------------------------------------------------------------- */

static void grid_value(const aq_sweep_dim *dim, size_t digit, char out[AQ_SWEEP_VALUE_MAX])
{
    if (dim->scale == AQ_SWEEP_CHOICE) {
        memcpy(out, dim->choices[digit], AQ_SWEEP_VALUE_MAX);
    } else {
        aq_sweep_dim_value(dim, dim->count > 1 ? (double)digit / (double)(dim->count - 1) : 0.5,
                           out);
    }
}

/* As where a range has fewer values than points. */
static bool is_as_before(const aq_sweep_dim *dim, size_t digit, const char *value)
{
    char before[AQ_SWEEP_VALUE_MAX];
    if (digit == 0) {
        return false;
    }
    grid_value(dim, digit - 1, before);
    return strcmp(before, value) == 0;
}

/* The point of these digits; false when another point is the same: a digit above 0 does not count,
 * or gives the value of the one before it. */
static bool grid_at(const aq_sweep_space *space, size_t number, aq_sweep_point *ret_point)
{
    size_t digits[AQ_SWEEP_DIMS_MAX];
    aq_sweep_point point = {0};
    for (size_t i = space->count; i-- > 0;) {
        digits[i] = number % space->dims[i].count;
        number /= space->dims[i].count;
    }
    for (size_t i = 0; i < space->count; i++) {
        const aq_sweep_dim *dim = &space->dims[i];
        if (!aq_sweep_counts(space, i, &point)) {
            if (digits[i] > 0) {
                return false;
            }
            continue;
        }
        grid_value(dim, digits[i], point.values[i]);
        if (is_as_before(dim, digits[i], point.values[i])) {
            return false;
        }
    }
    *ret_point = point;
    return true;
}

static size_t grid_product(const aq_sweep_space *space)
{
    size_t product = 1;
    for (size_t i = 0; i < space->count && product <= AQ_SWEEP_GRID_MAX; i++) {
        product *= space->dims[i].count;
    }
    return product;
}

size_t aq_sweep_grid_size(const aq_sweep_space *space)
{
    const size_t product = grid_product(space);
    aq_sweep_point point;
    size_t size = 0;
    for (size_t i = 0; product <= AQ_SWEEP_GRID_MAX && i < product; i++) {
        size += grid_at(space, i, &point);
    }
    return product <= AQ_SWEEP_GRID_MAX ? size : product;
}

void aq_sweep_grid_point(const aq_sweep_space *space, size_t index, aq_sweep_point *ret_point)
{
    const size_t product = grid_product(space);
    for (size_t i = 0; i < product; i++) {
        if (grid_at(space, i, ret_point) && index-- == 0) {
            return;
        }
    }
    AQ_ASSERT(false); /* the caller keeps below the size */
}
