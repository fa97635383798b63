/*
 * An algorithm that notes what it is given instead of learning from it.
 *
 * Each step adds one to the first parameter and to the first number of its state, so that whoever
 * copies either can be asked which step it has seen. A batch whose first reward is negative fails:
 * -1 at once, -3 after two steps, as a fault of the rows or as what it is told.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_FAKE_ALGORITHM_H
#define AQ_TESTS_UNIT_LEARNER_FAKE_ALGORITHM_H

#include "learner/algorithms/agent.h"
#include "tests/unit/learner/learner_kit.h"

enum { FAKE_STATE_COUNT = 6, FAKE_SEEN_MAX = 64 };

typedef struct fake_batch {
    uint32_t rows;
    float first_obs;
    float first_next_obs;
    int32_t first_action;
    float first_reward;
    float first_bootstrap;
    uint64_t first_item;
    uint64_t last_item;
    uint32_t first_version;
} fake_batch;

typedef struct fake_algorithm {
    aq_algorithm head; /* first */
    aq_agent *agent;   /* that it is in */
    learner_kit *kit;
    uint64_t steps; /* tried */
    uint64_t more;  /* gradient steps, beside the one, that an update is said to have */
    int fault;      /* AQ_E_ of batches that fail; 0: AQ_E_CORRUPT */
    fake_batch seen[FAKE_SEEN_MAX];
    float arrays[4][FAKE_STATE_COUNT]; /* see kept_arrays.h */
    uint64_t adam_step;
    double learning_rate, critic_learning_rate, epsilon; /* that it was told last */
    aq_rank_link *link; /* each gradient step sends 100 bytes there, in 7 ns; NULL: nowhere */
} fake_algorithm;

extern const aq_algorithm_class fake_algorithm_class;

/* The kit's parameters are its own from here on, and the first of them 0. It wants batches of
 * `batch_rows`. */
void fake_algorithm_init(fake_algorithm *algorithm, learner_kit *kit, uint32_t batch_rows);
void fake_algorithm_fini(fake_algorithm *algorithm);

#endif
