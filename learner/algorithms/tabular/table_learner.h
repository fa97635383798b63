/*
 * Table learner: what q, sarsa and expected_sarsa have in common, each of which is a file that says
 * what it takes the next state to be worth. One number for each action in each state is moved
 * towards what came of it:
 *
 *   Q(s, a) += learning_rate (r + bootstrap V(s') - Q(s, a))
 *
 * There is no network, no optimizer and no older copy: a step changes the cell that was visited and
 * no other, so what is learned of one state spoils nothing of the next.
 *
 * It learns from sequences, the last step first: a reward at the end of one has reached its
 * beginning after a single pass (Lin, 1992). Sequences of a batch come one after the other, each
 * under what those before have changed.
 *
 * For states that are seen as one of many (AQ_LEARNS_A_TABLE) and discrete actions.
 */
#ifndef AQ_LEARNER_ALGORITHMS_TABULAR_TABLE_LEARNER_H
#define AQ_LEARNER_ALGORITHMS_TABULAR_TABLE_LEARNER_H

#include "learner/algorithms/algorithm.h"
#include "learner/algorithms/value_figures.h"

/* aq_algorithm_class.kind: what V(s') is. */
typedef struct aq_table_kind {
    enum {
        AQ_NEXT_BEST,     /* the greatest Q(s', a): of acting greedily from there on */
        AQ_NEXT_TAKEN,    /* Q(s', a') of the action that was taken there */
        AQ_NEXT_EXPECTED, /* the mean of Q(s', a) over how actors choose a */
    } next;
} aq_table_kind;

/* Members of the class. */
AQ_ALGORITHM_FUNCTIONS(aq_table_learner);
void aq_table_learner_set_epsilon(aq_algorithm *algorithm, double epsilon);

extern const aq_metric aq_table_learner_metrics[];

/* All members that the classes have in common. */
#define AQ_TABLE_LEARNER_MEMBERS                                                                   \
    .metrics = {aq_table_learner_metrics, AQ_VALUE_FIGURES}, .head_of_choices = AQ_HEAD_ARGMAX,    \
    .set_epsilon = aq_table_learner_set_epsilon, AQ_ALGORITHM_MEMBERS(aq_table_learner)

#endif
