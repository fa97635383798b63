/*
 * Carbon intensity: grams of CO2 equivalent that a kilowatt hour of a country's electricity stands
 * for, the yearly mean of what it generates. A grid's hour can be at a third of it or at twice.
 * Other tables differ by 20 to 50 % on fossil fuels, so a figure goes with its table and year.
 */
#ifndef AQ_COMMON_ENERGY_CARBON_INTENSITY_H
#define AQ_COMMON_ENERGY_CARBON_INTENSITY_H

#include <stdint.h>

typedef struct aq_carbon_intensity {
    const char *code; /* ISO 3166-1 alpha-3, or "WORLD" */
    const char *name;
    double g_per_kwh;
    uint32_t year;
    const char *source;
} aq_carbon_intensity;

/* The row of `code`, upper or lower case; NULL when there is none. Static storage. */
const aq_carbon_intensity *aq_carbon_intensity_find(const char *code);

/* Grams of what a data centre takes so that a machine of it gets `joules`. `pue`: its power usage
 * effectiveness, at least 1. */
double aq_carbon_grams(double joules, double g_per_kwh, double pue);

#endif
