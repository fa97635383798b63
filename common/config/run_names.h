/*
 * Run names: the roles of members and the states of a run, as numbers on the wire and as words.
 */
#ifndef AQ_COMMON_CONFIG_RUN_NAMES_H
#define AQ_COMMON_CONFIG_RUN_NAMES_H

#include <stdint.h>

/* X(constant, number, word) */
#define AQ_ROLES(X)                                                                                \
    X(AQ_ROLE_ACTOR, 1, "actor")                                                                   \
    X(AQ_ROLE_EVALUATOR, 2, "evaluator")                                                           \
    X(AQ_ROLE_REPLAY, 3, "replay")

/* All but the first have ended: the threshold was reached; a limit of steps or time was; somebody
 * asked for it; losses were not finite any more. */
#define AQ_RUN_STATES(X)                                                                           \
    X(AQ_RUN_RUNNING, 1, "running")                                                                \
    X(AQ_RUN_SOLVED, 2, "solved")                                                                  \
    X(AQ_RUN_BUDGET, 3, "budget")                                                                  \
    X(AQ_RUN_STOPPED, 4, "stopped")                                                                \
    X(AQ_RUN_DIVERGED, 5, "diverged")

#define AQ_NUMBER(constant, number, word) constant = (number),
enum aq_role { AQ_ROLES(AQ_NUMBER) AQ_ROLES_END };
enum aq_run_state { AQ_RUN_STATES(AQ_NUMBER) };
#undef AQ_NUMBER

/* "unknown" for a number that is none of them. */
const char *aq_role_name(enum aq_role role);
const char *aq_run_state_name(enum aq_run_state state);

/* The word of a state as people are told: "ended at its limit" for "budget". */
const char *aq_run_state_text(const char *word);

/* Who takes energy: the learner, and members by the numbers of their roles. */
enum { AQ_ENERGY_LEARNER = 0, AQ_ENERGY_ROLES = AQ_ROLES_END };
const char *aq_energy_role_name(uint32_t role);

#endif
