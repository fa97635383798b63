/*
 * Algorithm rows: what has to be known of an algorithm where no learner is: by the command that
 * refuses a task, and by the settings. The rest an algorithm says of itself in its class
 * (learner/algorithms/algorithm.h), which is called aq_NAME_class. A new algorithm is a row here.
 */
#ifndef AQ_COMMON_CONFIG_ALGORITHM_ROWS_H
#define AQ_COMMON_CONFIG_ALGORITHM_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/error.h"
#include "common/experience/schema.h"

/* X(constant, name, actions, experience, traits): the kinds of its actions, as bits, what it learns
 * from, and what sets it apart, enum aq_algorithm_trait. */
#define AQ_ALGORITHMS(X)                                                                           \
    X(AQ_ALGORITHM_DQN, dqn, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS, AQ_CAN_BE_NOISY)             \
    X(AQ_ALGORITHM_QR_DQN, qr_dqn, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS,                        \
      AQ_IS_ASKED_FOR | AQ_CAN_BE_NOISY)                                                           \
    X(AQ_ALGORITHM_PQN, pqn, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES, AQ_LEARNS_ONCE)          \
    X(AQ_ALGORITHM_R2D2, r2d2, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES, AQ_KEEPS_STATE)        \
    X(AQ_ALGORITHM_C51, c51, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS,                              \
      AQ_CAN_BE_NOISY | AQ_HAS_ATOMS)                                                              \
    X(AQ_ALGORITHM_D4PG, d4pg, AQ_SPACE_BOX, AQ_LEARNS_FROM_ITEMS, AQ_HAS_ATOMS)                   \
    X(AQ_ALGORITHM_DDPG, ddpg, AQ_SPACE_BOX, AQ_LEARNS_FROM_ITEMS, AQ_PLAIN)                       \
    X(AQ_ALGORITHM_TD3, td3, AQ_SPACE_BOX, AQ_LEARNS_FROM_ITEMS, AQ_PLAIN)                         \
    X(AQ_ALGORITHM_SAC, sac, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS,               \
      AQ_DRAWS_ACTIONS | AQ_IS_ASKED_FOR)                                                          \
    X(AQ_ALGORITHM_DSAC, dsac, AQ_SPACE_BOX, AQ_LEARNS_FROM_ITEMS,                                 \
      AQ_DRAWS_ACTIONS | AQ_HAS_ATOMS)                                                             \
    X(AQ_ALGORITHM_PPO, ppo, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES,           \
      AQ_DRAWS_ACTIONS | AQ_KEEPS_STATE | AQ_TAKES_ROWS | AQ_LEARNS_ONCE)                          \
    X(AQ_ALGORITHM_A2C, a2c, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES,           \
      AQ_DRAWS_ACTIONS | AQ_KEEPS_STATE | AQ_TAKES_ROWS | AQ_LEARNS_ONCE)                          \
    X(AQ_ALGORITHM_REINFORCE, reinforce, AQ_SPACE_BOX | AQ_SPACE_DISCRETE,                         \
      AQ_LEARNS_FROM_SEQUENCES,                                                                    \
      AQ_DRAWS_ACTIONS | AQ_KEEPS_STATE | AQ_TAKES_ROWS | AQ_LEARNS_ONCE)                          \
    X(AQ_ALGORITHM_TRPO, trpo, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES,         \
      AQ_DRAWS_ACTIONS | AQ_TAKES_ROWS | AQ_LEARNS_ONCE)                                           \
    X(AQ_ALGORITHM_IMPALA, impala, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES,     \
      AQ_DRAWS_ACTIONS | AQ_KEEPS_STATE | AQ_TAKES_ROWS | AQ_LEARNS_ONCE)                          \
    X(AQ_ALGORITHM_Q, q, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES, AQ_LEARNS_A_TABLE)           \
    X(AQ_ALGORITHM_SARSA, sarsa, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES, AQ_LEARNS_A_TABLE)   \
    X(AQ_ALGORITHM_EXPECTED_SARSA, expected_sarsa, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_SEQUENCES,    \
      AQ_LEARNS_A_TABLE)                                                                           \
    X(AQ_ALGORITHM_TD3_BC, td3_bc, AQ_SPACE_BOX, AQ_LEARNS_FROM_ITEMS, AQ_IS_ASKED_FOR)            \
    X(AQ_ALGORITHM_IQL, iql, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS,               \
      AQ_IS_ASKED_FOR)                                                                             \
    X(AQ_ALGORITHM_CQL, cql, AQ_SPACE_BOX | AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS,               \
      AQ_DRAWS_ACTIONS | AQ_IS_ASKED_FOR)                                                          \
    X(AQ_ALGORITHM_RAINBOW, rainbow, AQ_SPACE_DISCRETE, AQ_LEARNS_FROM_ITEMS,                      \
      AQ_IS_ASKED_FOR | AQ_CAN_BE_NOISY | AQ_HAS_ATOMS)

