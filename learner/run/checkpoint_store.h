/*
 * Checkpoint store: the files checkpoints/step-%012llu.aqc of a run folder. Written atomically, the
 * oldest beyond `kept` removed after the newest is safe; read back newest first, and a file that
 * can't be read is named and passed over. Such a one is not removed: the next start may be able to
 * read it. Other files are left alone, but for temporary ones that a crash left behind.
 *
 * One writer a run folder; one thread at a time.
 */
#ifndef AQ_LEARNER_RUN_CHECKPOINT_STORE_H
#define AQ_LEARNER_RUN_CHECKPOINT_STORE_H

#include "common/base/error.h"
#include "common/wire/wire_checkpoint.h"

typedef struct aq_checkpoint_store aq_checkpoint_store;

/* Makes the folder if it is not there, and removes what crashes left in it. `kept` > 0. */
int aq_checkpoint_store_open(const char *run_dir, unsigned kept, aq_checkpoint_store **ret_store,
                             aq_error *error) AQ_MUST_USE;
void aq_checkpoint_store_close(aq_checkpoint_store *store); /* NULL is fine */

/* On failure (a full disk) the older ones are untouched. A checkpoint of a later step than this one
 * is of a future that was given up when an older one was resumed: beyond `kept`, those go first.
 * `*ret_path` is valid until the next call. */
int aq_checkpoint_store_write(aq_checkpoint_store *store, const aq_checkpoint *checkpoint,
                              const char **ret_path, aq_error *error) AQ_MUST_USE;

/* What was wrong with a file that was passed over. */
typedef void (*aq_checkpoint_skipped_fn)(void *user, const char *path, const aq_error *error);

/* How many there are. */
int aq_checkpoint_store_count(const aq_checkpoint_store *store, uint64_t *ret_count,
                              aq_error *error) AQ_MUST_USE;

/* The newest that can be read; AQ_E_NOT_FOUND when there is no file, AQ_E_CORRUPT when none of them
 * can be used. `skipped` may be NULL. Whether it is of this run is the caller's to check, who frees
 * it with aq_checkpoint_fini. */
int aq_checkpoint_store_read_newest(aq_checkpoint_store *store, aq_checkpoint_skipped_fn skipped,
                                    void *user, aq_checkpoint *ret_checkpoint,
                                    aq_error *error) AQ_MUST_USE;

#endif
