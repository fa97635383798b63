/*
 * Ranking: which version of the policy is the best, by what was played of it.
 *
 * A screening is a few episodes, and the greatest mean of many screenings is one that had luck. So
 * a version whose screening leads is played afresh, and only fresh episodes rank it; whenever a
 * screening does not lead, the best version itself is played afresh. Its mean is over all of these,
 * so luck that it had wears off.
 *
 * Plain functions; the coordinator keeps the best.
 */
#ifndef AQ_LEARNER_RUN_RANKING_H
#define AQ_LEARNER_RUN_RANKING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct aq_evaluation_result {
    uint64_t version; /* 0: none */
    uint32_t format;  /* that was played: aq_snapshot_format */
    bool fell_back;   /* it is fp32, which was not asked for */
    uint32_t episodes;
    double return_mean, return_std, return_min, return_max;
    uint32_t cut_off; /* of the episodes, where the task has no step limit of its own */
    bool confirmed;   /* over fresh episodes, not a screening */
    bool ranks_only;  /* likewise, but it does not end the run */
    bool in_both;     /* the same episodes were played in fp32 as well, with these returns: */
    double fp32_mean, fp32_std;
} aq_evaluation_result;

/* Whether a screening calls for fresh episodes of its version. */
bool aq_ranking_leads(const aq_evaluation_result *best, const aq_evaluation_result *screening);

/* Takes a result in; true when *best has changed: it is the first, a confirmed one after a
 * screening, or of a greater mean; it solves the task, whatever luckier mean there was before; or
 * it is of more fresh episodes of the best version, whose mean and deviation are of all of them
 * then. */
bool aq_ranking_take(aq_evaluation_result *best, const aq_evaluation_result *result, bool solves);

#endif
