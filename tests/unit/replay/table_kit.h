/*
 * What the tests of tables share: arrivals whose numbers say which step they are, at odd addresses.
 *
 * Step k has observation {k, k + 0.25, ...}, action {k, ...} (as int32), reward k, version k, and
 * k + 0.5 in each recorded column, which is of one float.
 */
#ifndef AQ_TESTS_UNIT_REPLAY_TABLE_KIT_H
#define AQ_TESTS_UNIT_REPLAY_TABLE_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/table_spec.h"
#include "common/experience/arrival.h"
#include "replay/table/message_store.h"
#include "replay/table/replay_table.h"
#include "tests/support/chance.h"
#include "tests/support/chunks.h"

enum { TABLE_KIT_SPAN = 3, TABLE_KIT_CHUNK_LENGTH = 8 };

typedef struct table_kit_piece {
    uint64_t step; /* of row 0, in the stream */
    uint32_t first, length, overlap;
    bool terminated, truncated;
} table_kit_piece;

/* Observations of 2 floats, actions of one number, spans of 3, chunks of up to 8. */
aq_layout table_kit_layout(void);

/* One reference, the caller's. */
aq_arrival *table_kit_arrival(const aq_layout *layout, const table_kit_piece *pieces,
                              uint32_t count);

/* A table of those chunks: uniform, fifo, capacity 1000, n-step 3. */
aq_table_spec table_kit_spec(void);

/* A store and a table over it, and the numbers that the next message gets. */
typedef struct table_kit {
    aq_layout layout;
    aq_message_store *store;
    aq_replay_table *table;
    uint64_t number;
    uint64_t step;
} table_kit;

void table_kit_open(table_kit *kit, const aq_table_spec *spec, uint64_t seed);
void table_kit_close(table_kit *kit); /* also asserts that the store is empty then */

/* One of those that is closed when the test ends. */
table_kit *table_kit_of(const aq_table_spec *spec, uint64_t seed);

/* A message of one whole episode of `length` steps; returns the number of its first item. */
uint64_t table_kit_insert(table_kit *kit, uint32_t length);

/* A message of these pieces, whose `step` is set to follow. */
uint64_t table_kit_insert_pieces(table_kit *kit, table_kit_piece *pieces, uint32_t count);

/* A batch to draw into, of the test. */
aq_batch *table_kit_batch(const table_kit *kit, uint32_t rows);

/* The step that row `row` of a batch starts at. */
uint64_t table_kit_step(const aq_batch *batch, uint32_t row);

/* Pearson's sum over `count` classes, of which none is expected less than 5 times; asserts that it
 * is no further from its mean than the odds of 1 in a million allow (either way: too even is wrong
 * too). */
void table_kit_assert_chi_square(const double *counts, const double *expected, int count);

#endif
