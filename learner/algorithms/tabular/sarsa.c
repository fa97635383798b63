/*
 * SARSA: the next state is worth what the action that was taken there is (Rummery and Niranjan,
 * 1994), so what is learned is what the acting policy earns, its random actions included. The last
 * step of a sequence that goes on teaches nothing: the action behind it is not there.
 *
 * Here is in what it differs; the rest is table_learner.c.
 */
#include "learner/algorithms/tabular/table_learner.h"

const aq_algorithm_class aq_sarsa_class = {
    .name = "sarsa",
    .kind = &(const aq_table_kind){.next = AQ_NEXT_TAKEN},
    AQ_TABLE_LEARNER_MEMBERS,
};
