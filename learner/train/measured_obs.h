/*
 * Measured observations: those of a batch on which a version is measured, before it goes out in
 * fewer bits, as the network sees them. Where rows are sequences, only what an action followed
 * counts: what lies behind the end of a short one are zeros.
 *
 * No state but the room for a copy; the trainer's thread.
 */
#ifndef AQ_LEARNER_TRAIN_MEASURED_OBS_H
#define AQ_LEARNER_TRAIN_MEASURED_OBS_H

#include <stddef.h>

#include "common/base/error.h"
#include "common/experience/batch.h"
#include "common/policy/netspec.h"

typedef struct aq_measured_obs {
    uint32_t rows_max;
    size_t inputs;
    bool is_one_episode; /* the policy keeps a state: rows follow one another */
    float *copy;         /* of sequences, and of bytes; NULL: nothing is measured */
} aq_measured_obs;

/* Of a policy, so many rows at most; 0: nothing is measured. */
int aq_measured_obs_init(aq_measured_obs *obs, const aq_net_spec *spec,
                         uint32_t rows_max) AQ_MUST_USE;
void aq_measured_obs_fini(aq_measured_obs *obs);

/* `ret_rows` of them, (rows, inputs), the first few from all over; NULL and 0 where nothing is
 * measured. Of n-step items in floats these are the batch's own, which may be more. Valid as long
 * as the batch, and until the next call. */
const float *aq_measured_obs_of(const aq_measured_obs *obs, const aq_batch *batch,
                                size_t *ret_rows);

#endif
