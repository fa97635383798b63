/*
 * Q-learning: the next state is worth its best action, whatever was done there (Watkins, 1989).
 *
 * Here is in what it differs; the rest is table_learner.c.
 */
#include "learner/algorithms/tabular/table_learner.h"

const aq_algorithm_class aq_q_class = {
    .name = "q",
    .kind = &(const aq_table_kind){.next = AQ_NEXT_BEST},
    AQ_TABLE_LEARNER_MEMBERS,
};