/* The choices of learner.algorithm, by their number; the last is what asks for none of them. */
#define AQ_CONSTANT(constant, ...) constant,
enum aq_algorithm { AQ_ALGORITHMS(AQ_CONSTANT) AQ_ALGORITHM_AUTO };
#undef AQ_CONSTANT

enum aq_learns_from { AQ_LEARNS_FROM_ITEMS, AQ_LEARNS_FROM_SEQUENCES };

/* AQ_DRAWS_ACTIONS: its policy draws, by a head that does. AQ_LEARNS_A_TABLE: of states that can be
 * counted, whose values are a row each. AQ_IS_ASKED_FOR: its presets are for those who name it, as
 * are those of sequences. AQ_KEEPS_STATE: its policy may keep a state from step to step.
 * AQ_TAKES_ROWS: its actions may be several choices at once. AQ_CAN_BE_NOISY: its layers may be,
 * learner.noisy. AQ_LEARNS_ONCE: each step is given to it once, while it is fresh. AQ_HAS_ATOMS:
 * it learns returns as atoms between learner.value_min and learner.value_max. */
enum aq_algorithm_trait {
    AQ_PLAIN = 0,
    AQ_DRAWS_ACTIONS = 1,
    AQ_LEARNS_A_TABLE = 2,
    AQ_IS_ASKED_FOR = 4,
    AQ_KEEPS_STATE = 8,
    AQ_TAKES_ROWS = 16,
    AQ_CAN_BE_NOISY = 32,
    AQ_LEARNS_ONCE = 64,
    AQ_HAS_ATOMS = 128
};

/* Their names, "auto", and a NULL behind them. */
extern const char *const aq_algorithm_names[];

/* What a task gets for which nobody chose: the one to begin with there. */
enum aq_algorithm aq_algorithm_for(const aq_schema *schema);

/* Whether it is made for them; "auto" will be. */
bool aq_algorithm_takes(enum aq_algorithm algorithm, const aq_space *actions);

/* AQ_E_UNSUPPORTED, naming those that would do, from a data set or with actors, when the algorithm
 * is not made for the actions of `task`. */
int aq_algorithm_check_actions(enum aq_algorithm algorithm, const char *task,
                               const aq_schema *schema, bool is_data_set,
                               aq_error *error) AQ_MUST_USE;

/* The same when it learns from nothing but what the actors of its run do, of which a data set holds
 * none. */
int aq_algorithm_check_data_set(enum aq_algorithm algorithm, const char *task,
                                const aq_schema *schema, aq_error *error) AQ_MUST_USE;

enum aq_learns_from aq_algorithm_learns_from(enum aq_algorithm algorithm);

bool aq_algorithm_has(enum aq_algorithm algorithm, enum aq_algorithm_trait trait);

/* Those who have it: "dqn and c51". */
void aq_algorithm_list(enum aq_algorithm_trait trait, char *out, size_t size);

#endif
