/*
 * Student's t: how far a mean of few samples may be from the truth. Pure functions, any thread.
 */
#ifndef AQ_COMMON_BASE_STUDENT_T_H
#define AQ_COMMON_BASE_STUDENT_T_H

#include <stddef.h>

/* The mean of some samples, and half the width of its 95 % interval. */
typedef struct aq_mean_ci {
    size_t count; /* samples that were finite: the others are left out */
    double mean;  /* NaN: none */
    double std;   /* with count - 1 below; NaN: fewer than two */
    double ci95;  /* the mean is within +- this; NaN: fewer than two */
} aq_mean_ci;

/* The chance of a value below `t` with `degrees` >= 1 of freedom. */
double aq_student_t_below(double t, double degrees);

/* The value that `probability`, above 0 and below 1, lies below: 12.706 for 0.975 and 1. */
double aq_student_t_quantile(double probability, double degrees);

aq_mean_ci aq_mean_ci_of(const double *values, size_t count);

#endif
