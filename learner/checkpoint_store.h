/*
 * Checkpoint store: the files checkpoints/step-%012llu.aqc of a run folder. Written atomically, the
 * oldest beyond `kept` removed after the newest is safe; read back newest first, and a file that is
 * corrupt or of another network is named and passed over.
 */
#ifndef AQ_LEARNER_CHECKPOINT_STORE_H
#define AQ_LEARNER_CHECKPOINT_STORE_H

#include "common/base/error.h"
#include "common/wire/wire_checkpoint.h"

typedef struct aq_checkpoint_store aq_checkpoint_store;

int aq_checkpoint_store_open(const char *run_dir, unsigned kept, aq_checkpoint_store **ret_store,
                             aq_error *error) AQ_MUST_USE;
void aq_checkpoint_store_close(aq_checkpoint_store *store); /* NULL is fine */

/* On failure (a full disk) the older ones are untouched. `*ret_path` is valid until the next call. */
int aq_checkpoint_store_write(aq_checkpoint_store *store, const aq_checkpoint *checkpoint,
                              const char **ret_path, aq_error *error) AQ_MUST_USE;

/* What was wrong with a file that was passed over. */
typedef void (*aq_checkpoint_skipped_fn)(void *user, const char *path, const aq_error *error);

/* The newest that is whole; AQ_E_NOT_FOUND when there is none. */
int aq_checkpoint_store_read_newest(aq_checkpoint_store *store, aq_checkpoint_skipped_fn skipped,
                                    void *user, aq_checkpoint *ret_checkpoint,
                                    aq_error *error) AQ_MUST_USE;

/* Policy versions only grow, also over a crash: reserves a block of numbers on disk before any of
 * them is used. Returns the first of `count` fresh numbers, all above those ever reserved here and
 * above `at_least`. */
int aq_version_reserve(const char *run_dir, uint64_t at_least, uint64_t count,
                       uint64_t *ret_first, aq_error *error) AQ_MUST_USE;

#endif
