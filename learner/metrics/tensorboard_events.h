/*
 * TensorBoard events: a file of scalars that TensorBoard shows, events.out.tfevents.* of a folder.
 * Each process writes a file of its own, so that a file never goes on after a crash; one that goes
 * on with a run says so, and TensorBoard then drops what is of later steps than the new file's
 * first. Loop thread only.
 *
 * A record is its length (u64), the masked CRC-32C of that, the message, the masked CRC-32C of the
 * message, all little-endian.
 */
#ifndef AQ_LEARNER_METRICS_TENSORBOARD_EVENTS_H
#define AQ_LEARNER_METRICS_TENSORBOARD_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

enum {
    AQ_TENSORBOARD_TAG_BYTES = 160,
    AQ_TENSORBOARD_SCALARS_MAX = 512,
};

typedef struct aq_tensorboard aq_tensorboard;

/* `goes_on`: the folder has files of the same run already. */
int aq_tensorboard_open(const char *folder, bool goes_on, aq_tensorboard **ret_board,
                        aq_error *error) AQ_MUST_USE;
void aq_tensorboard_close(aq_tensorboard *board); /* NULL is fine */

/* Gathers a scalar for the record at hand. Beyond AQ_TENSORBOARD_SCALARS_MAX, or with a longer tag,
 * it is left out. */
void aq_tensorboard_scalar(aq_tensorboard *board, const char *tag, double value);

/* Writes what was gathered as of `step`, `wall_ns` after 1970, and begins anew; without scalars
 * nothing. A full disk loses the record: AQ_E_NO_SPACE. */
int aq_tensorboard_write(aq_tensorboard *board, uint64_t step, int64_t wall_ns,
                         aq_error *error) AQ_MUST_USE;

#endif
