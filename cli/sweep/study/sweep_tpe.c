/*
 * Tree-structured Parzen estimator: see sweep_tpe.h.
 *
 * A density over the space is a mean of kernels, one around each trial and one that is even. A
 * kernel is a product over dimensions: of a number, a normal cut off at 0 and 1; of a choice, most
 * of the weight on its own; where a dimension does not count in one of the two points, even. So
 * settings that go together stay together.
 */
#include "cli/sweep/study/sweep_tpe.h"

#include <math.h>

#include "common/base/memory.h"

enum { CANDIDATES = 32 };

#define WIDTH        0.2  /* of the kernel around a single trial, in places */
#define CHOICE_OTHER 0.25 /* weight that a kernel of a choice has on all others together */

typedef struct density {
    const aq_sweep_space *space;
    const double *places; /* (count, dims); NaN: does not count */
    size_t count;
    double width; /* of its kernels */
} density;

/* Scott's rule, of places that fill a cube: narrower the more trials there are. */
static density density_of(const aq_sweep_space *space, const double *places, size_t count)
{
    const double trials = (double)(count > 0 ? count : 1);
    const double width = WIDTH * pow(trials, -1.0 / (4.0 + (double)space->count));
    return (density){space, places, count, width};
}

static double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static double kernel(const aq_sweep_dim *dim, double width, double centre, double place)
{
    if (isnan(centre) || isnan(place)) {
        return 1;
    }
    if (dim->scale == AQ_SWEEP_CHOICE) { /* as a density over its share of 0 to 1 */
        const double count = (double)dim->count;
        return fabs(centre - place) < 0.5 / count ? (1 - CHOICE_OTHER) * count
                                                  : CHOICE_OTHER * count / (count - 1);
    }
    const double z = (place - centre) / width;
    const double inside = normal_below((1 - centre) / width) - normal_below(-centre / width);
    return exp(-0.5 * z * z) / (width * sqrt(2 * acos(-1.0)) * inside);
}

static double log_density(const density *its, const double *places)
{
    const size_t dims = its->space->count;
    double sum = 1; /* the even kernel */
    for (size_t i = 0; i < its->count; i++) {
        double product = 1;
        for (size_t j = 0; j < dims; j++) {
            product *=
                kernel(&its->space->dims[j], its->width, its->places[i * dims + j], places[j]);
        }
        sum += product;
    }
    return log(sum / (double)(its->count + 1));
}

/* A place near the centre, by a kernel. */
static double draw_near(const aq_sweep_dim *dim, double width, double centre, aq_rng *rng)
{
    if (isnan(centre)) {
        return aq_rng_uniform(rng);
    }
    if (dim->scale == AQ_SWEEP_CHOICE) {
        const double even = aq_rng_uniform(rng);
        return aq_rng_uniform(rng) < 1 - CHOICE_OTHER ? centre : even;
    }
    for (int tries = 0; tries < 64; tries++) {
        const double place = centre + width * aq_rng_normal(rng);
        if (place >= 0 && place <= 1) {
            return place;
        }
    }
    return centre;
}

static void draw(const density *good, aq_rng *rng, aq_sweep_point *ret_point)
{
    double places[AQ_SWEEP_DIMS_MAX];
    const size_t dims = good->space->count;
    const size_t which = (size_t)aq_rng_below(rng, good->count + 1);
    for (size_t j = 0; j < dims; j++) {
        const double centre = which < good->count ? good->places[which * dims + j] : (double)NAN;
        places[j] = draw_near(&good->space->dims[j], good->width, centre, rng);
    }
    aq_sweep_point_at(good->space, places, ret_point);
}

static void place(const aq_sweep_space *space, const aq_sweep_point *point, double *out)
{
    for (size_t j = 0; j < space->count; j++) {
        out[j] = point->values[j][0] != '\0' ? aq_sweep_dim_place(&space->dims[j], point->values[j])
                                             : (double)NAN;
    }
}

int aq_sweep_tpe(const aq_sweep_space *space, const aq_sweep_point *const *points, size_t count,
                 size_t good, aq_rng *rng, aq_sweep_point *ret_point)
{
    double *places = aq_alloc(count * space->count + 1, sizeof(*places));
    if (places == NULL) {
        return AQ_E_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        place(space, points[i], places + i * space->count);
    }
    const density better = density_of(space, places, good);
    const density others = density_of(space, places + good * space->count, count - good);
    double best = -INFINITY;
    for (int i = 0; i < CANDIDATES; i++) {
        double at[AQ_SWEEP_DIMS_MAX];
        aq_sweep_point candidate;
        draw(&better, rng, &candidate);
        place(space, &candidate, at);
        const double gain = log_density(&better, at) - log_density(&others, at);
        if (gain > best) {
            best = gain;
            *ret_point = candidate;
        }
    }
    aq_free(places);
    return 0;
}
