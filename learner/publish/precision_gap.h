/*
 * Precision gap: what acting in the broadcast precision costs, from pairs of episodes that begin
 * alike and are played under one version as broadcast and in fp32. Each version compared brings its
 * mean difference; over versions these are added up by Welford's method. Loop thread only.
 */
#ifndef AQ_LEARNER_PUBLISH_PRECISION_GAP_H
#define AQ_LEARNER_PUBLISH_PRECISION_GAP_H

#include <stdint.h>

/* Of one version: the return as broadcast less the return in fp32. */
typedef struct aq_version_gap {
    uint64_t version;
    uint32_t episodes;  /* pairs, at least 1 */
    double return_fp32; /* mean */
    double mean;
    double std; /* of the sample; 0 for one pair */
} aq_version_gap;

typedef struct aq_precision_gap {
    uint64_t versions;       /* compared; 0: none yet */
    uint64_t episodes;       /* pairs, over all of them */
    double mean;             /* of the versions' means */
    double squares;          /* of their deviations from it, added up */
    uint64_t latest_version; /* 0: none in this process */
    double latest_mean;
} aq_precision_gap;

void aq_precision_gap_add(aq_precision_gap *gap, const aq_version_gap *version);

/* Half the width of the 95 % confidence interval of the mean, by Student's t. Versions count, not
 * pairs, since pairs of one version are alike. NaN for less than two. */
double aq_precision_gap_ci95(const aq_precision_gap *gap);

/* Likewise of one version's mean, where pairs count. */
double aq_version_gap_ci95(const aq_version_gap *version);

#endif
