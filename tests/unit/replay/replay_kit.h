/*
 * What the tests of replay share: a small run, chunks whose numbers say which step they are, and
 * messages of them.
 *
 * Step k of any stream has observation {k, k + 0.25}, action k % 2, reward k and version k.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_REPLAY_KIT_H
#define AQ_TESTS_UNIT_REPLAY_REPLAY_KIT_H

#include <stdint.h>

#include "common/config/run_settings.h"
#include "common/experience/arrival.h"
#include "common/experience/chunk.h"
#include "replay/shard/replay_core.h"
#include "replay/shard/replay_credit.h"
#include "replay/table/replay_limiter.h"
#include "tests/support/chunks.h"

enum { KIT_RUN_ID = 77, KIT_STORE = 88, KIT_N_STEP = 3, KIT_CHUNK_LENGTH = 8 };

/* Observations box f32[2], actions discrete 2, n-step 3, chunks of 8, 2 environments an actor,
 * capacity 1000, minimum 20, 4 samples per insert, tolerance 40, requests of 16 rows. */
aq_run_settings kit_settings(void);
aq_layout kit_layout(void);

enum kit_end { KIT_GOES_ON, KIT_TERMINATED, KIT_TRUNCATED };

/* A chunk of steps first_step .. first_step + length - 1, the first `overlap` of them repeated. */
aq_chunk *kit_chunk(const aq_layout *layout, uint64_t first_step, uint32_t length, uint32_t overlap,
                    enum kit_end end);

/* A message of one chunk; `steps` fresh transitions from first_step on, a whole episode. */
aq_experience kit_message(uint64_t actor, uint64_t seq, uint64_t acknowledged, uint64_t first_step,
                          uint32_t steps);

/* The message as it comes out of the network; the message is empty afterwards. */
aq_arrival *kit_arrival(aq_experience *message);

/* The first start of the kit's shard under these settings. */
aq_shard_run kit_run(const aq_run_settings *settings);

/* A batch for draws, of the test; and at_end() for a core. */
aq_batch *kit_batch(const aq_replay_core *core, uint32_t rows);
void kit_drop_core(void *core);

/* A limiter of one table, and what it lets come. */
aq_table_spec kit_spec(uint64_t min_size, double samples_per_insert, double tolerance);
aq_credit_supply kit_supply(const aq_replay_limiter *limiter);

#endif
