/*
 * What the tests of DQN share: a configuration, a task and batches that are small enough to follow.
 */
#ifndef AQ_TESTS_UNIT_LEARNER_DQN_FIXTURE_H
#define AQ_TESTS_UNIT_LEARNER_DQN_FIXTURE_H

#include <stdint.h>

#include "common/base/rng.h"
#include "tests/unit/learner/agent_kit.h"

enum { FIXTURE_INPUTS = 4, FIXTURE_ACTIONS = 3, FIXTURE_ROWS = 8 };

/* A network 4-16-12-3 with relu, batches of 8 rows, no clipping, a new target every 4 steps. */
aq_run_config fixture_config(void);

/* A float box of `inputs` and `actions` choices. */
aq_schema fixture_schema(uint32_t inputs, uint32_t actions);

/* A batch with all of its rows in use, zeroed; until the test ends. */
aq_batch *fixture_batch(const aq_schema *schema, uint32_t rows);

/* The same of sequences, each of its whole length. */
aq_batch *fixture_sequences(const aq_schema *schema, uint32_t steps, uint32_t rows);

/* The same with columns of column_catalog.h; `columns` ends with NULL, or is it. 0 steps: items. */
aq_batch *fixture_recorded(const aq_schema *schema, const char *const *columns, uint32_t steps,
                           uint32_t rows);

/* The same of a policy that keeps so many values. */
aq_batch *fixture_remembered(const aq_schema *schema, const char *const *columns, uint32_t state,
                             uint32_t steps, uint32_t rows);

/* The values of a column that is recorded, which must be there. */
float *fixture_column(aq_batch *batch, const char *name);

/* Numbers within +-1, any action, weights in [0.2, 1], every third step terminal. */
void fixture_randomize(aq_batch *batch, uint32_t actions, aq_rng *rng);

/* Each observation becomes one of `states`, by chance: a 1 among zeros. */
void fixture_show_states(aq_batch *batch, uint32_t states, aq_rng *rng);

void fixture_set_action(aq_batch *batch, uint32_t row, int32_t action);
size_t fixture_action(const aq_batch *batch, size_t row);
float *fixture_obs(aq_batch *batch);
float *fixture_next_obs(aq_batch *batch);

/* Fails the test unless the two arrays hold the same bytes. */
void fixture_assert_same(const float *a, const float *b, size_t count);

#endif
