/*
 * Expected SARSA: the next state is worth the mean over how actors choose there (van Seijen et al.,
 * 2009): the greedy action, and with the chance aq_explore_mean_rate any. That needs no next
 * action, and has less variance than SARSA.
 *
 * Here is in what it differs; the rest is table_learner.c.
 */
#include "learner/algorithms/tabular/table_learner.h"

const aq_algorithm_class aq_expected_sarsa_class = {
    .name = "expected_sarsa",
    .kind = &(const aq_table_kind){.next = AQ_NEXT_EXPECTED},
    AQ_TABLE_LEARNER_MEMBERS,
};
