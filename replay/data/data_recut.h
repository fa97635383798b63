/*
 * Recut: cuts recorded experience into the chunks of another run, whose items span more or fewer
 * steps than those of the run that it comes from. Each transition is new in one chunk again; where
 * the next one is missing, a chunk ends there.
 *
 * One owner, no locking.
 */
#ifndef AQ_REPLAY_DATA_DATA_RECUT_H
#define AQ_REPLAY_DATA_DATA_RECUT_H

#include "common/data_set/data_set_header.h"
#include "common/experience/chunk.h"

typedef struct aq_data_recut aq_data_recut;

/* A chunk of this actor; the reference is moved, also on failure. */
typedef int (*aq_data_recut_fn)(void *user, uint64_t actor, uint64_t incarnation, aq_chunk *chunk,
                                aq_error *error);

/* `layout` of the chunks to make, copied. */
int aq_data_recut_create(const aq_layout *layout, aq_data_recut_fn emit, void *user,
                         aq_data_recut **ret_recut) AQ_MUST_USE;
void aq_data_recut_destroy(aq_data_recut *recut); /* NULL is fine */

/* Failures of `emit`, AQ_E_NOMEM, AQ_E_FULL. */
int aq_data_recut_block(aq_data_recut *recut, const aq_data_set_block *block,
                        aq_error *error) AQ_MUST_USE;

/* All that is still open. */
int aq_data_recut_end(aq_data_recut *recut, aq_error *error) AQ_MUST_USE;

/* Transitions that no item can begin with, since too few follow them: left out. */
uint64_t aq_data_recut_left_out(const aq_data_recut *recut);

#endif
