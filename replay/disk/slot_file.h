/*
 * Slot file: the slot that a store had in its run, beside its segments (FOLDER/slot). People know a
 * shard by its slot, so a store that comes back asks for the one it had; the learner knows it too,
 * unless it lost its memory as well.
 */
#ifndef AQ_REPLAY_DISK_SLOT_FILE_H
#define AQ_REPLAY_DISK_SLOT_FILE_H

#include <stdint.h>

#include "common/base/error.h"

/* The slot that was written; 0 where none was, or nothing that is one. */
uint32_t aq_slot_file_read(const char *folder);

/* Makes it `slot`, if it is another one. AQ_E_NOMEM, AQ_E_NO_SPACE, AQ_E_IO. */
int aq_slot_file_write(const char *folder, uint32_t slot, aq_error *error) AQ_MUST_USE;

#endif
